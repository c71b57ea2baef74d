// Resolution of paths.
#include "shell/program/path_rules.h"

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  auto [rest, mark] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end() || (std::next(rest) == folder.end() && rest->empty());
}

// No component below `folder` is a symlink, and the file is a regular one with one name.
void check_components(const fs::path& folder, const fs::path& relative, const std::string& shown, Span span) {
  fs::path walked = folder.empty() ? fs::path(".") : folder;
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    walked /= *part;
    struct stat info{};
    bool last = std::next(part) == relative.end();
    bool found = lstat(walked.c_str(), &info) == 0;
    if (!found && last) {
      // FILE:ENTRY
      std::string name = part->string();
      walked.replace_filename(name.substr(0, name.rfind(':')));
      found = lstat(walked.c_str(), &info) == 0;
    }
    if (!found) return;  // opening it will say why
    if (S_ISLNK(info.st_mode)) {
      fail(ErrorClass::Policy, span, "path.symlink",
           fmt::format("'{}' leads through a symlink; name its folder with --root", printable(shown)));
    }
    bool ordinary = S_ISREG(info.st_mode) && info.st_nlink == 1;
    if (last && !ordinary && !S_ISDIR(info.st_mode)) {
      fail(ErrorClass::Policy, span, "path.kind",
           fmt::format("'{}' is no regular file with one name; name its folder with --root",
                       printable(shown)));
    }
  }
}

}  // namespace

PathRules path_rules(const Session& session, std::string folder, bool confined) {
  return {std::move(folder), confined, session.settings().roots, {}};
}

PathRules path_rules_beside(const Session& session, const std::string& path) {
  return path_rules(session, path == "-" ? std::string() : fs::path(path).parent_path().string(), true);
}

std::string resolve(const PathRules& rules, const std::string& path, bool for_writing, Span span) {
  // A path may carry an entry, FILE:ENTRY; the policy is about the file.
  fs::path written(path);
  fs::path resolved =
      written.is_absolute() || rules.folder.empty() ? written : fs::path(rules.folder) / written;
  if (!rules.confined) return resolved.string();
  for (const std::string& text : rules.given) {
    if (is_below(written, fs::path(text))) return written.string();
  }
  fs::path normal = fs::absolute(resolved).lexically_normal();
  for (const std::string& root : rules.roots) {
    if (is_below(normal, fs::absolute(root).lexically_normal())) return resolved.string();
  }
  bool climbs = std::find(written.begin(), written.end(), fs::path("..")) != written.end();
  if (written.is_absolute() || climbs) {
    fail(ErrorClass::Policy, span, "path.outside",
         fmt::format("'{}' may lie outside the script's folder; name its folder with --root",
                     printable(path)));
  }
  if (!for_writing) check_components(rules.folder, written, path, span);
  return resolved.string();
}

}  // namespace relish
