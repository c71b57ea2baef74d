// Reading and writing of npz: a zip archive of npy entries.
#include <algorithm>
#include <memory>

#include "runtime/files.h"
#include "runtime/files/npy.h"
#include "runtime/files/selection.h"
#include "runtime/files/zip.h"
#include "support/atomic_file.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::string_view npy_suffix = ".npy";

std::unique_ptr<ByteStream> open_entry(const DataFile& file, const ZipEntry& entry,
                                       const std::string& place) {
  if (!entry.deflated)
    return std::make_unique<RangeStream>(file, place, entry.data_offset, entry.stored_bytes);
  return std::make_unique<InflateStream>(file, place, entry.data_offset, entry.stored_bytes,
                                         InflateStream::Format::RawDeflate);
}

Tensor read_entry(const DataFile& file, const ZipEntry& entry, const std::string& place) {
  std::unique_ptr<ByteStream> stream = open_entry(file, entry, place);
  NpyHeader header = read_npy_header(*stream);
  if (entry.bytes < header.header_bytes || entry.bytes - header.header_bytes != header.data_bytes) {
    stream->fail_here(
        "npz.size",
        fmt::format("the header of {} bytes announces {} bytes of elements, the entry has {} bytes",
                    header.header_bytes, header.data_bytes, entry.bytes));
  }
  if (header.data_bytes > file.trusted_allocation()) {
    std::uint64_t present = open_entry(file, entry, place)->skip(entry.bytes);
    if (present != entry.bytes)
      data_failure(place, "file.truncated", "truncated: the entry is shorter than announced", present);
  }
  Tensor tensor = read_npy_elements(*stream, header);
  std::uint32_t crc = stream->crc();
  if (!stream->at_end()) stream->fail_here("npz.size", "the entry is longer than announced");
  if (crc != entry.crc) {
    data_failure(place, "npz.checksum",
                 fmt::format("the checksum is {:08x}; expected {:08x}", crc, entry.crc), entry.bytes);
  }
  return tensor;
}

// Little-endian fields of a zip record.
class Record {
 public:
  Record& u16(std::uint64_t value) { return put(value, 2); }
  Record& u32(std::uint64_t value) { return put(value, 4); }
  Record& u64(std::uint64_t value) { return put(value, 8); }
  Record& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
    return *this;
  }
  std::string bytes_;
};

struct WrittenEntry {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

constexpr std::uint64_t all_ones = 0xFFFFFFFF;
constexpr std::uint64_t version_plain = 20;
constexpr std::uint64_t version_zip64 = 45;
constexpr std::uint64_t utf8_names = 0x800;
constexpr std::uint64_t first_of_1980 = 0x0021;  // the format's earliest date

bool is_wide(const WrittenEntry& entry) { return entry.bytes >= all_ones || entry.offset >= all_ones; }

std::string local_record(const WrittenEntry& entry) {
  bool wide = entry.bytes >= all_ones;
  Record record;
  record.u32(0x04034b50)
      .u16(wide ? version_zip64 : version_plain)
      .u16(utf8_names)
      .u16(0)
      .u16(0)
      .u16(first_of_1980);
  record.u32(entry.crc).u32(wide ? all_ones : entry.bytes).u32(wide ? all_ones : entry.bytes);
  record.u16(entry.name.size()).u16(wide ? 20 : 0).text(entry.name);
  if (wide) record.u16(1).u16(16).u64(entry.bytes).u64(entry.bytes);
  return record.bytes();
}

std::string central_record(const WrittenEntry& entry) {
  bool wide = is_wide(entry);
  constexpr std::uint64_t made_by_unix = 3 << 8;
  constexpr std::uint64_t mode_rw_r_r = std::uint64_t{0100644} << 16;
  Record record;
  record.u32(0x02014b50).u16(made_by_unix | (wide ? version_zip64 : version_plain));
  record.u16(wide ? version_zip64 : version_plain)
      .u16(utf8_names)
      .u16(0)
      .u16(0)
      .u16(first_of_1980)
      .u32(entry.crc);
  record.u32(wide ? all_ones : entry.bytes).u32(wide ? all_ones : entry.bytes);
  record.u16(entry.name.size()).u16(wide ? 28 : 0).u16(0).u16(0).u16(0).u32(mode_rw_r_r);
  record.u32(wide ? all_ones : entry.offset).text(entry.name);
  if (wide) record.u16(1).u16(24).u64(entry.bytes).u64(entry.bytes).u64(entry.offset);
  return record.bytes();
}

std::string end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size) {
  Record record;
  if (offset >= all_ones || size >= all_ones || entries >= 0xFFFF) {
    record.u32(0x06064b50).u64(44).u16(version_zip64).u16(version_zip64).u32(0).u32(0);
    record.u64(entries).u64(entries).u64(size).u64(offset);
    record.u32(0x07064b50).u32(0).u64(offset + size).u32(1);
  }
  std::uint64_t count = std::min<std::uint64_t>(entries, 0xFFFF);
  record.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count);
  record.u32(std::min(size, all_ones)).u32(std::min(offset, all_ones)).u16(0);
  return record.bytes();
}

}  // namespace

NamedTensors read_npz_selected(const std::string& path, const std::string* only) {
  DataFile file(path);
  std::vector<ZipEntry> entries = read_zip_directory(file);
  NamedTensors tensors;
  std::vector<std::string> names;
  for (const ZipEntry& entry : entries) {
    if (!entry.name.ends_with(npy_suffix)) {
      data_failure(fmt::format("{}:{}", path, printable(entry.name)), "npz.entry",
                   "the entry is not an npy array");
    }
    names.push_back(entry.name.substr(0, entry.name.size() - npy_suffix.size()));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (only != nullptr && names[i] != *only) continue;
    Tensor tensor = read_entry(file, entries[i], fmt::format("{}:{}", path, printable(names[i])));
    tensors.emplace_back(names[i], std::move(tensor));
  }
  if (only != nullptr && tensors.empty()) missing_entry(path, *only, names);
  return tensors;
}

NamedTensors read_npz(const std::string& path) { return read_npz_selected(path, nullptr); }

void write_npz(const std::string& path, const NamedTensors& tensors) {
  check_names(path, tensors);
  if (tensors.size() > max_zip_entries) {
    fail_at(ErrorClass::Usage, path, "npz.entries",
            fmt::format("{} tensors; an npz file holds at most {}; a safetensors file holds more",
                        tensors.size(), max_zip_entries));
  }
  write_file_atomically(path, [&](ByteSink& sink) {
    std::uint64_t offset = 0;
    auto put = [&](std::string_view text) {
      sink.write(text);
      offset += text.size();
    };
    std::vector<WrittenEntry> written;
    for (const auto& [name, tensor] : tensors) {
      std::string header = npy_header(tensor);
      WrittenEntry entry{name + std::string(npy_suffix), 0,
                         header.size() + static_cast<std::uint64_t>(tensor.byte_size()), offset};
      entry.crc = static_cast<std::uint32_t>(
          crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size()));
      entry.crc = static_cast<std::uint32_t>(crc32_z(entry.crc, static_cast<const Bytef*>(tensor.data()),
                                                     static_cast<std::size_t>(tensor.byte_size())));
      put(local_record(entry));
      put(header);
      put({static_cast<const char*>(tensor.data()), static_cast<std::size_t>(tensor.byte_size())});
      written.push_back(std::move(entry));
    }
    std::uint64_t directory_offset = offset;
    for (const WrittenEntry& entry : written) put(central_record(entry));
    put(end_records(written.size(), directory_offset, offset - directory_offset));
  });
}

}  // namespace relish
