// Reading and writing of IDX, the layout of the MNIST files: two zero bytes, a type, a rank, big-endian
// dimensions, then big-endian elements; often gzipped.
#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "runtime/files/rows.h"
#include "support/atomic_file.h"

namespace relish {
namespace {

constexpr int max_idx_rank = 4;

std::optional<DType> idx_type(unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::UInt8;
    case 0x09:
      return DType::Int8;
    case 0x0B:
      return DType::Int16;
    case 0x0C:
      return DType::Int32;
    case 0x0D:
      return DType::Float32;
    case 0x0E:
      return DType::Float64;
    default:
      return std::nullopt;
  }
}

std::unique_ptr<ByteStream> open_stream(const DataFile& file, bool gzipped) {
  if (!gzipped) return std::make_unique<RangeStream>(file, file.path(), 0, file.size());
  return std::make_unique<InflateStream>(file, file.path(), 0, file.size(), InflateStream::Format::Gzip);
}

}  // namespace

namespace {

struct IdxHeader {
  DType dtype = DType::UInt8;
  Shape shape;
  std::uint64_t header_bytes = 0, data_bytes = 0;
};

IdxHeader read_idx_header(ByteStream& stream, const std::string& path, bool gzipped) {
  unsigned char magic[4];
  stream.read(magic, sizeof magic);
  const std::optional<DType> dtype = idx_type(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype) {
    const std::string found = fmt::format("{:02x} {:02x} {:02x}", magic[0], magic[1], magic[2]);
    data_failure(path, "idx.magic",
                 gzipped
                     ? fmt::format("what is compressed in it is no IDX file (it begins with {}), and only "
                                   "these are read compressed; unpack it with gunzip",
                                   found)
                     : fmt::format("not an IDX file: it begins with {}", found),
                 0);
  }
  const int rank = magic[3];
  if (rank < 1 || rank > max_idx_rank) {
    data_failure(path, "idx.rank",
                 fmt::format("the array has {} dimensions; expected 1 to {}", rank, max_idx_rank), 3);
  }
  IdxHeader header;
  header.dtype = *dtype;
  for (int i = 0; i < rank; ++i) {
    unsigned char bytes[4];
    stream.read(bytes, sizeof bytes);
    header.shape.push_back(std::int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
  }
  header.header_bytes = stream.position();
  header.data_bytes = static_cast<std::uint64_t>(checked_element_count(header.shape, path, 4)) *
                      static_cast<std::uint64_t>(size_of(*dtype));
  return header;
}

[[noreturn]] void refuse_idx_size(const std::string& path, const IdxHeader& header, std::uint64_t present,
                                  std::string_view at_least) {
  data_failure(path, "idx.size",
               fmt::format("{}: the dimensions announce {} bytes of elements, the file has {}{}",
                           present < header.data_bytes ? "truncated" : "too long", header.data_bytes,
                           at_least, present),
               header.header_bytes);
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const DataFile file(path);
  const bool gzipped = file.head(2) == "\x1f\x8b";
  const std::unique_ptr<ByteStream> stream = open_stream(file, gzipped);
  const IdxHeader header = read_idx_header(*stream, path, gzipped);
  const std::uint64_t header_bytes = header.header_bytes, data_bytes = header.data_bytes;
  if (!gzipped && file.size() - header_bytes != data_bytes)
    refuse_idx_size(path, header, file.size() - header_bytes, "");
  if (gzipped && data_bytes > file.trusted_allocation()) {
    const std::uint64_t present = open_stream(file, gzipped)->skip(header_bytes + data_bytes) - header_bytes;
    if (present < data_bytes) refuse_idx_size(path, header, present, "");
  }
  Tensor tensor = Tensor::empty(header.dtype, header.shape);
  stream->read(tensor.mutable_data(), data_bytes);
  if (!stream->at_end()) refuse_idx_size(path, header, data_bytes + 1, "at least ");
  settle_elements(tensor, true, path, header_bytes);
  return tensor;
}

std::optional<RowsInFile> rows_in_idx(const std::string& path) {
  const DataFile file(path);
  if (file.head(2) == "\x1f\x8b") return std::nullopt;
  const std::unique_ptr<ByteStream> stream = open_stream(file, false);
  const IdxHeader header = read_idx_header(*stream, path, false);
  if (file.size() - header.header_bytes != header.data_bytes)
    refuse_idx_size(path, header, file.size() - header.header_bytes, "");
  return RowsInFile{header.dtype, header.shape, header.header_bytes, true};
}

void write_idx_gz(const std::string& path, const Tensor& tensor) {
  RELISH_CHECK(tensor.dtype() == DType::UInt8 && tensor.rank() >= 1 && tensor.rank() <= max_idx_rank);
  std::string header = {'\0', '\0', '\x08', static_cast<char>(tensor.rank())};
  for (std::int64_t dimension : tensor.shape()) {
    RELISH_CHECK(dimension <= INT32_MAX);
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(dimension >> shift & 0xFF);
  }
  write_file_atomically(path, [&](ByteSink& sink) {
    // zlib's default gzip header has no name and no time, so the same tensor gives the same bytes.
    z_stream state = {};
    constexpr int gzip_flag = 16;
    constexpr int memory_level = 8;
    int status = deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_flag, memory_level,
                              Z_DEFAULT_STRATEGY);
    RELISH_CHECK(status == Z_OK);
    std::unique_ptr<z_stream, decltype(&deflateEnd)> owner(&state, deflateEnd);
    std::vector<unsigned char> output(std::size_t{1} << 16);
    auto compress = [&](const void* data, std::uint64_t size, bool last) {
      const auto* bytes = static_cast<const unsigned char*>(data);
      do {
        auto part = static_cast<uInt>(std::min<std::uint64_t>(size, std::uint64_t{1} << 30));
        state.next_in = const_cast<unsigned char*>(bytes);
        state.avail_in = part;
        bytes += part;
        size -= part;
        do {
          state.next_out = output.data();
          state.avail_out = static_cast<uInt>(output.size());
          deflate(&state, last && size == 0 ? Z_FINISH : Z_NO_FLUSH);
          sink.write(output.data(), output.size() - state.avail_out);
        } while (state.avail_out == 0);
      } while (size > 0);
    };
    compress(header.data(), header.size(), false);
    compress(tensor.data(), static_cast<std::uint64_t>(tensor.byte_size()), true);
  });
}

}  // namespace relish
