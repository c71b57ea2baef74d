// The door to files: what is opened while a script's files are confined.
#include "support/file_access.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "support/atomic_file.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::TemporaryFolder;

struct Yard {
  Yard() {
    for (const char* name : {"box", "box/sub", "outside", "data"})
      std::filesystem::create_directory(folder.file(name));
    for (const char* name : {"box/in", "box/sub/in", "outside/out", "data/in"}) folder.put(name, name);
    std::filesystem::create_symlink("../outside", folder.file("box/lnk"));
    std::filesystem::create_symlink("../outside/out", folder.file("box/link"));
    std::filesystem::create_symlink("sub/in", folder.file("box/inner-link"));
    std::filesystem::create_hard_link(folder.file("outside/out"), folder.file("box/hard"));
    std::filesystem::create_symlink("../outside", folder.file("data/lnk"));
    std::filesystem::create_symlink("in", folder.file("data/inner-link"));
    std::filesystem::create_hard_link(folder.file("data/in"), folder.file("data/hard"));
    ::mkfifo(folder.file("box/pipe").c_str(), 0600);
  }
  FileRules rules() const {
    return {{{folder.file("data"), true}, {folder.file("box"), false}}, {folder.file("outside/given")}};
  }
  TemporaryFolder folder;
};

std::string read_of(const std::string& path) { return read_file(path, 1000, "--max-source-size"); }

TEST_CASE("a confined script reads and writes below its folders only") {
  Yard yard;
  const TemporaryFolder& folder = yard.folder;
  const ConfinedFiles confined(yard.rules());
  for (const char* name : {"box/in", "box/sub/in", "data/in", "data/hard", "data/inner-link", "box/./in"})
    CHECK_NOTHROW(read_of(folder.file(name)));
  const auto refused = [&](const std::string& name) {
    const std::string path = folder.path() + "/" + name;
    CHECK(failure_of([&] { read_of(path); }).starts_with("PolicyError"));
    CHECK(failure_of([&] { write_file_atomically(path, "x"); }).starts_with("PolicyError"));
    CHECK(failure_of([&] { open_file(path, O_WRONLY | O_CREAT | O_TRUNC); }).starts_with("PolicyError"));
    CHECK(path_fault(yard.rules(), path) != PathFault::None);
  };
  for (const char* name : {"outside/out", "box/../outside/out", "box/lnk/out", "box/link", "box/hard",
                           "box/pipe", "box/inner-link", "data/lnk/out", "boxes/in"})
    refused(name);
  refused(std::string("box/in\0x", 8));
  CHECK(failure_of([&] { make_folders(folder.file("box/lnk/made")); }).starts_with("PolicyError"));
  CHECK(failure_of([&] { make_folders(folder.file("made")); }).starts_with("PolicyError"));
  CHECK(failure_of([&] { remove_file(folder.file("outside/out")); }).starts_with("PolicyError"));
  CHECK_FALSE(file_exists(folder.file("outside/out")));
  CHECK(bytes_of(folder.file("outside/out")) == "outside/out");

  CHECK(make_folders(folder.file("box/a/b")) == 0);
  write_file_atomically(folder.file("box/a/b/made"), "x");
  CHECK(bytes_of(folder.file("box/a/b/made")) == "x");
  CHECK(remove_file(folder.file("box/a/b/made")) == 0);
  write_file_atomically(folder.file("outside/given"), "given");
  CHECK(bytes_of(folder.file("outside/given")) == "given");
}

TEST_CASE("a folder that is exchanged for a symlink after the check is not entered") {
  Yard yard;
  const TemporaryFolder& folder = yard.folder;
  CHECK(path_fault(yard.rules(), folder.file("box/sub/in")) == PathFault::None);
  const ConfinedFiles confined(yard.rules());
  std::filesystem::remove_all(folder.file("box/sub"));
  std::filesystem::create_symlink("../outside", folder.file("box/sub"));
  CHECK(failure_of([&] { read_of(folder.file("box/sub/out")); }).starts_with("PolicyError"));
  CHECK(
      failure_of([&] { write_file_atomically(folder.file("box/sub/out"), "x"); }).starts_with("PolicyError"));
  CHECK(bytes_of(folder.file("outside/out")) == "outside/out");
}

TEST_CASE("without a confined script every path is opened, but for one that is cut off") {
  Yard yard;
  {
    const ConfinedFiles outer(yard.rules());
    const ConfinedFiles inner(FileRules{});
    CHECK(failure_of([&] { read_of(yard.folder.file("box/in")); }).starts_with("PolicyError"));
  }
  CHECK(read_of(yard.folder.file("box/link")) == "outside/out");
  const std::string cut = yard.folder.file("box/in") + std::string("\0.npz", 5);
  CHECK(failure_of([&] { read_of(cut); }).starts_with("PolicyError"));
  CHECK(failure_of([&] { write_file_atomically(cut, "x"); }).starts_with("PolicyError"));
  CHECK(bytes_of(yard.folder.file("box/in")) == "box/in");
}

}  // namespace
}  // namespace relish
