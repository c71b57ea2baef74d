// Copies that several kernels read, and copies that a kernel does as it stores: the heads of an attention.
#include <fmt/format.h>

#include "ir/verify/verify.h"
#include "loops/accesses.h"
#include "schedule/fusion/fuse.h"
#include "stdlib/stdlib.h"
#include "tests/unit/schedule/helpers.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

Module fused_of(const std::string& params, const std::string& body) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  return fuse(legalize(*read_module(
      "test.relish", "@I.ir_module\nclass M:\n    @R.function\n    def main(" + params + "):\n" + body)));
}

Module fused_same(const std::string& params, const std::string& body, const std::vector<Value>& args) {
  const Module fused = fused_of(params, body);
  const ModulePtr module = read_module(
      "test.relish", "@I.ir_module\nclass M:\n    @R.function\n    def main(" + params + "):\n" + body);
  const auto results = [&](const Module& each) {
    const Value value = make_interpreter()->call(std::make_shared<const Module>(each), "main", args);
    return value.is_tuple() ? value.fields() : std::vector<Value>{value};
  };
  const std::vector<Value> wanted = results(legalize(*module)), found = results(fused),
                           scheduled = results(schedule(fused));
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    for (std::int64_t i = 0; i < wanted[k].tensor().size(); ++i) {
      // Small integers: sums of their products are exact in any order.
      REQUIRE(found[k].tensor().get_double(i) == wanted[k].tensor().get_double(i));
      REQUIRE(scheduled[k].tensor().get_double(i) == wanted[k].tensor().get_double(i));
    }
  return fused;
}

int calls_in_main(const Module& module) {
  int calls = 0;
  for_each_expr(*module.function("main"), [&](const Expr& expr) { calls += expr.as<CallTir>() != nullptr; });
  return calls;
}

int results_in_main(const Module& module) {
  std::size_t results = 0;
  for_each_expr(*module.function("main"), [&](const Expr& expr) {
    if (const auto* call = expr.as<CallTir>()) results += call->out_types.size();
  });
  return static_cast<int>(results);
}

// Stores that do nothing but copy.
int copies_in(const Module& module) {
  int copies = 0;
  for (const GlobalFunction& each : module.functions)
    if (const auto* function = std::get_if<PrimFuncPtr>(&each))
      for_each_stmt((*function)->body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        copies += store && store->value.as<Load>();
      });
  return copies;
}

const std::string q_and_k =
    "        s = R.split(x, 3, axis=-1)\n"
    "        q = R.permute_dims(R.reshape(s[0], (2, 32, 2, 16)), axes=[0, 2, 1, 3])\n"
    "        k = R.permute_dims(R.reshape(s[1], (2, 32, 2, 16)), axes=[0, 2, 3, 1])\n";
const std::string x_param = "x: R.Tensor((2, 32, 96), \"float32\")";

}  // namespace

TEST_CASE("lent copies: products read the heads where a product stored them") {
  const std::vector<Value> args{small_numbers(DType::Float32, {2, 32, 96}, 7)};
  const Module once = fused_same(x_param, q_and_k + "        return R.matmul(q, k)\n", args);
  CHECK(calls_in_main(once) == 1);
  const Module twice = fused_same(
      x_param, q_and_k + "        a = R.matmul(q, k)\n        b = R.matmul(k, q)\n        return (a, b)\n",
      args);
  CHECK(calls_in_main(twice) == 2);
  CHECK(copies_in(twice) == 0);
  // What is handed on as a value is a copy all the same, and its other readers do not wait for it.
  const Module seen = fused_same(x_param,
                                 q_and_k +
                                     "        a = R.matmul(q, k)\n        b = R.matmul(k, q)\n"
                                     "        return (a, b, q, s[2])\n",
                                 args);
  CHECK(calls_in_main(seen) == 4);
  CHECK(copies_in(seen) == 2);
}

TEST_CASE("lent copies: elementwise readers take those that go along memory, and no others") {
  const std::vector<Value> args{small_numbers(DType::Float32, {2, 32, 96}, 7)};
  const auto body = [](const std::string& axes) {
    return "        s = R.split(x, 3, axis=-1)\n        p = R.permute_dims(s[0], axes=" + axes +
           ")\n        return (R.abs(p), R.sum(R.multiply(p, p), axis=[0, 1, 2]), R.sort(s[1]))\n";
  };
  const Module along = fused_same(x_param, body("[1, 0, 2]"), args);
  CHECK(results_in_main(along) == 3);  // one is sorted
  const Module across = fused_same(x_param, body("[2, 1, 0]"), args);
  CHECK(results_in_main(across) == 4);
}

TEST_CASE("lent copies: a small part does not keep all of its source alive") {
  const auto body = [](const std::string& end) {
    return "        p = R.strided_slice(x, axes=[1], begin=[0], end=[" + end +
           "])\n        a = R.abs(p)\n        return (R.sort(a), R.sort(R.negative(p)))\n";
  };
  const std::vector<Value> args{small_numbers(DType::Float32, {2, 32, 96}, 7)};
  CHECK(results_in_main(fused_same(x_param, body("9"), args)) == 2);
  CHECK(results_in_main(fused_same(x_param, body("5"), args)) == 3);
}

TEST_CASE("lent copies: a reader behind an effect takes the copy") {
  const std::string body =
      "        p = R.strided_slice(x, axes=[1], begin=[0], end=[16])\n        a = R.abs(p)\n"
      "        R.print(a, format=\"{}\")\n        b = R.negative(p)\n        return b\n";
  const ModulePtr module =
      read_module("test.relish", "@I.ir_module\nclass M:\n    @R.function(pure=False)\n    def main(" +
                                     x_param + "):\n" + body);
  const Module fused = fuse(legalize(*module));
  CHECK(copies_in(fused) == 1);
  CHECK(calls_in_main(fused) == 3);
}

TEST_CASE("copies in own places: heads are joined as they are stored") {
  const std::string params =
      "p: R.Tensor((2, 4, 32, 32), \"float32\"), v: R.Tensor((2, 4, 32, 16), \"float32\")";
  const std::vector<Value> args{small_numbers(DType::Float32, {2, 4, 32, 32}, 7),
                                small_numbers(DType::Float32, {2, 4, 32, 16}, 5)};
  const std::string heads = "        t = R.permute_dims(R.matmul(p, v), axes=[0, 2, 1, 3])\n";
  const Module joined = fused_same(params, heads + "        return R.reshape(t, (2, 32, 64))\n", args);
  CHECK(calls_in_main(joined) == 1);
  const Module scheduled = schedule(joined);
  for (const GlobalFunction& each : scheduled.functions)
    if (const auto* function = std::get_if<PrimFuncPtr>(&each)) CHECK((*function)->allocations.empty());
  // A part of a concatenation.
  const Module part = fused_same(
      params,
      heads + "        r = R.reshape(t, (2, 32, 64))\n        return R.concat((r, R.abs(r)), axis=2)\n",
      args);
  CHECK(calls_in_main(part) <= 2);
  const Module behind = fused_same(
      "p: R.Tensor((2, 32, 4, 16), \"float32\"), q: R.Tensor((2, 32, 5), \"float32\")",
      "        r = R.reshape(R.permute_dims(p, axes=[1, 0, 2, 3]), (32, 2, 64))\n"
      "        return R.concat((R.permute_dims(q, axes=[1, 0, 2]), r), axis=2)\n",
      {small_numbers(DType::Float32, {2, 32, 4, 16}, 7), small_numbers(DType::Float32, {2, 32, 5}, 5)});
  CHECK(calls_in_main(behind) == 1);
  CHECK(copies_in(behind) == 2);
  // Dimensions that are cut elsewhere, short runs, and windows stay as they were.
  CHECK(calls_in_main(fused_same(params, heads + "        return R.reshape(t, (2, 16, 128))\n", args)) <= 2);
  CHECK(calls_in_main(fused_same("p: R.Tensor((3, 5, 32), \"float32\")",
                                 "        return R.reshape(R.abs(p), (5, 3, 32))\n",
                                 {small_numbers(DType::Float32, {3, 5, 32}, 7)})) == 2);
}

TEST_CASE("lent copies: one that is read beside a copy of it counts each reader once") {
  const std::vector<Value> args{small_numbers(DType::Float32, {4, 4, 12}, 7)};
  for (const std::string copy :
       {"R.permute_dims(x, axes=[1, 0, 2])", "R.strided_slice(x, axes=[2], begin=[0], end=[6])"}) {
    INFO(copy);
    const Module fused = fused_same("x: R.Tensor((4, 4, 12), \"float32\")",
                                    "        h = " + copy +
                                        "\n        t = R.permute_dims(h, axes=[0, 2, 1])\n"
                                        "        a = R.matmul(h, t)\n        b = R.matmul(h, t)\n"
                                        "        return (h, a, b, R.sort(t))\n",
                                    args);
    CHECK_NOTHROW(verify_after(fused, "fuse"));
  }
}
