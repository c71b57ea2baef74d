// The cache of compiled code between processes: whatever becomes of its folder, results are right; a start
// behind another compiles nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <future>

#include "tests/generate/random.h"
#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;
using generate::Random;

const char* const cached_model =
    "@I.ir_module\n"
    "class M:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((8, 32), \"float32\"), w: R.Tensor((32, 16), \"float32\")):\n"
    "        y = R.nn.relu(R.matmul(x, w))\n"
    "        return R.nn.softmax(y)\n";
const char* const cached_script =
    "M = load(\"m.relish\")\n"
    "r = M.main(rand((8, 32), seed=1), rand((32, 16), seed=2))\n"
    "c = cache()\n"
    "print(r)\n"
    "print('compiled', c['compiled'], 'found', c['found'])\n";

// What the script prints: the result, and what was counted.
struct CachedRun {
  std::string result, counts;
  int exit_code = 0;
};

class CachedProgram {
 public:
  CachedProgram() {
    folder_.put("m.relish", cached_model);
    folder_.put("s.relish", cached_script);
    expected_ = run("off").result;
    REQUIRE(expected_.find("float32") != std::string::npos);
  }

  Trial trial(const std::string& cache) const {
    return {{"run", "s.relish", "--cache", cache, "--threads", "1"}, folder_.path()};
  }
  static CachedRun parts_of(const TrialResult& result) {
    const std::size_t at = result.messages.find("compiled");
    if (at == std::string::npos) return {result.messages, "", result.exit_code};
    return {result.messages.substr(0, at), result.messages.substr(at), result.exit_code};
  }
  CachedRun run(const std::string& cache) const { return parts_of(run_trial(trial(cache))); }
  // Right, whatever the cache is.
  CachedRun check(const std::string& cache) const {
    CachedRun found = run(cache);
    INFO(found.result << found.counts);
    CHECK(found.exit_code == 0);
    CHECK(found.result == expected_);
    return found;
  }
  const TemporaryFolder& folder() const { return folder_; }
  const std::string& expected() const { return expected_; }

 private:
  TemporaryFolder folder_;
  std::string expected_;
};

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("the second start of a program compiles nothing") {
  const CachedProgram place;
  const std::string cache = place.folder().file("cache");
  const CachedRun first = place.check(cache);
  CHECK(first.counts == "compiled 2 found 0\n");
  CHECK(place.check(cache).counts == "compiled 0 found 2\n");
  CHECK(place.check("off").counts == "compiled 2 found 0\n");
  // A relative folder is meant from where the program runs.
  CHECK(place.check("cache").counts == "compiled 0 found 2\n");
  CHECK(run_trial({{"cache", "--cache", "cache"}, place.folder().path()}).messages.find("entries  3\n") !=
        std::string::npos);
  CHECK(run_trial({{"cache", "--cache", "cache", "--clear", "--json"}, place.folder().path()})
            .messages.find("\"removed\":3") != std::string::npos);
  CHECK(files_in(cache).empty());
  CHECK(place.check(cache).counts == "compiled 2 found 0\n");
}

TEST_CASE("a cache that is cut, changed or exchanged gives right results") {
  const CachedProgram place;
  const std::string cache = place.folder().file("cache");
  place.check(cache);
  // Two units, and how they are one program.
  const std::vector<fs::path> files = files_in(cache);
  REQUIRE(files.size() == 3);
  std::vector<std::string> kept;
  for (const fs::path& file : files) kept.push_back(bytes_of(file));
  Random random(11);
  const auto put = [](const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  int programs = 0;
  for (std::size_t round = 0; round < 12; ++round) {
    const std::size_t which = round % kept.size();
    std::string bytes = kept[which];
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size())));
    if (round % 4 < 2)
      bytes.resize(at);
    else
      bytes[at] ^= 0x10;
    put(files[which], bytes);
    const std::string counts = place.check(cache).counts;
    const bool program = counts == "compiled 0 found 2\n";
    programs += program ? 1 : 0;
    CHECK((program || counts == "compiled 1 found 1\n"));
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(bytes_of(files[i]) == kept[i]);  // made again
  }
  CHECK(programs == 4);
  for (std::size_t i = 0; i < kept.size(); ++i) put(files[i], kept[(i + 1) % kept.size()]);
  CHECK(place.check(cache).counts == "compiled 2 found 0\n");
}

TEST_CASE("a cache that cannot be written, and one of others, gives right results") {
  const CachedProgram place;
  const std::string file = place.folder().put("file", "text");
  CHECK(place.check(file).counts == "compiled 2 found 0\n");
  CHECK(bytes_of(file) == "text");
  place.check("/proc/none/objects");
  const std::string cache = place.folder().file("cache");
  place.check(cache);
  ::chmod(cache.c_str(), 0777);
  CHECK(place.check(cache).counts == "compiled 2 found 0\n");
  CHECK(run_trial({{"cache", "--cache", "cache"}, place.folder().path()})
            .messages.find("(not used: others may write to it)") != std::string::npos);
  CHECK(run_trial({{"cache", "--cache", "cache", "--clear"}, place.folder().path()}).exit_code == 7);
  CHECK(files_in(cache).size() == 3);
}

TEST_CASE("two processes fill one cache, and any may be killed") {
  const CachedProgram place;
  Random random(5);
  for (int round = 0; round < 12; ++round) {
    const std::string cache = place.folder().file("cache" + std::to_string(round / 4));
    Trial killed = place.trial(cache);
    killed.kill_after_us = 20'000 + random.below(60'000);
    auto beside = std::async(std::launch::async, [&] { return run_trial(killed); });
    place.check(cache);
    beside.get();
    // Nothing that stands there under the name of an object is a part of one.
    CHECK(place.check(cache).counts == "compiled 0 found 2\n");
  }
}

TEST_CASE("a cache on a full disk, and one that takes no large files, gives right results") {
  const CachedProgram place;
  const std::string cache = place.folder().file("cache");
  Trial small = place.trial(cache);
  small.largest_file = 1000;
  CHECK(CachedProgram::parts_of(run_trial(small)).result == place.expected());
  CHECK(files_in(cache).empty());
  fs::remove_all(cache);
  for (const std::size_t pages : {1, 2, 4}) {
    fs::create_directory(cache);
    SmallDisk disk(cache, pages * 4096);
    if (!disk.available()) {
      WARN("skipped: a small disk needs the right to mount one");
      return;
    }
    ::chmod(cache.c_str(), 0700);
    std::ofstream(cache + "/filler") << std::string((pages - 1) * 4096, 'x');
    place.check(cache);
    place.check(cache);
    for (const fs::path& path : files_in(cache)) CHECK(path.extension() != ".tmp");
    fs::remove(cache + "/filler");
    place.check(cache);
  }
}

TEST_CASE("a script does not choose the cache, clear it or reach beyond its folder by it") {
  const CachedProgram place;
  const std::string cache = place.folder().file("cache");
  place.check(cache);
  for (const std::string text : {"cache(clear=True)\n", "cache(folder=\"x\")\n"}) {
    place.folder().put("s.relish", text);
    const TrialResult result = run_trial(place.trial(cache));
    INFO(text << result.messages);
    CHECK(result.exit_code != 0);
    CHECK(result.exit_code != 70);
    CHECK(files_in(cache).size() == 3);
  }
}

}  // namespace
}  // namespace relish::testing
