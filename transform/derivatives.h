// Derivatives beside the gradient of a scalar (transform/gradient.h): products with the Jacobian from both
// sides, products with the second derivative, and the Jacobian itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct DerivativeOptions {
  std::vector<std::string> wrt;  // parameters by name; empty: all floating tensor parameters
  std::vector<int> target = {};  // hvp and jacobian: index path into the result, as of `gradient`
};

// What stands in the way is reported as by `gradient`: TypeError, UsageError for unknown names.

// Adds `<f>_vjp(params..., ct) -> (outputs, (gradients...))`; `ct` has the type of the result. `wrt` may name
// variables between parameters and result too.
Module vjp(const Module& module, std::string_view function, const DerivativeOptions& options = {});
// Adds `<f>_jvp(params..., <p>_dot...) -> (outputs, tangents)`; tangents have the type of the result.
Module jvp(const Module& module, std::string_view function, const DerivativeOptions& options = {});
// Adds `<f>_hvp(params..., <p>_dot...) -> (outputs, (products...))`: the derivative of the gradient of a
// scalar in the direction of the dots, one product for each parameter.
Module hvp(const Module& module, std::string_view function, const DerivativeOptions& options = {});
// Adds `<f>_jacobian(params...) -> (outputs, (jacobians...))`; each has the shape of the target, then that of
// its parameter. By rows (backwards) or by columns (forwards), whatever takes fewer rounds of a loop.
Module jacobian(const Module& module, std::string_view function, const DerivativeOptions& options = {});

}  // namespace relish
