// npz: archives of other writers are read, and each thing that an archive may say falsely is refused by its
// rule before it costs memory.
#include <catch2/catch.hpp>

#include "runtime/files.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/runtime/file_builders.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::ArchiveEnd;
using testing::ArchiveEntry;
using testing::failure_of;
using testing::npy_file;
using testing::rule_of;
using testing::TemporaryFolder;
using testing::zip_file;

std::string bytes_array(std::size_t count, std::string_view data) {
  return npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",)}",
                  data);
}

ArchiveEntry entry_of(std::string name, std::string_view data, int method = 0) {
  ArchiveEntry entry;
  entry.name = std::move(name);
  entry.content = bytes_array(data.size(), data);
  entry.method = method;
  return entry;
}

TEST_CASE("npz: 64-bit forms, comments, extra fields and both methods are read") {
  TemporaryFolder folder;
  for (int method : {0, 8}) {
    for (bool zip64 : {false, true}) {
      INFO("method " << method << ", 64-bit " << zip64);
      ArchiveEntry a = entry_of("a.npy", "xyz", method);
      a.zip64 = zip64;
      a.comment = "of the entry";
      a.extra = std::string("\x55\x54\x02\x00\x07\x07", 6);
      ArchiveEnd end;
      end.zip64 = zip64;
      end.comment = "of the archive";
      NamedTensors read = read_npz(folder.put("x.npz", zip_file({a, entry_of("../b.npy", "", method)}, end)));
      REQUIRE(read.size() == 2);
      CHECK(read[0].first == "a");
      CHECK(read[0].second.get_int(2) == 'z');
      CHECK(read[1].first == "../b");  // a label, never a path
      CHECK(read[1].second.shape() == Shape{0});
    }
  }
}

TEST_CASE("npz: a comment stands behind the entries and comes back") {
  TemporaryFolder folder;
  const NamedTensors tensors = {{"a", Tensor::scalar(DType::Int8, 7)}};
  const std::string path = folder.file("x.npz");
  for (const std::string& comment : {std::string(), std::string("of the archive"), std::string(65535, 'c')}) {
    write_npz(path, tensors, comment);
    CHECK(npz_comment(path) == comment);
    CHECK(read_npz(path).front().second.get_int(0) == 7);
  }
}

TEST_CASE("npz: 10,000 entries are read and written, one more is refused") {
  TemporaryFolder folder;
  std::vector<ArchiveEntry> entries;
  NamedTensors tensors;
  for (int i = 0; i < 10000; ++i) {
    entries.push_back(entry_of(std::to_string(i) + ".npy", "a"));
    tensors.emplace_back(std::to_string(i), Tensor::scalar(DType::Int8, 1));
  }
  CHECK(read_npz(folder.put("x.npz", zip_file(entries))).size() == 10000);
  write_npz(folder.file("y.npz"), tensors);
  CHECK(read_npz(folder.file("y.npz")).size() == 10000);
  entries.push_back(entry_of("last.npy", "a"));
  tensors.emplace_back("last", Tensor::scalar(DType::Int8, 1));
  std::string path = folder.put("x.npz", zip_file(entries));
  CHECK(failure_of([&] {
          read_npz(path);
        }).starts_with("DataError: " + path + ": the archive has 10001 entries; at most 10000 are read"));
  CHECK(rule_of([&] { read_npz(path); }) == "DataError: npz.entries");
  CHECK(rule_of([&] { write_npz(folder.file("z.npz"), tensors); }) == "UsageError: npz.entries");
}

// Changes one thing of a good archive of two entries, a.npy and b.npy.
template <class Change>
std::string changed(int method, Change&& change) {
  std::vector<ArchiveEntry> entries = {entry_of("a.npy", "abcdefgh", method),
                                       entry_of("b.npy", "ij", method)};
  ArchiveEnd end;
  change(entries, end);
  return zip_file(entries, end);
}

TEST_CASE("npz: each refusal has its rule") {
  TemporaryFolder folder;
  using Entries = std::vector<ArchiveEntry>;
  for (int method : {0, 8}) {
    INFO("method " << method);
    auto rule = [&](auto&& change) {
      std::string path = folder.put("x.npz", changed(method, change));
      std::string text = failure_of([&] { read_npz(path); });
      CHECK((text.find("(byte ") != std::string::npos || text.find("x.npz:") != std::string::npos));
      return rule_of([&] { read_npz(path); });
    };
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.entries = 3; }) == "DataError: npz.directory");
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.entries = 20000; }) == "DataError: npz.entries");
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.disk = 1; }) == "DataError: npz.archive");
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.offset = 1 << 30; }) == "DataError: npz.archive");
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.size = 1 << 30; }) == "DataError: npz.archive");
    CHECK(rule([](Entries&, ArchiveEnd& end) { end.size = 50; }) == "DataError: npz.directory");
    CHECK(rule([](Entries&, ArchiveEnd& end) {
            end.zip64 = true;
            end.end64_offset = ~std::uint64_t{0};
          }) == "DataError: npz.archive");
    CHECK(rule([](Entries&, ArchiveEnd& end) {
            end.zip64 = true;
            end.end64_signature = 0;
          }) == "DataError: npz.archive");
    CHECK(rule([](Entries&, ArchiveEnd& end) {
            end.zip64 = true;
            end.offset = ~std::uint64_t{0};
          }) == "DataError: npz.archive");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].central_signature = 0; }) == "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].local_signature = 0; }) == "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].local_name = "c.npy"; }) == "DataError: npz.directory");
    CHECK(rule([&](Entries& e, ArchiveEnd&) { e[0].local_method = 8 - method; }) ==
          "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[1].local_offset = 0xFFFFFFF0; }) ==
          "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) {
            e[1].zip64 = true;
            e[1].local_offset = ~std::uint64_t{0};
          }) == "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) {
            e[1].zip64 = true;
            e[1].stored_bytes = ~std::uint64_t{0};
            e[1].bytes = ~std::uint64_t{0};
          }) == "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[1].name = "a.npy"; }) == "DataError: npz.duplicate");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[1] = e[0]; }) == "DataError: npz.duplicate");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].flags = 1; }) == "DataError: npz.method");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].method = 12; }) == "DataError: npz.method");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].crc = 0; }) == "DataError: npz.checksum");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].name = "a.txt"; }) == "DataError: npz.entry");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[1].name = "model/data.pkl"; }) == "DataError: file.format");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].content += "x"; }) == "DataError: npz.size");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].content.pop_back(); }) == "DataError: npz.size");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].content = "PK"; }) == "DataError: file.truncated");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].bytes = 9; }) == "DataError: npz.size");
    CHECK(rule([](Entries& e, ArchiveEnd&) {
            e[0].content = npy_file("{'descr': '|O', 'fortran_order': False, 'shape': ()}", "12345678");
          }) == "DataError: npy.pickle");
    CHECK(rule([](Entries& e, ArchiveEnd&) { e[0].extra = std::string("\x01\x00\xFF\x00", 4); }) ==
          "DataError: npz.directory");
    CHECK(rule([](Entries& e, ArchiveEnd&) {
            e[0].bytes = 0xFFFFFFFF;  // announces a 64-bit field that is not there
            e[0].extra = std::string("\x01\x00\x04\x00....", 8);
          }) == "DataError: npz.directory");
  }
}

TEST_CASE("npz: sizes that cannot be are refused before inflating") {
  TemporaryFolder folder;
  ArchiveEntry bomb = entry_of("a.npy", "abc", 8);
  std::uint64_t stored = testing::deflated(bomb.content).size();
  bomb.bytes = stored * 1032;
  std::string path = folder.put("x.npz", zip_file({bomb}));
  CHECK(rule_of([&] { read_npz(path); }) == "DataError: npz.size");
  bomb.bytes = stored * 1032 + 1;
  path = folder.put("x.npz", zip_file({bomb}));
  CHECK(failure_of([&] { read_npz(path); }) == "DataError: " + path + ":a.npy: " + std::to_string(stored) +
                                                   " bytes cannot inflate to " + std::to_string(*bomb.bytes) +
                                                   ": more than 1032 to 1");
  // The header agrees with the directory, the data does not follow.
  ArchiveEntry hollow;
  hollow.name = "a.npy";
  hollow.method = 8;
  hollow.content = bytes_array(20000, std::string(10000, 'x'));
  hollow.bytes = hollow.content.size() + 10000;
  path = folder.put("x.npz", zip_file({hollow}));
  CHECK(rule_of([&] { read_npz(path); }) == "DataError: file.truncated");
  // More data than announced: inflating stops at the announced size.
  ArchiveEntry swollen;
  swollen.name = "a.npy";
  swollen.method = 8;
  swollen.content = bytes_array(100, std::string(1000000, 'x'));
  swollen.bytes = swollen.content.size() - 999900;
  path = folder.put("x.npz", zip_file({swollen}));
  CHECK(failure_of([&] {
          read_npz(path);
        }).starts_with("DataError: " + path + ":a: the entry is longer than announced"));
}

TEST_CASE("npz: entries that share bytes are refused") {
  TemporaryFolder folder;
  // The second entry's local header lies inside the data of the first.
  ArchiveEntry inner = entry_of("b.npy", "ij");
  std::string nested = zip_file({inner});
  nested.resize(nested.find("PK\x01\x02"));
  ArchiveEntry outer;
  outer.name = "a.npy";
  outer.content = bytes_array(nested.size(), nested);
  std::uint64_t inside = 30 + outer.name.size() + outer.content.size() - nested.size();
  ArchiveEntry pointer = inner;
  pointer.local_offset = inside;
  std::string path = folder.put("x.npz", zip_file({outer, pointer}));
  CHECK(failure_of([&] { read_npz(path); }) ==
        "DataError: " + path + ": two entries of the archive overlap (byte " + std::to_string(inside) + ")");
  CHECK(rule_of([&] { read_npz(path); }) == "DataError: npz.overlap");
}

TEST_CASE("names that cannot stand in a file are not written") {
  TemporaryFolder folder;
  Tensor one = Tensor::scalar(DType::Int8, 1);
  for (const char* file : {"x.npz", "x.safetensors"}) {
    std::string path = folder.file(file);
    CHECK(rule_of([&] { write_tensors(path, {{"", one}}); }) == "UsageError: file.name");
    CHECK(rule_of([&] { write_tensors(path, {{std::string(4097, 'n'), one}}); }) == "UsageError: file.name");
    CHECK(rule_of([&] { write_tensors(path, {{"a", one}, {"a", one}}); }) == "UsageError: file.name");
  }
  CHECK(rule_of([&] { write_tensors(folder.file("x.safetensors"), {{"\xFF", one}}); }) ==
        "UsageError: file.name");
  CHECK(rule_of([&] { write_tensors(folder.file("x.safetensors"), {{"__metadata__", one}}); }) ==
        "UsageError: file.name");
}

}  // namespace
}  // namespace relish
