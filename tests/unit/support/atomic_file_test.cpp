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

TEST_CASE("behind symlinks the file itself is replaced, in its own folder") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("real"));
  const std::string meant = folder.put("real/out", "old");
  std::filesystem::create_symlink("real/out", folder.file("link"));
  std::filesystem::create_symlink(folder.file("link"), folder.file("link to link"));
  std::filesystem::create_symlink("real", folder.file("folder"));
  for (const char* name : {"link", "link to link", "folder/out"}) {
    write_file_atomically(folder.file(name), name);
    CHECK(bytes_of(meant) == name);
  }
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(std::filesystem::is_symlink(folder.file("link to link")));
  CHECK(files_in(folder.file("real")) == 1);
  // A link to nothing yet names the file to make.
  std::filesystem::create_symlink("real/new", folder.file("to new"));
  write_file_atomically(folder.file("to new"), "new");
  CHECK(bytes_of(folder.file("real/new")) == "new");
  CHECK(std::filesystem::is_symlink(folder.file("to new")));
}

TEST_CASE("links that lead to no file are refused") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.file("a"));
  std::filesystem::create_symlink("a", folder.file("b"));
  CHECK(failure_of([&] { write_file_atomically(folder.file("a"), "x"); }) ==
        "IOError: " + folder.file("a") + ": cannot write: Too many levels of symbolic links");
  std::filesystem::create_symlink(".", folder.file("here"));
  CHECK(failure_of([&] { write_file_atomically(folder.file("here"), "x"); }) ==
        "IOError: " + folder.file("here") + ": cannot write: Is a directory");
  std::filesystem::create_symlink("none/out", folder.file("missing"));
  CHECK(failure_of([&] { write_file_atomically(folder.file("missing"), "x"); }) ==
        "IOError: " + folder.file("missing") + ": cannot open its folder: No such file or directory");
  std::filesystem::create_symlink("/dev/full", folder.file("full"));
  CHECK(failure_of([&] { write_file_atomically(folder.file("full"), "x"); }) ==
        "IOError: " + folder.file("full") + ": cannot write: No space left on device");
}

TEST_CASE("a read-only file is not replaced") {
  TemporaryFolder folder;
  const std::string path = folder.put("out", "old");
  const std::string other = folder.put("other", "old");
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  REQUIRE(chmod(other.c_str(), 0666) == 0);
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  // The superuser may write any file: the test becomes somebody else.
  const bool super = geteuid() == 0;
  if (super) REQUIRE(seteuid(65534) == 0);
  const std::string refused = failure_of([&] { write_file_atomically(path, "new"); });
  const std::string allowed = failure_of([&] { write_file_atomically(other, "new"); });
  if (super) REQUIRE(seteuid(0) == 0);
  CHECK(refused == "IOError: " + path + ": cannot write: Permission denied");
  CHECK(bytes_of(path) == "old");
  CHECK(allowed == "no failure");
  CHECK(bytes_of(other) == "new");
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a file that the superuser replaces keeps its owner") {
  if (geteuid() != 0) return;
  TemporaryFolder folder;
  const std::string path = folder.put("out", "old");
  REQUIRE(chown(path.c_str(), 12345, 12346) == 0);
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  write_file_atomically(path, "new");
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 12345);
  CHECK(status.st_gid == 12346);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a target that becomes a symlink while it is written is replaced, and its file unharmed") {
  TemporaryFolder folder;
  const std::string victim = folder.put("victim", "safe");
  const std::string path = folder.put("out", "old");
  write_file_atomically(path, [&](ByteSink& sink) {
    std::filesystem::remove(path);
    std::filesystem::create_symlink(victim, path);
    sink.write("new");
  });
  CHECK(bytes_of(victim) == "safe");
  CHECK(bytes_of(path) == "new");
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

TEST_CASE("a named pipe is refused before it is opened; one that is open is read") {
  TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(failure_of([&] { read_file(path, 100, ""); }) ==
        "IOError: " + path + ": found a named pipe; expected a file, or '-' and the pipe as standard input");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "12345", 5) == 5);
  close(ends[1]);
  CHECK(read_file("/dev/fd/" + std::to_string(ends[0]), 100, "") == "12345");
  close(ends[0]);
}

}  // namespace
}  // namespace relish
