// Files are old or new, never between.
#include "support/atomic_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <stdexcept>

#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::TemporaryFolder;

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST_CASE("a file is written and replaced, and nothing else remains") {
  TemporaryFolder folder;
  std::string path = folder.file("out.txt");
  write_file_atomically(path, "one");
  CHECK(bytes_of(path) == "one");
  std::string large(3'000'000, 'x');
  write_file_atomically(path, [&](ByteSink& sink) {
    sink.write("head");
    sink.write(large);
    sink.write("");
    sink.write("tail");
  });
  CHECK(bytes_of(path) == "head" + large + "tail");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("an interrupted write leaves the old file") {
  TemporaryFolder folder;
  std::string path = folder.put("out.txt", "old");
  auto broken = [&] {
    write_file_atomically(path, [](ByteSink& sink) {
      sink.write("half");
      throw std::runtime_error("stop");
    });
  };
  CHECK_THROWS_AS(broken(), std::runtime_error);
  CHECK(bytes_of(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("permissions: the umask for new files, the old ones for others") {
  TemporaryFolder folder;
  mode_t old_mask = umask(027);
  write_file_atomically(folder.file("new"), "x");
  umask(old_mask);
  struct stat status = {};
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  chmod(folder.file("new").c_str(), 0600);
  write_file_atomically(folder.file("new"), "y");
  REQUIRE(stat(folder.file("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a symlink at the target is replaced and its file unharmed") {
  TemporaryFolder folder;
  std::string victim = folder.put("victim", "safe");
  REQUIRE(symlink(victim.c_str(), folder.file("link").c_str()) == 0);
  write_file_atomically(folder.file("link"), "new");
  CHECK(bytes_of(victim) == "safe");
  CHECK_FALSE(std::filesystem::is_symlink(folder.file("link")));
  CHECK(bytes_of(folder.file("link")) == "new");
}

TEST_CASE("what cannot be written is an IOError with the reason") {
  TemporaryFolder folder;
  std::string missing = folder.file("none/out");
  CHECK(failure_of([&] { write_file_atomically(missing, "x"); }) ==
        "IOError: " + missing + ": cannot open its folder: No such file or directory");
  CHECK(failure_of([&] { write_file_atomically(folder.path(), "x"); }) ==
        "IOError: " + folder.path() + ": cannot write: Is a directory");
  CHECK(failure_of([&] { write_file_atomically("/dev/full", "x"); }) ==
        "IOError: /dev/full: cannot write: No space left on device");
}

TEST_CASE("a file size limit is an error and the old file stays") {
  TemporaryFolder folder;
  std::string path = folder.put("out", "old");
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string text = failure_of([&] { write_file_atomically(path, std::string(1'000'000, 'x')); });
    _exit(text == "IOError: " + path + ": cannot write: File too large" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(bytes_of(path) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("devices and pipes are written directly") {
  TemporaryFolder folder;
  write_file_atomically("/dev/null", "x");
  std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_file_atomically(path, "through");
  char buffer[16];
  ssize_t got = read(reader, buffer, sizeof buffer);
  close(reader);
  CHECK(std::string(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))) == "through");
  CHECK(std::filesystem::is_fifo(path));
}

TEST_CASE("whole files are read up to a limit") {
  TemporaryFolder folder;
  std::string path = folder.put("in", "12345");
  CHECK(read_file(path, 5, "--max-source-size") == "12345");
  CHECK(failure_of([&] { read_file(path, 4, "--max-source-size"); }) ==
        "ResourceLimit: " + path +
            ": the file has 5 bytes; at most 4 are read; --max-source-size raises the limit");
  CHECK(failure_of([&] { read_file(folder.file("none"), 4, ""); }) ==
        "IOError: " + folder.file("none") + ": cannot open: No such file or directory");
  CHECK(failure_of([&] { read_file(folder.path(), 4, ""); }) ==
        "IOError: " + folder.path() + ": cannot read: Is a directory");
  CHECK(!read_file("/proc/self/status", 1 << 20, "").empty());
}

}  // namespace
}  // namespace relish
