// An npz archive: the fields of its directory, of its local headers and of the npy files in it, with the
// checksums and sizes of what they then hold; and raw bytes.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"
#include "tests/fuzz/npy_fields.h"

using namespace relish::fuzzing;
using relish::testing::ArchiveEnd;
using relish::testing::ArchiveEntry;

namespace {

constexpr std::size_t longest_content = 1 << 16;

std::uint64_t number_at(std::string_view bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  if (at + static_cast<std::size_t>(size) <= bytes.size())
    std::memcpy(&value, bytes.data() + at, static_cast<std::size_t>(size));
  return value;
}

// As much as comes out, up to a length.
std::string inflated(std::string_view data) {
  z_stream state = {};
  if (inflateInit2(&state, -MAX_WBITS) != Z_OK) return {};
  std::string result(longest_content, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  state.avail_in = static_cast<uInt>(data.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  inflate(&state, Z_FINISH);
  result.resize(state.total_out);
  inflateEnd(&state);
  return result;
}

// The entries whose local headers follow each other from the first byte on.
std::vector<ArchiveEntry> entries_of(std::string_view file) {
  std::vector<ArchiveEntry> entries;
  std::size_t at = 0;
  while (file.substr(at).starts_with("PK\x03\x04") && entries.size() < 16) {
    ArchiveEntry entry;
    entry.method = static_cast<int>(number_at(file, at + 8, 2));
    std::uint64_t stored = number_at(file, at + 18, 4);
    const std::size_t name_bytes = number_at(file, at + 26, 2);
    const std::size_t extra_bytes = number_at(file, at + 28, 2);
    if (at + 30 + name_bytes + extra_bytes > file.size()) break;
    entry.name = file.substr(at + 30, name_bytes);
    entry.zip64 = stored == 0xFFFFFFFF;
    if (entry.zip64) stored = number_at(file, at + 30 + name_bytes + 12, 8);
    at += 30 + name_bytes + extra_bytes;
    const std::string_view data = file.substr(at, stored);
    entry.content = entry.method == 8 ? inflated(data) : std::string(data);
    at += data.size();
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) {
    entries.emplace_back();
    entries[0].name = "a.npy";
    entries[0].content = npy_text({});
  }
  return entries;
}

void change_entry(ArchiveEntry& entry, Choices& choices) {
  switch (choices.below(14)) {
    case 0:
      entry.method = choices.of({0, 8, 8, 12});
      break;
    case 1:
      entry.zip64 = !entry.zip64;
      break;
    case 2:
      entry.flags = choices.of({0, 1, 8, 0x800, 0xFFFF});
      break;
    case 3:
      entry.crc = static_cast<std::uint32_t>(choices.below(3));
      break;
    case 4:
      entry.bytes = choices.size_near(entry.content.size());
      break;
    case 5:
      entry.stored_bytes = choices.size_near(entry.content.size());
      break;
    case 6:
      entry.local_offset = choices.size_near(40);
      break;
    case 7:
      entry.local_name = choices.mutated(entry.name);
      break;
    case 8:
      entry.local_method = choices.of({0, 8});
      break;
    case 9:
      entry.name = choices.one_in(2) ? choices.of({"a.npy", "b.npy", "../x.npy", ".npy", "a", ""})
                                     : choices.mutated(entry.name);
      break;
    case 10:
      entry.extra = choices.one_in(2) ? std::string("\1\0\x08\0", 4) + std::string(8, '\1')
                                      : choices.mutated(std::string("\1\0\4\0abcd", 8));
      break;
    case 11:
      entry.comment = choices.mutated("comment");
      break;
    default: {
      NpyFields fields = npy_fields(entry.content);
      change(fields, choices);
      entry.content = npy_text(fields);
      break;
    }
  }
}

void change_end(ArchiveEnd& end, std::vector<ArchiveEntry>& entries, Choices& choices) {
  switch (choices.below(10)) {
    case 0:
      end.zip64 = true;
      break;
    case 1:
      end.comment = choices.mutated("PK\x05\x06");
      break;
    case 2:
      end.disk = static_cast<int>(choices.below(2));
      break;
    case 3:
      end.entries = choices.size_near(entries.size());
      break;
    case 4:
      end.offset = choices.size_near(100);
      break;
    case 5:
      end.size = choices.size_near(100);
      break;
    case 6:
      end.zip64 = true;
      end.end64_offset = choices.size_near(100);
      break;
    case 7:
      entries.push_back(entries[choices.below(entries.size())]);
      if (choices.one_in(2)) entries.back().name = "c.npy";
      break;
    default:
      if (entries.size() > 1)
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(choices.below(entries.size())));
      break;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_fields(data, size, max_size, seed, [](Choices& choices, std::string_view input) {
    std::vector<ArchiveEntry> entries = entries_of(input);
    ArchiveEnd end;
    for (std::uint64_t i = choices.below(3) + 1; i > 0; --i) {
      if (choices.one_in(4)) {
        change_end(end, entries, choices);
      } else {
        change_entry(entries[choices.below(entries.size())], choices);
      }
    }
    return relish::testing::zip_file(entries, end);
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_loader(data, size, [](const std::string& path) { relish::read_npz(path); });
  return 0;
}
