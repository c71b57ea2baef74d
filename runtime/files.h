// Reading and writing of tensors: npy, npz, safetensors, IDX (also gzipped) and CSV. Every size in a file is
// checked against the bytes really present before anything is allocated; a fault is a DataError
// "FILE[:ENTRY]: ... (byte N)".
#pragma once

#include <functional>
#include <map>
#include <optional>
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

// How a table of text is written, as far as it is known; the file tells the rest.
struct CsvForm {
  std::optional<char> separator = {};  // between cells; a blank stands for any number of blanks and tabs
  std::optional<char> decimal = {};    // of numbers: a point or a comma
  std::optional<bool> header = {};     // whether the first line has the names
  // Takes notes on the file that a reader should see; they may be told more than once.
  std::function<void(const std::string&)> tell = {};
};

// A CSV table of numbers: names of the columns (none when the first row is numeric) and values of shape
// (rows, columns).
struct CsvTable {
  std::vector<std::string> columns;
  Tensor values;
};
// Every row must be as wide as the first; the first 20 bad rows are reported by line and column, as
// DataError, with how many more there are.
CsvTable read_csv(const std::string& path, DType dtype = DType::Float32, const CsvForm& form = {});

// A column by what its cells hold: int64 for integers, float32 for other numbers, and for words their codes,
// in the order of the alphabet.
struct CsvColumn {
  std::string name;
  Tensor values;                        // of shape (rows,)
  std::vector<std::string> words = {};  // by code
  std::string note = {};                // what a reader should know of it, with its place; most often nothing
  std::optional<std::int64_t> target = {};  // its place among the targets
};
// Columns are chosen by name, or by place: "0" is the first and "-1" the last where no column has that name.
struct CsvOptions : CsvForm {
  std::optional<DType> dtype = {};        // of all columns but the targets
  std::vector<std::string> columns = {};  // the ones to read; the names of all where the file has none
  std::vector<std::string> targets = {};
  bool places = false;  // of a file without a header the columns are known by their places
  // What stands for a missing cell; "mean" and "median" are those of the other cells of its column, and no
  // target has one unless it is asked for by name.
  std::optional<std::string> fill = {};
  std::map<std::string, std::string> fill_of = {};  // of a column, in place of that
  // The words of a column in the order of their codes, which then do not hang on the file.
  std::map<std::string, std::vector<std::string>> words_of = {};
};
std::vector<CsvColumn> read_csv_columns(const std::string& path, const CsvOptions& options);
// Whether columns are chosen by place alone, for which a file needs no names.
bool are_places(const std::vector<std::string>& columns);
// Of the header; none where the first line holds numbers alone.
std::vector<std::string> csv_names(const std::string& path, const CsvForm& form = {});
bool csv_has_header(const std::string& path, const CsvForm& form = {});
// (rows, columns) of numbers, of options.dtype or float32.
Tensor read_csv_matrix(const std::string& path, CsvOptions options);
// That, and the targets: (rows,) of one, int64 where all are integers, else float32.
std::pair<Tensor, Tensor> read_csv_pair(const std::string& path, CsvOptions options);
// Columns of equal length, under a header when `header`, where those of a matrix x are x.0, x.1, …; without
// one a single tensor of rank 2 is a table. UsageError for other shapes.
void write_csv(const std::string& path, const std::vector<CsvColumn>& columns, bool header);

enum class FileFormat { Npy, Npz, Safetensors, Idx, Csv, Json, Text };
// By first bytes and extension; text where nothing else is told and the bytes are UTF-8. DataError for what
// is none of these, with its name where it is known: a pickle file, HDF5, an image.
FileFormat file_format_of(const std::string& path);
// A path with format by extension and first bytes: npy, IDX and CSV (as a matrix) give one tensor under the
// empty name, npz and safetensors their entries. `path` may carry an entry, "m.npz:w0", or a column,
// "d.csv:price", which selects it under the empty name.
NamedTensors read_tensors(const std::string& path_and_entry);

void write_npy(const std::string& path, const Tensor& tensor);
// Entries stored, fixed time stamps: same bytes for same tensors. The comment stands behind the entries,
// where NumPy does not look.
inline constexpr std::size_t most_npz_comment_bytes = 65535;
void write_npz(const std::string& path, const NamedTensors& tensors, const std::string& comment = "");
std::string npz_comment(const std::string& path);
// With a `checksum_key` the metadata get an entry of that name: the SHA-256 of the whole file with zeros in
// place of these digits.
void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const std::string& checksum_key = "");
// Whether a file that read_safetensors takes has such an entry, and it agrees with every byte.
bool safetensors_checksum_holds(const std::string& path, const std::string& checksum_key);
void write_idx_gz(const std::string& path, const Tensor& tensor);  // uint8, gzipped without a time stamp
// By extension: .npz, .safetensors, .csv, .tsv, or .npy for exactly one tensor; UsageError otherwise.
void write_tensors(const std::string& path, const NamedTensors& tensors);
// What write_tensors refuses by the path and the number of tensors alone, before they are computed; none: the
// number is not known.
void check_tensors_path(const std::string& path, std::optional<std::size_t> count);

}  // namespace relish
