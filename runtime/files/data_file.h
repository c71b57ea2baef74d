// Data files as the loaders see them: a regular file read by position, and sequential streams over a range of
// it, plain or inflated. Nothing is mapped, so a file that another process cuts short gives an error and
// never a signal.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

// What is said of a pickle file, alone or in an archive of PyTorch.
constexpr std::string_view way_out_of_pickle =
    "a pickle file, which is a program rather than data; save the tensors in Python with safetensors' save_file "
    "or numpy.savez";

// Throws DataError at `place`: "MESSAGE (byte N)". `rule` is the id of the broken rule, "npy.header".
[[noreturn]] void data_failure(const std::string& place, std::string_view rule, std::string_view message,
                               std::uint64_t byte);
// The same where the place names an entry, which tells more than a byte.
[[noreturn]] void data_failure(const std::string& place, std::string_view rule, std::string_view message);

// How many bytes from the beginning are UTF-8.
std::size_t utf8_prefix(std::string_view bytes);

class DataFile {
 public:
  // Throws IOError when the file cannot be opened or is not a regular one.
  explicit DataFile(const std::string& path);
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Reads exactly `size` bytes; DataError when the file ends before.
  void read_at(std::uint64_t offset, void* destination, std::uint64_t size) const;
  // Reads up to `size` bytes of the head.
  std::string head(std::size_t size) const;
  // An allocation above this is made only after the contents have been read once and found to be there.
  std::uint64_t trusted_allocation() const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Bytes in sequence, counted and summed up by CRC-32. `place` is "FILE" or "FILE:ENTRY".
class ByteStream {
 public:
  explicit ByteStream(std::string place) : place_(std::move(place)) {}
  virtual ~ByteStream() = default;

  // Reads exactly `size` bytes; DataError when the stream ends before.
  void read(void* destination, std::uint64_t size);
  // Reads to the end without keeping anything, up to `limit` bytes; the number of bytes passed over.
  std::uint64_t skip(std::uint64_t limit);
  bool at_end();

  const std::string& place() const { return place_; }
  std::uint64_t position() const { return position_; }
  std::uint32_t crc() const { return crc_; }
  [[noreturn]] void fail_here(std::string_view rule, std::string_view message) const {
    data_failure(place_, rule, message, position_);
  }

 protected:
  // Up to `size` bytes; 0 at the end.
  virtual std::size_t read_some(void* destination, std::size_t size) = 0;

 private:
  std::size_t advance(void* destination, std::uint64_t size);

  std::string place_;
  std::uint64_t position_ = 0;
  std::uint32_t crc_ = 0;
};

// The bytes [offset, offset + size) of a file.
class RangeStream : public ByteStream {
 public:
  RangeStream(const DataFile& file, std::string place, std::uint64_t offset, std::uint64_t size)
      : ByteStream(std::move(place)), file_(file), offset_(offset), end_(offset + size) {}

 protected:
  std::size_t read_some(void* destination, std::size_t size) override;

 private:
  const DataFile& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
};

// The inflated contents of such a range. Bytes of the range behind the end of the compressed data are an
// error.
class InflateStream : public ByteStream {
 public:
  enum class Format { RawDeflate, Gzip };
  InflateStream(const DataFile& file, std::string place, std::uint64_t offset, std::uint64_t size,
                Format format);
  ~InflateStream() override;

 protected:
  std::size_t read_some(void* destination, std::size_t size) override;

 private:
  void refill();

  const DataFile& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::vector<unsigned char> input_;
  z_stream state_ = {};
  bool ended_ = false;
};

// Brings elements as they stood in a file into the form of the machine: swaps bytes if asked, and refuses a
// bool that is neither 0 nor 1. `begin` is the byte at which the elements begin.
void settle_elements(Tensor& tensor, bool swap_bytes, const std::string& place, std::uint64_t begin);

// The number of elements of a shape read from a file at `byte`, as DataError where `element_count` has a
// ResourceLimit.
std::int64_t checked_element_count(const Shape& shape, const std::string& place, std::uint64_t byte);

}  // namespace relish
