// Near names of a folder's entries.
#include "support/nearest_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

std::string nearest_in(const fs::path& folder, const std::string& wanted, NamedEntry kind) {
  constexpr std::size_t most_entries = 1000;  // of a folder with more, looking would take longer than typing
  std::vector<std::string> names;
  std::error_code error, of_entry;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    if (names.size() == most_entries) return "";
    if (each->is_directory(of_entry) == (kind == NamedEntry::Folder))
      names.push_back(each->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return did_you_mean(wanted, names);
}

}  // namespace

std::string nearest_entry(const std::string& path, NamedEntry kind) {
  fs::path wanted(path);
  if (!wanted.has_filename()) wanted = wanted.parent_path();  // runs/
  fs::path folder;
  std::error_code error;
  for (const fs::path& name : wanted.parent_path()) {
    const fs::path next = folder / name;
    if (!fs::exists(next, error)) {
      const std::string text = name.string();
      const std::string near = nearest_in(folder.empty() ? "." : folder, text, NamedEntry::Folder);
      return near.empty() ? "" : fmt::format("; there is no folder '{}'{}", printable(text), near);
    }
    folder = next;
  }
  return nearest_in(folder.empty() ? "." : folder, wanted.filename().string(), kind);
}

}  // namespace relish
