// Sums that several calls take: taken once where they are the same, and everything else left as it is.
#include "schedule/fusion/shared_sums.h"

#include <fmt/format.h>

#include <cmath>

#include "interp/interpreter.h"
#include "ir/verify/verify.h"
#include "schedule/fusion/fuse.h"
#include "stdlib/stdlib.h"
#include "tests/unit/loops/helpers.h"
#include "transform/gradient.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

constexpr const char* norm_params =
    "x: R.Tensor((4, 3, 6, 5), \"float32\"), g: R.Tensor((3,), \"float32\"), b: R.Tensor((3,), \"float32\"), "
    "m: R.Tensor((3,), \"float32\"), v: R.Tensor((3,), \"float32\")";
constexpr const char* norm = "        n = R.nn.batch_norm(x, g, b, m, v, axis=1, training=True)\n";
// Mean and variance again, by other operators.
constexpr const char* statistics =
    "        mean = R.mean(x, axis=[0, 2, 3], keepdims=True)\n"
    "        d = R.subtract(x, mean)\n"
    "        s = R.multiply(d, d)\n"
    "        variance = R.mean(s, axis=[0, 2, 3], keepdims=True)\n";

ModulePtr with_body(const std::string& params, const std::string& body, bool pure = true) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  return read_module("test.relish",
                     fmt::format("@I.ir_module\nclass M:\n    @R.function{}\n    def main({}):\n{}",
                                 pure ? "" : "(pure=False)", params, body));
}

// Blocks that begin with a first value, in what each call of the function runs.
int sums_in(const Module& module, const std::string& name) {
  int sums = 0;
  for_each_expr(*module.function(name), [&](const Expr& expr) {
    const auto* call = expr.as<CallTir>();
    if (!call) return;
    for (const auto* block : all_of<BlockStmt>(*module.prim_func(call->callee.as<GlobalRef>()->name)))
      sums += block->init.defined();
  });
  return sums;
}

Value numbers(const std::vector<std::int64_t>& shape, int seed) {
  Tensor tensor = Tensor::empty(DType::Float32, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_double(i, 1.5 + std::sin(static_cast<double>(i * 7 + seed)));
  return Value(tensor);
}

std::vector<Value> norm_values() {
  std::vector<Value> args{numbers({4, 3, 6, 5}, 1)};
  for (int i = 0; i < 4; ++i) args.push_back(numbers({3}, 2 + i));
  return args;
}

void check_near(const Value& found, const Value& wanted) {
  if (wanted.is_tuple()) {
    REQUIRE(found.fields().size() == wanted.fields().size());
    for (std::size_t i = 0; i < wanted.fields().size(); ++i)
      check_near(found.fields()[i], wanted.fields()[i]);
    return;
  }
  const Tensor &a = found.tensor(), &b = wanted.tensor();
  REQUIRE(a.shape() == b.shape());
  for (std::int64_t i = 0; i < a.size(); ++i)
    REQUIRE(std::abs(a.get_double(i) - b.get_double(i)) <= 1e-4 * (1 + std::abs(b.get_double(i))));
}

// The sums that are taken when calls are handed them. The module computes the same, and so does what is
// fused.
int shared_sums(const ModulePtr& module, const std::vector<Value>& args, const std::string& name = "main") {
  const auto before = std::make_shared<const Module>(legalize(*module));
  const auto after = std::make_shared<const Module>(with_shared_sums(*before));
  INFO(print(*after));
  CHECK_NOTHROW(verify_after(*after, "shared sums"));
  CHECK(print(*read_module("again.relish", print(*after))) == print(*after));
  if (!args.empty()) {
    const Value wanted = make_interpreter()->call(before, name, args);
    check_near(make_interpreter()->call(after, name, args), wanted);
    check_near(make_interpreter()->call(std::make_shared<const Module>(fuse(*before)), name, args), wanted);
  }
  return sums_in(*after, name);
}

}  // namespace

TEST_CASE("shared sums: statistics of a norm that other operators take again") {
  const ModulePtr both = with_body(
      norm_params, std::string(norm) + statistics + "        return (n[0], mean, R.sqrt(variance))\n");
  CHECK(shared_sums(both, norm_values()) == 2);
  // What made the second sum's terms is not computed any more.
  const Module after = with_shared_sums(legalize(*both));
  CHECK(after.prim_func("multiply") == nullptr);
  CHECK(after.prim_func("subtract") == nullptr);
  // Unless somebody else reads it.
  CHECK(with_shared_sums(legalize(*with_body(norm_params, std::string(norm) + statistics +
                                                              "        return (n[0], variance, s)\n")))
            .prim_func("multiply") != nullptr);
  // All results of the norm, one of which its own sums are made of.
  CHECK(shared_sums(with_body(norm_params, std::string(norm) + statistics +
                                               "        return (n[0], n[1], n[2], variance)\n"),
                    norm_values()) == 2);
  // The other way round, the norm takes them from the operators.
  CHECK(shared_sums(
            with_body(norm_params, std::string(statistics) + norm + "        return (n[0], variance)\n"),
            norm_values()) == 2);
}

TEST_CASE("shared sums: a norm's gradient has two sums of its own left") {
  const ModulePtr module =
      with_body(norm_params,
                std::string(norm) + "        y = R.nn.relu(n[0])\n        return R.sum(R.multiply(y, y))\n");
  const auto made = std::make_shared<const Module>(gradient(*module, "main"));
  CHECK(shared_sums(made, norm_values(), "main_adjoint") == 5);
}

TEST_CASE("shared sums: other terms, axes, first numbers, and sums between which something has effects") {
  const auto two = [](const std::string& a, const std::string& b, const std::string& shape = "(4, 3, 6)",
                      const std::string& between = "") {
    return shared_sums(
        with_body("x: R.Tensor(" + shape + ", \"float32\"), y: R.Tensor(" + shape + ", \"float32\")",
                  "        a = " + a + "\n" + between + "        b = " + b +
                      "\n        return (R.nn.relu(a), R.negative(b))\n",
                  between.empty()),
        shape == "(4, 3, 6)" ? std::vector<Value>{numbers({4, 3, 6}, 1), numbers({4, 3, 6}, 2)}
                             : std::vector<Value>{});
  };
  CHECK(two("R.sum(x, axis=[0, 2])", "R.sum(x, axis=[0, 2])") == 1);
  CHECK(two("R.sum(x, axis=[0, 2])", "R.mean(x, axis=[0, 2], keepdims=True)") == 1);
  CHECK(two("R.sum(R.exp(x), axis=[0, 2])", "R.sum(R.exp(x), axis=[0, 2])") == 1);
  CHECK(two("R.sum(x, axis=[0, 2])", "R.sum(y, axis=[0, 2])") == 2);
  CHECK(two("R.sum(R.exp(x), axis=[0, 2])", "R.sum(x, axis=[0, 2])") == 2);
  CHECK(two("R.sum(x, axis=[0, 2])", "R.sum(x, axis=[0, 1])") == 2);
  CHECK(two("R.sum(x, axis=[0, 2])", "R.max(x, axis=[0, 2])") == 2);
  // Few terms, many sums.
  CHECK(two("R.sum(x, axis=[0, 1])", "R.sum(x, axis=[0, 1])", "(5, 3, 6)") == 2);
  CHECK(two("R.sum(x, axis=[0, 1])", "R.sum(x, axis=[0, 1])", "(4, 4, 6)") == 1);
  CHECK(two("R.sum(x, axis=[0, 1])", "R.sum(x, axis=[0, 1])", "(4, 4, 1025)") == 2);
  CHECK(two("R.sum(x, axis=[0, 2])", "R.sum(x, axis=[0, 2])", "(4, 3, 6)",
            "        R.print(x, format=\"{}\")\n") == 2);
}

TEST_CASE("shared sums: calls that give the sum itself, and stay calls of their own") {
  std::string sums, all;
  for (int i = 0; i < 40; ++i) {
    sums += fmt::format("        a{} = R.sum(x, axis=[0, 2])\n", i);
    all += fmt::format("a{}, ", i);
  }
  const ModulePtr module =
      with_body("x: R.Tensor((4, 3, 6), \"float32\")", sums + "        return (" + all + ")\n");
  CHECK(shared_sums(module, {numbers({4, 3, 6}, 1)}) == 1);
  CHECK_NOTHROW(verify_after(fuse(legalize(*module)), "fuse"));
}

TEST_CASE("shared sums: dimensions that are one place for the call alone") {
  const auto function = [](const char* name, const char* result, const char* own, const char* behind) {
    return fmt::format(
        "    @T.prim_func\n    def {0}(a: T.handle, b: T.handle):\n        n = T.int64()\n"
        "        A = T.match_buffer(a, (n, 5, 40), \"float32\")\n"
        "        {1} = T.match_buffer(b, (n, 5), \"float32\")\n{2}"
        "        for i, j, k in T.grid(n, T.int64(5), T.int64(40)):\n            with T.sblock(\"B\"):\n"
        "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
        "                with T.init():\n                    B[vi, vj] = T.float32(0)\n"
        "                B[vi, vj] = B[vi, vj] + A[vi, vj, vk]\n{3}",
        name, result, own, behind);
  };
  const std::string text =
      "@I.ir_module\nclass M:\n" + function("summed", "B", "", "") +
      function("doubled", "C", "        B = T.alloc_buffer((n, 5), \"float32\")\n",
               "        for i, j in T.grid(n, T.int64(5)):\n            with T.sblock(\"C\"):\n"
               "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
               "                C[vi, vj] = B[vi, vj] * T.float32(2)\n");
  for (const int n : {1, 2}) {
    const ModulePtr module = read_module(
        "test.relish",
        text + fmt::format(
                   "    @R.function\n    def main(x: R.Tensor(({0}, 5, 40), \"float32\")):\n        cls = M\n"
                   "        a = R.call_tir(cls.summed, (x,), out_ty=R.Tensor(({0}, 5), \"float32\"))\n"
                   "        b = R.call_tir(cls.doubled, (x,), out_ty=R.Tensor(({0}, 5), \"float32\"))\n"
                   "        c = R.exp(R.sum(x, axis=2) * R.const(0.01))\n        return (a, b, c)\n",
                   n));
    INFO(n);
    // A loop of one round is another text than none.
    CHECK(shared_sums(module, {numbers({n, 5, 40}, 1)}) == (n == 1 ? 2 : 1));
  }
}
