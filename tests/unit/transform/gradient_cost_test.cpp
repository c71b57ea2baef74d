// What gradients cost, counted on the IR: operations on floats of the functions after legalizing, over all
// rounds of their loops, where they are computed. A convolution at a border, or one backwards with strides,
// has terms that a condition leaves out, most of them in some gradients: counting these would ask for twice
// as much work as there is, so the conditions are evaluated, over all values of the loops in them; a term
// that is left out of a sum is no operation either. What data decide counts as if it held. The counter is
// held to numbers by hand below, as what it says of models cannot be seen.
#include <functional>
#include <unordered_map>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "tests/unit/benchmark_module.h"
#include "tests/unit/transform/helpers.h"
#include "transform/dead_code.h"
#include "transform/derivatives.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

using Domains = std::unordered_map<std::uint64_t, std::pair<std::int64_t, std::int64_t>>;  // begin, extent

// In how many of the iterations the condition holds, as a share; 1 where data decide.
double share_of_part(const Scalar& condition, const std::vector<ScalarVar>& vars, const Domains& domains) {
  std::unordered_map<std::uint64_t, std::int64_t> at;
  std::int64_t held = 0, all = 0;
  bool known = true;
  const std::function<void(std::size_t)> go = [&](std::size_t k) {
    if (k == vars.size()) {
      const auto value =
          evaluate_int(condition, [&](const ScalarVar& var) { return std::optional(at.at(var.id())); });
      known = known && value;
      held += value.value_or(0) != 0;
      ++all;
      return;
    }
    const auto [begin, extent] = domains.at(vars[k].id());
    for (at[vars[k].id()] = begin; known && at[vars[k].id()] < begin + extent; ++at[vars[k].id()]) go(k + 1);
  };
  go(0);
  return known && all > 0 ? static_cast<double>(held) / static_cast<double>(all) : 1;
}

void split(const Scalar& condition, std::vector<Scalar>& into) {
  const auto* both = condition.as<Logical>();
  if (!both || both->op != LogicalOp::And) return into.push_back(condition);
  split(both->a, into);
  split(both->b, into);
}

// Of all conditions together: those that share variables are counted out side by side.
double share_of(const std::vector<Scalar>& conditions, const Domains& domains) {
  std::vector<std::pair<Scalar, std::vector<ScalarVar>>> groups;
  for (const Scalar& condition : conditions) {
    std::vector<Scalar> parts;
    split(condition, parts);
    for (Scalar& part : parts) {
      std::vector<ScalarVar> vars;
      collect_vars(part, vars);
      for (auto it = groups.begin(); it != groups.end();) {
        const bool shared = std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
          return std::find(it->second.begin(), it->second.end(), var) != it->second.end();
        });
        if (!shared) {
          ++it;
          continue;
        }
        part = logical(LogicalOp::And, it->first, part);
        for (const ScalarVar& var : it->second)
          if (std::find(vars.begin(), vars.end(), var) == vars.end()) vars.push_back(var);
        it = groups.erase(it);
      }
      groups.emplace_back(part, vars);
    }
  }
  double share = 1;
  for (const auto& [condition, vars] : groups) {
    const bool counted = std::all_of(vars.begin(), vars.end(),
                                     [&](const ScalarVar& var) { return domains.contains(var.id()); });
    if (counted) share *= share_of_part(condition, vars, domains);
  }
  return share;
}

bool is_zero(const Scalar& value) {
  const auto* number = value.as<FloatLiteral>();
  return number && number->value == 0;
}

// Operations on floats in the scalar: each of arithmetic, choice and intrinsics is one, where it is computed;
// what T.if_then_else leaves out of a sum is none.
double operations(const Scalar& scalar, std::vector<Scalar>& conditions, const Domains& domains) {
  if (!scalar.defined() || scalar.as<Load>()) return 0;
  const auto under = [&](const Scalar& condition, const Scalar& side, double more) {
    conditions.push_back(condition);
    const double sum = operations(side, conditions, domains) + more * share_of(conditions, domains);
    conditions.pop_back();
    return sum;
  };
  if (const auto* choice = scalar.as<Select>(); choice && choice->lazy)
    return under(choice->condition, choice->a, 0) + under(logical_not(choice->condition), choice->b, 0);
  const auto* sum = scalar.as<Binary>();
  const auto* term = sum && sum->op == BinaryOp::Add ? sum->b.as<Select>() : nullptr;
  if (term && term->lazy && is_zero(term->b))
    return operations(sum->a, conditions, domains) + under(term->condition, term->a, 1);
  const bool counts = scalar.as<Binary>() || scalar.as<IntrinsicCall>() || scalar.as<Select>();
  double count = counts && is_float(scalar.dtype()) ? share_of(conditions, domains) : 0;
  for_each_operand(scalar, [&](const Scalar& operand) { count += operations(operand, conditions, domains); });
  return count;
}

double operations(const Stmt& stmt, Domains& domains) {
  if (!stmt.defined()) return 0;
  if (const auto* node = stmt.as<SeqStmt>()) {
    double sum = 0;
    for (const Stmt& each : node->body) sum += operations(each, domains);
    return sum;
  }
  if (const auto* node = stmt.as<For>()) {
    domains[node->var.id()] = {node->begin.as_int().value(), node->extent.as_int().value()};
    return static_cast<double>(*node->extent.as_int()) * operations(node->body, domains);
  }
  if (const auto* node = stmt.as<BlockStmt>()) {
    for (const IterVar& iter : node->iters)
      if (iter.begin.as_int() && iter.extent.as_int())
        domains[iter.var.id()] = {*iter.begin.as_int(), *iter.extent.as_int()};
    return operations(node->body, domains);
  }
  if (const auto* node = stmt.as<IfStmt>())
    return operations(node->then_body, domains) + operations(node->else_body, domains);
  std::vector<Scalar> conditions;
  if (const auto* node = stmt.as<Store>()) return operations(node->value, conditions, domains);
  return 0;
}

double operations(const Module& module, const std::string& function) {
  const Module loops = legalize(module);
  double sum = 0;
  std::unordered_map<std::string, double> counted;  // by prim_func
  for_each_expr(*loops.function(function), [&](const Expr& expr) {
    const auto* call = expr.as<CallTir>();
    if (!call) return;
    const std::string& name = call->callee.as<GlobalRef>()->name;
    const auto [known, first] = counted.try_emplace(name, 0);
    if (first) {
      Domains domains;
      known->second = operations(loops.prim_func(name)->body, domains);
    }
    sum += known->second;
  });
  return sum;
}

// Operations of the function and of its gradient by that parameter, without the way there.
std::pair<double, double> counted(const ModulePtr& module, const std::string& wrt) {
  DerivativeOptions options;
  options.wrt = {wrt};
  const double ahead = operations(*module, "main");
  const Module both = eliminate_dead_code(vjp(*module, "main", options));
  return {ahead, operations(both, "main_vjp") - ahead};
}

}  // namespace

TEST_CASE("operations are counted where they are computed") {
  // Along an axis of four elements behind one of padding, three taps of stride 1 meet 2 + 3 + 3 + 2 elements,
  // those of stride 2 meet 2 + 3. Each meeting is a product and a sum, in the value and in both gradients.
  const auto convolution = [](const char* strides, const char* size) {
    return read(fmt::format(R"(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((1, 1, 4, 4), "float32"), w: R.Tensor((1, 1, 3, 3), "float32")) -> R.Tensor((1, 1, {1}, {1}), "float32"):
        y = R.nn.conv2d(x, w, strides={0}, padding=1)
        return y
)",
                            strides, size));
  };
  for (const char* wrt : {"x", "w"}) {
    CAPTURE(wrt);
    CHECK(counted(convolution("1", "4"), wrt) == std::pair<double, double>(2 * 10 * 10, 2 * 10 * 10));
    CHECK(counted(convolution("2", "2"), wrt) == std::pair<double, double>(2 * 5 * 5, 2 * 5 * 5));
  }
  const ModulePtr product = read(R"(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((5, 3), "float32"), w: R.Tensor((3, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        y = R.matmul(x, w)
        return y
)");
  for (const char* wrt : {"x", "w"})
    CHECK(counted(product, wrt) == std::pair<double, double>(2 * 5 * 3 * 7, 2 * 5 * 3 * 7));
}

// With the way there, and of a contraction in which both factors have a gradient that is just three times its
// own. What else a model computes has to fit into the gradient of its data, which nobody asks for.
TEST_CASE("an adjoint with what it is the adjoint of costs at most three times that") {
  struct Workload {
    const char *path, *function;
  };
  const Workload workloads[] = {{"bench/w2.relish", "many"},
                                {"bench/w3.relish", "main"},
                                {"bench/w4.relish", "main"},
                                {"bench/w5.relish", "main"},
                                {"bench/w6.relish", "main"}};
  for (const auto& [path, function] : workloads) {
    CAPTURE(path);
    const ModulePtr module = benchmark_module(path);
    DerivativeOptions options;  // the parameters; nobody asks for the gradient of the data
    const FunctionPtr source = module->function(function);
    for (std::size_t i = 1; i < source->params.size(); ++i)
      if (source->params[i].name() != "targets") options.wrt.push_back(source->params[i].name());
    const double ahead = operations(*module, function);
    const double both =
        operations(eliminate_dead_code(vjp(*module, function, options)), std::string(function) + "_vjp");
    CAPTURE(ahead, both, both / ahead);
    REQUIRE(ahead > 1e5);
    CHECK(both > 2 * ahead);
    CHECK(both <= 3 * ahead);
  }
}
