// Finding of entries and lines.
#include "shell/workspace/saved/archive_file.h"

#include <algorithm>
#include <cstring>

#include "shell/workspace/saved/archive_lines.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::uint64_t record_bytes = 30;
constexpr std::string_view record_mark = "PK\x03\x04";
constexpr std::uint32_t in_wide_field = 0xFFFFFFFF;
constexpr std::uint64_t wide_field_bytes = 20;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool is_entry_name(std::string_view name) {
  return name == script_entry || name == graph_entry || name == values_entry || name.starts_with("modules/");
}

}  // namespace

ArchiveFile::ArchiveFile(const std::string& path) : file_(path) {
  if (!begins_as_archive(file_.head(record_bytes + 64))) {
    data_failure(
        path, "session.file",
        "found no session that :save wrote into a file of the ending .rxs; :load FILE runs a script");
  }
  find_entries();
  read_lines();
  if (!entries_.contains(std::string(graph_entry)) || lines("node").empty()) {
    data_failure(
        path, "session.file",
        "the graph of states is damaged; the statements may be whole: unzip takes session.relish out");
  }
}

// Record by record; where one is damaged, the next that can be found.
void ArchiveFile::find_entries() {
  std::uint64_t behind = 0;  // the head of the last entry
  for (std::optional<std::uint64_t> at = 0; at;) {
    std::optional<std::uint64_t> next = take_entry(*at);
    if (next) {
      behind = *at + record_bytes;
    } else if (*at + record_mark.size() <= file_.size()) {
      char mark[4];
      file_.read_at(*at, mark, sizeof mark);
      if (std::string_view(mark, 4) == "PK\x01\x02") return;  // the directory
    }
    if (!next) {
      next = next_record(std::max(behind, std::uint64_t{1}));
      if (next) behind = *next + record_bytes;
      if (next) take_entry(*next);
      if (next) next = next_record(behind);
    }
    at = next;
  }
}

// The place behind the entry whose record stands there; nothing when none does.
std::optional<std::uint64_t> ArchiveFile::take_entry(std::uint64_t at) {
  if (at + record_bytes > file_.size()) return std::nullopt;
  char bytes[record_bytes];
  file_.read_at(at, bytes, record_bytes);
  const std::string_view record(bytes, record_bytes);
  const auto name_bytes = number_at<std::uint16_t>(record, 26);
  const auto extra_bytes = number_at<std::uint16_t>(record, 28);
  const std::uint64_t begin = at + record_bytes + name_bytes + extra_bytes;
  if (!record.starts_with(record_mark) || begin > file_.size()) return std::nullopt;
  std::string name(name_bytes, '\0');
  file_.read_at(at + record_bytes, name.data(), name_bytes);
  if (!is_entry_name(name)) return std::nullopt;
  std::uint64_t size = number_at<std::uint32_t>(record, 22);
  if (size == in_wide_field && extra_bytes >= wide_field_bytes)
    file_.read_at(begin - extra_bytes + 4, &size, sizeof size);
  size = std::min(size, file_.size() - begin);
  entries_.emplace(std::move(name), Entry{begin, size});
  return begin + size;
}

std::optional<std::uint64_t> ArchiveFile::next_record(std::uint64_t from) const {
  std::string part;
  constexpr std::uint64_t part_bytes = 1 << 20;
  while (from + record_bytes < file_.size()) {
    poll_interrupt();
    part.resize(std::min(part_bytes, file_.size() - from));
    file_.read_at(from, part.data(), part.size());
    for (std::size_t at = part.find(record_mark); at != std::string::npos;
         at = part.find(record_mark, at + 1)) {
      char name[8] = {};
      const std::uint64_t place = from + at + record_bytes;
      if (place + sizeof name > file_.size()) break;
      file_.read_at(place, name, sizeof name);
      const std::string_view begun(name, sizeof name);
      const auto begins = [&](std::string_view entry) { return entry.starts_with(begun); };
      if (begins(script_entry) || begins(graph_entry) || begins(values_entry) || begun == "modules/")
        return from + at;
    }
    // A mark may lie across the border.
    from += part.size() - (part.size() == part_bytes ? record_mark.size() : 0);
  }
  return std::nullopt;
}

std::string ArchiveFile::text(const std::string& entry, std::uint64_t most_bytes) const {
  const auto found = entries_.find(entry);
  if (found == entries_.end()) return {};
  std::string text(std::min(found->second.bytes, most_bytes), '\0');
  file_.read_at(found->second.begin, text.data(), text.size());
  return text;
}

std::vector<std::uint64_t> ArchiveFile::values_begins() const {
  std::vector<std::uint64_t> begins;
  const std::string values(values_entry);
  std::uint64_t behind = 0;  // the entries in front
  for (const auto& [name, entry] : entries_) {
    if (name == values) begins.push_back(entry.begin);
    if (name != values) behind = std::max(behind, entry.begin + entry.bytes);
  }
  for (const std::uint64_t extra : {std::uint64_t{0}, wide_field_bytes})
    begins.push_back(behind + record_bytes + values.size() + extra);
  return begins;
}

bool ArchiveFile::read_at(std::uint64_t at, void* destination, std::uint64_t bytes) const {
  if (at > file_.size() || bytes > file_.size() - at) return false;
  file_.read_at(at, destination, bytes);
  return true;
}

void ArchiveFile::read_lines() {
  graph_ = text(std::string(graph_entry), file_.size());
  std::string_view rest = graph_;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    if (text.empty()) continue;
    if (const auto line = read_line(text)) {
      lines_[std::string(line->kind)].emplace(line->number, line->json);
    } else {
      ++damaged_lines_;
    }
  }
}

std::optional<std::string_view> ArchiveFile::line(std::string_view kind, std::size_t number) const {
  const auto& all = lines(kind);
  const auto found = all.find(number);
  return found == all.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

const std::map<std::size_t, std::string_view>& ArchiveFile::lines(std::string_view kind) const {
  static const std::map<std::size_t, std::string_view> none;
  const auto found = lines_.find(kind);
  return found == lines_.end() ? none : found->second;
}

}  // namespace relish
