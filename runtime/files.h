// Reading and writing of tensors: npy, npz, safetensors, IDX (also gzipped) and CSV. Every size in a file is
// checked against the bytes really present before anything is allocated; a fault is a DataError
// "FILE[:ENTRY]: ... (byte N)".
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

// Named tensors in file order.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

Tensor read_npy(const std::string& path);
NamedTensors read_npz(const std::string& path);  // stored or deflated entries; bfloat16 as "<V2"
// `metadata` receives the header's "__metadata__" strings when not null.
NamedTensors read_safetensors(const std::string& path,
                              std::map<std::string, std::string>* metadata = nullptr);
Tensor read_idx(const std::string& path);  // rank 1-4, uint8 and the other IDX types; gunzips by first bytes

// A CSV table of numbers: names of the columns (none when the first row is numeric) and values of shape
// (rows, columns).
struct CsvTable {
  std::vector<std::string> columns;
  Tensor values;
};
// Every row must be as wide as the first; the first 20 bad rows are reported by line and column, as
// DataError.
CsvTable read_csv(const std::string& path, DType dtype = DType::Float32);
// The columns but one, of shape (rows, columns - 1), and the named one, of shape (rows,). DataError names
// `path`.
std::pair<Tensor, Tensor> split_target(const CsvTable& table, const std::string& target,
                                       const std::string& path);

// Whether the first bytes or the extension tell of a format other than CSV.
bool is_other_than_csv(const std::string& path);
// A path with format by extension and first bytes: npy, IDX and CSV give one tensor under the empty name, npz
// and safetensors their entries. `path` may carry an entry, "m.npz:w0", which selects it under the empty
// name.
NamedTensors read_tensors(const std::string& path_and_entry);

void write_npy(const std::string& path, const Tensor& tensor);
void write_npz(
    const std::string& path,
    const NamedTensors& tensors);  // entries stored, fixed time stamps: same bytes for same tensors
// With a `checksum_key` the metadata get an entry of that name: the SHA-256 of the whole file with zeros in
// place of these digits.
void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const std::string& checksum_key = "");
// Whether a file that read_safetensors takes has such an entry, and it agrees with every byte.
bool safetensors_checksum_holds(const std::string& path, const std::string& checksum_key);
void write_idx_gz(const std::string& path, const Tensor& tensor);  // uint8, gzipped without a time stamp
// By extension: .npz, .safetensors, or .npy for exactly one tensor; UsageError otherwise.
void write_tensors(const std::string& path, const NamedTensors& tensors);

}  // namespace relish
