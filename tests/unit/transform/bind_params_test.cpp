// bind_params: the sizes that a parameter fixes, a user's gradient, and what is refused.
#include "transform/bind_params.h"
#include "tests/unit/transform/linear_model.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("bind_params removes the parameter and replaces the sizes that it fixes") {
  const Module bound = bind_params(*model(), "main", {{"x", Tensor::zeros(DType::Float32, {4, 3})}});
  CHECK(params_of(bound, "main") ==
        "w: R.Tensor((3, 2), dtype=\"float32\")\nb: R.Tensor((2,), dtype=\"float32\")\n");
  CHECK(print(bound.function("main")->result_type) == "R.Tensor((4, 2), dtype=\"float32\")");
}

TEST_CASE("bind_params refuses what does not fit") {
  const ModulePtr module = model();
  const auto refused = [&](const char* name, Tensor value) {
    return catch_failure([&] { bind_params(*module, "main", {{name, value}}); });
  };
  CHECK(refused("w", Tensor::zeros(DType::Float32, {3, 5})).error_class() == ErrorClass::Data);
  CHECK(refused("w", Tensor::zeros(DType::Float64, {3, 2})).error_class() == ErrorClass::Data);
  CHECK(refused("v", Tensor::zeros(DType::Float32, {3, 2})).error_class() == ErrorClass::Usage);
}

TEST_CASE("bind_params takes a user's gradient along") {
  const auto text = [](const char* result) {
    return std::string(
               "@I.ir_module\nclass M:\n    @R.function\n"
               "    def main(x: R.Tensor((\"n\",), \"float32\"), w: R.Tensor((\"n\",), \"float32\"), "
               "v: R.Tensor((\"n\",), \"float32\")) -> R.Tensor((\"n\",), \"float32\"):\n"
               "        y = R.multiply(x, R.multiply(w, v))\n        return y\n\n"
               "    @R.gradient(main)\n    @R.function\n"
               "    def main_gradient(x: R.Tensor((\"n\",), \"float32\"), w: R.Tensor((\"n\",), "
               "\"float32\"), "
               "v: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"n\",), \"float32\"), "
               "dy: R.Tensor((\"n\",), \"float32\")):\n"
               "        a = R.multiply(dy, R.multiply(w, v))\n        b = R.multiply(dy, R.multiply(x, v))\n"
               "        c = R.multiply(dy, R.multiply(x, w))\n") +
           result;
  };
  const Tensor value = Tensor::zeros(DType::Float32, {2});
  // However the cotangents are returned, and whatever is left, the module reads back and has a gradient.
  for (const char* result : {"        return (a, b, c)\n", "        t = (a, b, c)\n        return t\n"}) {
    const ModulePtr module = read(text(result));
    const Module one = bind_params(*module, "main", {{"w", value}});
    CHECK(params_of(one, "main_gradient") ==
          "x: R.Tensor((2,), dtype=\"float32\")\nv: R.Tensor((2,), dtype=\"float32\")\n"
          "y: R.Tensor((2,), dtype=\"float32\")\ndy: R.Tensor((2,), dtype=\"float32\")\n");
    CHECK(print(one.function("main_gradient")->result_type) ==
          "R.Tuple(R.Tensor((2,), dtype=\"float32\"), R.Tensor((2,), dtype=\"float32\"))");
    CHECK(read(print(one))->function("main") != nullptr);
    const Module both = bind_params(one, "main", {{"x", value}});
    CHECK(print(both.function("main_gradient")->result_type) == "R.Tensor((2,), dtype=\"float32\")");
    CHECK(read(print(both))->function("main") != nullptr);
    const Module all = bind_params(both, "main", {{"v", value}});
    CHECK(all.function("main_gradient")->attributes.empty());
    CHECK(read(print(all))->function("main")->params.empty());
  }
  // A caller of the gradient is a caller whose call fits no more.
  const ModulePtr called = read(text("        return (a, b, c)\n\n") +
                                "    @R.function\n    def user(x: R.Tensor((2,), \"float32\")):\n"
                                "        g = M.main_gradient(x, x, x, x, x)\n        return g\n");
  const Failure refused = catch_failure([&] { bind_params(*called, "main", {{"w", value}}); });
  CHECK(refused.error_class() == ErrorClass::Type);
}

TEST_CASE("bind_params does not take a parameter from under a caller") {
  const ModulePtr called = read(
      "@I.ir_module\nclass M:\n"
      "    @R.function\n    def main(x: R.Tensor((2,), \"float32\"), w: R.Tensor((2,), \"float32\")):\n"
      "        return R.multiply(x, w)\n"
      "    @R.function\n    def twice(x: R.Tensor((2,), \"float32\")):\n        return M.main(x, x)\n");
  const Failure broken =
      catch_failure([&] { bind_params(*called, "main", {{"w", Tensor::zeros(DType::Float32, {2})}}); });
  CHECK(broken.error_class() == ErrorClass::Type);
  CHECK(broken.diagnostics()[0].id == "function.callers");
}
