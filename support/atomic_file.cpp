// Writing through a temporary file beside the target. All names are resolved relative to one open descriptor
// of the folder, so that nobody can exchange the folder in between. A target that becomes a symlink meanwhile
// is itself replaced: what it leads to is never touched.
#include "support/atomic_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "support/failure.h"
#include "support/file_access.h"
#include "support/interrupt.h"
#include "support/nearest_file.h"
#include "support/unfinished_files.h"

namespace relish {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr std::size_t largest_write = std::size_t{16} << 20;
constexpr int temporary_name_tries = 100;

[[noreturn]] void io_failure(const std::string& path, std::string_view what, int error) {
  fail_at(ErrorClass::IO, path, "file.system", fmt::format("{}: {}", what, std::strerror(error)));
}

class DescriptorSink : public ByteSink {
 public:
  DescriptorSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {
    buffer_.reserve(buffer_bytes);
  }

  using ByteSink::write;
  void write(const void* data, std::size_t size) override {
    total_ += size;
    const char* bytes = static_cast<const char*>(data);
    if (buffer_.size() + size > buffer_bytes) flush();
    if (size >= buffer_bytes) {
      write_through(bytes, size);
    } else if (size > 0) {
      buffer_.insert(buffer_.end(), bytes, bytes + size);
    }
  }

  void flush() {
    write_through(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  std::uint64_t total() const { return total_; }

 private:
  void write_through(const char* bytes, std::size_t size) {
    while (size > 0) {
      // In parts: one call for all of a large tensor would not end before it is done.
      poll_interrupt();
      ssize_t written = ::write(descriptor_, bytes, std::min(size, largest_write));
      if (written < 0) {
        // Nobody reads a FIFO: the signal that woke this write is obeyed.
        if (errno == EINTR) continue;
        io_failure(path_, "cannot write", errno);
      }
      bytes += written;
      size -= static_cast<std::size_t>(written);
    }
  }

  int descriptor_;
  std::string path_;
  std::vector<char> buffer_;
  std::uint64_t total_ = 0;
};

std::string base_name_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// The number of "/dev/stdout", "/dev/fd/3" and the like, which name open descriptors; -1 for other paths.
int named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    auto [rest, error] = std::from_chars(path.data() + prefix.size(), end, number);
    if (error == std::errc() && rest == end && number >= 0) return number;
  }
  return -1;
}

void write_directly(Descriptor descriptor, const std::string& path,
                    const std::function<void(ByteSink&)>& produce) {
  DescriptorSink sink(descriptor.get(), path);
  produce(sink);
  sink.flush();
  if (int error = descriptor.close()) io_failure(path, "cannot write", error);
}

std::string random_name() {
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    std::memset(bytes, 0, sizeof bytes);
  std::string name = ".relish-";
  for (unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name + ".tmp";
}

// A new file in a folder that is removed again unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(int folder, const std::string& target_path) : folder_(folder) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int attempt = 0; attempt < temporary_name_tries; ++attempt) {
      name_ = random_name();
      listed_.list(folder_, name_);
      descriptor_ = ::openat(folder_, name_.c_str(), flags, 0666);  // less the umask
      if (descriptor_ >= 0) return;
      listed_.forget();
      if (errno != EEXIST && errno != EINTR) break;
    }
    io_failure(target_path, "cannot create a file in its folder", errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlinkat(folder_, name_.c_str(), 0);
  }

  int descriptor() const { return descriptor_; }

  void finish(const std::string& target_name, const std::string& target_path, std::uint64_t expected_bytes) {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) io_failure(target_path, "cannot check what was written", errno);
    if (static_cast<std::uint64_t>(status.st_size) != expected_bytes) {
      fail_at(ErrorClass::IO, target_path, "file.system",
              fmt::format("cannot write: {} bytes arrived of {}", status.st_size, expected_bytes));
    }
    if (::fsync(descriptor_) != 0) io_failure(target_path, "cannot sync", errno);
    int number = std::exchange(descriptor_, -1);
    if (::close(number) != 0 && errno != EINTR) io_failure(target_path, "cannot write", errno);
    if (::renameat(folder_, name_.c_str(), folder_, target_name.c_str()) != 0) {
      io_failure(target_path, "cannot put the new file in place", errno);
    }
    renamed_ = true;
    listed_.forget();
    // Some file systems have no sync of folders; what they say is not an error of the file.
    if (::fsync(folder_) != 0 && errno != EINVAL && errno != EROFS)
      io_failure(target_path, "cannot sync", errno);
  }

 private:
  int folder_;
  int descriptor_ = -1;
  std::string name_;
  bool renamed_ = false;
  UnfinishedFile listed_;
};

// Where a file is to be: its open folder, its name there, and what stands there now. Behind symlinks, which
// the user may have put there, the file that is meant; a script's files have none.
struct Target {
  FolderEntry entry;
  int descriptor = -1;  // an open one that the path names
  bool exists = false;
  struct stat now = {};
};

// The way from a link's folder to what it says.
bool follow_link(FolderEntry& entry, const std::string& path, int& named) {
  std::string link(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(entry.folder.get(), entry.name.c_str(), link.data(), link.size());
  if (size < 0 && errno == EINVAL) return false;  // no link any more
  if (size < 0 || static_cast<std::size_t>(size) == link.size()) io_failure(path, "cannot write", errno);
  link.resize(static_cast<std::size_t>(size));
  named = named_descriptor(link);
  if (named >= 0) return false;
  const std::size_t slash = link.rfind('/');
  entry.name = base_name_of(link);
  if (entry.name.empty() || entry.name == "." || entry.name == "..") io_failure(path, "cannot write", EISDIR);
  if (slash == std::string::npos) return true;
  const std::string folder = slash == 0 ? "/" : link.substr(0, slash);
  entry.folder = Descriptor(::openat(entry.folder.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!entry.folder.good()) io_failure(path, "cannot open its folder", errno);
  return true;
}

Target target_of(const std::string& path) {
  constexpr int most_links = 40;  // the kernel's own bound
  Target target;
  target.entry = open_folder_of(path);
  FolderEntry& entry = target.entry;
  if (!entry.folder.good() && errno == ENOENT)
    fail_at(ErrorClass::IO, path, "file.system",
            fmt::format("cannot open its folder: {}{}", std::strerror(ENOENT), nearest_entry(path)));
  if (!entry.folder.good()) io_failure(path, "cannot open its folder", errno);
  for (int links = 0;; ++links) {
    struct stat meant = {};
    const bool stands = ::fstatat(entry.folder.get(), entry.name.c_str(), &meant, 0) == 0;
    target.exists = ::fstatat(entry.folder.get(), entry.name.c_str(), &target.now, AT_SYMLINK_NOFOLLOW) == 0;
    // A link to what is no regular file is opened as it is: those of /proc lead nowhere by their text.
    if (stands && !S_ISREG(meant.st_mode)) {
      target.now = meant;
      return target;
    }
    if (!target.exists || !S_ISLNK(target.now.st_mode) || entry.confined) return target;
    if (links == most_links) io_failure(path, "cannot write", ELOOP);
    if (!follow_link(entry, path, target.descriptor) && target.descriptor >= 0) return target;
  }
}

// A file that could not be written is not replaced either.
void check_writable(const FolderEntry& entry, const std::string& path) {
  constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Descriptor file(::openat(entry.folder.get(), entry.name.c_str(), flags));
  if (!file.good()) io_failure(path, "cannot write", errno);
}

// A file that is replaced keeps its owner, where the system lets it, and its permissions: one made private
// stays so.
void keep_permissions(int descriptor, const struct stat& replaced, const std::string& path) {
  struct stat made = {};
  const bool other =
      ::fstat(descriptor, &made) == 0 && (made.st_uid != replaced.st_uid || made.st_gid != replaced.st_gid);
  if (other) (void)!::fchown(descriptor, replaced.st_uid, replaced.st_gid);
  if (::fchmod(descriptor, replaced.st_mode & 0777) != 0)
    io_failure(path, "cannot keep the permissions", errno);
}

void write_to_descriptor(int number, const std::string& path, const std::function<void(ByteSink&)>& produce) {
  Descriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  if (!copy.good()) io_failure(path, "cannot write", errno);
  write_directly(std::move(copy), path, produce);
}

void refuse_folder_name(const std::string& path) {
  const std::string given = base_name_of(path);
  if (given.empty() || given == "." || given == "..") io_failure(path, "cannot write", EISDIR);
}

}  // namespace

void write_file_atomically(const std::string& path, const std::function<void(ByteSink&)>& produce) {
  refuse_folder_name(path);
  // Whoever may write the path may write where it leads: the door is asked first.
  if (const int number = named_descriptor(path); number >= 0) {
    if (!open_folder_of(path).confined) return write_to_descriptor(number, path, produce);
  }
  const Target target = target_of(path);
  if (target.descriptor >= 0) return write_to_descriptor(target.descriptor, path, produce);
  const int folder = target.entry.folder.get();
  const std::string& name = target.entry.name;
  if (target.exists && S_ISDIR(target.now.st_mode)) io_failure(path, "cannot write", EISDIR);
  if (target.exists && !S_ISREG(target.now.st_mode)) {
    Descriptor device = open_file(path, O_WRONLY | O_NOCTTY);
    if (!device.good()) io_failure(path, "cannot open for writing", errno);
    return write_directly(std::move(device), path, produce);
  }
  if (target.exists) check_writable(target.entry, path);

  TemporaryFile temporary(folder, path);
  if (target.exists) keep_permissions(temporary.descriptor(), target.now, path);
  DescriptorSink sink(temporary.descriptor(), path);
  produce(sink);
  sink.flush();
  temporary.finish(name, path, sink.total());
}

void check_can_be_written(const std::string& path) {
  refuse_folder_name(path);
  if (named_descriptor(path) >= 0) return;
  const Target target = target_of(path);
  if (target.descriptor >= 0) return;
  if (target.exists && S_ISDIR(target.now.st_mode)) io_failure(path, "cannot write", EISDIR);
  if (target.exists && !S_ISREG(target.now.st_mode)) return;  // whoever opens a pipe waits for its reader
  if (target.exists) check_writable(target.entry, path);
  const TemporaryFile tried(target.entry.folder.get(), path);
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  write_file_atomically(path, [&](ByteSink& sink) { sink.write(contents); });
}

std::string read_file(const std::string& path, std::uint64_t max_bytes, std::string_view limit_flag) {
  bool standard_input = path == "-";
  std::string place = standard_input ? "<stdin>" : path;
  // Nobody may ever write to a named pipe: it is neither opened nor read before its kind is known. One that
  // is open already (`<(command)` of a shell) is read as standard input is.
  struct stat named = {};
  if (!standard_input && path != "/dev/stdin" && named_descriptor(path) < 0 && !files_are_confined() &&
      ::stat(path.c_str(), &named) == 0 && S_ISFIFO(named.st_mode)) {
    fail_at(ErrorClass::IO, place, "file.system",
            "found a named pipe; expected a file, or '-' and the pipe as standard input");
  }
  Descriptor file = standard_input ? Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0))
                                   : open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (file.get() < 0 && errno == ENOENT)
    fail_at(ErrorClass::IO, place, "file.system",
            fmt::format("cannot open: {}{}", std::strerror(ENOENT), nearest_entry(path)));
  if (file.get() < 0) io_failure(place, "cannot open", errno);
  // Not blocking was for the opening alone.
  if (const int flags = ::fcntl(file.get(), F_GETFL); !standard_input && flags >= 0)
    ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) io_failure(place, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) io_failure(place, "cannot read", EISDIR);

  auto too_large = [&](std::string_view found) {
    fail_at(ErrorClass::ResourceLimit, place, "source.size",
            fmt::format("the file has {} bytes; at most {} are read; {} raises the limit", found, max_bytes,
                        limit_flag));
  };
  std::string contents;
  if (S_ISREG(status.st_mode)) {
    auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_bytes) too_large(std::to_string(size));
    contents.reserve(size);
  }
  // Reads to the end rather than to the size: files of /proc have none, and pipes do not tell it.
  std::vector<char> chunk(std::size_t{1} << 16);
  while (true) {
    poll_interrupt();
    ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0) {
      if (errno != EINTR) io_failure(place, "cannot read", errno);
      continue;
    }
    if (got == 0) return contents;
    if (contents.size() + static_cast<std::size_t>(got) > max_bytes)
      too_large(fmt::format("more than {}", max_bytes));
    contents.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace relish
