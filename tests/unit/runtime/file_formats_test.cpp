// npy, npz, safetensors and IDX: files of others are read, our own come back unchanged, and each kind of
// damage is refused. The fixtures in data/ were written by NumPy (data/make_fixtures.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "runtime/files.h"
#include "runtime/format.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/runtime/file_builders.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::npy_file;
using testing::rule_of;
using testing::safetensors_file;
using testing::TemporaryFolder;

std::string fixture(std::string_view name) {
  return std::string(RELISH_SOURCE_DIR) + "/tests/unit/runtime/data/" + std::string(name);
}

Tensor sample(DType dtype, Shape shape) {
  Tensor t = Tensor::empty(dtype, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i) t.set_int(i, i % 3);
  return t;
}

NamedTensors samples() {
  NamedTensors tensors;
  for (int i = 0; i < dtype_count; ++i) {
    auto dtype = static_cast<DType>(i);
    tensors.emplace_back("of " + std::string(name_of(dtype)), sample(dtype, {2, 3}));
  }
  tensors.emplace_back("scalar", Tensor::scalar(DType::Float64, 0.1));
  tensors.emplace_back("empty", Tensor::empty(DType::Float32, {0, 7}));
  return tensors;
}

bool same(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first || !identical(a[i].second, b[i].second)) return false;
  }
  return true;
}

TEST_CASE("npy: what NumPy wrote") {
  Tensor fortran = read_npy(fixture("fortran.npy"));
  REQUIRE(fortran.shape() == Shape{2, 3, 4});
  for (std::int64_t i = 0; i < 24; ++i) CHECK(fortran.get_int(i) == i);
  Tensor swapped = read_npy(fixture("big_endian.npy"));
  CHECK(swapped.dtype() == DType::Float64);
  CHECK(swapped.get_double(1) == -2.25);
  CHECK(swapped.get_double(2) == 1e300);
}

TEST_CASE("npy: all dtypes there and back") {
  TemporaryFolder folder;
  for (const auto& [name, tensor] : samples()) {
    INFO(name);
    write_npy(folder.file("x.npy"), tensor);
    CHECK(identical(read_npy(folder.file("x.npy")), tensor));
    CHECK(bytes_of(folder.file("x.npy")).size() == 128 + static_cast<std::size_t>(tensor.byte_size()));
  }
}

TEST_CASE("npy: headers of other writers") {
  TemporaryFolder folder;
  std::string data("\x01\x00\x02\x00", 4);
  for (const char* header : {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }",
                             "{\"shape\": (2L,), \"fortran_order\": True, \"descr\": \"<i2\"}",
                             " { 'descr':'<i2','fortran_order':False,'shape':( 2 , ) }  "}) {
    INFO(header);
    Tensor t = read_npy(folder.put("x.npy", npy_file(header, data)));
    CHECK(t.get_int(1) == 2);
  }
  std::string version_two("\x93NUMPY\x02\x00\x39\x00\x00\x00", 12);
  version_two += "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }" + data;
  CHECK(read_npy(folder.put("x.npy", version_two)).get_int(0) == 1);
}

TEST_CASE("npy: refusals") {
  TemporaryFolder folder;
  struct Case {
    std::string bytes;
    const char* message;
  };
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::vector<Case> cases = {
      {"", "truncated: 8 more bytes were expected (byte 0)"},
      {"\x93NUMP", "truncated: 3 more bytes were expected (byte 5)"},
      {"not an npy file at all", "not an npy file: the magic bytes are missing (byte 0)"},
      {std::string("\x93NUMPY\x04\x00\x00\x00", 10), "unknown npy version 4.0 (byte 6)"},
      {std::string("\x93NUMPY\xFF\xFE\x00\x00", 10), "unknown npy version 255.254 (byte 6)"},
      {std::string("\x93NUMPY\x01\x00\xFF\xFF", 10),
       "the header has 65535 bytes; at most 10000 are read (byte 10)"},
      {npy_file(good, "1234567"),
       "truncated: the header announces 8 bytes of elements, the file has 7 (byte 68)"},
      {npy_file(good, "123456789"),
       "too long: the header announces 8 bytes of elements, the file has 9 (byte 68)"},
      {npy_file("{'descr': '<f4', 'shape': (2,)}"),
       "the header lacks one of the keys descr, fortran_order, shape (byte 10)"},
      {npy_file("{'descr': '<f4', 'descr': '<f4'}"), "the key 'descr' occurs twice (byte 27)"},
      {npy_file("{'evil': 1}"), "unknown key 'evil' in the header (byte 11)"},
      {npy_file("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"),
       "bad header: fortran_order must be True or False (byte 44)"},
      {npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (-2,)}"),
       "the shape has the negative dimension -2 (byte 60)"},
      {npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999,)}"),
       "bad header: expected a dimension of 64 bits (byte 60)"},
      {npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (4294967296,4294967296)}"),
       "the shape (4294967296, 4294967296) has too many elements (byte 10)"},
      {npy_file("{'descr': [('a', '<f4')], 'fortran_order': True, 'shape': (2,)}"),
       "the array has a structured dtype; expected a plain number type (byte 20)"},
      {npy_file("{'descr': '<c8', 'fortran_order': True, 'shape': (2,)}"),
       "the dtype '<c8' is not supported (byte 20)"},
      {npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)} import"),
       "text follows the header's closing brace (byte 65)"},
      {npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\x01\x02"),
       "element 1 of a bool array is 2; expected 0 or 1 (byte 67)"},
      {npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (" + std::string(66, '1') + ")}"),
       "bad header: expected a dimension of 64 bits (byte 61)"},
  };
  for (const Case& c : cases) {
    std::string path = folder.put("bad.npy", c.bytes);
    CHECK(failure_of([&] { read_npy(path); }) == "DataError: " + path + ": " + c.message);
  }
  CHECK(failure_of([&] { read_npy(fixture("objects.npy")); }).find("Python objects (pickle)") !=
        std::string::npos);
  CHECK(failure_of([&] { read_npy(folder.file("none.npy")); }) ==
        "IOError: " + folder.file("none.npy") + ": cannot open: No such file or directory");
  CHECK(failure_of([&] { read_npy(folder.path()); }) ==
        "IOError: " + folder.path() + ": is not a regular file");
}

TEST_CASE("npz: what NumPy wrote") {
  NamedTensors deflated = read_npz(fixture("deflated.npz"));
  REQUIRE(deflated.size() == 3);
  CHECK(deflated[0].first == "w0");
  CHECK(deflated[0].second.shape() == Shape{2, 3});
  CHECK(deflated[0].second.get_double(5) == 1.25);
  CHECK(deflated[1].second.get_int(1) == -1);
  CHECK(format_tensor(deflated[2].second) == "bool () True");
  NamedTensors stored = read_npz(fixture("stored.npz"));
  REQUIRE(stored.size() == 2);
  CHECK(stored[0].second.dtype() == DType::Float16);
  CHECK(stored[1].second.shape() == Shape{0, 4});
  NamedTensors zeros = read_npz(fixture("bomb.npz"));
  CHECK(zeros[0].second.size() == 1000000);
}

TEST_CASE("npz: there and back, the same bytes each time") {
  TemporaryFolder folder;
  write_npz(folder.file("a.npz"), samples());
  CHECK(same(read_npz(folder.file("a.npz")), samples()));
  write_npz(folder.file("b.npz"), samples());
  CHECK(bytes_of(folder.file("a.npz")) == bytes_of(folder.file("b.npz")));
  write_npz(folder.file("empty.npz"), {});
  CHECK(read_npz(folder.file("empty.npz")).empty());
}

TEST_CASE("npz: truncated or damaged archives are refused") {
  TemporaryFolder folder;
  write_npz(folder.file("good.npz"),
            {{"w0", sample(DType::Float32, {20})}, {"b0", sample(DType::Int8, {4})}});
  std::string good = bytes_of(folder.file("good.npz"));
  for (std::size_t length = 0; length < good.size(); length += 7) {
    std::string path = folder.put("cut.npz", good.substr(0, length));
    if (!failure_of([&] { read_npz(path); }).starts_with("DataError: " + path)) FAIL("cut to " << length);
  }
  std::string deflated = bytes_of(fixture("deflated.npz"));
  for (const std::string& bytes : {good, deflated}) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x10);
      std::string path = folder.put("bit.npz", changed);
      // A changed time stamp or attribute is no damage; anything else is told as a fault of the data.
      std::string text = failure_of([&] { read_npz(path); });
      if (text != "no failure" && !text.starts_with("DataError: " + path))
        FAIL("byte " << at << ": " << text);
    }
  }
  std::string changed = good;
  changed[good.find('\n') + 3] = 'x';
  std::string path = folder.put("crc.npz", changed);
  CHECK(failure_of([&] { read_npz(path); }).starts_with("DataError: " + path + ":w0: the checksum is "));
}

TEST_CASE("npz: ratios, overlaps and foreign entries are refused") {
  TemporaryFolder folder;
  write_npz(folder.file("good.npz"), {{"a", sample(DType::Int8, {4})}, {"b", sample(DType::Int8, {4})}});
  std::string good = bytes_of(folder.file("good.npz"));
  std::size_t first = good.find("PK\x01\x02");
  std::size_t second = good.find("PK\x01\x02", first + 1);
  std::string overlapping = good;
  for (std::size_t i = 0; i < 4; ++i) overlapping[second + 42 + i] = overlapping[first + 42 + i];
  overlapping[second + 46] = 'a';
  std::string path = folder.put("overlap.npz", overlapping);
  CHECK(failure_of([&] { read_npz(path); }) ==
        "DataError: " + path + ":a.npy: the archive has two entries of this name");

  std::string inflated = good;
  inflated[first + 10] = 8;
  inflated[first + 27] = 0x10;
  path = folder.put("ratio.npz", inflated);
  CHECK(failure_of([&] { read_npz(path); }).find("more than 1032 to 1") != std::string::npos);
  CHECK(rule_of([&] { read_npz(path); }) == "DataError: npz.ratio");

  std::string foreign = good;
  for (std::size_t at = foreign.find("a.npy"); at != std::string::npos; at = foreign.find("a.npy", at)) {
    foreign.replace(at, 5, "a.txt");
  }
  path = folder.put("foreign.npz", foreign);
  CHECK(failure_of([&] { read_npz(path); }) ==
        "DataError: " + path + ":a.txt: the entry is not an npy array");
}

TEST_CASE("safetensors: there and back with metadata") {
  TemporaryFolder folder;
  std::map<std::string, std::string> metadata = {{"format", "pt"}, {"note", "\xC3\xA4 \"x\""}};
  write_safetensors(folder.file("a.safetensors"), samples(), metadata);
  std::map<std::string, std::string> read;
  CHECK(same(read_safetensors(folder.file("a.safetensors"), &read), samples()));
  CHECK(read == metadata);
  std::string bytes = bytes_of(folder.file("a.safetensors"));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
}

TEST_CASE("safetensors: refusals") {
  TemporaryFolder folder;
  struct Case {
    std::string bytes;
    const char* message;
  };
  std::string entry = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  std::vector<Case> cases = {
      {"1234", ": truncated: the header's length is missing (byte 4)"},
      {std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8),
       ": the header has 9223372036854775807 bytes; at most 100000000 are read (byte 0)"},
      {safetensors_file("{}").substr(0, 9), ": truncated: the header has 2 bytes, the file 9 (byte 0)"},
      {safetensors_file("[1]"), ": the header does not begin with '{' (byte 8)"},
      {safetensors_file("{\"w\":"), ": the header is not valid JSON (byte 13)"},
      {safetensors_file("{\"w\":3}"), ": unexpected a number in the header (byte 8)"},
      {safetensors_file("{" + entry + "," + entry + "}", "12345678"), ": the key 'w' occurs twice (byte 8)"},
      {safetensors_file("{" + entry + "}", "1234567"), ":w: the entry has bytes 0 to 8 of 7"},
      {safetensors_file("{" + entry + "}", "123456789"),
       ": the entries end at 8 of 9 bytes of data (byte 70)"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678"),
       ":w: the entry has 8 bytes; its shape needs 12"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678"),
       ":w: the entry begins at 4 of the data; expected 0 (no gaps, no overlaps)"},
      {safetensors_file(R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "1"),
       ":w: the dtype 'F8_E4M3' is not supported"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[1]}})"),
       ":w: the entry lacks a dtype, a shape or two data_offsets"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})"),
       ":w: unexpected a negative number for 'shape'"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
       ":w: the shape (4294967296, 4294967296) has too many elements (byte 8)"},
      {safetensors_file(R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,4],"code":1}})", "1234"),
       ":w: unknown key 'code'"},
      {safetensors_file(R"({"__metadata__":{"a":1}})"), ":__metadata__: unexpected a number for 'a'"},
  };
  for (const Case& c : cases) {
    std::string path = folder.put("bad.safetensors", c.bytes);
    CHECK(failure_of([&] { read_safetensors(path); }) == "DataError: " + path + c.message);
  }
  auto rule = [&](const std::string& header, std::string_view data = {}) {
    std::string path = folder.put("bad.safetensors", safetensors_file(header, data));
    return rule_of([&] { read_safetensors(path); });
  };
  std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  CHECK(rule("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "123") ==
        "DataError: safetensors.gap");
  CHECK(rule("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", "12345") ==
        "DataError: safetensors.gap");
  CHECK(rule("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "12") ==
        "DataError: safetensors.gap");
  CHECK(rule("{" + a + "}", "123") == "DataError: safetensors.gap");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})", "12") ==
        "DataError: safetensors.size");
  CHECK(rule(R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", "12") ==
        "DataError: safetensors.dtype");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[2]}})", "12") == "DataError: safetensors.key");
  CHECK(rule("{" + a + "," + a + "}", "12") == "DataError: safetensors.duplicate");
  CHECK(rule(R"({"a":{"dtype":"U8","dtype":"U8"}})") == "DataError: safetensors.duplicate");
  CHECK(rule(R"({"__metadata__":{"k":"v","k":"w"}})") == "DataError: safetensors.duplicate");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", "12") ==
        "DataError: safetensors.offsets");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,18446744073709551615]}})", "12") ==
        "DataError: safetensors.offsets");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1,2]}})", "12") ==
        "DataError: safetensors.offsets");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,0]}})") ==
        "DataError: safetensors.shape");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,0]}})") ==
        "DataError: safetensors.header");
  CHECK(rule(R"({"a":{"dtype":"U8","shape":[0,9223372036854775807,9],"data_offsets":[0,0]}})") ==
        "DataError: file.shape");
  CHECK(rule(R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x02") ==
        "DataError: file.bool");
  CHECK(rule("{\"\xFF\":1}") == "DataError: safetensors.header");
  CHECK(rule("{} x") == "DataError: safetensors.header");
  CHECK(rule("{}  ") == "no failure");
  std::string deep = safetensors_file("{\"w\":" + std::string(100000, '['));
  CHECK(failure_of([&] { read_safetensors(folder.put("deep.safetensors", deep)); }).starts_with("DataError"));
}

TEST_CASE("IDX: plain and gzipped") {
  TemporaryFolder folder;
  Tensor images = sample(DType::UInt8, {3, 4, 5});
  write_idx_gz(folder.file("x-idx3-ubyte.gz"), images);
  CHECK(identical(read_idx(folder.file("x-idx3-ubyte.gz")), images));
  std::string once = bytes_of(folder.file("x-idx3-ubyte.gz"));
  write_idx_gz(folder.file("x-idx3-ubyte.gz"), images);
  CHECK(bytes_of(folder.file("x-idx3-ubyte.gz")) == once);
  std::string shorts("\0\0\x0B\x01\0\0\0\x02\x01\x02\xFF\xFE", 12);
  Tensor t = read_idx(folder.put("s-idx1-short", shorts));
  CHECK(t.dtype() == DType::Int16);
  CHECK(t.get_int(0) == 258);
  CHECK(t.get_int(1) == -2);
}

TEST_CASE("IDX: refusals") {
  TemporaryFolder folder;
  auto text = [&](const std::string& bytes) {
    std::string path = folder.put("bad-idx", bytes);
    return failure_of([&] { read_idx(path); });
  };
  std::string start = "DataError: " + folder.file("bad-idx") + ": ";
  CHECK(text("") == start + "truncated: 4 more bytes were expected (byte 0)");
  CHECK(text("abcdefgh") == start + "not an IDX file: it begins with 61 62 63 (byte 0)");
  CHECK(text(testing::deflated("a,b\n1,2\n", true)) ==
        start +
            "what is compressed in it is no IDX file (it begins with 61 2c 62), and only these are read "
            "compressed; unpack it with gunzip (byte 0)");
  CHECK(text(std::string("\0\0\x08\x09", 4)) ==
        start + "the array has 9 dimensions; expected 1 to 4 (byte 3)");
  CHECK(text(std::string("\0\0\x08\x01\0\0\0\x02x", 9)) ==
        start + "truncated: the dimensions announce 2 bytes of elements, the file has 1 (byte 8)");
  CHECK(text(std::string("\0\0\x08\x01\0\0\0\x02xyz", 11)) ==
        start + "too long: the dimensions announce 2 bytes of elements, the file has 3 (byte 8)");
  std::string huge("\0\0\x0E\x04\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 20);
  CHECK(text(huge).ends_with("has too many elements (byte 4)"));
  std::string large("\0\0\x08\x02\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF", 12);
  CHECK(text(large) == start + "the shape (2147483647, 2147483647) has too many elements (byte 4)");

  write_idx_gz(folder.file("good.gz"), sample(DType::UInt8, {1000}));
  std::string good = bytes_of(folder.file("good.gz"));
  for (std::size_t length = 2; length < good.size(); ++length) {
    if (!text(good.substr(0, length)).starts_with(start + "truncated")) FAIL("cut to " << length);
  }
  CHECK(text(good + "x").starts_with(start + "bytes follow the end of the compressed data"));
  std::string changed = good;
  changed[good.size() - 6] = static_cast<char>(changed[good.size() - 6] ^ 1);
  CHECK(text(changed).starts_with(start + "damaged compressed data: incorrect data check"));
}

TEST_CASE("one name for all formats") {
  TemporaryFolder folder;
  NamedTensors tensors = {{"w0", sample(DType::Float32, {2})}, {"a:b", sample(DType::Int8, {3})}};
  for (const char* name : {"m.npz", "m.safetensors"}) {
    std::string path = folder.file(name);
    write_tensors(path, tensors);
    CHECK(same(read_tensors(path), tensors));
    CHECK(same(read_tensors(path + ":a:b"), {{"", tensors[1].second}}));
    CHECK(failure_of([&] { read_tensors(path + ":w1"); }) ==
          "DataError: " + path + ": no entry 'w1'; did you mean 'w0'?");
  }
  write_tensors(folder.file("m.npy"), {tensors[0]});
  CHECK(same(read_tensors(folder.file("m.npy")), {{"", tensors[0].second}}));
  CHECK(failure_of([&] { read_tensors(folder.file("m.npy:w0")); }).starts_with("DataError"));
  CHECK(failure_of([&] { write_tensors(folder.file("m.npy"), tensors); }).starts_with("UsageError"));
  CHECK(failure_of([&] { write_tensors(folder.file("m.txt"), tensors); }).starts_with("UsageError"));
  CHECK(failure_of([&] {
          write_npz(folder.file("x.npz"), {tensors[0], tensors[0]});
        }).starts_with("UsageError"));
  CHECK(failure_of([&] { read_tensors(folder.put("x.bin", "hello")); }).starts_with("DataError"));
  CHECK(failure_of([&] { read_tensors(folder.put("x.npz", "hello")); }).find("not an npz file") !=
        std::string::npos);
  CHECK(failure_of([&] { read_tensors(folder.file("none.npz:w0")); }).starts_with("IOError"));
  CHECK(failure_of([&] { read_tensors("/dev/zero"); }) == "IOError: /dev/zero: is not a regular file");
}

}  // namespace
}  // namespace relish
