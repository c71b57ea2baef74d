// Writing through a temporary file beside the target. All names are resolved relative to one open descriptor
// of the folder, so that nobody can exchange the folder in between.
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
#include "support/interrupt.h"

namespace relish {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr int temporary_name_tries = 100;

[[noreturn]] void io_failure(const std::string& path, std::string_view what, int error) {
  fail_at(ErrorClass::IO, path, "file.system", fmt::format("{}: {}", what, std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  // Closes and reports what the file system found out only then; 0 or an error number.
  int close() { return ::close(std::exchange(number_, -1)) == 0 || errno == EINTR ? 0 : errno; }

 private:
  int number_;
};

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
      ssize_t written = ::write(descriptor_, bytes, size);
      if (written < 0) {
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

std::string folder_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

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

Descriptor open_retrying(const std::string& path, int flags) {
  while (true) {
    int number = ::open(path.c_str(), flags);
    if (number >= 0) return Descriptor(number);
    if (errno != EINTR) return Descriptor();
    poll_interrupt();
  }
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
      descriptor_ = ::openat(folder_, name_.c_str(), flags, 0666);  // less the umask
      if (descriptor_ >= 0) return;
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
    // Some file systems have no sync of folders; what they say is not an error of the file.
    if (::fsync(folder_) != 0 && errno != EINVAL && errno != EROFS)
      io_failure(target_path, "cannot sync", errno);
  }

 private:
  int folder_;
  int descriptor_ = -1;
  std::string name_;
  bool renamed_ = false;
};

}  // namespace

void write_file_atomically(const std::string& path, const std::function<void(ByteSink&)>& produce) {
  std::string name = base_name_of(path);
  if (name.empty() || name == "." || name == "..") io_failure(path, "cannot write", EISDIR);

  if (int number = named_descriptor(path); number >= 0) {
    Descriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    if (copy.get() < 0) io_failure(path, "cannot write", errno);
    return write_directly(std::move(copy), path, produce);
  }
  struct stat target = {};
  bool exists = ::stat(path.c_str(), &target) == 0;
  if (exists && S_ISDIR(target.st_mode)) io_failure(path, "cannot write", EISDIR);
  if (exists && !S_ISREG(target.st_mode)) {
    Descriptor device = open_retrying(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (device.get() < 0) io_failure(path, "cannot open for writing", errno);
    return write_directly(std::move(device), path, produce);
  }

  Descriptor folder = open_retrying(folder_of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.get() < 0) io_failure(path, "cannot open its folder", errno);
  TemporaryFile temporary(folder.get(), path);
  // A file that is replaced keeps its permissions: one made private stays so.
  struct stat replaced = {};
  if (::fstatat(folder.get(), name.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(replaced.st_mode)) {
    if (::fchmod(temporary.descriptor(), replaced.st_mode & 0777) != 0) {
      io_failure(path, "cannot keep the permissions", errno);
    }
  }
  DescriptorSink sink(temporary.descriptor(), path);
  produce(sink);
  sink.flush();
  temporary.finish(name, path, sink.total());
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  write_file_atomically(path, [&](ByteSink& sink) { sink.write(contents); });
}

std::string read_file(const std::string& path, std::uint64_t max_bytes, std::string_view limit_flag) {
  bool standard_input = path == "-";
  std::string place = standard_input ? "<stdin>" : path;
  Descriptor file = standard_input ? Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0))
                                   : open_retrying(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file.get() < 0) io_failure(place, "cannot open", errno);
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
    ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0) {
      if (errno != EINTR) io_failure(place, "cannot read", errno);
      poll_interrupt();
      continue;
    }
    if (got == 0) return contents;
    if (contents.size() + static_cast<std::size_t>(got) > max_bytes)
      too_large(fmt::format("more than {}", max_bytes));
    contents.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace relish
