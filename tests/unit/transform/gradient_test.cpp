// Names, order and refusals of the gradient transform; its numbers are checked against differences in
// tests/ops.
#include "transform/gradient.h"

#include "tests/unit/transform/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr function_text(const std::string& params, const std::string& body) {
  return read("@R.function\ndef f(" + params + "):\n" + body);
}

const std::string vector2 = "R.Tensor((2,), \"float32\")";

}  // namespace

TEST_CASE("a product under a sum has TVM's adjoint names in TVM's order") {
  const ModulePtr module = function_text("p: " + vector2 + ", q: " + vector2,
                                         "    with R.dataflow():\n"
                                         "        m = R.multiply(p, q)\n"
                                         "        s = R.sum(m)\n"
                                         "        R.output(s)\n"
                                         "    return s\n");
  CHECK(bindings_of(gradient(*module, "f"), "f_adjoint") ==
        "m = R.multiply(p, q)\n"
        "s = R.sum(m, axis=None, keepdims=False)\n"
        "s_adjoint = R.ones(R.shape([]), dtype=\"float32\")\n"
        "m_adjoint = R.broadcast_to(s_adjoint, R.shape([2]))\n"
        "p_adjoint = R.multiply(m_adjoint, q)\n"
        "q_adjoint = R.multiply(m_adjoint, p)\n"
        "p_adjoint_out = p_adjoint\n"
        "q_adjoint_out = q_adjoint\n"
        "return (s, (p_adjoint_out, q_adjoint_out))\n");
}

TEST_CASE("two uses of a variable add up from the last use back") {
  const ModulePtr module = function_text("x: " + vector2,
                                         "    y = R.exp(x)\n"
                                         "    z = R.multiply(y, x)\n"
                                         "    return R.sum(z)\n");
  const std::string text = bindings_of(gradient(*module, "f", {.wrt = {"x"}}), "f_adjoint");
  CHECK(text.find("x_adjoint = R.multiply(z_adjoint, y)\n") != std::string::npos);
  CHECK(text.find("x_adjoint1 = R.add(x_adjoint, lv") != std::string::npos);
}

TEST_CASE("a parameter that the target does not depend on gets zeros of its shape") {
  const ModulePtr module =
      function_text("x: " + vector2 + ", unused: R.Tensor((3, 4), \"float32\")", "    return R.sum(x)\n");
  const std::string text = bindings_of(gradient(*module, "f"), "f_adjoint");
  CHECK(text.find("R.zeros(R.shape([3, 4]), dtype=\"float32\")") != std::string::npos);
}

TEST_CASE("tuples carry gradients field by field") {
  const ModulePtr module = function_text("x: " + vector2 + ", y: " + vector2,
                                         "    t = (x, y)\n"
                                         "    a = t[1]\n"
                                         "    return R.sum(R.multiply(a, a))\n");
  const Module result = gradient(*module, "f");
  CHECK(print(result.function("f_adjoint")->result_type) ==
        "R.Tuple(R.Tensor((), dtype=\"float32\"), R.Tuple(R.Tensor((2,), dtype=\"float32\"), R.Tensor((2,), "
        "dtype=\"float32\")))");
}

TEST_CASE("calls of other functions are differentiated, not skipped") {
  const ModulePtr module = read(
      "@I.ir_module\nclass M:\n"
      "    @R.function\n    def g(a: R.Tensor((2,), \"float32\")):\n        return R.exp(a)\n"
      "    @R.function\n    def f(x: R.Tensor((2,), \"float32\")):\n        cls = M\n        y = cls.g(x)\n  "
      "      return R.sum(y)\n");
  const Module result = gradient(*module, "f");
  CHECK(bindings_of(result, "f_adjoint") ==
        "lv = g_forward(x)\n"
        "y = lv[0]\n"
        "lv1 = lv[1]\n"
        "gv = R.sum(y, axis=None, keepdims=False)\n"
        "gv_adjoint = R.ones(R.shape([]), dtype=\"float32\")\n"
        "y_adjoint = R.broadcast_to(gv_adjoint, R.shape([2]))\n"
        "lv2 = lv1[0]\n"
        "lv3 = g_backward(lv2, y_adjoint)\n"
        "x_adjoint = lv3[0]\n"
        "x_adjoint_out = x_adjoint\n"
        "return (gv, (x_adjoint_out,))\n");
  CHECK(bindings_of(result, "g_backward") ==
        "gv_adjoint = g_adjoint\n"
        "a_adjoint = R.multiply(gv_adjoint, gv)\n"
        "return (a_adjoint,)\n");
}

TEST_CASE("transposes around matmul fold") {
  const ModulePtr module = function_text("a: R.Tensor((2, 3), \"float32\"), b: R.Tensor((4, 3), \"float32\")",
                                         "    bt = R.permute_dims(b, axes=[1, 0])\n"
                                         "    y = R.matmul(a, bt)\n"
                                         "    return R.sum(y)\n");
  const std::string text = bindings_of(gradient(*module, "f"), "f_adjoint");
  CHECK(text.find("a_adjoint = R.matmul(y_adjoint, b, out_dtype=None)") != std::string::npos);
  CHECK(text.find("b_adjoint = R.matmul(lv") != std::string::npos);
}

TEST_CASE("what cannot be differentiated is refused") {
  SECTION("an unknown function, with the nearest name") {
    const ModulePtr module = function_text("x: " + vector2, "    return R.sum(x)\n");
    const Failure failure = catch_failure([&] { gradient(*module, "ff"); });
    CHECK(failure.error_class() == ErrorClass::Usage);
    CHECK(failure.diagnostics()[0].message.find("did you mean 'f'?") != std::string::npos);
  }
  SECTION("an unknown variable") {
    const ModulePtr module = function_text("weight: " + vector2, "    return R.sum(weight)\n");
    const Failure failure = catch_failure([&] { gradient(*module, "f", {.wrt = {"weigth"}}); });
    CHECK(failure.error_class() == ErrorClass::Usage);
    CHECK(failure.diagnostics()[0].message.find("did you mean 'weight'?") != std::string::npos);
  }
  SECTION("a variable twice") {
    const ModulePtr module = function_text("x: " + vector2, "    return R.sum(x)\n");
    CHECK(catch_failure([&] { gradient(*module, "f", {.wrt = {"x", "x"}}); }).error_class() ==
          ErrorClass::Usage);
  }
  SECTION("a target that is no scalar") {
    const ModulePtr module = function_text("x: " + vector2, "    return R.exp(x)\n");
    const Failure failure = catch_failure([&] { gradient(*module, "f"); });
    CHECK(failure.error_class() == ErrorClass::Type);
    CHECK(failure.diagnostics()[0].id == "gradient.target");
  }
  SECTION("an integer parameter") {
    const ModulePtr module =
        function_text("x: " + vector2 + ", k: R.Tensor((2,), \"int64\")", "    return R.sum(x)\n");
    CHECK(catch_failure([&] { gradient(*module, "f", {.wrt = {"k"}}); }).error_class() == ErrorClass::Type);
  }
  SECTION("prim_funcs with what has no derivative, all places at once") {
    const ModulePtr module = read(
        "@I.ir_module\nclass M:\n"
        "    @T.prim_func\n    def sums(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
        "        B[0] = A[0]\n        for i in range(3):\n            B[i + 1] = T.nextafter(B[i], A[i + 1])\n"
        "    @T.prim_func\n    def twice(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
        "        for i in range(4):\n            B[i] = T.nextafter(A[i], A[i])\n"
        "    @R.function\n    def f(x: R.Tensor((4,), \"float32\")):\n        cls = M\n"
        "        y = R.call_tir(cls.sums, (x,), out_ty=R.Tensor((4,), \"float32\"))\n"
        "        z = R.call_tir(cls.twice, (y,), out_ty=R.Tensor((4,), \"float32\"))\n"
        "        return R.sum(z)\n");
    const Failure failure = catch_failure([&] { gradient(*module, "f"); });
    REQUIRE(failure.diagnostics().size() == 2);
    CHECK(failure.diagnostics()[0].id == "gradient.prim_func");
  }
}

TEST_CASE("a gradient through a parameter that has none is refused, not zero") {
  const std::string images = "R.Tensor((1, 1, 4, 4), \"float32\")", rois = "R.Tensor((2, 5), \"float32\")";
  const ModulePtr module =
      function_text("x: " + images + ", rois: " + rois,
                    "    moved = R.multiply(rois, R.const(2.0, \"float32\"))\n"
                    "    y = R.vision.roi_align(x, moved, pooled_size=2, spatial_scale=1.0)\n"
                    "    return R.sum(y)\n");
  CHECK(print(gradient(*module, "f", {.wrt = {"x"}})).find("R.grad.roi_align_backward(") !=
        std::string::npos);
  const Failure refused = catch_failure([&] { gradient(*module, "f", {.wrt = {"rois"}}); });
  CHECK(refused.diagnostics().front().message ==
        "R.vision.roi_align is not differentiable in rois: regions are taken as given, as detectors are "
        "trained");
  CHECK(refused.diagnostics().front().id == "gradient.missing");
}

TEST_CASE("nested functions that are called are differentiated, what they capture too") {
  const ModulePtr module = function_text("x: " + vector2 + ", w: " + vector2,
                                         "    @R.function\n"
                                         "    def inner(y: " +
                                             vector2 + ") -> " + vector2 +
                                             ":\n"
                                             "        z = R.multiply(y, w)\n"
                                             "        return z\n"
                                             "    a = inner(x)\n"
                                             "    s = R.sum(a)\n"
                                             "    return s\n");
  const std::string adjoint = bindings_of(gradient(*module, "f"), "f_adjoint");
  CHECK(adjoint ==
        "a = f_inner(x, w)\n"
        "s = R.sum(a, axis=None, keepdims=False)\n"
        "s_adjoint = R.ones(R.shape([]), dtype=\"float32\")\n"
        "a_adjoint = R.broadcast_to(s_adjoint, R.shape([2]))\n"
        "lv = f_inner_backward(x, w, a_adjoint)\n"
        "x_adjoint = lv[0]\n"
        "w_adjoint = lv[1]\n"
        "x_adjoint_out = x_adjoint\n"
        "w_adjoint_out = w_adjoint\n"
        "return (s, (x_adjoint_out, w_adjoint_out))\n");
}

TEST_CASE("nested functions of a callee are inlined with it") {
  const ModulePtr module = read(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def g(x: " +
      vector2 + ") -> " + vector2 +
      ":\n"
      "        @R.function\n"
      "        def inner(y: " +
      vector2 + ") -> " + vector2 +
      ":\n"
      "            return R.multiply(y, y)\n"
      "        return inner(x)\n"
      "    @R.function\n"
      "    def f(x: " +
      vector2 +
      ") -> R.Tensor((), \"float32\"):\n"
      "        cls = M\n"
      "        return R.sum(cls.g(x))\n");
  CHECK(bindings_of(gradient(*module, "f"), "f_adjoint").find("inner") == std::string::npos);
}

TEST_CASE("a nested function that calls itself has a pair as others have") {
  const ModulePtr module = function_text("x: " + vector2,
                                         "    @R.function\n"
                                         "    def inner(y: " +
                                             vector2 + ") -> " + vector2 +
                                             ":\n"
                                             "        z = inner(y)\n"
                                             "        return z\n"
                                             "    a = inner(x)\n"
                                             "    s = R.sum(a)\n"
                                             "    return s\n");
  const Module made = gradient(*module, "f");
  CHECK(made.function("f_inner_backward") != nullptr);
  CHECK(bindings_of(made, "f_inner_backward").find("f_inner_backward(") != std::string::npos);
}

TEST_CASE("an if of a callee is differentiated with it") {
  const ModulePtr module = read(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def g(x: " +
      vector2 + ", c: R.Tensor((), \"bool\")) -> " + vector2 +
      ":\n"
      "        if c:\n"
      "            y = R.exp(x)\n"
      "        else:\n"
      "            y = x\n"
      "        return y\n"
      "    @R.function\n"
      "    def f(x: " +
      vector2 +
      ", c: R.Tensor((), \"bool\")):\n"
      "        cls = M\n"
      "        return R.sum(cls.g(x, c))\n");
  const Module result = gradient(*module, "f");
  CHECK(bindings_of(result, "f_adjoint").find("g_backward(") != std::string::npos);
  CHECK(print(result).find("        if c:\n            a_") == std::string::npos);
}
