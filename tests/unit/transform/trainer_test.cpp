// bind_params, append_loss and setup_trainer: the functions they make and what they refuse.
#include "ir/verify/verify.h"
#include "tests/unit/transform/helpers.h"
#include "transform/bind_params.h"
#include "transform/dead_code.h"
#include "transform/legalize.h"
#include "transform/setup_trainer.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr model() {
  return read(
      "@I.ir_module\nclass M:\n    @R.function\n"
      "    def main(x: R.Tensor((\"n\", 3), \"float32\"), w: R.Tensor((3, 2), \"float32\"), b: "
      "R.Tensor((2,), \"float32\")):\n"
      "        with R.dataflow():\n            y = R.add(R.matmul(x, w), b)\n            R.output(y)\n       "
      " return y\n");
}

AppendLossOptions loss(const char* text) {
  AppendLossOptions options;
  options.loss = parse_named_spec(text);
  return options;
}

std::string params_of(const Module& module, std::string_view name) {
  std::string text;
  for (const Var& param : module.function(name)->params)
    text += param.name() + ": " + print(param.type()) + "\n";
  return text;
}

}  // namespace

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

TEST_CASE("setup_trainer makes the training functions, and they legalize") {
  SetupTrainerOptions options;
  options.loss = loss("cross_entropy");
  options.optimizer = parse_named_spec("sgd(lr=0.1, weight_decay=0.01)");
  const Module trainer = setup_trainer(*model(), "main", options);
  for (const char* name :
       {"main", "main_loss", "main_loss_adjoint", "optimizer", "optimizer_init", "train_step"})
    CHECK(trainer.function(name) != nullptr);
  CHECK(params_of(trainer, "train_step").find("x: R.Tensor((n, 3), dtype=\"float32\")\n") !=
        std::string::npos);
  Diagnostics diagnostics;
  verify(legalize(trainer), diagnostics);
  CHECK(!diagnostics.has_errors());
}

TEST_CASE("a trainer replaces what an earlier one made, and no function of the user's") {
  SetupTrainerOptions options;
  options.loss = loss("cross_entropy");
  options.optimizer = parse_named_spec("adam(lr=0.1)");
  options.schedule = parse_named_spec("cosine");
  options.initial.weights = parse_named_spec("he_normal");
  const Module first = setup_trainer(*model(), "main", options);
  CHECK(print(setup_trainer(first, "main", options)) == print(first));
  // Another optimizer has other states, another loss other targets, and what is not asked for again goes.
  options.optimizer = parse_named_spec("sgd(lr=0.1)");
  options.loss = loss("mse");
  options.schedule = {};
  options.initial = {};
  CHECK(print(setup_trainer(first, "main", options)) == print(setup_trainer(*model(), "main", options)));
  const auto types = std::vector<Type>{model()->function("main")->params[1].type()};
  const Module alone = add_optimizer(*model(), parse_named_spec("adam(lr=0.1)"), types, {"w"});
  CHECK(print(add_optimizer(alone, parse_named_spec("sgd(lr=0.1)"), types, {"w"})) ==
        print(add_optimizer(*model(), parse_named_spec("sgd(lr=0.1)"), types, {"w"})));
  for (const char* name : {"train_step", "optimizer", "optimizer_init", "learning_rate", "initial_params"}) {
    INFO(name);
    Module mine = *model();
    Function own = *mine.function("main");
    own.name = name;
    mine.set(std::make_shared<const Function>(own));
    options.schedule = parse_named_spec("cosine");
    options.initial.weights = parse_named_spec("he_normal");
    const Failure failure = catch_failure([&] { setup_trainer(mine, "main", options); });
    CHECK(failure.error_class() == ErrorClass::Usage);
    CHECK(failure.diagnostics().front().id == "setup_trainer.name");
  }
}

TEST_CASE("marks of trained parameters that say nothing are refused, not read as another count") {
  Function main = *model()->function("main");
  const auto id_with = [&](Attribute value, std::string_view name) {
    main.attributes = {{std::string(name), std::move(value)}};
    return catch_failure([&] { trained_parameters(main, {}); }).diagnostics().front().id;
  };
  for (const Attribute& value : {Attribute(-1), Attribute(4), Attribute("1"), Attribute(1.0)})
    CHECK(id_with(value, "num_input") == "attribute.num_input");
  CHECK(id_with(Attribute(3), "num_input") == "setup_trainer.parameters");
  const auto names = [](std::vector<Attribute> items) { return Attribute(AttributeList(std::move(items))); };
  for (const Attribute& value : {Attribute(3), names({Attribute(1)}), names({Attribute("v")}),
                                 names({Attribute("w"), Attribute("w")})})
    CHECK(id_with(value, "relish.params") == "attribute.params");
  CHECK(id_with(names({}), "relish.params") == "setup_trainer.parameters");
}

TEST_CASE("trained parameters are wrt, the attribute, or all but the inputs") {
  const ModulePtr module = model();
  const Function& main = *module->function("main");
  CHECK(trained_parameters(main, {}) == std::vector<std::string>{"w", "b"});
  CHECK(trained_parameters(main, {"b"}) == std::vector<std::string>{"b"});
  Function marked = main;
  marked.attributes = {{"num_input", Attribute(2)}};
  CHECK(trained_parameters(marked, {}) == std::vector<std::string>{"b"});
  CHECK(catch_failure([&] { trained_parameters(main, {"bb"}); }).error_class() == ErrorClass::Usage);
  // Keys, integers and bools are never trained: not by default, not behind a count, and not when named.
  for (const DType dtype : {DType::UInt32, DType::Int64, DType::Bool}) {
    Function keyed = main;
    keyed.params.insert(keyed.params.begin() + 1, Var("key", tensor_type({Scalar(2)}, dtype)));
    CHECK(trained_parameters(keyed, {}) == std::vector<std::string>{"w", "b"});
    CHECK(catch_failure([&] { trained_parameters(keyed, {"key", "w"}); }).diagnostics().front().id ==
          "setup_trainer.parameters");
    keyed.attributes = {{"num_input", Attribute(1)}};
    CHECK(trained_parameters(keyed, {}) == std::vector<std::string>{"w", "b"});
    keyed.attributes = {{"relish.params", Attribute(AttributeList{"key", "w"})}};
    CHECK(catch_failure([&] { trained_parameters(keyed, {}); }).error_class() == ErrorClass::Type);
  }
}

TEST_CASE("specs of losses and optimizers") {
  const NamedSpec spec = parse_named_spec(" sgd( lr=0.5 , nesterov=True, name='a' ) ");
  CHECK(spec.name == "sgd");
  CHECK(spec.options == Attributes{{"lr", 0.5}, {"nesterov", true}, {"name", "a"}});
  CHECK(parse_named_spec("adam(betas=(0.5, 0.75), eps=1)").options ==
        Attributes{{"betas", AttributeList{0.5, 0.75}}, {"eps", 1}});
  for (const char* bad : {"", "adam(betas=(0.5, 0.75)", "adam(betas=(0.5, x y))", "sgd(", "sgd(lr)",
                          "sgd(lr=)", "sgd(lr=0.1, lr=0.2)", "1sgd", "sgd(lr=0.1))x"})
    CHECK(catch_failure([&] { parse_named_spec(bad); }).error_class() == ErrorClass::Usage);
}

TEST_CASE("dead code: unused bindings and unreachable private functions go") {
  const ModulePtr module = read(
      "@I.ir_module\nclass M:\n"
      "    @R.function(private=True)\n    def unused(a: R.Tensor((2,), \"float32\")):\n        return "
      "R.exp(a)\n"
      "    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        y = R.exp(x)\n        z = "
      "R.log(x)\n        return y\n");
  const Module result = eliminate_dead_code(*module);
  CHECK(result.find("unused") == nullptr);
  CHECK(bindings_of(result, "main") == "y = R.exp(x)\nreturn y\n");
}

TEST_CASE("legalize shares the prim_func of equal calls") {
  const ModulePtr module = read(
      "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), s: R.Tensor((), \"float32\")):\n"
      "    a = R.exp(x)\n    b = R.exp(a)\n    c = R.multiply(b, s)\n    return R.exp(c)\n");
  const Module result = legalize(*module);
  CHECK(result.prim_func("exp") != nullptr);
  CHECK(result.prim_func("exp1") == nullptr);
  CHECK(result.prim_func("multiply") != nullptr);
}

TEST_CASE("a made function does not take the place of what others rely on") {
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
