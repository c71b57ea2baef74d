// Data of training commands.
#include "shell/commands/training.h"

#include "runtime/files.h"
#include "shell/script/script.h"
#include "support/render.h"

namespace relish {
namespace {

void add_columns(const Invocation& invocation, std::string_view option, const ScriptValue& value,
                 std::vector<Tensor>& into) {
  if (value.tensor()) {
    into.push_back(*value.tensor());
    return;
  }
  if (value.string()) {
    std::string path = *value.string();
    if (invocation.script) path = invocation.script->resolve_path(path, false, invocation.span_of(option));
    NamedTensors entries = read_tensors(path);
    if (entries.size() != 1) {
      invocation.misuse(option, fmt::format("{} holds {} tensors; name one as FILE:ENTRY", printable(path),
                                            entries.size()));
    }
    into.push_back(entries.front().second);
    return;
  }
  invocation.misuse(option, fmt::format("found {}; expected tensors (inputs…, targets)", describe(value)));
}

}  // namespace

DataSet data_set(const Invocation& invocation, std::string_view option) {
  std::vector<Tensor> columns;
  const ScriptValue* value = invocation.find(option);
  if (!value) invocation.misuse(option, "the data are missing");
  if (invocation.surface == Surface::Shell) {
    for (const std::string& path : invocation.names(option)) add_columns(invocation, option, path, columns);
  } else if (const ScriptList* list = value->sequence()) {
    for (const ScriptValue& item : list->items) add_columns(invocation, option, item, columns);
  } else {
    invocation.misuse(option, fmt::format("found {}; expected a tuple (inputs…, targets)", describe(*value)));
  }
  if (columns.size() < 2) {
    invocation.misuse(option, fmt::format("found {} tensors; expected inputs and targets", columns.size()));
  }
  for (const Tensor& column : columns) {
    if (column.rank() == 0) invocation.misuse(option, "found a tensor of rank 0; expected rows");
  }
  DataSet data;
  data.targets = columns.back();
  columns.pop_back();
  data.inputs = std::move(columns);
  return data;
}

TensorsByName parameter_values(const Invocation& invocation) {
  TensorsByName values;
  for (auto& [name, tensor] : invocation.tensors("params")) values[name] = tensor;
  return values;
}

}  // namespace relish
