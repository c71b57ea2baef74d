// The signature of named roles that the functions of a trainer have: what each of its parameters and results
// is to training. It is the attribute `relish.role`, one text:
//
//   train_step(parameters[w, b], states, learning_rate, input, target) -> (loss, parameters, states)
//
// first what the function is, then a role for each parameter in order, then one for the result or for each of
// its fields. A tuple of parameters or buffers may say the names of its fields. Whoever calls such a function
// asks here where a role stands; nobody counts places. The verifier holds signatures to the functions' types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

enum class Role : std::uint8_t {
  Parameters,     // the trained ones, a tuple
  Buffers,        // running statistics, a tuple
  Averages,       // moving averages of the parameters, a tuple as they are
  Gradients,      // a tuple as the parameters are
  States,         // of the optimizer, a tuple
  LearningRate,   // a floating number
  LearningRates,  // of each step: floats of rank 1
  Weight,         // what a part of a batch, or all of its parts, count: a floating number
  Key,            // a key of random numbers
  Step,           // how many steps are done, an int64
  Steps,          // how many the job has
  Order,          // of each step the rows of its batch: int64, (steps, rows)
  Input,          // data of the model; or a parameter of it that is not trained
  Target,         // what the loss compares with, or weighs by
  Buffer,         // one of the model's parameters that is a running statistic
  LossScale,      // what the loss is multiplied by: a floating number
  Loss,           // a floating number
  Losses,         // of each step: floats of rank 1
  Faults,         // of each step: floats of rank 1, NaN where something was not finite
  GradientNorm,   // of all gradients together, before they are clipped: a floating number
  GradientNorms,  // of each step: floats of rank 1
  Metrics,        // sums that metrics are means of: float64 of rank 1, or of rank 2, a row a batch
  Output,         // a result of the model
};

struct RoleSlot {
  Role role;
  std::vector<std::string> names = {};  // of the fields; empty: not said
  bool by_name = false;                 // statements get a dict of these names: gradients{w, b}
  bool operator==(const RoleSlot&) const = default;
};

struct RoleSignature {
  std::string kind;  // what the function is: "train_step"
  std::vector<RoleSlot> params;
  std::vector<RoleSlot> results;  // of one the result itself has the role when `tuple_result` is false
  bool tuple_result = false;

  // The place of the role; none when it has none. Of several the first.
  std::optional<std::size_t> param(Role role) const;
  std::optional<std::size_t> result(Role role) const;
  // Names of the fields of the parameter of that role.
  std::vector<std::string> names(Role role) const;
};

std::string_view name_of(Role role);
// The kinds of functions that a trainer makes.
std::vector<std::string_view> role_kinds();

std::string print(const RoleSignature& signature);
// The signature of a function; none when it has no such attribute, or one that is no signature.
std::optional<RoleSignature> roles_of(const Function& function);
// What is wrong with the attribute, as a clause; none also when there is no such attribute.
std::optional<std::string> role_fault(const Function& function);
// Whether a trainer made it as this: "train_step".
bool has_role(const Function& function, std::string_view kind);

}  // namespace relish
