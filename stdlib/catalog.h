// What the standard library's texts offer to transforms: losses and optimizers with their options, and which
// functions of which text make one up for given options. A transform asks `choose_*` and inlines the
// functions named there.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/attribute.h"

namespace relish {

// What becomes of an option's value. A function of a text gets what it asks for by the names of its
// parameters: an option of that name, or with `one_minus_` before it what the option lacks to 1.
enum class OptionUse : std::uint8_t {
  Variant,    // True selects the function whose name has the suffix
  Attribute,  // it replaces the attribute of this name in the operator calls of the chosen function
  Constant,   // a constant of rank 0 in the parameters' dtype; with a suffix, 0 leaves it out
  Pair,       // two such constants, whose names are the suffix, separated by a space
  Rate,       // the learning rate: an argument at run time; the value is what training passes
  Reduction,  // how a loss joins the losses of the elements
  Gradient,   // `apply_<option>` in optimizers/gradients.relish changes the gradients first
  Word,       // one of the words of the type
  Length,     // a Constant; when it is not given, the number of steps of the job
  Compat,     // "tvm" selects the function whose name ends in `_tvm`, where the text has one
};

struct CatalogOption {
  std::string_view name;
  OptionUse use;
  std::string_view type;      // for documentation: "float", "int", "bool", "mean|sum|none"
  std::string_view fallback;  // the default as text; "" when there is none
  std::string_view doc;
  std::string_view suffix = {};  // of the function's name when the option is on
  std::string_view state = {};   // a kind of parameter state that the option brings
  bool required = false;
  // Numbers are at least 0 (with `positive` more) and at most `most` (with `below` less).
  double most = std::numeric_limits<double>::infinity();
  bool below = false;
  bool positive = false;
  bool any_sign = false;  // may be negative
};

// A number that a text asks for by name.
struct NamedNumber {
  std::string_view name;
  double value;
};
// "zero", "one" and others that mean the same in every text.
std::span<const NamedNumber> common_numbers();

// --- Losses. A loss function takes `predictions`, `targets`, when weighted `weights`, and numbers, and
// returns one tensor.

enum class LossParts : std::uint8_t {
  Elements,  // the function gives the loss of every element; losses/reductions.relish joins them
  Rows,      // the same, but the mean is that of the sums of the rows: the text's function `rows`
  Operator,  // the attribute `reduction` of an operator call in the function joins them
};

struct LossEntry {
  std::string_view name;  // "cross_entropy"
  std::string_view summary;
  std::string_view text;  // path of the text: "losses/cross_entropy.relish"
  std::span<const CatalogOption> options;
  LossParts parts = LossParts::Elements;
  // `targets` are int64 indices of classes (predictions without their class dimension) instead of values like
  // the predictions.
  bool class_targets = false;
  // Predictions have a class dimension: the last one up to rank 2, else dimension 1. It is set as the
  // attribute `axis` of the operator calls.
  bool classes = false;
  // From which prediction on a place of one column counts as positive; NaN where the loss does not say.
  double threshold = std::numeric_limits<double>::quiet_NaN();
};
std::span<const LossEntry> loss_entries();          // sorted by name
const LossEntry* find_loss(std::string_view name);  // null when unknown

struct LossChoice {
  std::string_view text;           // text to load
  std::string function;            // function in it, to be inlined
  std::vector<std::string> extra;  // parameters of the new function: targets[, weights]
  std::vector<std::pair<std::string, double>> constants;  // for parameters of these names
  bool scalar = true;                                     // false for reduction "none"
  // To set in every operator call of the function that has an attribute of the name.
  Attributes call_attributes;
  std::string rows;      // function of the text that sums rows, used when the predictions have several
  std::string join;      // function of losses/reductions.relish; "" when nothing is left to join
  bool flatten = false;  // the function wants predictions (N, C, P): positions in one dimension
};
// `rank`: of the predictions, -1 when unknown. UsageError for an unknown option or a value out of its range.
LossChoice choose_loss(const LossEntry& loss, const Attributes& options, int rank);

// --- Optimizers. State is a tuple: the shared states, then for every kind of parameter state one per
// parameter. The functions of an optimizer return one tensor, or a tuple when there are several. What they
// take is found by the names of their parameters: p, g, lr, the states' names, options and numbers; the
// shared states are those after the step, and `steps` is their counter in the parameters' dtype.

struct OptimizerEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
  std::span<const CatalogOption> options;
  std::span<const std::string_view> shared_states;     // the first is num_steps, a 0-d int64
  std::span<const std::string_view> parameter_states;  // kinds of state of a parameter's shape
};
std::span<const OptimizerEntry> optimizer_entries();
const OptimizerEntry* find_optimizer(std::string_view name);

struct OptimizerChoice {
  std::string_view text;
  std::string start;   // the initial shared states
  std::string step;    // the next shared states, once per step and before the updates
  std::string update;  // a parameter after the step, and its states
  std::vector<std::string> parameter_states;
  // Function of a kind of parameter state that gives its initial value; "" for zeros.
  std::vector<std::string> starts;
  std::vector<std::string> gradient_steps;                // options that change the gradients first, in order
  std::vector<std::pair<std::string, double>> constants;  // for parameters of these names
  std::optional<double> lr;                               // when given
};
// UsageError for an unknown option or a value out of its range.
OptimizerChoice choose_optimizer(const OptimizerEntry& optimizer, const Attributes& options);

// --- Schedules of the learning rate, and initial values of parameters: one function of a text each, which
// finds what it takes by the names of its parameters.

struct RuleEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view function;  // in schedules/schedules.relish or initialisers/initialisers.relish
  std::span<const CatalogOption> options;
  bool interval = false;  // the options a and b are its ends: a is below b
};
std::span<const RuleEntry> schedule_entries();     // take lr, step and options; all in float64
std::span<const RuleEntry> initialiser_entries();  // take key, shape, fan_in, fan_out, fan and options

struct RuleChoice {
  std::string function;
  std::vector<std::pair<std::string, double>> constants;
  std::vector<std::string> lengths;  // options that are the number of steps of the job
  double warmup = 0;                 // steps before a schedule begins, in which the rate grows
  bool fan_out = false;              // whether `fan` is fan_out
};
// `kind` is "schedule" or "initialiser", for messages. UsageError for an unknown name, option or value.
RuleChoice choose_rule(std::string_view kind, std::span<const RuleEntry> entries, std::string_view name,
                       const Attributes& options);

}  // namespace relish
