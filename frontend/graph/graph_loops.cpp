// Loops of Relax functions: what they carry, and the types of that, found by repetition until they hold.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "frontend/graph/graph_control.h"
#include "frontend/graph/graph_hints.h"
#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/join.h"
#include "ir/rewriting/region_aliases.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {

namespace {

// The names that the reading of a loop's body takes, which a second reading takes again.
class NamesOfBody {
 public:
  explicit NamesOfBody(FunctionBuilder& builder) : builder_(builder), mark_(builder.mark_names()) {}
  ~NamesOfBody() { builder_.drop_mark(); }
  NamesOfBody(const NamesOfBody&) = delete;
  NamesOfBody& operator=(const NamesOfBody&) = delete;
  void free() const { builder_.free_names(mark_); }

 private:
  FunctionBuilder& builder_;
  std::size_t mark_;
};

}  // namespace

struct GraphControl::LoopText {
  const ast::Block& body;
  const ast::Expr* condition;  // null: a range
  ScalarVar index;
  Expr begin, end, step;
};

Expr GraphControl::range_bound(const ast::Expr& expr) {
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

// The items of a tuple may differ in type, so no loop of this language goes over them.
std::string GraphControl::instead_of_loop(const ast::For& loop) {
  if (range_of_list(*loop.iterable)) return "expected range(...)";
  std::size_t count = 0;
  std::vector<std::string> items;
  constexpr std::size_t most_told = 2;
  if (const std::string* name = ast::name_of(*loop.iterable)) {
    const Entry* entry = look_up(*name);
    const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    const auto* tuple = bound ? bound->var.type().tuple() : nullptr;
    count = tuple ? tuple->fields.size() : 0;
    for (std::size_t i = 0; i < std::min(count, most_told); ++i)
      items.push_back(fmt::format("{}[{}]", printable(*name), i));
  } else {
    const auto* tuple = loop.iterable->as<ast::TupleValue>();
    const auto* list = loop.iterable->as<ast::ListValue>();
    const std::vector<ast::ExprPtr>* written = tuple ? &tuple->items : list ? &list->items : nullptr;
    count = written ? written->size() : 0;
    for (std::size_t i = 0; i < std::min(count, most_told); ++i)
      items.push_back(operand_text(*(*written)[i], fmt::format("item {}", i)));
  }
  if (items.empty()) return "expected range(...)";
  const std::string* target = ast::name_of(*loop.target);
  std::string text = "write its body once for each item: ";
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}with {} for {}", i ? ", then " : "", items[i], target ? printable(*target) : "it");
  return text + (count > most_told ? ", …" : "");
}

void GraphControl::read_for(const ast::Statement& statement, const ast::For& loop) {
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
         fmt::format("found a loop over {} in an R.function; {}", ast::describe(*loop.iterable),
                     instead_of_loop(loop)),
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

void GraphControl::read_while(const ast::Statement& statement, const ast::While& loop) {
  if (in_dataflow_) refuse_in_dataflow(statement.span, "loop.dataflow", "a loop");
  read_loop(statement, LoopText{loop.body, loop.condition.get(), {}, {}, {}, {}});
}

void GraphControl::read_loop(const ast::Statement& statement, LoopText text) {
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
  const std::size_t said_before = context_.diagnostics.all().size();
  const bool unresolved = context_.unresolved;
  const NamesOfBody named(builder_);
  const std::size_t comments_before = block_comments_.size();
  while (!read_loop_body(statement, text, names, types, loop)) {
    // What was said about this body was said with types that do not hold; what lies elsewhere stays.
    loop_types_[&statement] = types;
    bool elsewhere = false;
    if (context_.diagnostics.all().size() != said_before) {
      std::vector<Diagnostic> said = context_.diagnostics.all();
      context_.diagnostics.clear();
      for (std::size_t i = 0; i < said.size(); ++i) {
        const bool late = i >= said_before;
        if (late && said[i].span.begin >= statement.whole.begin && said[i].span.end <= statement.whole.end)
          continue;
        elsewhere |= late && said[i].severity == Severity::Error;
        context_.diagnostics.add(std::move(said[i]));
      }
    }
    context_.unresolved = unresolved || elsewhere;
    builder_.take_blocks();
    named.free();
    block_comments_.resize(comments_before);
  }
  Loop node = loop;
  bool failed = std::any_of(types.begin(), types.end(), [](const Type& type) { return type.is_error(); });
  Expr value = failed ? Expr(std::make_shared<const ExprNode>(
                            ExprNode{statement.span, Type(TypeKind(ErrorType{})), node}))
                      : checked([&] { return loop_expr(std::move(loop), statement.span); }, statement.span,
                                std::move(node));
  bind_results(statement, names, types, value, comments);
}

// Reads condition and body with these types of the carried variables; false when the next values need others,
// which then stand in `types`.
bool GraphControl::read_loop_body(const ast::Statement& statement, const LoopText& text,
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
    if (holes_.any()) holes_.want(condition, tensor_type({}, DType::Bool), "the while", text.condition->span);
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
    Type joined = Type(TypeKind(ErrorType{}));
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
