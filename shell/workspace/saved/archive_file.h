// The file of a saved session: its entries, and the lines of its graph. It is read by position and stays
// open; where it is damaged, what is whole is found all the same.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/data_file.h"

namespace relish {

class ArchiveFile {
 public:
  // IOError; DataError for what is no saved session or has no graph that can be read.
  explicit ArchiveFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  // The bytes of an entry, as far as they are there.
  std::string text(const std::string& entry, std::uint64_t most_bytes) const;
  // Where the tensors may begin: behind the record that says so, and where that should stand if it is
  // damaged.
  std::vector<std::uint64_t> values_begins() const;
  // False where the file has not so much.
  bool read_at(std::uint64_t at, void* destination, std::uint64_t bytes) const;
  // JSON of a line; nothing when it is not there or not as it was written.
  std::optional<std::string_view> line(std::string_view kind, std::size_t number) const;
  // Lines of a kind by number.
  const std::map<std::size_t, std::string_view>& lines(std::string_view kind) const;
  std::size_t damaged_lines() const { return damaged_lines_; }

 private:
  struct Entry {
    std::uint64_t begin = 0, bytes = 0;
  };
  void find_entries();
  std::optional<std::uint64_t> take_entry(std::uint64_t at);
  std::optional<std::uint64_t> next_record(std::uint64_t from) const;
  void read_lines();

  DataFile file_;
  std::map<std::string, Entry> entries_;
  std::string graph_;
  std::map<std::string, std::map<std::size_t, std::string_view>, std::less<>> lines_;
  std::size_t damaged_lines_ = 0;
};

}  // namespace relish
