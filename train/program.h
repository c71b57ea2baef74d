// The functions of a prepared module that a training job calls, and how the columns of a data set reach their
// parameters: a parameter whose name has a value takes it, all others take the columns in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/calls/roles.h"
#include "ir/nodes/module.h"
#include "runtime/value.h"
#include "support/diagnostic.h"
#include "train/batches.h"
#include "train/judgement.h"

namespace relish {

// Tensors by the name of the parameter that takes them.
using TensorsByName = std::map<std::string, Tensor>;

// A function of a batch between the data and the model: it takes the first columns, and behind them perhaps a
// key, and gives the first of them anew.
struct Preparation {
  std::string function;
  std::size_t taken = 0, given = 0;  // columns
  bool has_key = false;
  std::uint64_t site = 0;  // its key is fold_in(key of the step, site)
};

struct TrainingProgram {
  ModulePtr module;
  std::string step = "train_step";                // what it takes and gives stands in its signature of roles
  std::string steps;                              // many of them as one function; empty: step by step
  std::string add_gradients, apply_gradients;     // what a step over several batches is made of; empty: none
  std::string optimizer_init = "optimizer_init";  // (params) -> states
  std::string inference = "main";  // (inputs and parameters in any order) -> logits or (logits, ...)
  std::string loss;                // as `inference`, then targets -> loss; empty: none
  std::string learning_rate;       // (lr, step, steps) -> the rate of a step; empty: always the given one
  std::string adjoint;             // of the loss of a step -> (outputs, (gradients...)); empty: not asked
  std::string initial_params;      // (key) -> start values; its signature names them; empty: all are given
  bool loss_is_sum = false;        // the loss is a sum over rows, not their mean
  // The first result of the model is its loss: it takes all columns, and its second result is predictions.
  bool returns_loss = false;
  bool scales_loss = false;  // the last of the optimizer's states count the steps that it left out
  std::uint64_t seed = 0;    // of what a model draws where data are only looked at
  std::vector<Preparation> prepare;
  std::int64_t judged_rows = 256;  // of data that are only looked at, so many go through the model at once

  Judgement judgement;  // of predictions, for accuracy

  // What the loss of a batch counts in a sum over batches; divided by all rows that sum is the mean of the
  // rows.
  double loss_weight(std::int64_t rows) const { return loss_is_sum ? 1 : static_cast<double>(rows); }
};

// A value that a trainer's function gets for a role.
struct RoleValue {
  Role role;
  Value value;
};

// How one function is called with columns of data.
class ColumnBinding {
 public:
  // Parameters that the function's signature gives another role than that of an input or target are given
  // call by call; the others (of a function without a signature: all) are looked up in `named` or take a
  // column of `data`, whose `columns` first columns are for them. What is a key by its type takes no column:
  // it is folded from the key that is given call by call. UsageError when the numbers of columns differ.
  ColumnBinding(const ModulePtr& module, std::string_view function, const TensorsByName& named,
                const DataSet& data, std::size_t columns);

  const FunctionPtr& function() const { return function_; }
  // The columns of one call, in order, beside the values of roles.
  std::vector<Value> arguments(std::span<const Tensor> columns, std::span<const RoleValue> given = {}) const;
  // DataError when a column or a named value does not fit its parameter: where the data or, at
  // `named_place`, the values were given, with the parameter as a note. Of functions whose only roles besides
  // are inputs, targets and keys.
  void check_fit(std::span<const Tensor> columns, const DataSet& data, Span named_place) const;
  // Number of rows when the type of a column's parameter fixes it; none when it is symbolic or unknown.
  std::optional<std::int64_t> fixed_rows() const;
  // The parameter that does, when one does.
  DiagnosticNote note_of_fixed_rows() const;
  // Name of the parameter that takes a column.
  const std::string& parameter_of(std::size_t column) const { return column_parameters_[column].name(); }
  const Var& column_parameter(std::size_t column) const { return column_parameters_[column]; }

 private:
  // Where the value of a parameter comes from: a role, a name, the key, or else a column.
  struct Origin {
    std::optional<Role> role = std::nullopt;
    std::optional<Tensor> named = std::nullopt;
    std::optional<std::size_t> own_key = std::nullopt;  // it is so many keys behind the first
  };
  const Var* fixed_parameter() const;

  FunctionPtr function_;
  std::vector<Origin> origins_;
  std::vector<Var> column_parameters_;
};

// "; y.reshape((-1, 1)) of it has that shape": what gives a tensor `name` the shape that is taken, where one
// dimension of 1 or the order of two makes the difference, or `targets` have their classes on the other
// axis. Empty for others.
std::string hint_of_shape(const Shape& found, const Type& wanted, bool targets, std::string_view name);

// The Relax function of that name; UsageError when there is none.
FunctionPtr function_to_call(const ModulePtr& module, std::string_view name);

}  // namespace relish
