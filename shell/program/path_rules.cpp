// Resolution of paths.
#include "shell/program/path_rules.h"

#include <algorithm>
#include <filesystem>

namespace relish {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  auto [rest, mark] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end() || (std::next(rest) == folder.end() && rest->empty());
}

// Whether a path is, or lies below, one that the command line gave. "/" gives nothing.
bool is_given(const PathRules& rules, const fs::path& written) {
  return std::any_of(rules.given.begin(), rules.given.end(), [&](const std::string& text) {
    return text.find_first_not_of('/') != std::string::npos && is_below(written, fs::path(text));
  });
}

}  // namespace

PathRules path_rules(const Session& session, std::string folder, bool confined) {
  return {std::move(folder), confined, session.settings().roots, {}, {}, false, {}};
}

PathRules path_rules_beside(const Session& session, const std::string& path) {
  PathRules rules =
      path_rules(session, path == "-" ? std::string() : fs::path(path).parent_path().string(), true);
  rules.arguments = session.settings().sets;
  return rules;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

FileRules file_rules(const PathRules& rules) {
  FileRules result;
  for (const std::string& root : rules.roots) result.folders.push_back({plain_path(root), true});
  for (const std::string& text : rules.given) {
    if (text.find_first_not_of('/') == std::string::npos || text.find('\0') != std::string::npos) continue;
    // The file itself, also as FILE:ENTRY, and what lies below it if it is a folder.
    result.files.push_back(plain_path(text));
    for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1))
      if (colon > 0) result.files.push_back(plain_path(text.substr(0, colon)));
    result.folders.push_back({plain_path(text), true});
  }
  for (const std::string& folder : rules.jobs) result.folders.push_back({plain_path(folder), true});
  result.folders.push_back({plain_path(rules.folder), false});
  return result;
}

std::string resolve(const PathRules& rules, const std::string& path, Span span) {
  if (path.find('\0') != std::string::npos) refuse_path(PathFault::Nul, path, span);
  fs::path written(path);
  fs::path resolved =
      written.is_absolute() || rules.folder.empty() ? written : fs::path(rules.folder) / written;
  if (!rules.confined) return resolved.string();
  const FileRules door = file_rules(rules);
  if (is_given(rules, written)) {
    refuse_path(path_fault(door, path), path, span);
    return path;
  }
  const fs::path normal = plain_path(resolved.string());
  const bool in_root = std::any_of(rules.roots.begin(), rules.roots.end(), [&](const std::string& root) {
    return is_below(normal, plain_path(root));
  });
  const bool climbs = std::find(written.begin(), written.end(), fs::path("..")) != written.end();
  if (!in_root && (written.is_absolute() || climbs)) refuse_path(PathFault::Outside, path, span);
  refuse_path(path_fault(door, resolved.string()), path, span);
  return resolved.string();
}

}  // namespace relish
