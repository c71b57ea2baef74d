// Where the rows of an array stand in a file.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor.h"

namespace relish {

struct RowsInFile {
  DType dtype = DType::Float32;
  Shape shape;
  std::uint64_t begin = 0;  // the byte of the first row
  bool swap_bytes = false;
};

// None where the rows are compressed. DataError for what is no such file.
std::optional<RowsInFile> rows_in_idx(const std::string& path);
// Of the entry, or of the only one when it is empty.
std::optional<RowsInFile> rows_in_safetensors(const std::string& path, const std::string& entry);

}  // namespace relish
