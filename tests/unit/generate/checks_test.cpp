// The checks of generated programs find what they are for: wrong programs and adjoints are held against them.
#include <catch2/catch.hpp>

#include "shell/session.h"
#include "tests/generate/checks.h"
#include "tests/generate/random.h"
#include "tests/generate/reach.h"
#include "tests/generate/values.h"
#include "transform/gradient.h"

namespace relish::generate {
namespace {

ModulePtr module_of(const std::string& body) {
  start_language();
  std::vector<std::string> findings;
  const ModulePtr module = read_back(
      "@I.ir_module\nclass Module:\n    @R.function\n"
      "    def main(x: R.Tensor((3,), \"float64\"), y: R.Tensor((3,), \"float64\")):\n" +
          body,
      "the program", findings);
  REQUIRE(findings == std::vector<std::string>());
  return module;
}

Program program_of(const std::string& body) {
  Program program;
  program.module = module_of(body);
  Random random(5);
  const Type type = tensor_type({Scalar(3)}, DType::Float64);
  program.inputs = {value_of(random, type), value_of(random, type)};
  return program;
}

// What is found when the adjoint of the second program stands for that of the first.
std::vector<std::string> found_with_adjoint_of(const std::string& body, const std::string& other) {
  const Program program = program_of(body);
  Tally tally;
  return adjoint_findings(
      program, std::make_shared<const Module>(gradient(*module_of(other), "main", {{"x", "y"}, {}})), tally);
}

constexpr const char* plain =
    "        a = R.multiply(R.sin(x), y)\n"
    "        b = R.sum(a)\n"
    "        return b\n";

TEST_CASE("a right adjoint is found right") {
  CHECK(found_with_adjoint_of(plain, plain).empty());
  Tally tally;
  CHECK(gradient_findings(program_of(plain), tally).empty());
  CHECK(tally["compared"] == 1);
}

TEST_CASE("a gradient that is zero where differences are not is told by the input's name") {
  const auto findings = found_with_adjoint_of(plain,
                                              "        a = R.multiply(R.sin(x), R.grad.no_grad(y))\n"
                                              "        b = R.sum(a)\n"
                                              "        return b\n");
  REQUIRE(!findings.empty());
  CHECK(findings.back().starts_with("a silent zero: the gradient of 'y'; differences give "));
}

TEST_CASE("a silent zero is found beside a gradient that is a million times larger") {
  const auto findings = found_with_adjoint_of(
      "        a = R.add(R.multiply(x, R.const(1e6, \"float64\")), y)\n        b = R.sum(a)\n        return "
      "b\n",
      "        a = R.add(R.multiply(x, R.const(1e6, \"float64\")), R.grad.no_grad(y))\n"
      "        b = R.sum(a)\n        return b\n");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].starts_with("a silent zero: the gradient of 'y'"));
}

TEST_CASE("a gradient of the wrong size is found") {
  const auto findings = found_with_adjoint_of(plain,
                                              "        a = R.multiply(R.sin(x), R.multiply(y, y))\n"
                                              "        b = R.sum(a)\n"
                                              "        return b\n");
  REQUIRE(!findings.empty());
  CHECK(findings[0].starts_with("slope "));
}

TEST_CASE("an operator is met when the result depends on it") {
  const ModulePtr module = module_of(
      "        unused = R.tan(x)\n"
      "        a = R.ones(R.shape([3]), dtype=\"float64\")\n"
      "        b = R.exp(a)\n"
      "        pair = R.split(R.add(b, R.cos(y)), 3)\n"
      "        c = pair[1]\n"
      "        return c\n");
  CHECK(operators_in_result(*module, false) == std::set<std::string>{"add", "cos", "exp", "ones", "split"});
  CHECK(operators_in_result(*module, true) == std::set<std::string>{"add", "cos", "split"});
}

TEST_CASE("all operators are eligible but those that are left out with a reason") {
  start_language();
  const Eligible all = eligible_operators(false);
  CHECK(all.operators.size() + all.left_out.size() == all_ops().size());
  CHECK(all.left_out.size() == 2);
  for (const Op* op : eligible_operators(true).operators) CHECK(op->vjp);
}

}  // namespace
}  // namespace relish::generate
