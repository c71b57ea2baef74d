// The directory of a zip archive, checked as a whole before any entry is read: number of entries, methods,
// sizes, ratios and overlaps. Names are labels and never paths.
#pragma once

#include "runtime/files/data_file.h"

namespace relish {

// More are neither read nor written.
constexpr std::uint64_t max_zip_entries = 10000;
// What the format has room for.
constexpr std::uint64_t max_zip_comment_bytes = 65535;

struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t stored_bytes = 0;  // in the archive
  std::uint64_t bytes = 0;         // after inflating
  std::uint64_t data_offset = 0;
};

// In the order of the archive's directory. Throws DataError.
std::vector<ZipEntry> read_zip_directory(const DataFile& file);
// What stands behind the archive's last record; most often nothing.
std::string read_zip_comment(const DataFile& file);

}  // namespace relish
