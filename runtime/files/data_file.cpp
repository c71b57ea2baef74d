// Positioned reading, streams and inflating.
#include "runtime/files/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/format.h"
#include "support/file_access.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/nearest_file.h"
#include "support/render.h"

namespace relish {

static_assert(std::endian::native == std::endian::little,
              "the file formats are read as little-endian memory");

namespace {

constexpr std::uint64_t always_trusted_allocation = std::uint64_t{64} << 20;
constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr std::uint64_t largest_read = std::uint64_t{1} << 30;

[[noreturn]] void system_failure(const std::string& path, std::string_view what) {
  fail_at(ErrorClass::IO, path, "file.system", fmt::format("{}: {}", what, std::strerror(errno)));
}

template <class Word, Word (*swap)(Word)>
void swap_words(void* data, std::int64_t count) {
  auto* bytes = static_cast<unsigned char*>(data);
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * static_cast<std::int64_t>(sizeof word), sizeof word);
    word = swap(word);
    std::memcpy(bytes + i * static_cast<std::int64_t>(sizeof word), &word, sizeof word);
  }
}

std::uint16_t swap2(std::uint16_t v) { return __builtin_bswap16(v); }
std::uint32_t swap4(std::uint32_t v) { return __builtin_bswap32(v); }
std::uint64_t swap8(std::uint64_t v) { return __builtin_bswap64(v); }

}  // namespace

void data_failure(const std::string& place, std::string_view rule, std::string_view message,
                  std::uint64_t byte) {
  fail_at(ErrorClass::Data, place, rule, fmt::format("{} (byte {})", message, byte));
}

void data_failure(const std::string& place, std::string_view rule, std::string_view message) {
  fail_at(ErrorClass::Data, place, rule, std::string(message));
}

std::size_t utf8_prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 0 || first > 0xF4 || at + length > bytes.size()) return at;
    for (std::size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(bytes[at + i]) & 0xC0) != 0x80) return at;
    at += length;
  }
  return at;
}

DataFile::DataFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a FIFO must not wait; for regular files it means nothing.
  descriptor_ = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY).release();
  if (descriptor_ < 0 && errno == ENOENT) {
    const std::string reason = std::strerror(errno);
    fail_at(ErrorClass::IO, path, "file.system",
            fmt::format("cannot open: {}{}", reason, nearest_entry(path)));
  }
  if (descriptor_ < 0) system_failure(path, "cannot open");
  struct stat status = {};
  bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail_at(ErrorClass::IO, path, "file.regular", "is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

DataFile::~DataFile() { ::close(descriptor_); }

void DataFile::read_at(std::uint64_t offset, void* destination, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) {
    data_failure(path_, "file.truncated",
                 fmt::format("truncated: {} bytes wanted, the file has {}", size, size_), offset);
  }
  auto* bytes = static_cast<char*>(destination);
  while (size > 0) {
    auto wanted = static_cast<std::size_t>(std::min(size, largest_read));
    ssize_t got = ::pread(descriptor_, bytes, wanted, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno != EINTR) system_failure(path_, "cannot read");
      poll_interrupt();
      continue;
    }
    if (got == 0) data_failure(path_, "file.truncated", "the file was cut short while it was read", offset);
    bytes += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
}

std::string DataFile::head(std::size_t size) const {
  std::string result(static_cast<std::size_t>(std::min<std::uint64_t>(size, size_)), '\0');
  read_at(0, result.data(), result.size());
  return result;
}

std::uint64_t DataFile::trusted_allocation() const { return std::max(always_trusted_allocation, 4 * size_); }

std::size_t ByteStream::advance(void* destination, std::uint64_t size) {
  std::size_t got = read_some(destination, static_cast<std::size_t>(std::min(size, largest_read)));
  crc_ = static_cast<std::uint32_t>(crc32_z(crc_, static_cast<const unsigned char*>(destination), got));
  position_ += got;
  return got;
}

void ByteStream::read(void* destination, std::uint64_t size) {
  auto* bytes = static_cast<char*>(destination);
  while (size > 0) {
    std::size_t got = advance(bytes, size);
    if (got == 0) fail_here("file.truncated", fmt::format("truncated: {} more bytes were expected", size));
    bytes += got;
    size -= got;
  }
}

std::uint64_t ByteStream::skip(std::uint64_t limit) {
  std::vector<char> chunk(chunk_bytes);
  std::uint64_t passed = 0;
  while (passed < limit) {
    std::size_t got = advance(chunk.data(), std::min<std::uint64_t>(chunk.size(), limit - passed));
    if (got == 0) break;
    passed += got;
  }
  return passed;
}

bool ByteStream::at_end() {
  char byte;
  return advance(&byte, 1) == 0;
}

std::size_t RangeStream::read_some(void* destination, std::size_t size) {
  auto wanted = std::min<std::uint64_t>(size, end_ - offset_);
  file_.read_at(offset_, destination, wanted);
  offset_ += wanted;
  return static_cast<std::size_t>(wanted);
}

InflateStream::InflateStream(const DataFile& file, std::string place, std::uint64_t offset,
                             std::uint64_t size, Format format)
    : ByteStream(std::move(place)), file_(file), offset_(offset), end_(offset + size), input_(chunk_bytes) {
  constexpr int gzip_flag = 16;
  int window_bits = format == Format::Gzip ? MAX_WBITS + gzip_flag : -MAX_WBITS;
  if (inflateInit2(&state_, window_bits) != Z_OK) {
    fail_at(ErrorClass::ResourceLimit, this->place(), "memory.limit", "no memory to inflate");
  }
}

InflateStream::~InflateStream() { inflateEnd(&state_); }

void InflateStream::refill() {
  auto wanted = std::min<std::uint64_t>(input_.size(), end_ - offset_);
  file_.read_at(offset_, input_.data(), wanted);
  offset_ += wanted;
  state_.next_in = input_.data();
  state_.avail_in = static_cast<uInt>(wanted);
}

std::size_t InflateStream::read_some(void* destination, std::size_t size) {
  state_.next_out = static_cast<unsigned char*>(destination);
  state_.avail_out = static_cast<uInt>(size);
  while (!ended_ && state_.avail_out == size) {
    if (state_.avail_in == 0 && offset_ < end_) refill();
    int status = inflate(&state_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ended_ = true;
      if (state_.avail_in != 0 || offset_ != end_)
        fail_here("file.compressed", "bytes follow the end of the compressed data");
    } else if (status == Z_BUF_ERROR && state_.avail_in == 0 && offset_ == end_) {
      fail_here("file.truncated", "truncated: the compressed data breaks off");
    } else if (status == Z_MEM_ERROR) {
      fail_at(ErrorClass::ResourceLimit, place(), "memory.limit", "no memory to inflate");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail_here("file.compressed", fmt::format("damaged compressed data: {}",
                                               state_.msg != nullptr ? state_.msg : "bad stream"));
    }
  }
  return size - state_.avail_out;
}

void settle_elements(Tensor& tensor, bool swap_bytes, const std::string& place, std::uint64_t begin) {
  if (swap_bytes) {
    switch (size_of(tensor.dtype())) {
      case 2:
        swap_words<std::uint16_t, swap2>(tensor.mutable_data(), tensor.size());
        break;
      case 4:
        swap_words<std::uint32_t, swap4>(tensor.mutable_data(), tensor.size());
        break;
      case 8:
        swap_words<std::uint64_t, swap8>(tensor.mutable_data(), tensor.size());
        break;
      default:
        break;
    }
  }
  if (tensor.dtype() != DType::Bool) return;
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  const auto* bad = std::find_if(bytes, bytes + tensor.size(), [](unsigned char byte) { return byte > 1; });
  if (bad != bytes + tensor.size()) {
    data_failure(place, "file.bool",
                 fmt::format("element {} of a bool array is {}; expected 0 or 1", bad - bytes, int{*bad}),
                 begin + static_cast<std::uint64_t>(bad - bytes));
  }
}

std::int64_t checked_element_count(const Shape& shape, const std::string& place, std::uint64_t byte) {
  if (shape.size() > limits().max_rank) {
    data_failure(place, "file.shape",
                 fmt::format("the array has {} dimensions; at most {} are read, --max-rank raises the limit",
                             shape.size(), limits().max_rank),
                 byte);
  }
  std::int64_t bytes = 8;  // of the widest element, as in element_count
  bool overflow = false;
  for (std::int64_t dimension : shape) {
    if (dimension < 0) {
      data_failure(place, "file.shape",
                   fmt::format("the shape {} has a negative dimension", format_shape(shape)), byte);
    }
    // A dimension of zero does not excuse the others from fitting.
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<std::int64_t>(dimension, 1), &bytes);
  }
  if (overflow) {
    data_failure(place, "file.shape",
                 fmt::format("the shape {} has too many elements", printable(format_shape(shape))), byte);
  }
  return element_count(shape);
}

}  // namespace relish
