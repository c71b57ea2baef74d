// What a zip archive of stored entries consists of besides their bytes: a record before each entry, the
// directory behind all, and its end. Time stamps are fixed, so the same entries make the same archive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relish {

struct ZipRecord {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of its record in the archive
};

std::string zip_local_record(const ZipRecord& entry);
std::string zip_central_record(const ZipRecord& entry);
// Of a directory of so many entries that has `size` bytes from `offset` on, and the archive's comment, of at
// most max_zip_comment_bytes.
std::string zip_end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size,
                            std::string_view comment);

}  // namespace relish
