// What gradients cost, counted on the IR: operations on floats of the functions after legalizing, over all
// rounds of their loops.
#include <fstream>
#include <sstream>

#include "ir/rewriting/rewrite.h"
#include "tests/unit/transform/helpers.h"
#include "transform/dead_code.h"
#include "transform/derivatives.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

// Operations on floats in the scalar: each of arithmetic, comparison, choice and intrinsics is one.
double operations(const Scalar& scalar) {
  double count = 0;
  for_each_scalar(scalar, [&](const Scalar& each) {
    const bool counts = each.as<Binary>() || each.as<IntrinsicCall>() || each.as<Select>();
    if (counts && is_float(each.dtype())) ++count;
  });
  return count;
}

double operations(const Stmt& stmt) {
  if (!stmt.defined()) return 0;
  if (const auto* node = stmt.as<SeqStmt>()) {
    double sum = 0;
    for (const Stmt& each : node->body) sum += operations(each);
    return sum;
  }
  if (const auto* node = stmt.as<For>())
    return static_cast<double>(node->extent.as_int().value()) * operations(node->body);
  if (const auto* node = stmt.as<BlockStmt>()) return operations(node->body);
  if (const auto* node = stmt.as<IfStmt>()) return operations(node->then_body) + operations(node->else_body);
  if (const auto* node = stmt.as<Store>()) return operations(node->value);
  return 0;
}

double operations(const Module& module, const std::string& function) {
  const Module loops = legalize(module);
  double sum = 0;
  for_each_expr(*loops.function(function), [&](const Expr& expr) {
    if (const auto* call = expr.as<CallTir>())
      sum += operations(loops.prim_func(call->callee.as<GlobalRef>()->name)->body);
  });
  return sum;
}

// The declarations of a file, without the statements behind them.
ModulePtr declarations_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::stringstream text;
  std::string line;
  for (bool inside = true; inside && std::getline(file, line);) {
    inside = line.empty() || line[0] == ' ' || line[0] == '#' || line[0] == '@' || line.starts_with("class");
    if (inside) text << line << "\n";
  }
  return read(text.str());
}

}  // namespace

TEST_CASE("the way back costs at most three times the way there") {
  const std::pair<const char*, const char*> workloads[] = {{"bench/w2.relish", "many"},
                                                           {"bench/w3.relish", "main"},
                                                           {"bench/w4.relish", "main"},
                                                           {"bench/w5.relish", "main"},
                                                           {"bench/w6.relish", "main"}};
  for (const auto& [path, function] : workloads) {
    CAPTURE(path);
    const ModulePtr module = declarations_of(path);
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
    CHECK(both - ahead <= 3 * ahead);
    CHECK(both <= 3.4 * ahead);
  }
}
