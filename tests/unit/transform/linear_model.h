// A linear layer with open rows, a loss by its text, and the parameters of a function: for tests of
// transforms.
#pragma once

#include "tests/unit/transform/helpers.h"
#include "transform/append_loss.h"

namespace relish::test {

inline ModulePtr model() {
  return read(
      "@I.ir_module\nclass M:\n    @R.function\n"
      "    def main(x: R.Tensor((\"n\", 3), \"float32\"), w: R.Tensor((3, 2), \"float32\"), b: "
      "R.Tensor((2,), \"float32\")):\n"
      "        with R.dataflow():\n            y = R.add(R.matmul(x, w), b)\n            R.output(y)\n       "
      " return y\n");
}

inline AppendLossOptions loss(const char* text) {
  AppendLossOptions options;
  options.loss = parse_named_spec(text);
  return options;
}

inline std::string params_of(const Module& module, std::string_view name) {
  std::string text;
  for (const Var& param : module.function(name)->params)
    text += param.name() + ": " + print(param.type()) + "\n";
  return text;
}

}  // namespace relish::test
