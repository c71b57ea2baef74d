// The two forms of a model that is written once. In the training form dropout draws its mask from a key, and
// running statistics come out as they are behind the batch; in the inference form dropout leaves its data as
// they are and batch_norm uses the running statistics. Functions that the model calls have forms of their
// own, made beside them, so that nothing is inlined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

enum class ModelMode : std::uint8_t { Training, Inference };

// The parameters that a step of training sets without a gradient, in the order of the function: those that
// batch_norm takes as running mean or variance, here or in what the function calls; those that
// `relish.buffers` names; and the states of TVM's `state_num`. TypeError for marks that say nothing.
std::vector<std::string> buffers_of_model(const Module& module, const Function& function);

// Whether the forms of the model differ from it.
bool has_forms(const Module& module, const Function& function);

// "<function>_training", "<function>_inference".
std::string name_of_form(std::string_view function, ModelMode mode);

// Adds the form of a function, and those of the functions that it calls where they differ.
//
// `<f>_training(params..., key) -> (results..., (buffers...))`, without the key when nothing is dropped and
// without the last when there are no buffers. The mask of a dropout comes from fold_in(key, site), where the
// sites of a function (its dropouts, and its calls of functions that drop) are counted from 0 in the order of
// the text; in a loop over a range the number of the round is folded in too. TypeError where a key or a
// running statistic cannot be followed.
//
// `<f>_inference` takes and returns what the function does.
Module decompose(const Module& module, std::string_view function, ModelMode mode);

// TVM's contract for a module with a `backbone`: its last parameters are `param_num` trained ones, then
// `state_num` states, whose new values are its last results. None for other functions and modules.
struct BackboneCounts {
  std::size_t trained = 0;
  std::size_t states = 0;
};
std::optional<BackboneCounts> backbone_counts(const Module& module, const Function& function);
// Whether all buffers of a model are running means of batch_norm, and none a value that it returns itself.
bool has_running_means_alone(const Module& module, const Function& function);

}  // namespace relish
