// Ifs and loops of Relax functions: regions, the names that come out of them, and the types that a loop
// carries, found by repetition until they hold.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <cmath>
#include "frontend/binding_names.h"
#include "frontend/graph_builder.h"
#include "frontend/suggestions.h"
#include "ir/join.h"
#include "ir/printer.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

Type error_type() { return Type(TypeKind(ErrorType{})); }

std::string last_of(const ast::Block& body);

// The name that every way from the branch `at` on binds with its last statement; empty when there is none. An
// elif is an if of its own inside the else, and has a last name of its own.
std::string last_of(const ast::If& branches, std::size_t at) {
  if (!branches.has_else) return {};
  std::string name = last_of(branches.else_body);
  for (; at < branches.branches.size(); ++at) {
    if (last_of(branches.branches[at].body) != name) return {};
  }
  return name;
}

std::string last_of(const ast::Block& body) {
  if (body.empty()) return {};
  auto* assignment = body.back().as<ast::Assignment>();
  const std::string* name =
      assignment && assignment->targets.size() == 1 ? ast::name_of(*assignment->targets[0]) : nullptr;
  if (name) return *name == "_" ? std::string() : *name;
  auto* branches = body.back().as<ast::If>();
  return branches ? last_of(*branches, 0) : std::string();
}

bool mentions(const Expr& leaf, const Var& var) {
  if (const Var* own = leaf.as_var()) return *own == var;
  const auto* fields = leaf.as<TupleExpr>();
  return fields && std::any_of(fields->fields.begin(), fields->fields.end(),
                               [&](const Expr& field) { return mentions(field, var); });
}

// A binding that only gives a leaf another name, of the same type.
const VarBinding* as_alias(const Binding& binding) {
  const auto* bound = std::get_if<VarBinding>(&binding.kind);
  bool alias = bound && is_leaf(bound->value) && same_type(bound->var.type(), bound->value.type());
  return alias ? bound : nullptr;
}

void append_comments(Comments& into, const CommentsPtr& comments) {
  if (!comments) return;
  into.before.insert(into.before.end(), comments->before.begin(), comments->before.end());
  if (!comments->after.empty()) into.before.push_back(comments->after);
}

// `y = leaf` at the end of a region, where y is a result, says only that the leaf is the result.
void drop_aliases(Region& region) {
  Comments kept;
  while (!region.blocks.empty() && !region.blocks.back().dataflow) {
    std::vector<Binding>& bindings = region.blocks.back().bindings;
    const VarBinding* alias = as_alias(bindings.back());
    if (!alias) break;
    auto is_alias = [&](const Expr& result) { return result.as_var() && *result.as_var() == alias->var; };
    bool result = std::any_of(region.results.begin(), region.results.end(), is_alias);
    bool used = std::any_of(region.results.begin(), region.results.end(), [&](const Expr& other) {
      return !is_alias(other) && mentions(other, alias->var);
    });
    if (!result || used) break;
    for (Expr& each : region.results) {
      if (is_alias(each)) each = alias->value;
    }
    Comments own;
    append_comments(own, bindings.back().comments);
    kept.before.insert(kept.before.begin(), own.before.begin(), own.before.end());
    bindings.pop_back();
    if (bindings.empty()) region.blocks.pop_back();
  }
  if (kept.before.empty()) return;
  append_comments(kept, region.end_comments);
  region.end_comments = std::make_shared<const Comments>(std::move(kept));
}

}  // namespace

// --- Regions.

// The finished blocks; plain ones in a row become one.
std::vector<BindingBlock> GraphBuilder::take_blocks() {
  for (BindingBlock& block : builder_.take_blocks()) {
    for (const BlockComments& comments : block_comments_) {
      if (!block.dataflow || block.span != comments.header) continue;
      block.comments = comments.own;
      block.end_comments = comments.end;
    }
    if (!block.dataflow && !blocks_.empty() && !blocks_.back().dataflow) {
      std::vector<Binding>& before = blocks_.back().bindings;
      before.insert(before.end(), std::make_move_iterator(block.bindings.begin()),
                    std::make_move_iterator(block.bindings.end()));
    } else {
      blocks_.push_back(std::move(block));
    }
  }
  block_open_ = false;
  return std::exchange(blocks_, {});
}

GraphBuilder::OpenRegion GraphBuilder::open_region() {
  OpenRegion outer{take_blocks(), determined_.size()};
  frames_.emplace_back();
  return outer;
}

GraphBuilder::Arm GraphBuilder::close_region(OpenRegion outer) {
  Arm arm;
  arm.region.blocks = take_blocks();
  arm.region.end_comments = take_comments(nullptr);
  arm.names = std::move(frames_.back());
  frames_.pop_back();
  blocks_ = std::move(outer.outer);
  determined_.erase(determined_.begin() + static_cast<std::ptrdiff_t>(outer.determined), determined_.end());
  // Declarations are the function's.
  for (const auto& [name, entry] : arm.names) {
    if (std::get_if<Scalar>(&entry.meaning) || std::get_if<ModuleAlias>(&entry.meaning))
      frames_.back().emplace(name, entry);
  }
  return arm;
}

const Liveness& GraphBuilder::liveness() {
  if (!liveness_) liveness_ = std::make_unique<Liveness>(definition_.body);
  return *liveness_;
}

// What the name is just before the statement, as a leaf.
std::optional<Expr> GraphBuilder::value_before(const std::string& name, Span at) {
  if (Entry* entry = look_up(name)) {
    if (auto* bound = std::get_if<Bound>(&entry->meaning)) return var_ref(bound->var, bound->var.span());
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return scalar_value(*scalar, at);
    return std::nullopt;
  }
  if (!symbols_.declares(name)) return std::nullopt;
  return scalar_value(std::get<Scalar>(symbols_.find(name, at)), at);
}

// Binds the value of an if or a loop: to its one result, or to a name that no text shows and then each result
// to its field.
void GraphBuilder::bind_results(const ast::Statement& statement, const std::vector<std::string>& names,
                                const std::vector<Type>& types, const Expr& value, CommentsPtr comments) {
  open_plain_block();
  if (names.size() == 1) {
    Var var(names[0], types[0], false, statement.span);
    builder_.append(Binding{VarBinding{var, value}, statement.span, std::move(comments), false});
    bind(names[0], Bound{var, std::nullopt}, statement.span);
    return;
  }
  std::string hidden = names.empty() ? "_" : builder_.fresh_name("gv");
  Var whole(hidden, Type(TupleType{types}), false, statement.span);
  builder_.append(Binding{VarBinding{whole, value}, statement.span, std::move(comments), false});
  for (std::size_t i = 0; i < names.size(); ++i) {
    Var var(names[i], types[i], false, statement.span);
    Expr field = tuple_get(var_ref(whole, statement.span), static_cast<int>(i), statement.span);
    builder_.append(Binding{VarBinding{var, field}, statement.span, nullptr, false});
    bind(names[i], Bound{var, std::nullopt}, statement.span);
  }
}

// --- Ifs.

void GraphBuilder::read_if(const ast::Statement& statement, const ast::If& branches) {
  if (in_dataflow_) {
    refuse_in_dataflow(statement.span, "if.dataflow", "an if");
  }
  if (branches.branches.size() > limits().max_nesting) {
    fail(ErrorClass::ResourceLimit, statement.span, "limit.nesting",
         fmt::format("found {} branches of one if; expected at most {}, raise --max-nesting",
                     branches.branches.size(), limits().max_nesting));
  }
  read_branches(statement, branches, 0);
}

// The branch `at` and what follows it: `elif` is an if inside the else.
void GraphBuilder::read_branches(const ast::Statement& statement, const ast::If& branches, std::size_t at) {
  const ast::Branch& branch = branches.branches[at];
  CommentsPtr comments = take_comments(at == 0 ? statement.comments : branch.comments);
  Expr condition = leaf(*branch.condition);
  OpenRegion outer = open_region();
  read_block(branch.body, Place::Branch);
  Arm then_arm = close_region(std::move(outer));
  outer = open_region();
  if (at + 1 < branches.branches.size()) {
    if (!context_.attempt([&] { read_branches(statement, branches, at + 1); })) refuse_names(statement);
  } else {
    hand_on(branches.else_comments);
    read_block(branches.else_body, Place::Branch);
  }
  Arm else_arm = close_region(std::move(outer));

  // Results are the names that are read later. When there are none, the name that both ways end with is the
  // value of the if, read or not: which others are bound besides it must not matter.
  struct Result {
    std::uint64_t order;
    std::string name;
    Expr then_value, else_value;
  };
  std::vector<Result> results;
  std::set<std::string> names;
  for (const Arm* arm : {&then_arm, &else_arm}) {
    for (const auto& [name, entry] : arm->names) names.insert(name);
  }
  auto find_in = [](const Arm& arm, const std::string& name) -> const Entry* {
    auto found = arm.names.find(name);
    return found == arm.names.end() ? nullptr : &found->second;
  };
  auto value_of = [&](const Entry* entry, const std::string& name) -> std::optional<Expr> {
    if (!entry) return value_before(name, statement.span);
    auto* bound = std::get_if<Bound>(&entry->meaning);
    return bound ? std::optional<Expr>(var_ref(bound->var, bound->var.span())) : std::nullopt;
  };
  constexpr std::uint64_t later = std::numeric_limits<std::uint64_t>::max() / 2;
  const bool any_read = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return liveness().read_after(statement, name) && value_of(find_in(then_arm, name), name) &&
           value_of(find_in(else_arm, name), name);
  });
  const std::string last = any_read ? std::string() : last_of(branches, at);
  for (const std::string& name : names) {
    const Entry *a = find_in(then_arm, name), *b = find_in(else_arm, name);
    const Entry& named = a ? *a : *b;  // one of them has it
    Span span = named.span;
    bool refused = (a && std::get_if<Refused>(&a->meaning)) || (b && std::get_if<Refused>(&b->meaning));
    if (refused) {
      bind(name, Refused{}, span);
      continue;
    }
    if (!liveness().read_after(statement, name) && name != last) {
      if (!look_up(name)) bind(name, Unavailable{"which is bound inside an if", "it is bound here"}, span);
      continue;
    }
    std::optional<Expr> then_value = value_of(a, name), else_value = value_of(b, name);
    if (!then_value || !else_value) {
      bind(name,
           Unavailable{"which one way through the if does not bind; bind it in both branches, or before",
                       "it is bound here"},
           span);
      continue;
    }
    const Var* var = (a ? *then_value : *else_value).as_var();
    std::uint64_t order = a ? var->id() : later + (var ? var->id() : 0);
    results.push_back({order, name, *then_value, *else_value});
  }
  std::sort(results.begin(), results.end(),
            [](const Result& x, const Result& y) { return x.order < y.order; });

  std::vector<std::string> bound;
  std::vector<Type> types;
  bool failed = condition.type().is_error();
  for (Result& result : results) {
    Type type = error_type();
    auto join = [&] {
      type = common_type(result.then_value, result.else_value, fmt::format("'{}'", printable(result.name)),
                         statement.span);
    };
    if (liveness().read_after(statement, result.name)) {
      failed |= !context_.attempt_typed(join);
    } else {
      try {
        join();
      } catch (const Failure&) {
        continue;  // both ways end with the name, but nobody reads it
      }
    }
    bound.push_back(result.name);
    SymbolList known;
    known.add_all(determined_);
    types.push_back(without_hidden_symbols(type, known));
    then_arm.region.results.push_back(result.then_value);
    else_arm.region.results.push_back(result.else_value);
  }
  drop_aliases(then_arm.region);
  drop_aliases(else_arm.region);
  If node{condition, std::make_shared<const Region>(then_arm.region),
          std::make_shared<const Region>(else_arm.region)};
  Span span = branch.span;
  Expr value;
  if (failed) {
    value = Expr(std::make_shared<const ExprNode>(ExprNode{span, error_type(), node}));
  } else {
    value = checked(
        [&] { return if_expr(condition, std::move(then_arm.region), std::move(else_arm.region), span); },
        span, node);
  }
  bind_results(statement, bound, types, value, comments);
}

// `return` at the end of every way through the last if of the function: the value of the if is what the
// function returns.
void GraphBuilder::read_returning_if(const ast::Statement& statement, const ast::If& branches) {
  Expr result = returned_by(statement, branches, 0);
  if (result.type().is_error()) throw ReadContext::Silent{};
  result = as_leaf(std::move(result));
  returned_ = true;
  give_back(std::move(result), statement.span);
}

Expr GraphBuilder::returned_by(const ast::Block& body) {
  const ast::Statement& last = body.back();
  for (const ast::Statement& statement : body) {
    if (&statement == &last) break;
    if (!context_.attempt([&] { read_statement(statement, Place::Branch); })) refuse_names(statement);
  }
  builder_.set_origin(last.span);
  if (auto* branches = last.as<ast::If>()) return as_leaf(returned_by(last, *branches, 0));
  const auto& returned = *last.as<ast::Return>();
  hand_on(last.comments);
  return returned.value ? leaf(*returned.value) : tuple({}, last.span);
}

Expr GraphBuilder::returned_by(const ast::Statement& statement, const ast::If& branches, std::size_t at) {
  const ast::Branch& branch = branches.branches[at];
  hand_on(at == 0 ? statement.comments : branch.comments);
  const Expr condition = leaf(*branch.condition);
  const auto arm_of = [&](const std::function<Expr()>& read) {
    OpenRegion outer = open_region();
    Expr result = tuple({}, statement.span);
    const bool good = context_.attempt([&] { result = read(); });
    Arm arm = close_region(std::move(outer));
    if (!good) throw ReadContext::Silent{};
    arm.region.results = {std::move(result)};
    return std::move(arm.region);
  };
  Region then_region = arm_of([&] { return returned_by(branch.body); });
  Region else_region = arm_of([&] {
    if (at + 1 < branches.branches.size()) return as_leaf(returned_by(statement, branches, at + 1));
    hand_on(branches.else_comments);
    return returned_by(branches.else_body);
  });
  common_type(then_region.results[0], else_region.results[0], "what the function returns", statement.span);
  return if_expr(condition, std::move(then_region), std::move(else_region), branch.span);
}

// --- Loops.

struct GraphBuilder::LoopText {
  const ast::Block& body;
  const ast::Expr* condition;  // null: a range
  ScalarVar index;
  Expr begin, end, step;
};

// What a dataflow block binds means the same without it: its header and its R.output go.
void GraphBuilder::refuse_in_dataflow(Span at, std::string_view id, std::string_view what) {
  const auto& with = *dataflow_->as<ast::With>();
  std::vector<DiagnosticNote> notes;
  if (!std::exchange(unwrapping_proposed_, true))
    notes = without_header(context_.text, *dataflow_, with.body);
  for (const ast::Statement& inner : with.body) {
    auto* expression = notes.empty() ? nullptr : inner.as<ast::ExpressionStatement>();
    auto* call = expression ? expression->value->as<ast::Call>() : nullptr;
    if (call && context_.namespaces.canonical(*call->callee) == "R.output")
      notes.push_back(remove_this(inner.span));
  }
  fail(ErrorClass::Type, at, id, fmt::format("found {} inside a dataflow block; expected it outside", what),
       std::move(notes));
}

Expr GraphBuilder::range_bound(const ast::Expr& expr) {
  Expr value = leaf(expr);
  if (value.type().is_error()) throw ReadContext::Silent{};
  // A 0-d tensor of integers counts as the number that it holds.
  if (const TensorType* tensor = value.type().tensor();
      tensor && tensor->rank == 0 && tensor->dtype && is_int(*tensor->dtype)) {
    value = as_leaf(make_op_call(*find_op("item"), {value}, {}, expr.span));
  }
  const auto* scalar = value.type().as<ScalarType>();
  if (!scalar || scalar->dtype != DType::Int64) {
    std::vector<DiagnosticNote> notes;
    if (auto* real = expr.as<ast::FloatValue>();
        real && std::trunc(real->value) == real->value && std::abs(real->value) < 9e15)
      notes.push_back(write_here(expr.span, fmt::format("{}", static_cast<std::int64_t>(real->value))));
    fail(ErrorClass::Type, expr.span, "loop.bound",
         fmt::format("found a bound of type {}; expected an int64 scalar or a 0-d tensor of integers",
                     print(value.type())),
         std::move(notes));
  }
  return value;
}

void GraphBuilder::read_for(const ast::Statement& statement, const ast::For& loop) {
  if (in_dataflow_) refuse_in_dataflow(statement.span, "loop.dataflow", "a loop");
  auto* call = loop.iterable->as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name.substr(0, 2) == "T.") {
    // These differ from range in how they run only.
    std::vector<DiagnosticNote> notes;
    for (std::string_view same : {"T.serial", "T.parallel", "T.unroll", "T.vectorized"}) {
      if (name == same) notes.push_back(write_here(call->callee->span, "range"));
    }
    fail(ErrorClass::Type, loop.iterable->span, "loop.kind",
         fmt::format("found {} in an R.function; it belongs to prim_funcs, expected range(...)", name),
         std::move(notes));
  }
  if (name != "range") {
    static const std::vector<std::string> wanted = {"range"};
    std::vector<DiagnosticNote> notes;
    if (call)
      notes = write_nearest(call->callee->span, name, wanted);
    else if (auto range = range_of_list(*loop.iterable))
      notes = {write_here(loop.iterable->span, *range)};
    fail(ErrorClass::Type, loop.iterable->span, "loop.range",
         fmt::format("found a loop over {} in an R.function; expected range(...)",
                     ast::describe(*loop.iterable)),
         std::move(notes));
  }
  const std::string* index = ast::name_of(*loop.target);
  if (!index) {
    type_error(loop.target->span, "loop.index",
               fmt::format("found {} as the index; expected one name", ast::describe(*loop.target)));
  }
  bool plain = std::all_of(call->arguments.begin(), call->arguments.end(), [](const ast::Argument& argument) {
    return argument.name.empty() && !argument.stars;
  });
  std::size_t given = call->arguments.size();
  if (!plain || given == 0 || given > 3) {
    type_error(loop.iterable->span, "loop.range",
               "range takes an end, a begin and an end, or a begin, an end and a step");
  }
  LoopText text{loop.body, nullptr, ScalarVar(*index, DType::Int64, loop.target->span), {}, {}, {}};
  text.begin = given > 1 ? range_bound(*call->arguments[0].value) : scalar_value(Scalar(0));
  text.end = range_bound(*call->arguments[given > 1 ? 1 : 0].value);
  text.step = given > 2 ? range_bound(*call->arguments[2].value) : scalar_value(Scalar(1));
  if (auto* step = text.step.as<ScalarValueExpr>(); step && step->value.as_int() == 0)
    fail(ErrorClass::Type, call->arguments[2].value->span, "loop.step", "found a step of 0",
         {write_here(call->arguments[2].value->span, "1")});
  read_loop(statement, std::move(text));
  bind(*index, Unavailable{"the index of a loop that has ended", "the loop is here"}, loop.target->span);
}

void GraphBuilder::read_while(const ast::Statement& statement, const ast::While& loop) {
  if (in_dataflow_) refuse_in_dataflow(statement.span, "loop.dataflow", "a loop");
  read_loop(statement, LoopText{loop.body, loop.condition.get(), {}, {}, {}, {}});
}

void GraphBuilder::read_loop(const ast::Statement& statement, LoopText text) {
  CommentsPtr comments = take_comments(statement.comments);
  // Carried: bound before, assigned in the body, and read by a later iteration or behind the loop.
  std::vector<std::string> names;
  Loop loop;
  std::set<std::string> seen;
  for (const ast::Statement& inner : text.body) {
    for_each_bound_name(inner, [&](const std::string& name, Span) {
      if (!seen.insert(name).second) return;
      if (!liveness().read_after(statement, name) && !liveness().read_first(statement, name)) return;
      std::optional<Expr> before = value_before(name, statement.span);
      if (!before) return;
      names.push_back(name);
      loop.initial.push_back(*before);
    });
  }
  blocks_ = take_blocks();
  // A name that was only given for the loop is its initial value.
  while (!blocks_.empty() && !blocks_.back().dataflow && !blocks_.back().bindings.empty()) {
    std::vector<Binding>& bindings = blocks_.back().bindings;
    const VarBinding* alias = as_alias(bindings.back());
    if (!alias) break;
    auto is_alias = [&](const Expr& value) { return value.as_var() && *value.as_var() == alias->var; };
    auto own = std::find_if(loop.initial.begin(), loop.initial.end(), is_alias);
    bool used = std::any_of(loop.initial.begin(), loop.initial.end(), [&](const Expr& value) {
      return (!is_alias(value) || &value != &*own) && mentions(value, alias->var);
    });
    for (const Expr* bound : {&text.begin, &text.end, &text.step})
      used |= bound->defined() && mentions(*bound, alias->var);
    if (own == loop.initial.end() || used) break;
    *own = alias->value;
    Comments kept;
    append_comments(kept, bindings.back().comments);
    if (!kept.before.empty()) {
      if (comments) {
        kept.before.insert(kept.before.end(), comments->before.begin(), comments->before.end());
        kept.after = comments->after;
      }
      comments = std::make_shared<const Comments>(std::move(kept));
    }
    bindings.pop_back();
    if (bindings.empty()) blocks_.pop_back();
  }

  std::vector<Type> types;
  for (const Expr& value : loop.initial) types.push_back(value.type());
  auto known = loop_types_.find(&statement);
  if (known != loop_types_.end() && known->second.size() == types.size()) {
    for (std::size_t i = 0; i < types.size(); ++i) types[i] = join(types[i], known->second[i]);
  }
  loop.index = text.index;
  loop.begin = text.begin;
  loop.end = text.end;
  loop.step = text.step;
  std::vector<Diagnostic> reported = context_.diagnostics.all();
  const bool unresolved = context_.unresolved;
  const FunctionBuilder before = builder_;
  const std::size_t comments_before = block_comments_.size();
  while (!read_loop_body(statement, text, names, types, loop)) {
    // What was said about this body was said with types that do not hold; what lies elsewhere stays.
    loop_types_[&statement] = types;
    bool elsewhere = false;
    if (context_.diagnostics.all().size() != reported.size()) {
      for (std::size_t i = reported.size(); i < context_.diagnostics.all().size(); ++i) {
        const Diagnostic& late = context_.diagnostics.all()[i];
        bool inside = late.span.begin >= statement.whole.begin && late.span.end <= statement.whole.end;
        if (inside) continue;
        reported.push_back(late);
        elsewhere |= late.severity == Severity::Error;
      }
      context_.diagnostics.clear();
      for (const Diagnostic& diagnostic : reported) context_.diagnostics.add(diagnostic);
    }
    context_.unresolved = unresolved || elsewhere;
    builder_ = before;
    block_comments_.resize(comments_before);
  }
  Loop node = loop;
  bool failed = std::any_of(types.begin(), types.end(), [](const Type& type) { return type.is_error(); });
  Expr value = failed ? Expr(std::make_shared<const ExprNode>(ExprNode{statement.span, error_type(), node}))
                      : checked([&] { return loop_expr(std::move(loop), statement.span); }, statement.span,
                                std::move(node));
  bind_results(statement, names, types, value, comments);
}

// Reads condition and body with these types of the carried variables; false when the next values need others,
// which then stand in `types`.
bool GraphBuilder::read_loop_body(const ast::Statement& statement, const LoopText& text,
                                  const std::vector<std::string>& names, std::vector<Type>& types,
                                  Loop& loop) {
  auto bind_params = [&] {
    std::vector<Var> params;
    for (std::size_t i = 0; i < names.size(); ++i) {
      Var var(names[i], types[i], false, statement.span);
      bind(names[i], Bound{var, std::nullopt}, statement.span);
      params.push_back(std::move(var));
    }
    return params;
  };
  if (text.condition) {
    OpenRegion outer = open_region();
    std::vector<Var> params = bind_params();
    Expr condition = scalar_value(bool_literal(false));
    context_.attempt([&] { condition = leaf(*text.condition); });
    Arm arm = close_region(std::move(outer));
    arm.region.params = std::move(params);
    arm.region.results = {condition};
    loop.condition = std::make_shared<const Region>(std::move(arm.region));
  }
  OpenRegion outer = open_region();
  if (text.index.defined()) {
    determined_.push_back(text.index);
    bind(text.index.name(), use(text.index, text.index.span()), text.index.span());
  }
  std::vector<Var> params = bind_params();
  read_block(text.body, Place::Loop);
  std::vector<Expr> next;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& entry = frames_.back().at(names[i]);
    auto* bound = std::get_if<Bound>(&entry.meaning);
    next.push_back(bound ? var_ref(bound->var, bound->var.span()) : var_ref(params[i], statement.span));
  }
  if (text.index.defined()) frames_.back().erase(text.index.name());  // a symbol, but not the function's
  Arm arm = close_region(std::move(outer));
  bool stable = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Expr first = Expr(std::make_shared<const ExprNode>(
        ExprNode{loop.initial[i].span(), types[i], loop.initial[i].node().kind}));
    Type joined = error_type();
    context_.attempt_typed([&] {
      joined = common_type(first, next[i], fmt::format("'{}'", printable(names[i])), statement.span);
    });
    if (joined.is_error()) {
      types[i] = joined;
      continue;
    }
    if (same_type(joined, types[i])) continue;
    types[i] = joined;
    stable = false;
  }
  if (!stable) return false;
  for (const auto& [name, entry] : arm.names) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (std::get_if<Refused>(&entry.meaning)) bind(name, Refused{}, entry.span);
    if (!look_up(name))
      bind(name, Unavailable{"which is bound inside a loop and invisible behind it", "it is bound here"},
           entry.span);
  }
  arm.region.params = std::move(params);
  arm.region.results = std::move(next);
  drop_aliases(arm.region);
  loop.body = std::make_shared<const Region>(std::move(arm.region));
  return true;
}

}  // namespace relish
