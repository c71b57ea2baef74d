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

#include "ir/nodes/module.h"
#include "runtime/value.h"
#include "support/diagnostic.h"
#include "train/batches.h"

namespace relish {

// Tensors by the name of the parameter that takes them.
using TensorsByName = std::map<std::string, Tensor>;

// How predictions are judged: those of one column are positive above the threshold (none: nobody says), and
// places with the ignored label are left out.
struct Judgement {
  std::optional<double> threshold;
  std::optional<std::int64_t> ignored_label;
};

struct TrainingProgram {
  ModulePtr module;
  std::string step = "train_step";  // (params, states, lr, inputs..., targets) -> (loss, params, states)
  std::string optimizer_init = "optimizer_init";  // (params) -> states
  std::string inference = "main";  // (inputs and parameters in any order) -> logits or (logits, ...)
  std::string loss;                // as `inference`, then targets -> loss; empty: none
  std::string learning_rate;       // (lr, step, steps) -> the rate of a step; empty: always the given one
  std::string adjoint;             // as `loss` -> (loss, (gradients...)); empty: not asked
  std::string initial_params;      // (key) -> the start values of `drawn`; empty: all are given
  std::vector<std::string> drawn;  // trained parameters whose start values initial_params makes, in order
  bool loss_is_sum = false;        // the loss is a sum over rows, not their mean
  std::vector<std::string> parameters;  // the trained ones, in the order of the tuple `params`

  Judgement judgement;  // of predictions, for accuracy

  // What the loss of a batch counts in a sum over batches; divided by all rows that sum is the mean of the
  // rows.
  double loss_weight(std::int64_t rows) const { return loss_is_sum ? 1 : static_cast<double>(rows); }
};

// How one function is called with columns of data.
class ColumnBinding {
 public:
  // Parameters before `leading` are given call by call; the others are looked up in `named` or take a column
  // of `data`, whose `columns` first columns are for them. UsageError when the numbers of columns differ.
  ColumnBinding(const ModulePtr& module, std::string_view function, std::size_t leading,
                const TensorsByName& named, const DataSet& data, std::size_t columns);

  const FunctionPtr& function() const { return function_; }
  // The columns of one call, in order, behind the leading arguments.
  std::vector<Value> arguments(std::vector<Value> leading, std::span<const Tensor> columns) const;
  // DataError when a column or a named value does not fit its parameter: where the data or, at
  // `named_place`, the values were given, with the parameter as a note. Without leading parameters only.
  void check_fit(std::span<const Tensor> columns, const DataSet& data, Span named_place) const;
  // Number of rows when the type of a column's parameter fixes it; none when it is symbolic or unknown.
  std::optional<std::int64_t> fixed_rows() const;
  // The parameter that does, when one does.
  DiagnosticNote note_of_fixed_rows() const;
  // Name of the parameter that takes a column.
  const std::string& parameter_of(std::size_t column) const { return column_parameters_[column].name(); }

 private:
  const Var* fixed_parameter() const;

  FunctionPtr function_;
  std::vector<std::optional<Tensor>>
      named_;  // a parameter behind the leading ones: its value, or none for a column
  std::vector<Var> column_parameters_;
};

// The Relax function of that name; UsageError when there is none.
FunctionPtr function_to_call(const ModulePtr& module, std::string_view name);

}  // namespace relish
