// Ifs of Relax functions: regions, and the names that come out of them.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "frontend/graph/graph_control.h"
#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/join.h"
#include "ir/rewriting/region_aliases.h"
#include "support/failure.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

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

}  // namespace

const Liveness& GraphControl::liveness() {
  if (!liveness_) liveness_ = std::make_unique<Liveness>(definition_.body);
  return *liveness_;
}

// What the name is just before the statement, as a leaf.
std::optional<Expr> GraphControl::value_before(const std::string& name, Span at) {
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
void GraphControl::bind_results(const ast::Statement& statement, const std::vector<std::string>& names,
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

void GraphControl::read_if(const ast::Statement& statement, const ast::If& branches) {
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
void GraphControl::read_branches(const ast::Statement& statement, const ast::If& branches, std::size_t at) {
  const ast::Branch& branch = branches.branches[at];
  CommentsPtr comments = take_comments(at == 0 ? statement.comments : branch.comments);
  Expr condition = leaf(*branch.condition);
  if (holes_.any()) holes_.want(condition, tensor_type({}, DType::Bool), "the if", branch.condition->span);
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

  bool failed = condition.type().is_error();
  std::vector<std::string> bound;
  std::vector<Type> types;
  for (const BranchResult& result : branch_results(statement, branches, at, then_arm, else_arm)) {
    const std::optional<Type> type = branch_type(statement, result, failed);
    if (!type) continue;
    bound.push_back(result.name);
    SymbolList known;
    known.add_all(determined_);
    types.push_back(without_hidden_symbols(*type, known));
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
    value = Expr(std::make_shared<const ExprNode>(ExprNode{span, Type(TypeKind(ErrorType{})), node}));
  } else {
    value = checked(
        [&] { return if_expr(condition, std::move(then_arm.region), std::move(else_arm.region), span); },
        span, node);
  }
  bind_results(statement, bound, types, value, comments);
}

// What one way through the if makes of the name: its own binding, or what the name was before.
std::optional<Expr> GraphControl::value_in(const Arm& arm, const std::string& name, Span at) {
  const auto found = arm.names.find(name);
  if (found == arm.names.end()) return value_before(name, at);
  auto* bound = std::get_if<Bound>(&found->second.meaning);
  return bound ? std::optional<Expr>(var_ref(bound->var, bound->var.span())) : std::nullopt;
}

// Results are the names that are read later. When there are none, the name that both ways end with is the
// value of the if, read or not: which others are bound besides it must not matter.
std::vector<GraphControl::BranchResult> GraphControl::branch_results(const ast::Statement& statement,
                                                                     const ast::If& branches, std::size_t at,
                                                                     const Arm& then_arm,
                                                                     const Arm& else_arm) {
  std::set<std::string> names;
  for (const Arm* arm : {&then_arm, &else_arm}) {
    for (const auto& [name, entry] : arm->names) names.insert(name);
  }
  const auto find_in = [](const Arm& arm, const std::string& name) -> const Entry* {
    const auto found = arm.names.find(name);
    return found == arm.names.end() ? nullptr : &found->second;
  };
  const bool any_read = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return liveness().read_after(statement, name) && value_in(then_arm, name, statement.span) &&
           value_in(else_arm, name, statement.span);
  });
  const std::string last = any_read ? std::string() : last_of(branches, at);
  constexpr std::uint64_t later = std::numeric_limits<std::uint64_t>::max() / 2;
  std::vector<BranchResult> results;
  for (const std::string& name : names) {
    const Entry *a = find_in(then_arm, name), *b = find_in(else_arm, name);
    RELISH_CHECK(a || b, name);  // one of them has it
    const Span span = (a ? *a : *b).span;
    const bool refused = (a && std::get_if<Refused>(&a->meaning)) || (b && std::get_if<Refused>(&b->meaning));
    if (refused) {
      bind(name, Refused{}, span);
      continue;
    }
    if (!liveness().read_after(statement, name) && name != last) {
      if (!look_up(name)) bind(name, Unavailable{"which is bound inside an if", "it is bound here"}, span);
      continue;
    }
    std::optional<Expr> then_value = value_in(then_arm, name, statement.span),
                        else_value = value_in(else_arm, name, statement.span);
    if (!then_value || !else_value) {
      bind(name,
           Unavailable{"which one way through the if does not bind; bind it in both branches, or before",
                       "it is bound here"},
           span);
      continue;
    }
    const Var* var = (a ? *then_value : *else_value).as_var();
    const std::uint64_t order = a ? var->id() : later + (var ? var->id() : 0);
    results.push_back({order, name, *then_value, *else_value});
  }
  std::sort(results.begin(), results.end(),
            [](const BranchResult& x, const BranchResult& y) { return x.order < y.order; });
  return results;
}

// The type that both ways give; the error type, with `failed` set, where they disagree. Nothing for a name
// that both ways end with but nobody reads, where they disagree.
std::optional<Type> GraphControl::branch_type(const ast::Statement& statement, const BranchResult& result,
                                              bool& failed) {
  Type type = TypeKind(ErrorType{});
  const auto join = [&] {
    type = common_type(result.then_value, result.else_value, fmt::format("'{}'", printable(result.name)),
                       statement.span);
  };
  if (liveness().read_after(statement, result.name)) {
    failed |= !context_.attempt_typed(join);
    return type;
  }
  try {
    join();
  } catch (const Failure&) {
    return std::nullopt;
  }
  return type;
}

}  // namespace relish
