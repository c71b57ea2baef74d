// The formats behind one name: which file is read or written by which format.
#include <optional>
#include <unordered_set>

#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "runtime/files/selection.h"
#include "support/file_access.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

enum class FileFormat { Npy, Npz, Safetensors, Idx, Csv };

// The first bytes decide; the extension where they cannot, so that a damaged file is refused by its own
// reader.
std::optional<FileFormat> known_format_of(const std::string& path) {
  if (path.ends_with(".safetensors")) return FileFormat::Safetensors;
  std::string head = DataFile(path).head(9);
  if (head.starts_with("\x93NUMPY")) return FileFormat::Npy;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return FileFormat::Npz;
  if (head.starts_with("\x1f\x8b")) return FileFormat::Idx;
  if (path.ends_with(".csv")) return FileFormat::Csv;
  if (path.ends_with(".npy")) return FileFormat::Npy;
  if (path.ends_with(".npz")) return FileFormat::Npz;
  if (head.starts_with(std::string_view("\0\0", 2)) || path.ends_with("-ubyte") || path.ends_with(".gz")) {
    return FileFormat::Idx;
  }
  if (head.size() == 9 && head[8] == '{') return FileFormat::Safetensors;
  return std::nullopt;
}

FileFormat format_of(const std::string& path) {
  if (const std::optional<FileFormat> format = known_format_of(path)) return *format;
  data_failure(path, "file.format", "unknown format; expected npy, npz, safetensors, IDX or CSV", 0);
}

NamedTensors read_selected(const std::string& path, const std::string* only) {
  auto single = [&](Tensor tensor) {
    if (only != nullptr)
      data_failure(path, "file.entry", fmt::format("the file has no entries, so not '{}'", printable(*only)));
    NamedTensors tensors;
    tensors.emplace_back("", std::move(tensor));
    return tensors;
  };
  switch (format_of(path)) {
    case FileFormat::Npy:
      return single(read_npy(path));
    case FileFormat::Idx:
      return single(read_idx(path));
    case FileFormat::Csv:
      return single(read_csv(path).values);
    case FileFormat::Npz:
      return read_npz_selected(path, only);
    case FileFormat::Safetensors:
      return read_safetensors_selected(path, only, nullptr);
  }
  internal_failure(__FILE__, __LINE__, "format", "unknown file format");
}

}  // namespace

bool is_other_than_csv(const std::string& path) {
  return known_format_of(path).value_or(FileFormat::Csv) != FileFormat::Csv;
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

void write_tensors(const std::string& path, const NamedTensors& tensors) {
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  if (path.ends_with(".safetensors")) return write_safetensors(path, tensors);
  if (!path.ends_with(".npy")) {
    fail_at(ErrorClass::Usage, path, "file.format",
            "unknown extension of an output; expected .npz, .safetensors or .npy");
  }
  if (tensors.size() != 1) {
    fail_at(
        ErrorClass::Usage, path, "file.format",
        fmt::format("an npy file holds one tensor, not {}; expected .npz or .safetensors", tensors.size()));
  }
  write_npy(path, tensors.front().second);
}

}  // namespace relish
