// The losses and optimizers of the standard library: what each is called, where its text stands, which options it takes.
// The transforms append_loss and setup_trainer read these tables; their definitions are Relax functions in the texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/type.h"

namespace relish {

struct OptionEntry {
  std::string_view name;
  Attribute fallback;
  std::string_view doc;
};

// A loss: functions of (predictions, targets) in `text`, one for each choice of the options that change the formula.
struct LossEntry {
  std::string_view name;              // "cross_entropy"
  std::string_view text;              // "losses/cross_entropy.relish"
  std::string_view summary;
  std::span<const OptionEntry> options;
  // The type of `targets` for predictions of that type; throws TypeError when the loss cannot take such predictions.
  Type (*targets_type)(const TensorType& predictions, Span span);
  // The function of the text for complete, checked options; throws UsageError for a value that is not offered.
  std::string (*function)(const Attributes& options);
};

// An optimizer: four functions in `text`, written for one parameter and inlined for each.
//   <name>_start() -> (shared states...)                               the first is the int64 step counter, 0
//   <name>_start_parameter(p) -> (own states...)
//   <name>_begin(shared states...) -> (shared states...)               once per step, before the updates
//   <name>_update(p, g, lr, shared..., own..., options...) -> (p, own states...)
// lr and options are rank-0 tensors of the parameters' dtype. The states of a model are the shared ones, then the own
// states of all parameters: first states of every parameter, then second states (TVM's layout).
struct OptimizerEntry {
  std::string_view name;              // "sgd"
  std::string_view text;              // "optimizers/sgd.relish"
  std::string_view summary;
  std::span<const OptionEntry> options;  // "lr" first: passed at each step, not baked in
  int shared_states = 1;
  int own_states = 0;                 // per parameter
  // Options after lr that the update takes as tensors, in order, for complete options.
  std::vector<std::string> (*update_options)(const Attributes& options);
  // The update function for complete, checked options, e.g. "sgd_update" or "sgd_update_decay".
  std::string (*update_function)(const Attributes& options);
};

std::span<const LossEntry> losses();
std::span<const OptimizerEntry> optimizers();
const LossEntry* find_loss(std::string_view name);            // null when unknown
const OptimizerEntry* find_optimizer(std::string_view name);  // null when unknown
// Written options completed with the fallbacks, in declared order; UsageError with the nearest name for one that is not
// offered. `what` is "loss cross_entropy" or "optimizer sgd".
Attributes complete_options(std::string_view what, std::span<const OptionEntry> options, const Attributes& written);

}  // namespace relish
