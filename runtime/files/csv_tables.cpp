// Tables as their users take them: the names of the columns, one matrix, inputs and targets.
#include <algorithm>

#include "runtime/files.h"
#include "runtime/files/csv_text.h"

namespace relish {
namespace {

// Columns of equal length side by side.
Tensor matrix_of(const std::vector<const Tensor*>& columns, std::int64_t rows, DType dtype) {
  const auto width = static_cast<std::int64_t>(columns.size());
  Tensor result = Tensor::empty(dtype, {rows, width});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      const Tensor& source = *columns[static_cast<std::size_t>(column)];
      if (is_float(dtype)) {
        result.set_double(row * width + column, source.get_double(row));
      } else {
        result.set_int(row * width + column, source.get_int(row));
      }
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> csv_names(const std::string& path, const CsvForm& form) {
  CsvText text(path, form);
  text.read_first_line();
  return text.names();
}

bool csv_has_header(const std::string& path, const CsvForm& form) {
  CsvText text(path, form);
  text.read_first_line();
  return text.has_header();
}

Tensor read_csv_matrix(const std::string& path, CsvOptions options) {
  if (!options.dtype) options.dtype = DType::Float32;
  options.places = true;
  const std::vector<CsvColumn> columns = read_csv_columns(path, options);
  std::vector<const Tensor*> all;
  for (const CsvColumn& column : columns) all.push_back(&column.values);
  return matrix_of(all, all.empty() ? 0 : all.front()->shape()[0], *options.dtype);
}

std::pair<Tensor, Tensor> read_csv_pair(const std::string& path, CsvOptions options) {
  if (!options.dtype) options.dtype = DType::Float32;
  const std::vector<CsvColumn> columns = read_csv_columns(path, options);
  std::vector<const Tensor*> inputs, targets(options.targets.size());
  for (const CsvColumn& column : columns) {
    if (column.target) {
      targets[static_cast<std::size_t>(*column.target)] = &column.values;
    } else {
      inputs.push_back(&column.values);
    }
  }
  const bool integers =
      std::all_of(targets.begin(), targets.end(), [](const Tensor* each) { return is_int(each->dtype()); });
  const std::int64_t rows = columns.front().values.shape()[0];
  Tensor y = targets.size() == 1 ? *targets.front()
                                 : matrix_of(targets, rows, integers ? DType::Int64 : DType::Float32);
  return {matrix_of(inputs, rows, *options.dtype), std::move(y)};
}

}  // namespace relish
