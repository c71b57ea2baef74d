// The head of a safetensors file, for those who write the data themselves: one by one, or within another
// file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

struct TensorForm {
  std::string name;
  DType dtype = DType::Float32;
  Shape shape;

  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(element_count(shape)) * static_cast<std::uint64_t>(size_of(dtype));
  }
};

struct SafetensorsHeader {
  std::string bytes;                  // with its length in front
  std::vector<std::uint64_t> begins;  // of each tensor's data, behind the header
  std::vector<std::size_t> order;     // in which the data follow each other
  std::uint64_t data_bytes = 0;
};
// `path`: of the file that is written, for messages. Names are distinct. UsageError for a name that no tensor
// may have.
SafetensorsHeader safetensors_header(const std::string& path, const std::vector<TensorForm>& tensors,
                                     const std::map<std::string, std::string>& metadata = {});

// Names of the tensors in a file, in its order; their data are not read. DataError.
std::vector<std::string> names_in_safetensors(const std::string& path);

}  // namespace relish
