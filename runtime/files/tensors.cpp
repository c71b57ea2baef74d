// The formats behind one name: which file is read or written by which format.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "runtime/files.h"
#include "runtime/files/csv_text.h"
#include "runtime/files/data_file.h"
#include "runtime/files/selection.h"
#include "support/file_access.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// The first bytes decide; the extension where they cannot, so that a damaged file is refused by its own
// reader.
std::optional<FileFormat> known_format_of(const std::string& path, const std::string& head) {
  if (path.ends_with(".safetensors")) return FileFormat::Safetensors;
  if (head.starts_with("\x93NUMPY")) return FileFormat::Npy;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return FileFormat::Npz;
  if (head.starts_with("\x1f\x8b")) return FileFormat::Idx;
  if (path.ends_with(".csv") || path.ends_with(".tsv")) return FileFormat::Csv;
  if (path.ends_with(".json")) return FileFormat::Json;
  if (path.ends_with(".npy")) return FileFormat::Npy;
  if (path.ends_with(".npz")) return FileFormat::Npz;
  if (head.starts_with(std::string_view("\0\0", 2)) || path.ends_with("-ubyte") || path.ends_with(".gz")) {
    return FileFormat::Idx;
  }
  if (head.size() >= 9 && head[8] == '{' && head[7] == '\0') return FileFormat::Safetensors;
  return std::nullopt;
}

// Formats that are known and not read, by what they begin with, and the way out.
struct ForeignFormat {
  std::string_view head;
  std::string_view name;
};
constexpr ForeignFormat foreign_formats[] = {
    {"\x80\x02", way_out_of_pickle},
    {"\x80\x03", way_out_of_pickle},
    {"\x80\x04", way_out_of_pickle},
    {"\x80\x05", way_out_of_pickle},
    {"\x89HDF\r\n", "an HDF5 file; save its tensors with numpy.savez"},
    {"PAR1", "a Parquet file; save it as CSV"},
    {"\x89PNG", "an image; save the pixels with numpy.save"},
    {"\xff\xd8\xff", "an image; save the pixels with numpy.save"},
    {"MATLAB 5.0", "a MATLAB file; save its arrays with numpy.savez"},
};

// Of some kilobytes of a file: whether they can be the beginning of a text.
bool is_text(std::string_view bytes, bool whole) {
  constexpr std::size_t longest_character = 4;
  if (bytes.find('\0') != bytes.npos) return false;
  const std::size_t left = bytes.size() - utf8_prefix(bytes);
  // A character may be cut where the sample ends.
  return left == 0 || (!whole && left < longest_character);
}

// Whether a text begins with rows of numbers, equally many in each, beside comments: a table, as programs
// write them without saying so in the name of the file.
bool is_table_of_numbers(std::string_view head, bool whole) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::size_t width = 0, numbers = 0;
  for (std::size_t at = 0; at < head.size();) {
    std::size_t end = head.find('\n', at);
    const bool cut = end == head.npos && !whole;
    end = std::min(end, head.size());
    std::string_view line = head.substr(at, end - at);
    at = end + 1;
    if (cut && (width > 0 || line.find_first_of(" \t,;") == line.npos)) break;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '#') continue;
    if (cut) line = line.substr(0, line.find_last_of(" \t,;"));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const char separator = line.find(';') != line.npos ? ';' : line.find(',') != line.npos ? ',' : ' ';
    CsvCellReader cells(line, separator);
    std::size_t count = 0;
    while (const std::optional<CsvCell> cell = cells.next()) {
      if (!csv_number<double>(without_plus(cell->text))) return false;
      ++count;
    }
    if (count == 0 || (width > 0 && count != width)) return false;
    width = count;
    numbers += count;
  }
  return numbers > 1;
}

// The first bytes are text: what kind, by the extension where they do not tell.
FileFormat text_format_of(const std::string& path, const std::string& head, bool whole) {
  if (path.ends_with(".dat") || path.ends_with(".data")) return FileFormat::Csv;
  if (path.ends_with(".txt") && is_table_of_numbers(head, whole)) return FileFormat::Csv;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && head[first] == '{' && path.find('.') == std::string::npos;
  return json ? FileFormat::Json : FileFormat::Text;
}

NamedTensors read_selected(const std::string& path, const std::string* only) {
  auto single = [&](Tensor tensor) {
    if (only != nullptr)
      data_failure(path, "file.entry", fmt::format("the file has no entries, so not '{}'", printable(*only)));
    NamedTensors tensors;
    tensors.emplace_back("", std::move(tensor));
    return tensors;
  };
  switch (file_format_of(path)) {
    case FileFormat::Npy:
      return single(read_npy(path));
    case FileFormat::Idx:
      return single(read_idx(path));
    case FileFormat::Csv: {
      if (only == nullptr) return single(read_csv(path).values);
      CsvOptions options;
      options.columns = {*only};
      NamedTensors tensors;
      CsvColumn column = std::move(read_csv_columns(path, options).front());
      if (!column.note.empty()) data_failure(path, "csv.value", column.note);
      tensors.emplace_back(*only, std::move(column.values));
      return tensors;
    }
    case FileFormat::Json:
    case FileFormat::Text:
      data_failure(path, "file.format", "no file of tensors; expected npy, npz, safetensors, IDX or CSV", 0);
    case FileFormat::Npz:
      return read_npz_selected(path, only);
    case FileFormat::Safetensors:
      return read_safetensors_selected(path, only, nullptr);
  }
  internal_failure(__FILE__, __LINE__, "format", "unknown file format");
}

}  // namespace

FileFormat file_format_of(const std::string& path) {
  constexpr std::size_t sample = 4096;
  const DataFile file(path);
  const std::string head = file.head(sample);
  for (const std::string_view ending : {".xlsx", ".xls", ".ods"}) {
    if (path.ends_with(ending)) data_failure(path, "file.format", "this is a spreadsheet; save it as CSV", 0);
  }
  if (const std::optional<FileFormat> format = known_format_of(path, head)) return *format;
  for (const ForeignFormat& foreign : foreign_formats) {
    if (head.starts_with(foreign.head))
      data_failure(path, "file.format", fmt::format("this is {}", foreign.name), 0);
  }
  if (!is_text(head, file.size() <= sample)) {
    data_failure(path, "file.format",
                 "unknown format; expected npy, npz, safetensors, IDX, CSV, JSON or text; load(path, "
                 "bytes=True) gives the bytes of any file",
                 0);
  }
  return text_format_of(path, head, file.size() <= sample);
}

void missing_entry(const std::string& path, const std::string& name, const std::vector<std::string>& names) {
  data_failure(path, "file.entry",
               fmt::format("no entry '{}'{}", printable(name), did_you_mean(name, names)));
}

void check_names(const std::string& path, const NamedTensors& tensors) {
  constexpr std::size_t max_name_bytes = 4096;
  std::unordered_set<std::string> seen;
  for (const auto& [name, tensor] : tensors) {
    bool usable = !name.empty() && name.size() <= max_name_bytes;
    if (!usable || !seen.insert(name).second) {
      fail_at(ErrorClass::Usage, path, "file.name",
              fmt::format("'{}' cannot name an entry: {}", printable(name),
                          usable ? "it is taken" : "bad length"));
    }
  }
}

NamedTensors read_tensors(const std::string& path_and_entry) {
  if (file_exists(path_and_entry)) return read_selected(path_and_entry, nullptr);
  for (std::size_t colon = path_and_entry.find(':'); colon != std::string::npos;
       colon = path_and_entry.find(':', colon + 1)) {
    std::string path = path_and_entry.substr(0, colon);
    if (!file_exists(path)) continue;
    std::string entry = path_and_entry.substr(colon + 1);
    NamedTensors tensors = read_selected(path, &entry);
    tensors.front().first.clear();
    return tensors;
  }
  return read_selected(path_and_entry, nullptr);  // fails with the system's reason
}

void check_tensors_path(const std::string& path, std::optional<std::size_t> count) {
  constexpr std::string_view of_many[] = {".npz", ".safetensors", ".csv", ".tsv"};
  if (std::any_of(std::begin(of_many), std::end(of_many),
                  [&](std::string_view ending) { return path.ends_with(ending); }))
    return;
  if (!path.ends_with(".npy")) {
    fail_at(ErrorClass::Usage, path, "file.format",
            "unknown extension of a file of tensors; expected .npz, .safetensors, .npy, .csv or .tsv");
  }
  if (count && *count != 1) {
    fail_at(ErrorClass::Usage, path, "file.format",
            fmt::format("an npy file holds one tensor, not {}; expected .npz or .safetensors", *count));
  }
}

void write_tensors(const std::string& path, const NamedTensors& tensors) {
  check_tensors_path(path, tensors.size());
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  if (path.ends_with(".safetensors")) return write_safetensors(path, tensors);
  if (path.ends_with(".csv") || path.ends_with(".tsv")) {
    std::vector<CsvColumn> columns;
    for (const auto& [name, tensor] : tensors) columns.push_back({name, tensor});
    return write_csv(path, columns, !(tensors.size() == 1 && tensors.front().first == "out"));
  }
  write_npy(path, tensors.front().second);
}

}  // namespace relish
