// The store of objects: what is kept is found again whole, or not at all, whatever became of its file.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "jit/object_store.h"
#include "support/failure.h"
#include "support/sha256.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::bytes_of;
using relish::testing::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

std::string key_of(int number) { return sha256_of("key " + std::to_string(number)); }
std::string object_of(int number, std::size_t size = 300) {
  std::string object(size, static_cast<char>('a' + number % 26));
  for (std::size_t i = 0; i < size; i += 7)
    object[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(number));
  return object;
}
std::string file_of(const ObjectStore& store, const std::string& key) {
  return store.folder() + "/" + key + ".o";
}
void age(const std::string& path, int seconds) {
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(seconds));
}

}  // namespace

TEST_CASE("objects are found again, by other stores too, and the folder is the user's alone", "[jit]") {
  TemporaryFolder folder;
  const std::string path = folder.file("a/b/objects");
  ObjectStore store(path);
  CHECK_FALSE(store.find(key_of(1)));
  CHECK_FALSE(fs::exists(path));  // looking makes nothing
  CHECK(store.contents().entries == 0);
  store.keep(key_of(1), object_of(1));
  store.keep(key_of(2), "");
  CHECK(store.find(key_of(1)) == object_of(1));
  CHECK(ObjectStore(path).find(key_of(1)) == object_of(1));
  CHECK(ObjectStore(path).find(key_of(2)) == "");
  CHECK_FALSE(store.find(key_of(3)));
  CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(store.contents().entries == 2);
  CHECK(store.contents().bytes ==
        fs::file_size(file_of(store, key_of(1))) + fs::file_size(file_of(store, key_of(2))));
  CHECK(store.clear() == 2);
  CHECK(store.contents().entries == 0);
  CHECK_FALSE(store.find(key_of(1)));
}

TEST_CASE("folders and links that are named as objects are none, and stay", "[jit]") {
  TemporaryFolder folder;
  const std::string path = folder.file("objects");
  ObjectStore store(path);
  store.keep(key_of(1), object_of(1));
  const fs::path inner = file_of(store, key_of(2)), link = file_of(store, key_of(3));
  fs::create_directory(inner);
  fs::create_symlink("elsewhere", link);
  CHECK(store.contents().entries == 1);
  CHECK(store.contents().bytes == fs::file_size(file_of(store, key_of(1))));
  CHECK(store.clear() == 1);
  CHECK(fs::is_directory(inner));
  CHECK(fs::is_symlink(link));
}

TEST_CASE("an object that is not whole counts as none, and is replaced", "[jit]") {
  TemporaryFolder folder;
  ObjectStore store(folder.file("objects"));
  store.keep(key_of(1), object_of(1));
  const std::string path = file_of(store, key_of(1)), whole = bytes_of(path);
  const auto put = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    REQUIRE_FALSE(store.find(key_of(1)));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    put(flipped);
    REQUIRE_FALSE(store.find(key_of(1)));
  }
  put(whole + "x");
  CHECK_FALSE(store.find(key_of(1)));
  put(std::string(whole.size(), '\0'));
  CHECK_FALSE(store.find(key_of(1)));
  store.keep(key_of(1), object_of(1));
  CHECK(store.find(key_of(1)) == object_of(1));
  // A whole one under another key.
  fs::copy_file(path, file_of(store, key_of(2)));
  CHECK_FALSE(store.find(key_of(2)));
}

TEST_CASE("what others could have put there is not run", "[jit]") {
  TemporaryFolder folder;
  ObjectStore store(folder.file("objects"));
  store.keep(key_of(1), object_of(1));
  const std::string path = file_of(store, key_of(1));
  ::chmod(path.c_str(), 0662);
  CHECK_FALSE(store.find(key_of(1)));
  ::chmod(path.c_str(), 0600);
  CHECK(store.find(key_of(1)));
  if (::geteuid() == 0) {
    REQUIRE(::chown(path.c_str(), 12345, 0) == 0);
    CHECK_FALSE(store.find(key_of(1)));
    REQUIRE(::chown(path.c_str(), 0, 0) == 0);
  }
  fs::create_symlink(path, file_of(store, key_of(2)));
  CHECK_FALSE(store.find(key_of(2)));
  REQUIRE(::mkfifo(file_of(store, key_of(3)).c_str(), 0600) == 0);
  CHECK_FALSE(store.find(key_of(3)));

  ::chmod(store.folder().c_str(), 0777);
  ObjectStore open(store.folder());
  CHECK_FALSE(open.find(key_of(1)));
  open.keep(key_of(4), object_of(4));
  CHECK_FALSE(fs::exists(file_of(open, key_of(4))));
  CHECK(open.contents().unusable == "others may write to it");
  try {
    open.clear();
    FAIL("what others may write to is cleared");
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().front().id == "cache.folder");
    CHECK(failure.exit_code() == 7);
  }
  if (::geteuid() == 0) {
    ::chmod(store.folder().c_str(), 0700);
    REQUIRE(::chown(store.folder().c_str(), 12345, 0) == 0);
    CHECK(ObjectStore(store.folder()).contents().unusable == "it belongs to another user");
    CHECK_FALSE(ObjectStore(store.folder()).find(key_of(1)));
  }
}

TEST_CASE("a folder that cannot be one keeps nothing", "[jit]") {
  TemporaryFolder folder;
  const std::string file = folder.put("file", "text");
  for (const std::string& path : {file, file + "/objects", std::string("/proc/nothing/objects")}) {
    ObjectStore store(path);
    store.keep(key_of(1), object_of(1));
    CHECK_FALSE(store.find(key_of(1)));
  }
  CHECK(bytes_of(file) == "text");
  CHECK(ObjectStore(file).contents().unusable == "Not a directory");
}

TEST_CASE("the store is bounded: what was used longest ago goes", "[jit]") {
  TemporaryFolder folder;
  constexpr std::uint64_t limit = 8'000;
  const auto filled = [&](ObjectStore& store, int first, int last) {
    for (int i = first; i < last; ++i) {
      store.keep(key_of(i), object_of(i, 800));
      if (fs::exists(file_of(store, key_of(i)))) age(file_of(store, key_of(i)), 20'000 - 100 * i);
    }
  };
  ObjectStore store(folder.file("objects"), limit);
  filled(store, 0, 7);
  CHECK(store.contents().entries == 7);
  CHECK(store.find(key_of(0)));  // is used: now the newest
  CHECK(fs::last_write_time(file_of(store, key_of(0))) > fs::last_write_time(file_of(store, key_of(6))));
  folder.put("objects/of somebody else", std::string(20'000, 'x'));
  filled(store, 7, 9);
  CHECK(store.contents().bytes <= limit / 4 * 3);  // not at once again
  CHECK(store.find(key_of(0)));
  CHECK(store.find(key_of(8)));
  CHECK_FALSE(store.find(key_of(1)));
  CHECK(fs::exists(folder.file("objects/of somebody else")));
  // Another process knows what is there already.
  ObjectStore other(folder.file("objects"), limit);
  filled(other, 20, 24);
  CHECK(other.contents().bytes <= limit);
  // One that would drive out all others is not kept.
  other.keep(key_of(30), object_of(30, limit / 2));
  CHECK_FALSE(other.find(key_of(30)));
  CHECK(other.contents().entries > 2);
}

TEST_CASE("what was left of writing goes with time, and with the rest", "[jit]") {
  TemporaryFolder folder;
  fs::create_directory(folder.file("objects"));
  ::chmod(folder.file("objects").c_str(), 0700);
  const std::string old = folder.put("objects/.relish-0011223344556677.tmp", "half");
  const std::string young = folder.put("objects/.relish-8899aabbccddeeff.tmp", "half");
  age(old, 10'000);
  ObjectStore store(folder.file("objects"));
  store.keep(key_of(1), object_of(1));
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(young));
  CHECK(store.contents().entries == 1);
  CHECK(store.clear() == 1);
  CHECK_FALSE(fs::exists(young));
}

TEST_CASE("several threads and stores fill one folder", "[jit]") {
  TemporaryFolder folder;
  ObjectStore a(folder.file("objects")), b(folder.file("objects"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ObjectStore& store = t % 2 == 0 ? a : b;
      for (int i = 0; i < 60; ++i) {
        store.keep(key_of(i % 20), object_of(i % 20));
        const std::optional<std::string> found = store.find(key_of((i + t) % 20));
        if (found && *found != object_of((i + t) % 20)) throw std::logic_error("a mix");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(a.contents().entries == 20);
  for (int i = 0; i < 20; ++i) CHECK(b.find(key_of(i)) == object_of(i));
  for (const auto& entry : fs::directory_iterator(folder.file("objects")))
    CHECK(entry.path().extension() == ".o");
}
