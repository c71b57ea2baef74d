// Specs of losses and optimizers, such as sgd(lr=0.5).
#include "tests/unit/transform/helpers.h"
#include "transform/append_loss.h"

using namespace relish;
using namespace relish::test;

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
