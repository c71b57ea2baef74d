// Reading and writing of npy. The header is a Python dictionary; it is read by a parser for exactly its three
// keys.
#include "runtime/files/npy.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "runtime/files.h"
#include "support/atomic_file.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t max_npy_header_bytes = 10000;
constexpr std::size_t header_alignment = 64;

// One text a dtype, little-endian; what is written is also what is read.
struct Descr {
  std::string_view text;
  DType dtype;
};
constexpr Descr descr_table[] = {
    {"|b1", DType::Bool},    {"|i1", DType::Int8},    {"<i2", DType::Int16},    {"<i4", DType::Int32},
    {"<i8", DType::Int64},   {"|u1", DType::UInt8},   {"<u2", DType::UInt16},   {"<u4", DType::UInt32},
    {"<u8", DType::UInt64},  {"<f2", DType::Float16}, {"<V2", DType::BFloat16}, {"<f4", DType::Float32},
    {"<f8", DType::Float64},
};

// Parser of the header text. Errors name the byte in the file.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::uint64_t base, const std::string& place)
      : text_(text), base_(base), place_(place) {}

  void parse(NpyHeader& header) {
    expect('{');
    bool seen[3] = {};
    while (!accept('}')) {
      std::size_t key_at = at_;
      std::string_view key = string();
      expect(':');
      std::size_t number = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (number == 3)
        fail_at_byte("npy.key", fmt::format("unknown key '{}' in the header", printable(key)), key_at);
      if (seen[number]) fail_at_byte("npy.key", fmt::format("the key '{}' occurs twice", key), key_at);
      seen[number] = true;
      if (number == 0) descr(header);
      if (number == 1) header.fortran_order = boolean();
      if (number == 2) shape(header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail_at_byte("npy.header", "text follows the header's closing brace", at_);
    if (!seen[0] || !seen[1] || !seen[2]) {
      fail_at_byte("npy.key", "the header lacks one of the keys descr, fortran_order, shape", 0);
    }
  }

 private:
  [[noreturn]] void fail_at_byte(std::string_view rule, std::string_view message, std::size_t at) const {
    data_failure(place_, rule, message, base_ + at);
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail_at_byte("npy.header", fmt::format("bad header: expected '{}'", c), at_);
  }

  std::string_view string() {
    skip_space();
    char quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    if (quote == '\0') fail_at_byte("npy.header", "bad header: expected a string", at_);
    std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail_at_byte("npy.header", "bad header: a string has no end", at_);
    std::string_view result = text_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    skip_space();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail_at_byte("npy.header", "bad header: fortran_order must be True or False", at_);
  }

  void shape(NpyHeader& header) {
    expect('(');
    header.shape.clear();
    while (!accept(')')) {
      skip_space();
      std::int64_t dimension = 0;
      const char* begin = text_.data() + at_;
      auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), dimension);
      if (error != std::errc()) fail_at_byte("npy.shape", "bad header: expected a dimension of 64 bits", at_);
      if (dimension < 0)
        fail_at_byte("npy.shape", fmt::format("the shape has the negative dimension {}", dimension), at_);
      at_ += static_cast<std::size_t>(rest - begin);
      accept('L');  // as Python 2 wrote long integers
      header.shape.push_back(dimension);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  void descr(NpyHeader& header) {
    skip_space();
    std::size_t at = at_;
    if (at_ < text_.size() && text_[at_] == '[') {
      fail_at_byte("npy.dtype", "the array has a structured dtype; expected a plain number type", at);
    }
    std::string text(string());
    if (text.size() >= 2 && text[1] == 'O') {
      fail_at_byte(
          "npy.pickle",
          "the array holds Python objects (pickle), which are never read; save it with a number dtype", at);
    }
    bool big_endian = text.starts_with('>');
    if (big_endian) text[0] = '<';
    bool one_byte = text == "<b1" || text == "<i1" || text == "<u1";
    if (one_byte || text == "=b1" || text == "=i1" || text == "=u1") text[0] = '|';
    if (text == "|V2") text[0] = '<';
    if (text.starts_with('=')) text[0] = '<';
    for (const Descr& candidate : descr_table) {
      if (candidate.text != text) continue;
      header.dtype = candidate.dtype;
      header.swap_bytes = big_endian && size_of(candidate.dtype) > 1;
      return;
    }
    fail_at_byte("npy.dtype", fmt::format("the dtype '{}' is not supported", printable(text)), at);
  }

  std::string_view text_;
  std::uint64_t base_;
  const std::string& place_;
  std::size_t at_ = 0;
};

template <class Word>
void copy_transposed(const Tensor& source, Tensor& target) {
  const Shape& shape = target.shape();
  Shape strides(shape.size());  // of the source: the first index runs fastest
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  const auto* from = static_cast<const Word*>(source.data());
  auto* to = static_cast<Word*>(target.mutable_data());
  Shape index(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < target.size(); ++i) {
    to[i] = from[offset];
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

Tensor from_fortran_order(const Tensor& source) {
  Tensor target = Tensor::empty(source.dtype(), source.shape());
  switch (size_of(source.dtype())) {
    case 1:
      copy_transposed<std::uint8_t>(source, target);
      break;
    case 2:
      copy_transposed<std::uint16_t>(source, target);
      break;
    case 4:
      copy_transposed<std::uint32_t>(source, target);
      break;
    default:
      copy_transposed<std::uint64_t>(source, target);
      break;
  }
  return target;
}

}  // namespace

NpyHeader read_npy_header(ByteStream& stream) {
  char start[8];
  stream.read(start, sizeof start);
  if (std::string_view(start, magic.size()) != magic) {
    data_failure(stream.place(), "npy.magic", "not an npy file: the magic bytes are missing", 0);
  }
  const int version = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (version < 1 || version > 3 || minor != 0) {
    data_failure(stream.place(), "npy.version", fmt::format("unknown npy version {}.{}", version, minor), 6);
  }
  std::uint32_t length = 0;
  stream.read(&length, version == 1 ? 2 : 4);
  if (length > max_npy_header_bytes) {
    stream.fail_here("npy.header", fmt::format("the header has {} bytes; at most {} are read", length,
                                               max_npy_header_bytes));
  }
  std::uint64_t base = stream.position();
  std::string text(length, '\0');
  stream.read(text.data(), length);
  NpyHeader header;
  HeaderParser(text, base, stream.place()).parse(header);
  header.header_bytes = stream.position();
  std::int64_t count = checked_element_count(header.shape, stream.place(), base);
  header.data_bytes = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size_of(header.dtype));
  return header;
}

Tensor read_npy_elements(ByteStream& stream, const NpyHeader& header) {
  Tensor tensor = Tensor::empty(header.dtype, header.shape);
  stream.read(tensor.mutable_data(), header.data_bytes);
  settle_elements(tensor, header.swap_bytes, stream.place(), header.header_bytes);
  return header.fortran_order && tensor.rank() > 1 ? from_fortran_order(tensor) : tensor;
}

Tensor read_npy(const std::string& path) {
  DataFile file(path);
  RangeStream stream(file, path, 0, file.size());
  NpyHeader header = read_npy_header(stream);
  std::uint64_t present = file.size() - header.header_bytes;
  if (present != header.data_bytes) {
    stream.fail_here("npy.size", fmt::format("{}: the header announces {} bytes of elements, the file has {}",
                                             present < header.data_bytes ? "truncated" : "too long",
                                             header.data_bytes, present));
  }
  return read_npy_elements(stream, header);
}

std::string npy_header(const Tensor& tensor) {
  std::string_view descr;
  for (const Descr& candidate : descr_table) {
    if (candidate.dtype == tensor.dtype()) descr = candidate.text;
  }
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(tensor.shape(), ", "), tensor.rank() == 1 ? "," : "");
  std::size_t before = magic.size() + 4;
  std::size_t total = before + text.size() + 1;
  text.append((header_alignment - total % header_alignment) % header_alignment, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  write_file_atomically(path, [&](ByteSink& sink) {
    sink.write(npy_header(tensor));
    sink.write(tensor.data(), static_cast<std::size_t>(tensor.byte_size()));
  });
}

}  // namespace relish
