// Putting a loss on a function.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/nodes/attribute.h"
#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {

// "cross_entropy", or with options: "cross_entropy(reduction='sum')".
struct NamedSpec {
  std::string name;
  Attributes options;
};
// UsageError; `what` is named before its message.
NamedSpec parse_named_spec(std::string_view text, std::string_view what = "");

// What is told of a model's results, the predictions first, beside their loss: one value, or an undefined one
// for nothing.
using BesideLoss = std::function<Expr(FunctionBuilder&, Module&, std::span<const Expr> results,
                                      std::span<const Expr> targets)>;

struct AppendLossOptions {
  NamedSpec loss;             // of the standard library, when loss_function is null
  FunctionPtr loss_function;  // a function of the user's, with the module that holds what it refers to
  ModulePtr loss_module;
  int outputs = 1;              // how many results of the function the loss consumes
  std::string new_name;         // default <function>_loss
  BesideLoss beside = nullptr;  // a result behind the loss
};

// Adds `<function>_loss(params..., targets[, weights]) -> loss`, or `(loss, other outputs...)`.
Module append_loss(const Module& module, std::string_view function, const AppendLossOptions& options);
std::vector<std::string> loss_names();

}  // namespace relish
