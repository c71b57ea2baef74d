// Records of zip archives as bytes.
#include "runtime/files/zip_write.h"

#include <algorithm>
#include <string_view>

namespace relish {
namespace {

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

constexpr std::uint64_t all_ones = 0xFFFFFFFF;
constexpr std::uint64_t version_plain = 20;
constexpr std::uint64_t version_zip64 = 45;
constexpr std::uint64_t utf8_names = 0x800;
constexpr std::uint64_t first_of_1980 = 0x0021;  // the format's earliest date

bool is_wide(const ZipRecord& entry) { return entry.bytes >= all_ones || entry.offset >= all_ones; }

}  // namespace

std::string zip_local_record(const ZipRecord& entry) {
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

std::string zip_central_record(const ZipRecord& entry) {
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

std::string zip_end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size,
                            std::string_view comment) {
  Record record;
  if (offset >= all_ones || size >= all_ones || entries >= 0xFFFF) {
    record.u32(0x06064b50).u64(44).u16(version_zip64).u16(version_zip64).u32(0).u32(0);
    record.u64(entries).u64(entries).u64(size).u64(offset);
    record.u32(0x07064b50).u32(0).u64(offset + size).u32(1);
  }
  std::uint64_t count = std::min<std::uint64_t>(entries, 0xFFFF);
  record.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count);
  record.u32(std::min(size, all_ones)).u32(std::min(offset, all_ones)).u16(comment.size()).text(comment);
  return record.bytes();
}

}  // namespace relish
