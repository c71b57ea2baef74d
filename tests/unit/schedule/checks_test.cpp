// Calls and nests with checks: what becomes of them when they are fused, and that a program that fails tells
// the same fault as before, in both tiers.
#include <fmt/format.h>

#include "ir/verify/verify.h"
#include "schedule/fusion/fuse.h"
#include "stdlib/stdlib.h"
#include "support/failure.h"
#include "tests/unit/schedule/helpers.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

// A prim_func that copies 8 numbers, each of which has to be less than the limit.
std::string less_than(const std::string& name, int limit) {
  return fmt::format(
      "    @T.prim_func(private=True)\n"
      "    def {0}(x: T.Buffer((8,), \"float32\"), y: T.Buffer((8,), \"float32\")):\n"
      "        for i in range(8):\n"
      "            with T.block(\"check\"):\n"
      "                v = T.axis.spatial(8, i)\n"
      "                assert x[v] < T.float32({1}), \"{0}\"\n"
      "        for i in range(8):\n"
      "            with T.block(\"copy\"):\n"
      "                v = T.axis.spatial(8, i)\n"
      "                y[v] = x[v] + T.float32(0.5)\n",
      name, limit);
}

ModulePtr module_of(const std::string& params, const std::string& body, const std::string& functions = {}) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  return read_module("test.relish", fmt::format("@I.ir_module\nclass M:\n    @R.function\n    def main({}):\n"
                                                "        cls = M\n{}{}",
                                                params, body, functions));
}

// Two that check, and a body of calls of 8 numbers x.
ModulePtr module_of_checks(const std::string& body) {
  return module_of("x: R.Tensor((8,), \"float32\"), t: R.Tensor((8,), \"int64\")", body,
                   less_than("five", 5) + less_than("nine", 9));
}
std::string call_of(const std::string& result, const std::string& callee, const std::string& arg) {
  return fmt::format("        {} = R.call_tir(cls.{}, ({},), R.Tensor((8,), \"float32\"))\n", result, callee,
                     arg);
}

int calls_in(const Module& module) {
  int calls = 0;
  for_each_expr(*module.function("main"), [&](const Expr& expr) { calls += expr.as<CallTir>() != nullptr; });
  return calls;
}

std::vector<std::string> messages_in(const PrimFunc& function) {
  std::vector<std::string> messages;
  for (const auto* check : all_of<AssertStmt>(function)) messages.push_back(check->message);
  return messages;
}

Value eight(std::int64_t first, DType dtype = DType::Float32) {
  Tensor tensor = Tensor::empty(dtype, {8});
  for (std::int64_t i = 0; i < 8; ++i) tensor.set_double(i, static_cast<double>(first + i % 2));
  return Value(tensor);
}

std::string told(Evaluator& evaluator, const ModulePtr& module, const std::vector<Value>& args) {
  try {
    evaluator.call(module, "main", args);
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    return fmt::format("{}: {} [{}]", first.span.begin, first.message, first.id);
  }
  return "nothing";
}

// What the interpreter tells of the program as it is written; compiled code tells the same.
std::string told_in_both_tiers(const ModulePtr& module, const std::vector<Value>& args) {
  const std::string wanted = told(*make_interpreter(), module, args);
  for (const int threads : {1, 2}) CHECK(told(*make_jit({.threads = threads}), module, args) == wanted);
  return wanted;
}

bool tells(const ModulePtr& module, const std::vector<Value>& args, const std::string& words) {
  const std::string found = told_in_both_tiers(module, args);
  INFO(found);
  return found.find(words) != std::string::npos;
}

const std::string loss_params =
    "g: R.Tensor((), \"float32\"), y: R.Tensor((\"n\", 6), \"float32\"), t: R.Tensor((\"n\",), \"int64\")";
const std::string gradient_of_loss =
    "        a = R.grad.nll_loss_backward(g, y, t, reduction=\"mean\")\n"
    "        s = R.sum(a, axis=[-1], keepdims=True)\n"
    "        e = R.exp(y)\n"
    "        m = R.multiply(s, e)\n"
    "        d = R.subtract(a, m)\n"
    "        return d\n";

}  // namespace

TEST_CASE("checks: the gradient of a cross-entropy is one kernel of one loop over rows") {
  const ModulePtr module = module_of(loss_params, gradient_of_loss);
  const Module fused = fuse(legalize(*module));
  CHECK(calls_in(fused) == 1);
  const PrimFuncPtr kernel = fused.prim_func("fused_nll_loss_backward_sum_exp_multiply");
  REQUIRE(kernel != nullptr);
  std::vector<std::string> names;
  for (const auto* block : all_of<BlockStmt>(*kernel)) names.push_back(block->name);
  CHECK(names ==
        std::vector<std::string>{"check", "counted_init", "counted", "each", "row", "sum", "elementwise"});
  CHECK(messages_in(*kernel).size() == 1);
  // Nothing of a row of classes is stored but the result.
  for (const Buffer& buffer : kernel->allocations) CHECK(buffer.rank() == 0);
  CHECK(print(*read_module("again.relish", print(fused))) == print(fused));

  for (const std::int64_t n : {1, 7, 40}) {
    Tensor targets = Tensor::empty(DType::Int64, {n});
    for (std::int64_t i = 0; i < n; ++i) targets.set_int(i, i % 5 == 4 ? -100 : i % 6);
    const std::vector<Value> args{small_numbers(DType::Float32, {}, 3),
                                  small_numbers(DType::Float32, {n, 6}, 3), Value(targets)};
    const Tensor wanted = make_interpreter()->call(module, "main", args).tensor();
    const Tensor found = make_jit({.threads = 2})->call(module, "main", args).tensor();
    const Tensor by_text =
        make_interpreter()->call(std::make_shared<const Module>(fused), "main", args).tensor();
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      REQUIRE(found.get_double(i) == Approx(wanted.get_double(i)).margin(1e-6));
      REQUIRE(by_text.get_double(i) == Approx(wanted.get_double(i)).margin(1e-6));
    }
    targets.set_int(n - 1, 6);
    CHECK(tells(module, args, fmt::format("target 6 at [{}] of targets", n - 1)));
  }
}

TEST_CASE("checks: a call with checks is one with what reads it, and its fault is told as before") {
  const ModulePtr module = module_of_checks(call_of("a", "five", "x") + "        b = R.exp(a)\n" +
                                            "        c = R.multiply(x, x)\n        return R.add(b, c)\n");
  CHECK(calls_in(fuse(legalize(*module))) == 1);
  CHECK(tells(module, {eight(4), eight(0, DType::Int64)}, "assertion failed: five"));
  CHECK(told_in_both_tiers(module, {eight(3), eight(0, DType::Int64)}) == "nothing");
}

TEST_CASE("checks: a check is not moved behind what may fail, too") {
  const auto fused_calls = [](const ModulePtr& module) { return calls_in(fuse(legalize(*module))); };
  const Value good = eight(0, DType::Int64), bad = eight(8, DType::Int64);
  const std::string five = call_of("a", "five", "x"), nine = call_of("b", "nine", "x");
  const std::string ends = "        c = R.exp(a)\n        return R.add(c, b)\n";
  SECTION("another check") {
    const ModulePtr module = module_of_checks(five + nine + ends);
    // The reader is one with the last of the two.
    CHECK(fused_calls(module) == 2);
    CHECK(tells(module, {eight(9), good}, "five"));
    const ModulePtr turned = module_of_checks(nine + five + ends);
    CHECK(tells(turned, {eight(9), good}, "nine"));
    CHECK(tells(turned, {eight(6), good}, "five"));
  }
  SECTION("an access that may be out of range") {
    const std::string take = "        b = R.take(x, t, axis=0)\n";
    const ModulePtr module = module_of_checks(five + take + ends);
    // Behind its check a row number is one of the tensor's: the access itself cannot fail.
    CHECK(fused_calls(module) == 2);
    CHECK(tells(module, {eight(9), bad}, "five"));
    CHECK(tells(module, {eight(1), bad}, "index 8 at [0] of indices"));
    const ModulePtr before = module_of_checks(take + five + ends);
    CHECK(fused_calls(before) == 2);
    CHECK(tells(before, {eight(9), bad}, "index 8 at [0] of indices"));
    CHECK(tells(before, {eight(9), good}, "five"));
    const ModulePtr behind = module_of_checks(
        five + "        c = R.exp(a)\n        d = R.take(x, t, axis=0)\n        return R.add(c, d)\n");
    CHECK(tells(behind, {eight(9), bad}, "five"));
  }
  SECTION("a branch") {
    const std::string branch =
        "        if R.less(R.sum(x), R.const(1000.0, \"float32\")):\n            b = R.take(x, t, axis=0)\n"
        "        else:\n            b = x\n";
    const ModulePtr module = module_of_checks(five + branch + ends);
    CHECK(tells(module, {eight(9), bad}, "five"));
  }
  SECTION("a size that does not fit") {
    const std::string params = "x: R.Tensor(ndim=1, dtype=\"float32\"), y: R.Tensor((8,), \"float32\")";
    const ModulePtr module = module_of(
        params,
        call_of("a", "five", "y") + "        b = R.match_cast(x, R.Tensor((8,), \"float32\"))\n" + ends,
        less_than("five", 5));
    CHECK(fused_calls(module) == 2);
    CHECK(tells(module, {small_numbers(DType::Float32, {7}, 1), eight(9)}, "five"));
  }
}

TEST_CASE("checks: what a check is told of is there where it fails") {
  const std::string params =
      "g: R.Tensor((8,), \"float32\"), y: R.Tensor((8, 6), \"float32\"), t: R.Tensor((8,), \"int64\")";
  const std::vector<Value> args{eight(1), small_numbers(DType::Float32, {8, 6}, 3), eight(5, DType::Int64)};
  const std::string words = "target 6 at [1] of targets";
  // Both arguments are made by calls that could be one with it, or with what reads it.
  CHECK(tells(module_of(params,
                        "        h = R.multiply(g, g)\n        u = R.add(t, R.const(0, \"int64\"))\n"
                        "        a = R.grad.nll_loss_backward(h, y, u, reduction=\"none\")\n"
                        "        return R.exp(a)\n"),
              args, words));
  CHECK(tells(module_of(params,
                        "        h = R.multiply(g, g)\n        q = R.reshape(R.exp(h), (8, 1))\n"
                        "        a = R.grad.nll_loss_backward(h, y, t, reduction=\"none\")\n"
                        "        return R.add(R.exp(a), q)\n"),
              args, words));
  // A copy that several read.
  CHECK(tells(module_of("g: R.Tensor((8,), \"float32\"), y: R.Tensor((8, 6), \"float32\"), "
                        "t: R.Tensor((2, 4), \"int64\")",
                        "        u = R.reshape(t, (8,))\n"
                        "        a = R.grad.nll_loss_backward(g, y, u, reduction=\"none\")\n"
                        "        return R.add(R.exp(a), R.reshape(R.astype(u, \"float32\"), (8, 1)))\n"),
              {args[0], args[1], Value([] {
                 Tensor tensor = Tensor::empty(DType::Int64, {2, 4});
                 for (std::int64_t i = 0; i < 8; ++i) tensor.set_int(i, 5 + i % 2);
                 return tensor;
               }())},
              words));
}

TEST_CASE("checks: the checks of one function keep their order and stay behind what they read") {
  const ModulePtr module = module_of(
      "x: R.Tensor((8,), \"float32\"), k: R.Tensor((), \"float32\")",
      "        a = R.call_tir(cls.f, (x, k), R.Tensor((8,), \"float32\"))\n        return R.exp(a)\n",
      "    @T.prim_func(private=True)\n"
      "    def f(x: T.Buffer((8,), \"float32\"), k: T.Buffer((), \"float32\"), y: T.Buffer((8,), \"float32\")):\n"
      "        s = T.alloc_buffer((8,))\n"
      "        for i in range(T.int64(8)):\n"
      "            with T.block(\"s\"):\n"
      "                v = T.axis.spatial(T.int64(8), i)\n"
      "                s[v] = T.exp(x[v]) / x[v]\n"
      "        for i in range(T.int64(8)):\n"
      "            with T.block(\"all\"):\n"
      "                v = T.axis.spatial(T.int64(8), i)\n"
      "                assert s[v] < T.float32(3), \"all\"\n"
      "        # of one number\n"
      "        assert k[()] < T.float32(3), \"one\"\n"
      "        for i in range(T.int64(8)):\n"
      "            with T.block(\"again\"):\n"
      "                v = T.axis.spatial(T.int64(8), i)\n"
      "                assert x[v] + k[()] < T.float32(3), \"again\"\n"
      "        for i in range(T.int64(8)):\n"
      "            with T.block(\"y\"):\n"
      "                v = T.axis.spatial(T.int64(8), i)\n"
      "                y[v] = s[v] + x[v]\n");
  const Module fused = fuse(legalize(*module));
  CHECK(calls_in(fused) == 1);
  const PrimFuncPtr kernel = fused.prim_func("fused_f_exp");
  REQUIRE(kernel != nullptr);
  CHECK(messages_in(*kernel) == std::vector<std::string>{"all", "one", "again"});
  const std::string text = print(*fused.prim_func("fused_f_exp"));
  INFO(text);
  CHECK(text.find("# of one number") != std::string::npos);
  CHECK(text.find("s[v_1] =") < text.find("\"all\""));
  const auto number = [](double value) { return Value(Tensor::scalar(DType::Float32, value)); };
  CHECK(tells(module, {eight(4), number(4)}, "all"));
  CHECK(tells(module, {eight(1), number(4)}, "all"));
  // Element by element, "again" would fail first.
  CHECK(tells(module, {eight(1), number(2)}, "all"));
  Tensor small = Tensor::empty(DType::Float32, {8});
  for (std::int64_t i = 0; i < 8; ++i) small.set_double(i, 1);
  CHECK(tells(module, {Value(small), number(4)}, "one"));
  CHECK(tells(module, {Value(small), number(2)}, "again"));
  CHECK(told_in_both_tiers(module, {Value(small), number(1)}) == "nothing");
}

TEST_CASE("checks: rows are not checked one after the other by two checks") {
  const ModulePtr module = module_of(
      "x: R.Tensor((9, 6), \"float32\")",
      "        a = R.call_tir(cls.f, (x,), R.Tensor((9, 6), \"float32\"))\n        return R.exp(a)\n",
      "    @T.prim_func(private=True)\n"
      "    def f(x: T.Buffer((9, 6), \"float32\"), y: T.Buffer((9, 6), \"float32\")):\n"
      "        s = T.alloc_buffer((9,))\n"
      "        for i, j in T.grid(T.int64(9), T.int64(6)):\n"
      "            assert x[i, j] < T.float32(5), \"five\"\n"
      "        for i, j in T.grid(T.int64(9), T.int64(6)):\n"
      "            with T.block(\"s\"):\n"
      "                vi, vj = T.axis.remap(\"SR\", [i, j])\n"
      "                with T.init():\n"
      "                    s[vi] = T.float32(0)\n"
      "                s[vi] = s[vi] + x[vi, vj]\n"
      "        for i in range(T.int64(9)):\n"
      "            assert s[i] < T.float32(20), \"twenty\"\n"
      "        for i, j in T.grid(T.int64(9), T.int64(6)):\n"
      "            y[i, j] = x[i, j] - s[i]\n");
  CHECK(calls_in(fuse(legalize(*module))) == 1);
  Tensor x = Tensor::zeros(DType::Float32, {9, 6});
  for (std::int64_t j = 0; j < 6; ++j) x.set_double(j, 4);
  CHECK(tells(module, {Value(x)}, "twenty"));
  x.set_double(50, 5);
  CHECK(tells(module, {Value(x)}, "five"));
}

TEST_CASE("checks: a condition that may fail itself keeps its function as it is") {
  const auto calls = [](const std::string& condition) {
    return calls_in(fuse(legalize(*module_of(
        "x: R.Tensor((8,), \"float32\"), t: R.Tensor((8,), \"int64\")",
        "        a = R.call_tir(cls.f, (x, t), R.Tensor((8,), \"float32\"))\n        return R.exp(a)\n",
        "    @T.prim_func(private=True)\n"
        "    def f(x: T.Buffer((8,), \"float32\"), t: T.Buffer((8,), \"int64\"), y: T.Buffer((8,), \"float32\")):\n"
        "        for i in range(8):\n"
        "            assert " +
            condition +
            ", \"f\"\n"
            "        for i in range(8):\n"
            "            y[i] = x[i]\n"))));
  };
  CHECK(calls("x[i] < T.float32(3)") == 1);
  CHECK(calls("x[t[i]] < T.float32(3)") == 2);
  CHECK(calls("T.int64(8) // t[i] > T.int64(1)") == 2);
}

TEST_CASE("checks: what is taken of several results, and sums that are shared, leave checks where they are") {
  const std::string two =
      "    @T.prim_func(private=True)\n"
      "    def two(x: T.Buffer((8,), \"float32\"), y: T.Buffer((8,), \"float32\"), z: T.Buffer((8,), \"float32\")):\n"
      "        for i in range(8):\n"
      "            assert x[i] < T.float32(3), \"two\"\n"
      "        for i in range(8):\n"
      "            y[i] = x[i]\n"
      "        for i in range(8):\n"
      "            z[i] = x[i] + T.float32(1)\n";
  const ModulePtr taken = module_of(
      "x: R.Tensor((8,), \"float32\")",
      "        a = R.call_tir(cls.two, (x,), [R.Tensor((8,), \"float32\"), R.Tensor((8,), \"float32\")])\n"
      "        return R.exp(a[1])\n",
      two);
  CHECK(tells(taken, {eight(2)}, "two"));
  // The squares of the norm are only there for its sum, which another call takes, too.
  const std::string checked =
      "    @T.prim_func(private=True)\n"
      "    def square(x: T.Buffer((32, 64), \"float32\"), y: T.Buffer((32, 64), \"float32\")):\n"
      "        for i, j in T.grid(32, 64):\n"
      "            assert x[i, j] < T.float32(3), \"square\"\n"
      "        for i, j in T.grid(32, 64):\n"
      "            y[i, j] = x[i, j] * x[i, j]\n";
  const ModulePtr shared =
      module_of("x: R.Tensor((32, 64), \"float32\")",
                "        a = R.call_tir(cls.square, (x,), R.Tensor((32, 64), \"float32\"))\n"
                "        b = R.sum(a, axis=[1], keepdims=True)\n"
                "        c = R.call_tir(cls.square, (x,), R.Tensor((32, 64), \"float32\"))\n"
                "        d = R.sum(c, axis=[1], keepdims=True)\n"
                "        return (R.divide(x, b), R.sort(R.subtract(x, d)))\n",
                checked);
  std::size_t checks = 0;
  const Module fused = fuse(legalize(*shared));
  for_each_expr(*fused.function("main"), [&](const Expr& expr) {
    const auto* call = expr.as<CallTir>();
    if (call) checks += messages_in(*fused.prim_func(call->callee.as<GlobalRef>()->name)).size();
  });
  CHECK(checks == 2);
  CHECK(tells(shared, {small_numbers(DType::Float32, {32, 64}, 3)}, "square"));
}
