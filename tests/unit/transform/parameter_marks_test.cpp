// Which parameters of a function are trained: named, marked by attributes, or all but the inputs.
#include "tests/unit/transform/linear_model.h"
#include "transform/setup_trainer.h"

using namespace relish;
using namespace relish::test;

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
