// Reading of zip directories, including the 64-bit forms.
#include "runtime/files/zip.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "support/render.h"

namespace relish {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator64_signature = 0x07064b50;
constexpr std::uint64_t local_header_bytes = 30;
constexpr std::uint64_t central_header_bytes = 46;
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t end64_bytes = 56;
constexpr std::uint64_t locator64_bytes = 20;
constexpr std::uint32_t in_zip64_field = 0xFFFFFFFF;
constexpr std::uint64_t max_ratio = 1032;  // of the deflate format itself
constexpr std::uint64_t max_name_bytes = 4096;

template <class T>
T get(std::string_view bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

std::string read_bytes(const DataFile& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.read_at(offset, bytes.data(), size);
  return bytes;
}

// The last bytes of the file, and where in them the record stands that ends an archive; its comment is what
// follows.
struct ArchiveTail {
  std::string bytes;
  std::uint64_t offset = 0;  // of these bytes in the file
  std::uint64_t at = 0;
};

ArchiveTail find_end(const DataFile& file) {
  if (file.size() < end_bytes)
    data_failure(file.path(), "npz.archive", "not an npz file: too short for an archive", file.size());
  const std::uint64_t tail_bytes = std::min(file.size(), end_bytes + max_zip_comment_bytes);
  const std::uint64_t tail_offset = file.size() - tail_bytes;
  std::string tail = read_bytes(file, tail_offset, tail_bytes);
  std::uint64_t at = tail_bytes - end_bytes;
  while (true) {
    const bool matches = get<std::uint32_t>(tail, at) == end_signature &&
                         get<std::uint16_t>(tail, at + 20) == tail_bytes - at - end_bytes;
    if (matches) return {std::move(tail), tail_offset, at};
    if (at == 0) {
      data_failure(file.path(), "npz.archive",
                   "truncated or not an npz file: the archive's end record is missing", file.size());
    }
    --at;
  }
}

Directory find_directory(const DataFile& file) {
  const auto [tail, tail_offset, at] = find_end(file);
  std::uint64_t limit = tail_offset + at;  // the directory ends before it
  if (get<std::uint16_t>(tail, at + 4) != 0 || get<std::uint16_t>(tail, at + 6) != 0) {
    data_failure(file.path(), "npz.archive", "the archive is one part of several", limit + 4);
  }
  Directory directory{get<std::uint16_t>(tail, at + 10), get<std::uint32_t>(tail, at + 16),
                      get<std::uint32_t>(tail, at + 12)};
  bool wide =
      directory.entries == 0xFFFF || directory.offset == in_zip64_field || directory.size == in_zip64_field;
  if (wide && limit >= locator64_bytes) {
    std::string locator = read_bytes(file, limit - locator64_bytes, locator64_bytes);
    if (get<std::uint32_t>(locator, 0) == locator64_signature) {
      std::uint64_t end64 = get<std::uint64_t>(locator, 8);
      if (end64 > limit || limit - end64 < end64_bytes + locator64_bytes) {
        data_failure(file.path(), "npz.archive", "the 64-bit end record lies outside the archive",
                     limit - locator64_bytes);
      }
      std::string record = read_bytes(file, end64, end64_bytes);
      if (get<std::uint32_t>(record, 0) != end64_signature) {
        data_failure(file.path(), "npz.archive", "the 64-bit end record is damaged", end64);
      }
      directory = {get<std::uint64_t>(record, 32), get<std::uint64_t>(record, 48),
                   get<std::uint64_t>(record, 40)};
      limit = end64;
    }
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    data_failure(file.path(), "npz.archive", "the archive's directory lies outside the file", limit);
  }
  if (directory.entries > max_zip_entries) {
    data_failure(
        file.path(), "npz.entries",
        fmt::format("the archive has {} entries; at most {} are read", directory.entries, max_zip_entries),
        limit);
  }
  return directory;
}

// Replaces the fields of the directory that are all ones by those of the 64-bit extra field.
void read_zip64_field(std::string_view extra, ZipEntry& entry, std::uint64_t& local_offset,
                      const std::string& place) {
  std::uint64_t* fields[] = {&entry.bytes, &entry.stored_bytes, &local_offset};
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    auto id = get<std::uint16_t>(extra, at);
    auto size = get<std::uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at)
      data_failure(place, "npz.directory", "an extra field of the archive's directory is too long");
    if (id == 1) {
      std::string_view values = extra.substr(at, size);
      std::size_t next = 0;
      for (std::uint64_t* field : fields) {
        if (*field != in_zip64_field) continue;
        if (next + 8 > values.size())
          data_failure(place, "npz.directory", "the 64-bit sizes of the entry are incomplete");
        *field = get<std::uint64_t>(values, next);
        next += 8;
      }
    }
    at += size;
  }
}

void check_entry(const ZipEntry& entry, int flags, int method, const std::string& place) {
  constexpr int encrypted = 1;
  if (flags & encrypted) data_failure(place, "npz.method", "the entry is encrypted");
  if (method != 0 && method != 8) {
    data_failure(place, "npz.method",
                 fmt::format("compression method {} is not supported; expected stored or deflated", method));
  }
  if (method == 0 && entry.stored_bytes != entry.bytes) {
    data_failure(place, "npz.size",
                 fmt::format("a stored entry of {} bytes announces {}", entry.stored_bytes, entry.bytes));
  }
  if (entry.bytes / max_ratio + (entry.bytes % max_ratio != 0) > entry.stored_bytes) {
    data_failure(place, "npz.ratio",
                 fmt::format("{} bytes cannot inflate to {}: more than {} to 1", entry.stored_bytes,
                             entry.bytes, max_ratio));
  }
}

// Offset of the entry's data, behind its local header, which must tell the same name and method.
std::uint64_t find_data(const DataFile& file, const ZipEntry& entry, int method, std::uint64_t local_offset,
                        std::uint64_t limit, const std::string& place) {
  if (local_offset > limit || limit - local_offset < local_header_bytes) {
    data_failure(place, "npz.directory", "the entry lies outside the archive", local_offset);
  }
  std::string local = read_bytes(file, local_offset, local_header_bytes);
  if (get<std::uint32_t>(local, 0) != local_signature) {
    data_failure(place, "npz.directory", "the entry's local header is damaged", local_offset);
  }
  auto name_bytes = get<std::uint16_t>(local, 26);
  std::uint64_t data_offset = local_offset + local_header_bytes + name_bytes + get<std::uint16_t>(local, 28);
  if (data_offset > limit || entry.stored_bytes > limit - data_offset) {
    data_failure(place, "npz.directory",
                 fmt::format("the entry's {} bytes do not fit into the archive", entry.stored_bytes),
                 local_offset);
  }
  if (get<std::uint16_t>(local, 8) != method ||
      read_bytes(file, local_offset + local_header_bytes, name_bytes) != entry.name) {
    data_failure(place, "npz.directory", "the entry's local header differs from the directory", local_offset);
  }
  return data_offset;
}

}  // namespace

std::string read_zip_comment(const DataFile& file) {
  const ArchiveTail end = find_end(file);
  return end.bytes.substr(end.at + end_bytes);
}

std::vector<ZipEntry> read_zip_directory(const DataFile& file) {
  Directory directory = find_directory(file);
  std::vector<ZipEntry> entries;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // from local header to end of data
  std::unordered_set<std::string> names;
  std::uint64_t at = 0;
  // An entry at a time: what a directory says of its size is no reason to read so much.
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const std::uint64_t left = directory.size - at;
    std::string head = read_bytes(file, directory.offset + at, std::min(left, central_header_bytes));
    if (head.size() < central_header_bytes || get<std::uint32_t>(head, 0) != central_signature) {
      data_failure(file.path(), "npz.directory",
                   fmt::format("entry {} of the archive's directory is damaged", i), directory.offset + at);
    }
    std::uint64_t name_bytes = get<std::uint16_t>(head, 28);
    std::uint64_t extra_bytes = get<std::uint16_t>(head, 30);
    std::uint64_t comment_bytes = get<std::uint16_t>(head, 32);
    if (left - central_header_bytes < name_bytes + extra_bytes + comment_bytes) {
      data_failure(file.path(), "npz.directory",
                   fmt::format("entry {} of the archive's directory is cut off", i), directory.offset + at);
    }
    if (name_bytes > max_name_bytes) {
      data_failure(
          file.path(), "npz.directory",
          fmt::format("entry {} has a name of {} bytes; at most {} are read", i, name_bytes, max_name_bytes),
          directory.offset + at);
    }
    const std::string tail =
        read_bytes(file, directory.offset + at + central_header_bytes, name_bytes + extra_bytes);
    ZipEntry entry;
    entry.name = tail.substr(0, name_bytes);
    std::string place = fmt::format("{}:{}", file.path(), printable(entry.name));
    int method = get<std::uint16_t>(head, 10);
    entry.deflated = method == 8;
    entry.crc = get<std::uint32_t>(head, 16);
    entry.stored_bytes = get<std::uint32_t>(head, 20);
    entry.bytes = get<std::uint32_t>(head, 24);
    std::uint64_t local_offset = get<std::uint32_t>(head, 42);
    read_zip64_field(std::string_view(tail).substr(name_bytes), entry, local_offset, place);
    check_entry(entry, get<std::uint16_t>(head, 8), method, place);
    entry.data_offset = find_data(file, entry, method, local_offset, directory.offset, place);
    if (!names.insert(entry.name).second)
      data_failure(place, "npz.duplicate", "the archive has two entries of this name");
    ranges.emplace_back(local_offset, entry.data_offset + entry.stored_bytes);
    entries.push_back(std::move(entry));
    at += central_header_bytes + name_bytes + extra_bytes + comment_bytes;
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      data_failure(file.path(), "npz.overlap", "two entries of the archive overlap", ranges[i].first);
    }
  }
  return entries;
}

}  // namespace relish
