// The models of tests/models as test data: texts, losses, arguments, and the numbers that PyTorch gives for
// them (tests/numbers/models.py).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/operators/evaluator.h"
#include "runtime/files.h"

namespace relish::testing {

struct Model {
  std::string name;  // the folder with the numbers
  std::string text;
  std::string loss;
};

const std::vector<Model>& models();
const Model& model_of_text(std::string_view text);
std::string text_of(const Model& model);
// Every occurrence.
std::string replaced(std::string text, std::string_view from, std::string_view to);

// What PyTorch says, rounded to the dtype: "loss", the results in their order, "gradient.NAME" in that of the
// parameters.
NamedTensors expected_of(const std::string& name, DType dtype);

// A model with its loss and the adjoint of that, at one dtype, and the arguments of both.
struct Trial {
  ModulePtr module;  // main, main_loss, main_loss_adjoint
  std::vector<Value> inputs;
  Tensor targets;
  std::vector<std::string> learned;  // all floating parameters but running values
};

Trial trial_of(const Model& model, const std::string& text, DType dtype);
Trial trial_of(const Model& model, DType dtype);

// What one tier gives, under the names of the expected numbers: the loss by the adjoint, the results by the
// model as it was read, the gradients. The results that the adjoint gives behind the loss, all but the
// predictions, must be the same.
NamedTensors found_by(Evaluator& engine, const Trial& trial, const NamedTensors& expected);

// One line for each tensor that is not as expected, by the class of models.
std::vector<std::string> disagreements(const NamedTensors& found, const NamedTensors& expected);

// The engines under test, made once.
Evaluator& interpreter();
Evaluator& compiled(int threads);

}  // namespace relish::testing
