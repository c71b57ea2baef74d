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

// "/" gives nothing, and no file has the byte 0 in its name.
bool gives_a_path(const std::string& text) {
  return text.find_first_not_of('/') != std::string::npos && text.find('\0') == std::string::npos;
}

// Whether a path is, or lies below, one that the command line gave.
bool is_given(const PathRules& rules, const fs::path& written) {
  return std::any_of(rules.given.begin(), rules.given.end(), [&](const std::string& text) {
    return gives_a_path(text) && is_below(written, fs::path(text));
  });
}

// Whether a path that is written as an absolute one, or climbs, is allowed by where it leads: below a folder
// that the user named; an absolute one also below the script's own folder.
bool leads_inside(const PathRules& rules, const fs::path& written, const fs::path& normal) {
  const auto holds = [&](const std::string& folder) { return is_below(normal, plain_path(folder)); };
  if (std::any_of(rules.roots.begin(), rules.roots.end(), holds)) return true;
  if (!written.is_absolute()) return false;
  const bool climbs = std::find(written.begin(), written.end(), fs::path("..")) != written.end();
  return (!climbs && holds(rules.folder)) ||
         std::any_of(rules.given.begin(), rules.given.end(),
                     [&](const std::string& text) { return gives_a_path(text) && holds(text); });
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
    if (!gives_a_path(text)) continue;
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
  const bool climbs = std::find(written.begin(), written.end(), fs::path("..")) != written.end();
  if ((written.is_absolute() || climbs) && !leads_inside(rules, written, normal))
    refuse_path(PathFault::Outside, path, span);
  refuse_path(path_fault(door, resolved.string()), path, span);
  return resolved.string();
}

}  // namespace relish
