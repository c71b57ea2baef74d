// Rows that are read where they lie: of files that are larger than memory, and of several files as one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

// Rows of one dtype and shape, (rows, ...). May be read by several threads at once.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual DType dtype() const = 0;
  virtual const Shape& shape() const = 0;
  // Copies the rows, each in [0, shape().front()), one behind the other. DataError when the file is shorter
  // than it was, IOError when it cannot be read.
  virtual void read(std::span<const std::int64_t> rows, std::byte* to) const = 0;
};

// The rows of a file, or of its entry ("m.safetensors:x"): npy in C order, IDX that is not compressed,
// safetensors. Null for other formats, whose rows do not lie one behind the other. DataError, IOError.
std::shared_ptr<const RowSource> open_rows(const std::string& path_and_entry);
// The bytes of the file, without its entry; 0 when there is none.
std::uint64_t bytes_of_rows_file(const std::string& path_and_entry);

std::shared_ptr<const RowSource> rows_of_tensor(Tensor tensor);
// The rows of the first, then those of the second, and so on: of one dtype and the same shape of a row
// (DataError that names the two by `names`).
std::shared_ptr<const RowSource> joined_rows(std::vector<std::shared_ptr<const RowSource>> parts,
                                             const std::vector<std::string>& names);

}  // namespace relish
