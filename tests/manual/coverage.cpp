// Rows of tests/golden/rows.txt against the tags of golden files.
//
// A line of rows.txt is `KEY :: WORDS` and perhaps `:: MARK`; its key begins with the number of its table.
// Marks: `unsupported` (the row is refused by name, so no file of it is accepted) and `always read` (there is
// no wrong text next to it). A line `TABLE Heading` of the form `# 1.1 Heading` begins a table.
#include "tests/manual/coverage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string key, words, mark;
  std::vector<std::string> accepted, refused;  // below tests/golden
};

struct Table {
  std::string number, heading;
  std::vector<Row> rows;
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<Table> read_rows(const std::string& path, std::vector<std::string>& problems) {
  std::vector<Table> tables;
  std::ifstream in(path);
  if (!in) problems.push_back(path + " cannot be read");
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      const std::size_t blank = std::min(line.find(' ', 2), line.size() - 1);
      tables.push_back({line.substr(2, blank - 2), line.substr(blank + 1), {}});
      continue;
    }
    const std::vector<std::string> parts = split(line, " :: ");
    const std::string mark = parts.size() > 2 ? parts[2] : "";
    const bool good = (parts.size() == 2 || parts.size() == 3) && !tables.empty() &&
                      parts[0].starts_with(tables.back().number + " ") &&
                      (mark.empty() || mark == "unsupported" || mark == "always read");
    if (!good) {
      problems.push_back(fmt::format("rows.txt: '{}' is no row", line));
      continue;
    }
    tables.back().rows.push_back({parts[0], parts[1], mark, {}, {}});
  }
  return tables;
}

struct Tagged {
  std::vector<std::string> rows;
  bool refused = false;  // an error is expected
};

Tagged tags_of(const fs::path& path) {
  Tagged tagged;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# row: ")) tagged.rows.push_back(line.substr(7));
    if (line.starts_with("# expect")) break;
    tagged.refused |= line.find("# error[") != std::string::npos;
  }
  return tagged;
}

std::string files_of(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    const std::string name = fs::path(file).filename().string();
    text += fmt::format("{}[{}](../tests/golden/{})", text.empty() ? "" : ", ", name, file);
  }
  return text;
}

// A cell of a table: `|` would end it.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string page_of(const std::vector<Table>& tables) {
  std::ostringstream page;
  page << "# Coverage\n\n"
          "What TVMScript has, row by row, and the golden files that test it. A file that is accepted is "
          "read,\n"
          "printed and, where it can be, run in both tiers; a refused one holds the nearest wrong texts with "
          "the\n"
          "messages expected. The page is made from `tests/golden/rows.txt` and the `# row:` lines of the "
          "files.\n";
  for (const Table& table : tables) {
    page << fmt::format("\n## {} {}\n\n| Row | Accepted | Refused |\n|---|---|---|\n", table.number,
                        table.heading);
    for (const Row& row : table.rows) {
      const std::string accepted = row.mark == "unsupported"
                                       ? "unsupported: see [unsupported.md](unsupported.md)"
                                       : files_of(row.accepted);
      const std::string refused = row.mark == "always read" ? "no wrong form" : files_of(row.refused);
      const std::string name = row.key.substr(table.number.size() + 1);
      page << fmt::format("| {}: {} | {} | {} |\n", cell(fmt::format("**{}**", name)), cell(row.words),
                          accepted, refused);
    }
  }
  return page.str();
}

}  // namespace

Coverage coverage_of(const std::string& source_folder) {
  Coverage coverage;
  const fs::path root = fs::path(source_folder) / "tests/golden";
  std::vector<Table> tables = read_rows((root / "rows.txt").string(), coverage.problems);
  std::map<std::string, Row*> by_key;
  for (Table& table : tables) {
    for (Row& row : table.rows) {
      if (!by_key.emplace(row.key, &row).second)
        coverage.problems.push_back(fmt::format("rows.txt: '{}' stands there twice", row.key));
    }
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() && (extension == ".relish" || extension == ".py" || extension == ".session"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    const Tagged tagged = tags_of(path);
    const std::string name = fs::relative(path, root).generic_string();
    for (const std::string& tag : tagged.rows) {
      const auto found = by_key.find(tag);
      if (found == by_key.end()) {
        // Tags of tables that are not listed are for the reader of the file.
        const bool listed = std::any_of(tables.begin(), tables.end(), [&](const Table& table) {
          return tag.starts_with(table.number + " ");
        });
        if (listed) coverage.problems.push_back(fmt::format("{}: rows.txt has no row '{}'", name, tag));
        continue;
      }
      (tagged.refused ? found->second->refused : found->second->accepted).push_back(name);
    }
  }
  for (const auto& [key, row] : by_key) {
    const bool unsupported = row->mark == "unsupported";
    if (unsupported && !row->accepted.empty())
      coverage.problems.push_back(
          fmt::format("'{}' is unsupported, and {} is accepted", key, row->accepted[0]));
    if (!unsupported && row->accepted.empty())
      coverage.problems.push_back(fmt::format("'{}' has no file that is accepted", key));
    if (row->mark == "always read" ? !row->refused.empty() : row->refused.empty())
      coverage.problems.push_back(
          fmt::format("'{}' has {} file that is refused", key, row->refused.empty() ? "no" : "a"));
  }
  coverage.page = page_of(tables);
  return coverage;
}

}  // namespace relish::testing
