// Writing and reading the section of large constants.
#include "ir/printer/constant_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "runtime/format.h"
#include "support/base64.h"
#include "support/failure.h"

namespace relish {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are written as they lie in memory");

constexpr std::size_t line_characters = 96;  // of base64
constexpr std::size_t line_bytes = line_characters / 4 * 3;

std::uint64_t hash_of(const Tensor& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ static_cast<std::uint64_t>(tensor.dtype());
  auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29; };
  for (std::int64_t extent : tensor.shape()) mix(static_cast<std::uint64_t>(extent));
  const char* bytes = static_cast<const char*>(tensor.data());
  std::size_t size = static_cast<std::size_t>(tensor.byte_size());
  for (std::size_t at = 0; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min<std::size_t>(8, size - at));
    mix(word);
  }
  return hash;
}

// "(784, 128) rest": the shape, with `text` moved behind it and its blank.
std::optional<Shape> read_shape(std::string_view& text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  std::size_t close = text.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view inside = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  Shape shape;
  while (!inside.empty()) {
    std::int64_t extent = 0;
    auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    inside.remove_prefix(static_cast<std::size_t>(end - inside.data()));
    shape.push_back(extent);
    if (inside.starts_with(',')) inside.remove_prefix(1);
    if (inside.starts_with(' ')) inside.remove_prefix(1);
  }
  return shape;
}

std::string_view take_word(std::string_view& text) {
  std::size_t blank = std::min(text.find(' '), text.size());
  std::string_view word = text.substr(0, blank);
  text.remove_prefix(std::min(blank + 1, text.size()));
  return word;
}

}  // namespace

std::string ConstantSection::add(const Tensor& tensor) {
  std::uint64_t hash = hash_of(tensor);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (identical(entries_[it->second].tensor, tensor)) return entries_[it->second].name;
  }
  std::string name = fmt::format("c{}", next_++);
  while (kept_names_.contains(name)) name = fmt::format("c{}", next_++);
  by_hash_.emplace(hash, entries_.size());
  entries_.push_back({std::move(name), tensor});
  return entries_.back().name;
}

void ConstantSection::keep(const std::string& name, const Tensor& tensor) {
  kept_names_.insert(name);
  by_hash_.emplace(hash_of(tensor), entries_.size());
  entries_.push_back({name, tensor, true});
}

std::string ConstantSection::text() const {
  if (entries_.empty()) return "";
  std::string out = fmt::format("{}\n", constant_section_heading);
  for (const Entry& entry : entries_) write(entry, out);
  return out;
}

std::string ConstantSection::added_text() const {
  std::string out;
  for (const Entry& entry : entries_) {
    if (!entry.kept) write(entry, out);
  }
  return out;
}

void ConstantSection::write(const Entry& entry, std::string& out) {
  out += fmt::format("#: {} {} {}", entry.name, name_of(entry.tensor.dtype()),
                     format_shape(entry.tensor.shape()));
  const auto* bytes = static_cast<const unsigned char*>(entry.tensor.data());
  auto size = static_cast<std::size_t>(entry.tensor.byte_size());
  for (std::size_t at = 0; at < size; at += line_bytes) {
    out += at == 0 ? " " : "#:   ";
    append_base64(out, bytes + at, std::min(line_bytes, size - at));
    out += '\n';
  }
  if (size == 0) out += '\n';
}

std::size_t find_constant_section(std::string_view source) {
  std::size_t at = source.rfind(constant_section_heading);
  while (at != std::string_view::npos) {
    std::size_t end = at + constant_section_heading.size();
    bool starts_line = at == 0 || source[at - 1] == '\n';
    bool ends_line = end == source.size() || source[end] == '\n' || source[end] == '\r';
    if (starts_line && ends_line) return at;
    if (at == 0) break;
    at = source.rfind(constant_section_heading, at - 1);
  }
  return std::string_view::npos;
}

std::unordered_map<std::string, Tensor> read_constant_section(std::uint32_t file, std::string_view source,
                                                              std::size_t heading) {
  std::unordered_map<std::string, Tensor> constants;
  std::string name;
  Tensor tensor;
  std::optional<Base64Reader> reader;
  Span entry_span;
  auto finish = [&] {
    if (!reader) return;
    if (!reader->done()) {
      fail(ErrorClass::Syntax, entry_span, "constants.short",
           fmt::format("constant '{}' has less data than its shape {} needs", name,
                       format_shape(tensor.shape())));
    }
    if (!constants.emplace(name, tensor).second) {
      fail(ErrorClass::Syntax, entry_span, "constants.twice",
           fmt::format("constant '{}' is given twice", name));
    }
    reader.reset();
  };

  std::size_t at = heading;
  while (at < source.size()) {
    std::size_t end = std::min(source.find('\n', at), source.size());
    std::string_view line = source.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    Span span{file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + line.size())};
    at = end + 1;
    if (!line.starts_with("#:")) continue;
    line.remove_prefix(2);
    if (line.starts_with("   ")) {
      line.remove_prefix(3);
    } else {
      finish();
      entry_span = span;
      if (line.starts_with(' ')) line.remove_prefix(1);
      name = take_word(line);
      std::string_view dtype_name = take_word(line);
      auto dtype = dtype_from_name(dtype_name);
      auto shape = read_shape(line);
      if (name.empty() || !dtype || !shape) {
        fail(ErrorClass::Syntax, span, "constants.entry",
             "an entry of the constants needs a name, a dtype and a shape");
      }
      tensor = Tensor::empty(*dtype, std::move(*shape));
      reader.emplace(static_cast<unsigned char*>(tensor.mutable_data()),
                     static_cast<std::size_t>(tensor.byte_size()));
    }
    if (!reader || !reader->read(line)) {
      fail(ErrorClass::Syntax, span, "constants.data",
           reader ? fmt::format("the data of constant '{}' is no base64 of the right length", name)
                  : std::string("data without an entry"));
    }
  }
  finish();
  return constants;
}

}  // namespace relish
