// Reading and writing of safetensors: a JSON header of names, dtypes, shapes and byte ranges, then the bytes.
#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "runtime/files/rows.h"
#include "runtime/files/safetensors.h"
#include "runtime/files/selection.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/render.h"
#include "support/sha256.h"

namespace relish {
namespace {

constexpr std::uint64_t max_header_bytes = 100'000'000;
constexpr std::uint64_t length_bytes = 8;
constexpr std::string_view metadata_key = "__metadata__";

struct FormatName {
  std::string_view text;
  DType dtype;
};
constexpr FormatName format_names[] = {
    {"BOOL", DType::Bool},   {"I8", DType::Int8},     {"I16", DType::Int16},     {"I32", DType::Int32},
    {"I64", DType::Int64},   {"U8", DType::UInt8},    {"U16", DType::UInt16},    {"U32", DType::UInt32},
    {"U64", DType::UInt64},  {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"F32", DType::Float32},
    {"F64", DType::Float64},
};

struct Entry {
  std::string name;
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  std::vector<std::uint64_t> offsets;
};

// Receives the header as it is parsed, so that doubled keys are seen and nothing but the entries is kept.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& path, std::map<std::string, std::string>* metadata)
      : path_(path), metadata_(metadata) {}

  std::vector<Entry>& entries() { return entries_; }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a bool"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool binary(binary_t&) override { unexpected("bytes"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (where_ != Where::Array) unexpected("a number");
    if (field_ == "shape") {
      if (value > static_cast<std::uint64_t>(INT64_MAX))
        fail_entry("safetensors.shape", "a dimension does not fit 64 bits");
      if (entries_.back().shape->size() > limits().max_rank)
        fail_entry("safetensors.shape", "the shape has too many dimensions; --max-rank raises the limit");
      entries_.back().shape->push_back(static_cast<std::int64_t>(value));
    } else {
      if (entries_.back().offsets.size() == 2)
        fail_entry("safetensors.offsets", "data_offsets has more than two numbers");
      entries_.back().offsets.push_back(value);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (where_ == Where::Metadata) {
      if (metadata_ != nullptr) (*metadata_)[field_] = value;
      return true;
    }
    if (where_ != Where::Tensor || field_ != "dtype") unexpected("a string");
    for (const FormatName& candidate : format_names) {
      if (candidate.text == value) entries_.back().dtype = candidate.dtype;
    }
    if (!entries_.back().dtype)
      fail_entry("safetensors.dtype", fmt::format("the dtype '{}' is not supported", printable(value)));
    return true;
  }

  bool start_object(std::size_t) override {
    switch (where_) {
      case Where::Start:
        where_ = Where::Names;
        return true;
      case Where::Names:
        where_ = name_ == metadata_key ? Where::Metadata : Where::Tensor;
        break;
      default:
        unexpected("an object");
    }
    fields_.clear();
    if (where_ == Where::Tensor) entries_.push_back({name_, std::nullopt, std::nullopt, {}});
    return true;
  }

  bool end_object() override {
    if (where_ == Where::Tensor) {
      const Entry& entry = entries_.back();
      if (!entry.dtype || !entry.shape || entry.offsets.size() != 2) {
        fail_entry("safetensors.key", "the entry lacks a dtype, a shape or two data_offsets");
      }
    }
    where_ = where_ == Where::Names ? Where::End : Where::Names;
    return true;
  }

  bool key(string_t& value) override {
    if (where_ == Where::Names) {
      if (!names_.insert(value).second)
        fail_header("safetensors.duplicate", fmt::format("the key '{}' occurs twice", printable(value)));
      name_ = value;
      return true;
    }
    field_ = value;
    if (!fields_.insert(value).second)
      fail_entry("safetensors.duplicate", fmt::format("the key '{}' occurs twice", printable(value)));
    bool known = value == "dtype" || value == "shape" || value == "data_offsets";
    if (where_ == Where::Tensor && !known)
      fail_entry("safetensors.key", fmt::format("unknown key '{}'", printable(value)));
    return true;
  }

  bool start_array(std::size_t) override {
    if (where_ != Where::Tensor || field_ == "dtype") unexpected("a list");
    if (field_ == "shape") entries_.back().shape.emplace();
    where_ = Where::Array;
    return true;
  }

  bool end_array() override {
    where_ = Where::Tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    data_failure(path_, "safetensors.header", "the header is not valid JSON",
                 length_bytes + std::max<std::size_t>(position, 1) - 1);
  }

 private:
  enum class Where { Start, Names, Metadata, Tensor, Array, End };

  [[noreturn]] void fail_entry(std::string_view rule, const std::string& message) const {
    data_failure(fmt::format("{}:{}", path_, printable(name_)), rule, message);
  }
  [[noreturn]] void fail_header(std::string_view rule, const std::string& message) const {
    data_failure(path_, rule, message, length_bytes);
  }
  [[noreturn]] void unexpected(std::string_view what) const {
    if (where_ == Where::Start || where_ == Where::Names)
      fail_header("safetensors.header", fmt::format("unexpected {} in the header", what));
    fail_entry("safetensors.header", fmt::format("unexpected {} for '{}'", what, printable(field_)));
  }

  const std::string& path_;
  std::map<std::string, std::string>* metadata_;
  Where where_ = Where::Start;
  std::string name_;
  std::string field_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
  std::vector<Entry> entries_;
};

// Every byte of the data belongs to exactly one entry, and every entry has the bytes of its shape.
void check_layout(const std::vector<Entry>& entries, std::uint64_t data_offset, std::uint64_t data_bytes,
                  const std::string& path) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) {
    std::string place = fmt::format("{}:{}", path, printable(entry.name));
    std::uint64_t begin = entry.offsets[0];
    std::uint64_t end = entry.offsets[1];
    if (begin > end || end > data_bytes) {
      data_failure(place, "safetensors.offsets",
                   fmt::format("the entry has bytes {} to {} of {}", begin, end, data_bytes));
    }
    auto count = static_cast<std::uint64_t>(checked_element_count(*entry.shape, place, length_bytes));
    std::uint64_t wanted = count * static_cast<std::uint64_t>(size_of(*entry.dtype));
    if (end - begin != wanted) {
      data_failure(place, "safetensors.size",
                   fmt::format("the entry has {} bytes; its shape needs {}", end - begin, wanted));
    }
    sorted.push_back(&entry);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry* a, const Entry* b) { return a->offsets < b->offsets; });
  std::uint64_t expected = 0;
  for (const Entry* entry : sorted) {
    if (entry->offsets[0] != expected) {
      data_failure(fmt::format("{}:{}", path, printable(entry->name)), "safetensors.gap",
                   fmt::format("the entry begins at {} of the data; expected {} (no gaps, no overlaps)",
                               entry->offsets[0], expected));
    }
    expected = entry->offsets[1];
  }
  if (expected != data_bytes) {
    data_failure(path, "safetensors.gap",
                 fmt::format("the entries end at {} of {} bytes of data", expected, data_bytes),
                 data_offset + expected);
  }
}

}  // namespace

namespace {

// The entries of a file, whose data begin at `data_offset`.
struct Layout {
  std::vector<Entry> entries;
  std::uint64_t data_offset = 0;
};

Layout read_layout(const DataFile& file, std::map<std::string, std::string>* metadata) {
  const std::string& path = file.path();
  if (file.size() < length_bytes)
    data_failure(path, "file.truncated", "truncated: the header's length is missing", file.size());
  std::uint64_t header_bytes = 0;
  file.read_at(0, &header_bytes, length_bytes);
  if (header_bytes > max_header_bytes) {
    data_failure(path, "safetensors.header",
                 fmt::format("the header has {} bytes; at most {} are read", header_bytes, max_header_bytes),
                 0);
  }
  if (header_bytes > file.size() - length_bytes) {
    data_failure(path, "file.truncated",
                 fmt::format("truncated: the header has {} bytes, the file {}", header_bytes, file.size()),
                 0);
  }
  // The text, and what is kept of it while it is read.
  const HeldMemory held(2 * header_bytes, "the header of a file");
  std::string header(static_cast<std::size_t>(header_bytes), '\0');
  file.read_at(length_bytes, header.data(), header_bytes);
  if (!header.starts_with('{'))
    data_failure(path, "safetensors.header", "the header does not begin with '{'", length_bytes);
  HeaderReader reader(path, metadata);
  nlohmann::json::sax_parse(header, &reader);
  std::vector<Entry> entries = reader.entries();
  std::uint64_t data_offset = length_bytes + header_bytes;
  check_layout(entries, data_offset, file.size() - data_offset, path);

  return {std::move(entries), data_offset};
}

void check_found(bool found, const std::string& path, const std::string& name,
                 const std::vector<Entry>& entries) {
  if (found) return;
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  missing_entry(path, name, names);
}

}  // namespace

NamedTensors read_safetensors_selected(const std::string& path, const std::string* only,
                                       std::map<std::string, std::string>* metadata) {
  const DataFile file(path);
  const Layout layout = read_layout(file, metadata);
  NamedTensors tensors;
  for (const Entry& entry : layout.entries) {
    if (only != nullptr && entry.name != *only) continue;
    const std::uint64_t begin = layout.data_offset + entry.offsets[0];
    Tensor tensor = Tensor::empty(*entry.dtype, *entry.shape);
    file.read_at(begin, tensor.mutable_data(), entry.offsets[1] - entry.offsets[0]);
    settle_elements(tensor, false, fmt::format("{}:{}", path, printable(entry.name)), begin);
    tensors.emplace_back(entry.name, std::move(tensor));
  }
  if (only != nullptr) check_found(!tensors.empty(), path, *only, layout.entries);
  return tensors;
}

std::optional<RowsInFile> rows_in_safetensors(const std::string& path, const std::string& name) {
  const DataFile file(path);
  const Layout layout = read_layout(file, nullptr);
  for (const Entry& entry : layout.entries) {
    if (name.empty() ? layout.entries.size() == 1 : entry.name == name)
      return RowsInFile{*entry.dtype, *entry.shape, layout.data_offset + entry.offsets[0], false};
  }
  check_found(name.empty(), path, name, layout.entries);
  return std::nullopt;
}

std::vector<std::string> names_in_safetensors(const std::string& path) {
  std::vector<std::string> names;
  for (const Entry& entry : read_layout(DataFile(path), nullptr).entries) names.push_back(entry.name);
  return names;
}

NamedTensors read_safetensors(const std::string& path, std::map<std::string, std::string>* metadata) {
  return read_safetensors_selected(path, nullptr, metadata);
}

namespace {

constexpr std::size_t digest_digits = 64;

// Where the digits of a checksum stand in the text of a header; npos when there are none.
std::size_t digits_place(const std::string& header, const std::string& checksum_key) {
  const std::string entry = fmt::format("\"{}\":\"", checksum_key);
  const std::size_t found = header.find(entry);
  if (found == header.npos || header.size() - found < entry.size() + digest_digits) return header.npos;
  return found + entry.size();
}

}  // namespace

bool safetensors_checksum_holds(const std::string& path, const std::string& checksum_key) {
  DataFile file(path);
  std::uint64_t header_bytes = 0;
  file.read_at(0, &header_bytes, length_bytes);
  if (header_bytes > max_header_bytes || header_bytes > file.size() - length_bytes) return false;
  const HeldMemory held(header_bytes, "the header of a file");
  std::string header(static_cast<std::size_t>(header_bytes), '\0');
  file.read_at(length_bytes, header.data(), header_bytes);
  const std::size_t place = digits_place(header, checksum_key);
  if (place == header.npos) return false;
  const std::string digits = header.substr(place, digest_digits);
  header.replace(place, digest_digits, digest_digits, '0');
  Sha256 hash;
  hash.add(&header_bytes, length_bytes);
  hash.add(header);
  std::vector<char> part(std::size_t{1} << 20);
  for (std::uint64_t at = length_bytes + header_bytes; at < file.size();) {
    poll_interrupt();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), file.size() - at));
    file.read_at(at, part.data(), size);
    hash.add(part.data(), size);
    at += size;
  }
  return hash.digits() == digits;
}

SafetensorsHeader safetensors_header(const std::string& path, const std::vector<TensorForm>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  // The header keeps the given order; the data is laid out by falling element size, so that every tensor is
  // aligned.
  SafetensorsHeader result;
  result.order.resize(tensors.size());
  for (std::size_t i = 0; i < result.order.size(); ++i) result.order[i] = i;
  std::stable_sort(result.order.begin(), result.order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(tensors[a].dtype) > size_of(tensors[b].dtype);
  });
  result.begins.resize(tensors.size());
  for (const std::size_t i : result.order) {
    result.begins[i] = result.data_bytes;
    result.data_bytes += tensors[i].bytes();
  }
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[std::string(metadata_key)] = metadata;
  // Appended without looking for the name, which would be quadratic in all; names are known to be distinct.
  auto& object = header.get_ref<nlohmann::ordered_json::object_t&>();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorForm& tensor = tensors[i];
    if (tensor.name == metadata_key)
      fail_at(ErrorClass::Usage, path, "file.name", fmt::format("'{}' cannot name a tensor", tensor.name));
    nlohmann::ordered_json entry;
    for (const FormatName& candidate : format_names) {
      if (candidate.dtype == tensor.dtype) entry["dtype"] = std::string(candidate.text);
    }
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {result.begins[i], result.begins[i] + tensor.bytes()};
    object.push_back({tensor.name, std::move(entry)});
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    fail_at(ErrorClass::Usage, path, "file.name", "a name or a text of the metadata is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  result.bytes.assign(reinterpret_cast<const char*>(&length), length_bytes);
  result.bytes += text;
  return result;
}

void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& given, const std::string& checksum_key) {
  check_names(path, tensors);
  std::map<std::string, std::string> metadata = given;
  if (!checksum_key.empty()) metadata[checksum_key] = std::string(digest_digits, '0');
  std::vector<TensorForm> forms;
  for (const auto& [name, tensor] : tensors) forms.push_back({name, tensor.dtype(), tensor.shape()});
  SafetensorsHeader header = safetensors_header(path, forms, metadata);
  const auto write_parts = [&](const auto& write) {
    write(header.bytes.data(), header.bytes.size());
    for (const std::size_t i : header.order)
      write(tensors[i].second.data(), static_cast<std::size_t>(tensors[i].second.byte_size()));
  };
  if (!checksum_key.empty()) {
    Sha256 hash;
    write_parts([&](const void* data, std::size_t size) { hash.add(data, size); });
    header.bytes.replace(digits_place(header.bytes, checksum_key), digest_digits, hash.digits());
  }
  write_file_atomically(path, [&](ByteSink& sink) {
    write_parts([&](const void* data, std::size_t size) { sink.write(data, size); });
  });
}

}  // namespace relish
