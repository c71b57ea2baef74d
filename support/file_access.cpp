// Opening by rules. Below a folder of a script every name is opened without following links; below one that
// the command line named, links are followed by the kernel as long as they stay below it.
#include "support/file_access.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <optional>

#include "support/failure.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

std::mutex rules_mutex;
std::shared_ptr<const FileRules>& active_rules() {
  static std::shared_ptr<const FileRules> rules;
  return rules;
}

std::shared_ptr<const FileRules> current_rules() {
  std::lock_guard lock(rules_mutex);
  return active_rules();
}

// The names of a path below a folder; nothing when it does not lie below.
std::optional<std::vector<std::string>> names_below(const std::string& folder, const std::string& path) {
  const fs::path outer(folder), inner(path);
  auto [rest, at] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  const bool below = rest == outer.end() || (std::next(rest) == outer.end() && rest->empty());
  if (!below) return std::nullopt;
  std::vector<std::string> names;
  for (; at != inner.end(); ++at) {
    if (!at->empty() && *at != ".") names.push_back(at->string());
  }
  return names;
}

struct Way {
  const FileRules::Folder* folder = nullptr;  // null: as the command line gave it
  std::vector<std::string> names;             // below the folder
};

// How the rules let a path be opened; nothing when they do not.
std::optional<Way> way_of(const FileRules& rules, const std::string& path) {
  const std::string plain = plain_path(path);
  if (std::find(rules.files.begin(), rules.files.end(), plain) != rules.files.end()) return Way{};
  for (const FileRules::Folder& folder : rules.folders) {
    if (auto names = names_below(folder.path, plain)) return Way{&folder, std::move(*names)};
  }
  return std::nullopt;
}

int retrying(const auto& open) {
  while (true) {
    const int number = open();
    if (number >= 0 || errno != EINTR) return number;
    poll_interrupt();
  }
}

constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

bool is_link(int folder, const std::string& name) {
  struct stat info = {};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

// The folder `name` in an open one. A symlink has errno ELOOP.
Descriptor inner_folder(int folder, const std::string& name) {
  Descriptor inner(retrying([&] { return ::openat(folder, name.c_str(), folder_flags | O_NOFOLLOW); }));
  if (!inner.good()) {
    const int error = errno;
    errno = is_link(folder, name) ? ELOOP : error;
  }
  return inner;
}

// The folder that holds the last name of a way. Not good, with errno: ELOOP for a link that leads away.
Descriptor walk(const Way& way) {
  Descriptor folder(retrying([&] { return ::open(way.folder->path.c_str(), folder_flags); }));
  const std::size_t inner = way.names.empty() ? 0 : way.names.size() - 1;
  if (way.folder->of_the_user && folder.good() && inner > 0) {
    std::string below;
    for (std::size_t i = 0; i < inner; ++i) below += (i == 0 ? "" : "/") + way.names[i];
    struct open_how how = {};
    how.flags = folder_flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const long number = ::syscall(SYS_openat2, folder.get(), below.c_str(), &how, sizeof how);
    if (number >= 0) return Descriptor(static_cast<int>(number));
    if (errno == EXDEV || errno == ELOOP) {
      errno = ELOOP;
      return Descriptor();
    }
    if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) return Descriptor();
  }
  for (std::size_t i = 0; i < inner && folder.good(); ++i) folder = inner_folder(folder.get(), way.names[i]);
  return folder;
}

// What is wrong with the file itself, as it stands in its folder.
PathFault fault_of_entry(const Way& way, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return PathFault::Symlink;
  if (S_ISDIR(info.st_mode)) return PathFault::None;
  if (!S_ISREG(info.st_mode)) return PathFault::Kind;
  return info.st_nlink > 1 && !way.folder->of_the_user ? PathFault::Kind : PathFault::None;
}

// The way of a path under rules; throws PolicyError. Null rules and what the user gave have none.
std::optional<Way> confined_way(const FileRules* rules, const std::string& path) {
  if (path.find('\0') != path.npos) refuse_path(PathFault::Nul, path, {});
  if (!rules || path.empty()) return std::nullopt;
  auto way = way_of(*rules, path);
  if (!way) refuse_path(PathFault::Outside, path, {});
  if (!way->folder) return std::nullopt;
  return way;
}

Descriptor walk_or_refuse(const Way& way, const std::string& path) {
  Descriptor folder = walk(way);
  if (!folder.good() && errno == ELOOP) refuse_path(PathFault::Symlink, path, {});
  return folder;
}

// The kernel's last word on a file of the user's folders: links that stay below.
Descriptor open_below(const Way& way, int flags, unsigned mode) {
  Descriptor folder(retrying([&] { return ::open(way.folder->path.c_str(), folder_flags); }));
  if (!folder.good()) return folder;
  std::string below;
  for (const std::string& name : way.names) below += (below.empty() ? "" : "/") + name;
  struct open_how how = {};
  how.flags = static_cast<std::uint64_t>(flags);
  how.mode = (flags & O_CREAT) ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return Descriptor(retrying([&] {
    return static_cast<int>(::syscall(SYS_openat2, folder.get(), below.c_str(), &how, sizeof how));
  }));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::close() { return ::close(release()) == 0 || errno == EINTR ? 0 : errno; }

ConfinedFiles::ConfinedFiles(FileRules rules) {
  auto shared = std::make_shared<const FileRules>(std::move(rules));
  std::lock_guard lock(rules_mutex);
  before_ = std::exchange(active_rules(), std::move(shared));
}

ConfinedFiles::~ConfinedFiles() {
  std::lock_guard lock(rules_mutex);
  active_rules() = std::move(before_);
}

std::string plain_path(const std::string& path) {
  return fs::absolute(fs::path(path.empty() ? "." : path)).lexically_normal().string();
}

void refuse_path(PathFault fault, const std::string& path, Span span) {
  const std::string shown = printable(path);
  switch (fault) {
    case PathFault::None:
      return;
    case PathFault::Nul:
      fail(ErrorClass::Policy, span, "path.nul",
           fmt::format("found a path with the byte 0 in it: '{}'; the name of a file has none", shown));
    case PathFault::Outside:
      fail(ErrorClass::Policy, span, "path.outside",
           fmt::format("'{}' may lie outside the script's folder; name its folder with --root", shown));
    case PathFault::Symlink:
      fail(ErrorClass::Policy, span, "path.symlink",
           fmt::format("'{}' leads through a symlink; name its folder with --root", shown));
    case PathFault::Kind:
      fail(ErrorClass::Policy, span, "path.kind",
           fmt::format("'{}' is no regular file with one name; name its folder with --root", shown));
  }
}

PathFault path_fault(const FileRules& rules, const std::string& path) {
  if (path.find('\0') != path.npos) return PathFault::Nul;
  const auto way = way_of(rules, path);
  if (!way) return PathFault::Outside;
  if (!way->folder || way->names.empty()) return PathFault::None;
  const Descriptor folder = walk(*way);
  if (!folder.good()) return errno == ELOOP ? PathFault::Symlink : PathFault::None;
  // FILE:ENTRY: what stands there under the longest name is meant.
  std::string name = way->names.back();
  while (true) {
    struct stat info = {};
    if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      const PathFault fault = fault_of_entry(*way, info);
      // Below a folder of the user's the kernel follows the link and judges where it leads.
      const bool judged_later = fault == PathFault::Symlink && way->folder->of_the_user;
      return judged_later ? PathFault::None : fault;
    }
    const std::size_t colon = name.rfind(':');
    if (colon == std::string::npos) return PathFault::None;
    name.resize(colon);
  }
}

bool files_are_confined() { return current_rules() != nullptr; }

Descriptor open_file(const std::string& path, int flags, unsigned mode) {
  const auto rules = current_rules();
  flags |= O_CLOEXEC;
  const auto way = confined_way(rules.get(), path);
  if (!way) return Descriptor(retrying([&] { return ::open(path.c_str(), flags, mode); }));
  // Neither a FIFO nor a device may make the program wait.
  flags |= O_NONBLOCK | O_NOCTTY;
  const int truncate = flags & O_TRUNC;
  flags &= ~O_TRUNC;
  Descriptor file;
  bool opened = false;
  if (way->folder->of_the_user && !way->names.empty() && !(flags & O_NOFOLLOW)) {
    file = open_below(*way, flags, mode);
    opened = file.good() || (errno != ENOSYS && errno != EPERM);
    if (!file.good() && (errno == EXDEV || errno == ELOOP)) refuse_path(PathFault::Symlink, path, {});
  }
  if (!opened) {
    const Descriptor folder = walk_or_refuse(*way, path);
    if (!folder.good()) return Descriptor();
    const std::string name = way->names.empty() ? "." : way->names.back();
    file =
        Descriptor(retrying([&] { return ::openat(folder.get(), name.c_str(), flags | O_NOFOLLOW, mode); }));
    if (!file.good()) {
      const int error = errno;
      if (is_link(folder.get(), name)) refuse_path(PathFault::Symlink, path, {});
      struct stat info = {};
      if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
        refuse_path(fault_of_entry(*way, info), path, {});
      errno = error;
      return file;
    }
  }
  if (!file.good()) return file;
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return Descriptor();
  refuse_path(fault_of_entry(*way, info), path, {});
  // Only what has passed is emptied.
  if (truncate && ::ftruncate(file.get(), 0) != 0) return Descriptor();
  return file;
}

FolderEntry open_folder_of(const std::string& path) {
  const auto rules = current_rules();
  const std::size_t slash = path.rfind('/');
  FolderEntry entry;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  if (const auto way = confined_way(rules.get(), path)) {
    const Descriptor folder = walk_or_refuse(*way, path);
    entry.confined = true;
    entry.name = way->names.empty() ? "." : way->names.back();
    if (folder.good())
      entry.folder = Descriptor(retrying([&] { return ::openat(folder.get(), ".", flags); }));
    struct stat info = {};
    if (entry.folder.good() &&
        ::fstatat(entry.folder.get(), entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      refuse_path(fault_of_entry(*way, info), path, {});
    return entry;
  }
  entry.name = slash == path.npos ? path : path.substr(slash + 1);
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  entry.folder = Descriptor(retrying([&] { return ::open(folder.c_str(), flags); }));
  return entry;
}

bool file_exists(const std::string& path) {
  const auto rules = current_rules();
  struct stat info = {};
  if (path.find('\0') != path.npos) return false;
  const auto way = rules ? way_of(*rules, path) : Way{};
  if (!way) return false;
  if (!way->folder) return ::stat(path.c_str(), &info) == 0;
  const Descriptor folder = walk(*way);
  const std::string name = way->names.empty() ? "." : way->names.back();
  return folder.good() && ::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

int make_folders(const std::string& path) {
  const auto rules = current_rules();
  const auto way = confined_way(rules.get(), path);
  std::error_code error;
  fs::create_directories(way ? fs::path(way->folder->path) : fs::path(path), error);
  if (error) return error.value();
  if (!way) return fs::is_directory(path, error) ? 0 : ENOTDIR;
  Descriptor folder(retrying([&] { return ::open(way->folder->path.c_str(), folder_flags); }));
  for (const std::string& name : way->names) {
    if (!folder.good()) break;
    if (::mkdirat(folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST) return errno;
    folder = inner_folder(folder.get(), name);
  }
  if (!folder.good() && errno == ELOOP) refuse_path(PathFault::Symlink, path, {});
  return folder.good() ? 0 : errno;
}

int remove_file(const std::string& path) {
  const FolderEntry entry = open_folder_of(path);
  if (!entry.folder.good()) return errno;
  return ::unlinkat(entry.folder.get(), entry.name.c_str(), 0) == 0 ? 0 : errno;
}

}  // namespace relish
