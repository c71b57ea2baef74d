// What the standard library's texts offer to transforms: losses and optimizers with their options, and which
// functions of which text make one up for given options. A transform asks `choose_*` and inlines the
// functions named there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"

namespace relish {

// What becomes of an option's value.
enum class OptionUse : std::uint8_t {
  Function,   // it selects the function
  Attribute,  // it replaces the attribute of this name in the operator calls of the chosen function
  Tensor,     // it is passed as a constant of rank 0 in the parameters' dtype
  Rate,       // the learning rate: an argument at run time; the value is what training passes
};

struct CatalogOption {
  std::string_view name;
  OptionUse use;
  std::string_view type;      // for documentation: "float", "int", "bool", "mean|sum|none"
  std::string_view fallback;  // the default as text; "" when there is none
  std::string_view doc;
};

// --- Losses. A loss function takes `predictions`, `targets` and, when weighted, `weights`, and returns one
// tensor.

struct LossEntry {
  std::string_view name;  // "cross_entropy"
  std::string_view summary;
  std::string_view text;  // path of the text: "losses/cross_entropy.relish"
  std::span<const CatalogOption> options;
  // `targets` are int64 indices of classes (predictions without their class dimension: the last one up to
  // rank 2, else dimension 1) instead of values like the predictions.
  bool class_targets = false;
};
std::span<const LossEntry> loss_entries();          // sorted by name
const LossEntry* find_loss(std::string_view name);  // null when unknown

struct LossChoice {
  std::string_view text;            // text to load
  std::string function;             // function in it, to be inlined
  std::vector<std::string> params;  // of the function in order: predictions, targets[, weights]
  bool scalar = true;               // false for reduction "none"
  Attributes
      call_attributes;  // to set in every operator call of the function that has an attribute of the name
};
// `rank`: of the predictions, -1 when unknown. UsageError for an unknown option or a value out of its range.
LossChoice choose_loss(const LossEntry& loss, const Attributes& options, int rank);

// --- Optimizers. State is a tuple: the shared states, then for every kind of parameter state one per
// parameter. The functions of an optimizer return one tensor, or a tuple when there are several.

struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
  std::span<const CatalogOption> options;
  int shared_states;     // the first is the step counter, a 0-d int64
  int parameter_states;  // kinds of state of a parameter's shape
  // Names of the states for variables: shared ones, then kinds: "num_steps", "v".
  std::span<const std::string_view> state_names;
};
std::span<const OptimizerEntry> optimizer_entries();
const OptimizerEntry* find_optimizer(std::string_view name);

struct OptimizerChoice {
  std::string_view text;
  std::string start;       // (any parameter) -> the initial shared states
  std::string start_each;  // (parameter) -> its initial states; "" when there are none
  std::string step;        // (shared states) -> the next shared states, once per step and before the updates
  std::string update;  // (p, g, lr, shared states after the step (but the counter), states of p, constants)
                       // -> (p, its states)
  std::vector<std::pair<std::string, double>> constants;  // options passed as rank-0 tensors, in order
  std::optional<double> lr;                               // when given
};
// UsageError for an unknown option or a value out of its range.
OptimizerChoice choose_optimizer(const OptimizerEntry& optimizer, const Attributes& options);

}  // namespace relish
