// Inlining stops growing.
#include "transform/inline_calls.h"

#include "ir/rewriting/regions.h"
#include "tests/unit/transform/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("calls of calls that would grow without end stay calls") {
  // f0 is one operator, each other function calls the one before twice: 2^40 operators when all is inlined.
  std::string text = "@I.ir_module\nclass M:\n";
  for (int i = 0; i < 40; ++i) {
    const std::string callee = "cls.f" + std::to_string(i - 1);
    text +=
        "    @R.function\n    def f" + std::to_string(i) +
        "(x: R.Tensor((4,), \"float32\")) -> R.Tensor((4,), \"float32\"):\n        cls = M\n        return " +
        (i == 0 ? std::string("R.exp(x)") : callee + "(" + callee + "(x))") + "\n\n";
  }
  const Module inlined = inline_calls(*read(text));
  CHECK(inlined.functions.size() == 40);
  std::size_t bindings = 0;
  for (const GlobalFunction& function : inlined.functions)
    for (const BindingBlock& block : std::get<FunctionPtr>(function)->blocks)
      bindings += block.bindings.size();
  CHECK(bindings > 100000);
  CHECK(bindings < 301000);
  const FunctionPtr deep = inlined.function("f8");
  CHECK(all_bindings(*deep).size() == 256);
}
