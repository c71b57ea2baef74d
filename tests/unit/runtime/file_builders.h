// Data files put together field by field, true or false, with the lengths and checksums that belong to them:
// for tests of the loaders and for their fuzz targets.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish::testing {

// `bytes` little-endian bytes of a number.
inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

// An npy file with the given dictionary and data; the length of the header has 2 bytes in version 1, else 4.
inline std::string npy_file(std::string header, std::string_view data = {}, int version = 1) {
  header += '\n';
  std::string bytes("\x93NUMPY");
  bytes += static_cast<char>(version);
  bytes += '\0';
  return bytes + little_endian(header.size(), version == 1 ? 2 : 4) + header + std::string(data);
}

inline std::string safetensors_file(const std::string& header, std::string_view data = {}) {
  return little_endian(header.size(), 8) + header + std::string(data);
}

inline std::string deflated(std::string_view content, bool gzip = false) {
  z_stream state = {};
  constexpr int gzip_flag = 16;
  constexpr int memory_level = 8;
  if (deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, gzip ? MAX_WBITS + gzip_flag : -MAX_WBITS,
                   memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string result(deflateBound(&state, content.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  state.avail_in = static_cast<uInt>(content.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  deflate(&state, Z_FINISH);
  result.resize(state.total_out);
  deflateEnd(&state);
  return result;
}

// An entry of a zip archive. What is not set is as the content says.
struct ArchiveEntry {
  std::string name;
  std::string content;
  int method = 0;  // 0 stored, 8 deflated
  bool zip64 = false;
  int flags = 0;
  std::string comment;
  std::string extra;
  std::optional<std::uint32_t> crc;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> stored_bytes;
  std::optional<std::uint64_t> local_offset;
  std::optional<std::string> local_name;
  std::optional<int> local_method;
  std::optional<std::uint32_t> local_signature;
  std::optional<std::uint32_t> central_signature;
};

struct ArchiveEnd {
  bool zip64 = false;
  std::string comment;
  int disk = 0;
  std::optional<std::uint64_t> entries;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> end64_offset;
  std::optional<std::uint32_t> end64_signature;
};

inline std::string zip_file(const std::vector<ArchiveEntry>& entries, const ArchiveEnd& end = {}) {
  constexpr std::uint64_t all_ones = 0xFFFFFFFF;
  std::string archive;
  std::string directory;
  for (const ArchiveEntry& entry : entries) {
    const std::string data = entry.method == 8 ? deflated(entry.content) : entry.content;
    const std::uint32_t crc = entry.crc.value_or(static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(entry.content.data()), entry.content.size())));
    const std::uint64_t bytes = entry.bytes.value_or(entry.content.size());
    const std::uint64_t stored = entry.stored_bytes.value_or(data.size());
    const std::uint64_t offset = entry.local_offset.value_or(archive.size());
    const std::string local_name = entry.local_name.value_or(entry.name);
    const int local_method = entry.local_method.value_or(entry.method);
    const std::string sizes64 = little_endian(bytes, 8) + little_endian(stored, 8);
    const std::string local_extra =
        entry.zip64 ? little_endian(1, 2) + little_endian(16, 2) + sizes64 : std::string();
    const std::string central_extra =
        (entry.zip64 ? little_endian(1, 2) + little_endian(24, 2) + sizes64 + little_endian(offset, 8)
                     : std::string()) +
        entry.extra;
    auto common = [&](int method, std::size_t name_bytes, std::size_t extra_bytes) {
      return little_endian(entry.zip64 ? 45 : 20, 2) + little_endian(static_cast<unsigned>(entry.flags), 2) +
             little_endian(static_cast<unsigned>(method), 2) + little_endian(0, 2) + little_endian(0x21, 2) +
             little_endian(crc, 4) + little_endian(entry.zip64 ? all_ones : stored, 4) +
             little_endian(entry.zip64 ? all_ones : bytes, 4) + little_endian(name_bytes, 2) +
             little_endian(extra_bytes, 2);
    };
    archive += little_endian(entry.local_signature.value_or(0x04034b50), 4) +
               common(local_method, local_name.size(), local_extra.size()) + local_name + local_extra + data;
    directory += little_endian(entry.central_signature.value_or(0x02014b50), 4) + little_endian(20, 2) +
                 common(entry.method, entry.name.size(), central_extra.size()) +
                 little_endian(entry.comment.size(), 2) + little_endian(0, 8) +
                 little_endian(entry.zip64 ? all_ones : offset, 4) + entry.name + central_extra +
                 entry.comment;
  }
  const std::uint64_t count = end.entries.value_or(entries.size());
  const std::uint64_t size = end.size.value_or(directory.size());
  const std::uint64_t offset = end.offset.value_or(archive.size());
  archive += directory;
  if (end.zip64) {
    const std::uint64_t at = end.end64_offset.value_or(archive.size());
    archive += little_endian(end.end64_signature.value_or(0x06064b50), 4) + little_endian(44, 8) +
               little_endian(45, 2) + little_endian(45, 2) + little_endian(0, 8) + little_endian(count, 8) +
               little_endian(count, 8) + little_endian(size, 8) + little_endian(offset, 8);
    archive +=
        little_endian(0x07064b50, 4) + little_endian(0, 4) + little_endian(at, 8) + little_endian(1, 4);
  }
  archive += little_endian(0x06054b50, 4) + little_endian(static_cast<unsigned>(end.disk), 2) +
             little_endian(0, 2) + little_endian(end.zip64 ? 0xFFFF : count, 2) +
             little_endian(end.zip64 ? 0xFFFF : count, 2) + little_endian(end.zip64 ? all_ones : size, 4) +
             little_endian(end.zip64 ? all_ones : offset, 4) + little_endian(end.comment.size(), 2) +
             end.comment;
  return archive;
}

}  // namespace relish::testing
