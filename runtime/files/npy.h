// The npy format inside files and archives: a header of three keys, then the elements.
#pragma once

#include "runtime/files/data_file.h"

namespace relish {

struct NpyHeader {
  DType dtype = DType::Float32;
  bool swap_bytes = false;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t header_bytes = 0;  // magic, version, length and text
  std::uint64_t data_bytes = 0;
};

// Both throw DataError.
NpyHeader read_npy_header(ByteStream& stream);
Tensor read_npy_elements(ByteStream& stream, const NpyHeader& header);

// Magic, version 1.0 and header text for a tensor, padded to a multiple of 64 bytes.
std::string npy_header(const Tensor& tensor);

}  // namespace relish
