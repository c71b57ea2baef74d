// Values are counted as if all of a call were there at once, which is more than what is held: a model that
// computes little for a row, whose calls cost more than their work, still gets the most rows.
#include "train/judged_rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/rewriting/rewrite.h"
#include "support/limits.h"

namespace relish {
namespace {

using Sizes = std::map<std::uint64_t, std::int64_t>;  // by the identity of a symbol

bool has_symbol(const TensorType& type) {
  return std::any_of(type.shape->begin(), type.shape->end(),
                     [](const Scalar& dim) { return !dim.as_int().has_value(); });
}

// Of a value that there is for each row; what has no symbol in its shape is there once.
double bytes_of_row(const Type& type, const Sizes& sizes) {
  if (const TupleType* tuple = type.tuple()) {
    double bytes = 0;
    for (const Type& field : tuple->fields) bytes += bytes_of_row(field, sizes);
    return bytes;
  }
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->shape || !tensor->dtype || !has_symbol(*tensor)) return 0;
  const auto size_of_symbol = [&](const ScalarVar& symbol) -> std::optional<std::int64_t> {
    const auto known = sizes.find(symbol.id());
    return known == sizes.end() ? 1 : known->second;
  };
  double bytes = size_of(*tensor->dtype);
  for (const Scalar& dim : *tensor->shape)
    bytes *= static_cast<double>(std::max<std::int64_t>(evaluate_int(dim, size_of_symbol).value_or(1), 1));
  return bytes;
}

// The sizes of symbols behind the rows that the columns tell; those of the rows themselves count once.
Sizes sizes_in_data(const Function& function, const std::vector<Column>& columns) {
  Sizes sizes;
  std::size_t at = 0;
  for (const Var& param : function.params) {
    const TensorType* type = param.type().tensor();
    if (at == columns.size()) break;
    if (!type || !type->shape || type->shape->empty() || type->shape->front().as_int()) continue;
    const Shape& shape = columns[at++].shape();
    if (shape.size() != type->shape->size()) continue;
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (const auto symbol = (*type->shape)[d].as_var()) sizes.emplace(symbol->id(), shape[d]);
  }
  return sizes;
}

double bytes_of_row(const TrainingProgram& program, const std::string& name, const DataSet& data) {
  const std::vector<Column> columns = data.columns();
  std::set<std::string> seen;
  std::vector<std::string> pending = {name};
  double bytes = 0;
  while (!pending.empty()) {
    const std::string next = std::move(pending.back());
    pending.pop_back();
    const FunctionPtr function = program.module->function(next);
    if (!function || !seen.insert(next).second) continue;
    const Sizes sizes = sizes_in_data(*function, columns);
    if (next == name)
      for (const Var& param : function->params) bytes += bytes_of_row(param.type(), sizes);
    for_each_binding(*function,
                     [&](const Binding& binding) { bytes += bytes_of_row(binding.var().type(), sizes); });
    for (std::string& other : global_references(*function)) pending.push_back(std::move(other));
  }
  return bytes;
}

}  // namespace

std::int64_t judged_rows(const TrainingProgram& program, const DataSet& data, std::int64_t at_least) {
  constexpr std::int64_t most = 256;
  constexpr std::uint64_t most_bytes = 256 << 20, share = 4;
  double of_row = bytes_of_row(program, program.inference, data);
  if (!program.loss.empty()) of_row = std::max(of_row, bytes_of_row(program, program.loss, data));
  const auto room = static_cast<double>(std::min(most_bytes, memory_limit() / share));
  const double rows =
      of_row > 0 ? std::min(room / of_row, static_cast<double>(most)) : static_cast<double>(most);
  return std::max(static_cast<std::int64_t>(rows), std::clamp<std::int64_t>(at_least, 1, most));
}

}  // namespace relish
