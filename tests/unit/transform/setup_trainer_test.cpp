// setup_trainer and add_optimizer: the functions that they make, and which they may replace.
#include "transform/setup_trainer.h"
#include "ir/verify/verify.h"
#include "tests/unit/transform/linear_model.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

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
