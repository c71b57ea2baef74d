// append_loss: the parameters behind the targets, losses of the user's, and what is refused.
#include "tests/unit/transform/linear_model.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("append_loss adds targets behind the parameters") {
  const Module classes = append_loss(*model(), "main", loss("cross_entropy"));
  CHECK(params_of(classes, "main_loss").ends_with("targets: R.Tensor((n,), dtype=\"int64\")\n"));
  CHECK(print(classes.function("main_loss")->result_type) == "R.Tensor((), dtype=\"float32\")");
  const Module values = append_loss(*model(), "main", loss("mse(reduction='sum')"));
  CHECK(params_of(values, "main_loss").ends_with("targets: R.Tensor((n, 2), dtype=\"float32\")\n"));
}

TEST_CASE("append_loss refuses unknown losses, options and counts") {
  const ModulePtr module = model();
  const auto refused = [&](AppendLossOptions options) {
    return catch_failure([&] { append_loss(*module, "main", options); });
  };
  const Failure unknown = refused(loss("cross_entropi"));
  CHECK(unknown.error_class() == ErrorClass::Usage);
  CHECK(unknown.diagnostics()[0].message.find("did you mean 'cross_entropy'?") != std::string::npos);
  CHECK(refused(loss("mse(reduction='avg')")).error_class() == ErrorClass::Usage);
  CHECK(refused(loss("mse(size=2)")).error_class() == ErrorClass::Usage);
  AppendLossOptions two = loss("mse");
  two.outputs = 2;
  CHECK(refused(two).error_class() == ErrorClass::Usage);
}

TEST_CASE("a loss of the user's consumes outputs and brings its own parameters") {
  const ModulePtr losses = read(
      "@R.function\ndef weighted(p: R.Tensor((\"m\", 2), \"float32\"), t: R.Tensor((\"m\", 2), \"float32\"), "
      "s: R.Tensor((), \"float32\")):\n"
      "    d = R.subtract(p, t)\n    return R.multiply(s, R.sum(R.multiply(d, d)))\n");
  AppendLossOptions options;
  options.loss_module = losses;
  options.loss_function = losses->function("weighted");
  const Module result = append_loss(*model(), "main", options);
  CHECK(params_of(result, "main_loss")
            .ends_with("t: R.Tensor((n, 2), dtype=\"float32\")\ns: R.Tensor((), dtype=\"float32\")\n"));
}

TEST_CASE("append_loss does not take the place of what others rely on") {
  AppendLossOptions same = loss("mse");
  same.new_name = "main";
  CHECK(catch_failure([&] { append_loss(*model(), "main", same); }).diagnostics()[0].id ==
        "append_loss.name");

  const ModulePtr kernel = read(
      "@I.ir_module\nclass M:\n"
      "    @T.prim_func\n    def main_loss(A: T.Buffer((2,), \"float32\")):\n        T.evaluate(0)\n"
      "    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        return R.exp(x)\n");
  const Failure taken = catch_failure([&] { append_loss(*kernel, "main", loss("mse")); });
  CHECK(taken.error_class() == ErrorClass::Usage);
  CHECK(taken.diagnostics()[0].id == "function.kind");
}
