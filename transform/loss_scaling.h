// Training in float16: small gradients would be 0, so the loss is multiplied by a scale and the gradients are
// divided by it. The scale is a state of the optimizer, (own states, loss_scale, good_steps, skipped_steps):
// where a gradient is no number the step leaves everything as it is and the scale halves; behind 2000 good
// steps it doubles.
#pragma once

#include "ir/nodes/builder.h"
#include "transform/setup_trainer.h"

namespace relish {

inline constexpr std::string_view loss_scale_name = "loss_scale";

// Adds `<loss>_scaled(params..., loss_scale) -> (loss_scale * loss, loss, other results...)`.
std::string add_scaled_loss(Module& module, const std::string& loss);

// The functions optimizer and optimizer_init become unscaled_optimizer and unscaled_optimizer_init; those of
// their names call them and keep the scale. `prefix`: before all of these names.
void add_loss_scaling(Module& module, DType dtype, const std::string& prefix);

// The scale that states hold.
Expr loss_scale_of(FunctionBuilder& builder, const Expr& states);
// What gradients of a scaled loss are multiplied by.
Expr inverse_of_scale(FunctionBuilder& builder, const Expr& scale);
// Whether the step between two states was done: a bool of rank 0.
Expr step_was_done(FunctionBuilder& builder, const Expr& before, const Expr& after);

}  // namespace relish
