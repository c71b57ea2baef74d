// The files of the store. A script names none of them, so they are opened here and not at the door of files
// that texts name (support/file_access.h): by the folder's descriptor, without following links.
#include "jit/object_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "support/failure.h"
#include "support/sha256.h"
#include "support/unfinished_files.h"

namespace relish {
namespace {

// Of a file: the mark, the key, the digits of the object's checksum, its size; the object follows.
constexpr std::string_view file_mark = "RELISHO1";
constexpr std::size_t digits = 64, size_bytes = 8;
constexpr std::size_t head_bytes = file_mark.size() + 2 * digits + size_bytes;
constexpr std::string_view object_end = ".o", unfinished_end = ".tmp";

constexpr std::int64_t touched_after_seconds = 3600;    // a file that is used is marked so rarely
constexpr std::int64_t abandoned_after_seconds = 3600;  // what is unfinished so long nobody finishes

bool is_key(std::string_view text) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_object_name(std::string_view name) {
  return name.ends_with(object_end) && is_key(name.substr(0, name.size() - object_end.size()));
}
bool is_unfinished_name(std::string_view name) {
  return name.starts_with(".relish-") && name.ends_with(unfinished_end);
}

std::string head_of(const std::string& key, std::string_view object) {
  std::string head(file_mark);
  head += key + sha256_of(object);
  for (std::size_t i = 0; i < size_bytes; ++i)
    head += static_cast<char>(static_cast<std::uint64_t>(object.size()) >> (8 * i) & 0xff);
  return head;
}

// Nobody else may put code there that this process would run.
std::string fault_of(const struct stat& status, mode_t kind) {
  if ((status.st_mode & S_IFMT) != kind) return kind == S_IFDIR ? "it is no folder" : "it is no file";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return {};
}

Descriptor open_folder(const std::string& folder) {
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string fault_of_folder(const Descriptor& folder) {
  struct stat status = {};
  if (!folder.good() || ::fstat(folder.get(), &status) != 0) return std::strerror(errno);
  return fault_of(status, S_IFDIR);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  (void)::mkdir(folder.c_str(), 0700);
}

struct Entry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  // seconds since 1970
  bool finished = true;
};

// What the store has in its folder. Files of others do not count, nor do links and folders, which no store
// makes, whatever their names.
std::vector<Entry> entries_of(const Descriptor& folder) {
  std::vector<Entry> entries;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* list = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (!list) {
    if (copy >= 0) ::close(copy);
    return entries;
  }
  while (const dirent* each = ::readdir(list)) {
    Entry entry{each->d_name};
    entry.finished = is_object_name(entry.name);
    struct stat status = {};
    if (!entry.finished && !is_unfinished_name(entry.name)) continue;
    if (::fstatat(folder.get(), each->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    entry.bytes = static_cast<std::uint64_t>(status.st_size);
    entry.used = status.st_mtime;
    entries.push_back(std::move(entry));
  }
  ::closedir(list);
  return entries;
}

std::uint64_t bytes_of(const std::vector<Entry>& entries) {
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  return bytes;
}

// Removes what was left of writing, then objects from the one that was used longest ago, until room is left
// for some time; what is there then.
std::uint64_t make_room(const Descriptor& folder, std::uint64_t limit) {
  std::vector<Entry> entries = entries_of(folder);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used, std::string_view(a.name)) < std::pair(b.used, std::string_view(b.name));
  });
  std::uint64_t held = bytes_of(entries);
  const std::uint64_t wanted = held > limit ? limit / 4 * 3 : limit;
  const std::int64_t now = std::time(nullptr);
  for (const Entry& entry : entries) {
    const bool abandoned = !entry.finished && now - entry.used > abandoned_after_seconds;
    if (!abandoned && (!entry.finished || held <= wanted)) continue;
    if (::unlinkat(folder.get(), entry.name.c_str(), 0) == 0) held -= entry.bytes;
  }
  return held;
}

std::optional<std::string> read_whole(int file, std::size_t size) {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(file, text.data() + filled, size - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    filled += static_cast<std::size_t>(got);
  }
  return text;
}

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A file under a name that nobody else has, which becomes `name` when all of it is there. No sync: what a
// crash of the system leaves is told by its checksum.
bool write_object(const Descriptor& folder, const std::string& name, std::string_view head,
                  std::string_view object) {
  std::array<unsigned char, 8> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return false;
  std::string unfinished = ".relish-";
  for (const unsigned char byte : random) unfinished += fmt::format("{:02x}", byte);
  unfinished += unfinished_end;
  UnfinishedFile listed;
  listed.list(folder.get(), unfinished);
  Descriptor file(
      ::openat(folder.get(), unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.good()) return false;
  const bool whole = write_whole(file.get(), head) && write_whole(file.get(), object) && file.close() == 0;
  if (whole && ::renameat(folder.get(), unfinished.c_str(), folder.get(), name.c_str()) == 0) return true;
  ::unlinkat(folder.get(), unfinished.c_str(), 0);
  return false;
}

}  // namespace

ObjectStore::ObjectStore(std::string folder, std::uint64_t limit)
    : folder_(std::move(folder)), limit_(limit) {}

// Whether the folder is there and may be used; called with the mutex held.
bool ObjectStore::open(bool make) {
  if (open_.good()) return true;
  if (given_up_) return false;
  Descriptor folder = open_folder(folder_);
  if (!folder.good() && make) {
    make_folder(folder_);
    folder = open_folder(folder_);
  }
  const bool usable = folder.good() && fault_of_folder(folder).empty();
  if (usable) open_ = std::move(folder);
  given_up_ = !usable && (make || folder.good());
  return usable;
}

std::optional<std::string> ObjectStore::find(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (!open(false)) return std::nullopt;
  }
  const std::string name = key + std::string(object_end);
  // A pipe must not make anybody wait.
  const Descriptor file(
      ::openat(open_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!file.good() || ::fstat(file.get(), &status) != 0 || !fault_of(status, S_IFREG).empty())
    return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < head_bytes || size > limit_) return std::nullopt;
  std::optional<std::string> text = read_whole(file.get(), size);
  if (!text) return std::nullopt;
  const std::string_view object = std::string_view(*text).substr(head_bytes);
  if (std::string_view(*text).substr(0, head_bytes) != head_of(key, object)) return std::nullopt;
  if (std::time(nullptr) - status.st_mtime > touched_after_seconds) ::futimens(file.get(), nullptr);
  text->erase(0, head_bytes);
  return text;
}

void ObjectStore::keep(const std::string& key, std::string_view object) {
  if (object.size() > limit_ / 4) return;  // it would drive out all others
  {
    const std::lock_guard lock(mutex_);
    if (!open(true) || given_up_) return;
    if (!held_) held_ = make_room(open_, limit_);
  }
  const bool written = write_object(open_, key + std::string(object_end), head_of(key, object), object);
  const std::lock_guard lock(mutex_);
  if (!written) {
    given_up_ = true;
    return;
  }
  *held_ += head_bytes + object.size();
  if (*held_ > limit_) held_ = make_room(open_, limit_);
}

ObjectStore::Contents ObjectStore::contents() const {
  Contents contents;
  const Descriptor folder = open_folder(folder_);
  if (!folder.good() && errno == ENOENT) return contents;
  contents.unusable = fault_of_folder(folder);
  if (!contents.unusable.empty()) return contents;
  for (const Entry& entry : entries_of(folder)) {
    contents.bytes += entry.bytes;
    contents.entries += entry.finished ? 1 : 0;
  }
  return contents;
}

std::uint64_t ObjectStore::clear() const {
  const Descriptor folder = open_folder(folder_);
  if (!folder.good() && errno == ENOENT) return 0;
  std::string fault = fault_of_folder(folder);
  std::uint64_t removed = 0;
  if (fault.empty()) {
    for (const Entry& entry : entries_of(folder)) {
      if (::unlinkat(folder.get(), entry.name.c_str(), 0) == 0)
        removed += entry.finished ? 1 : 0;
      else if (errno != ENOENT)
        fault = std::strerror(errno);
    }
  }
  if (!fault.empty())
    fail_at(ErrorClass::IO, folder_, "cache.folder", fmt::format("cannot clear the cache: {}", fault));
  return removed;
}

}  // namespace relish
