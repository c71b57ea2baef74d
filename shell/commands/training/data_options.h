// Data sets of training commands: from a script's values, or from files.
#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "train/batches.h"
#include "train/program.h"

namespace relish {

// The columns of an option as they were given: in order, or by the names of parameters.
struct DataColumns {
  std::vector<Column> columns;
  std::vector<std::string> names;  // empty: in order

  bool named() const { return !names.empty(); }
};

// A tuple or list of tensors, paths, or lists of these (whose rows follow each other); or a dict of them; on
// the command line FILE[:ENTRY],… . Rows of large files stay where they are. `least`: so many columns at
// least.
DataColumns data_columns(const Invocation& invocation, std::string_view option, std::size_t least = 2);

// Parameters that take columns, in order: those of the model, then those of the loss.
struct DataParameters {
  std::vector<std::string> inputs, targets;
};
// The data set for them. Columns in order: the last are targets, as many as there are parameters for them.
// UsageError for a name that is none of them.
DataSet data_set(const Invocation& invocation, std::string_view option, const DataColumns& columns,
                 const DataParameters& parameters);

// Takes rows for validation out of a data set: a share of them, drawn by the seed.
DataSet split_validation(DataSet& data, double share, std::uint64_t seed, Span place);

// The option `prepare`: functions of a batch, brought into the module.
std::vector<Preparation> prepare_option(const Invocation& invocation, Module& module, std::size_t columns);
inline constexpr std::string_view prepare_doc =
    "a function of yours, or several: (columns…[, key]) -> columns, between the data and the model; with a "
    "key it is used for training alone";

}  // namespace relish
