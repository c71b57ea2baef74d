// npy and IDX in every form that they may have: dtypes, byte orders, element orders, versions and ranks.
#include <catch2/catch.hpp>

#include "runtime/files.h"
#include "runtime/half.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/runtime/file_builders.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::big_endian;
using testing::deflated;
using testing::failure_of;
using testing::little_endian;
using testing::npy_file;
using testing::rule_of;
using testing::TemporaryFolder;

struct TypeForm {
  const char* code;  // without the mark of the byte order
  DType dtype;
  int bytes;
  std::uint64_t bits;  // of 1.5, or of a number near the type's end, or of True
  double value;
};
constexpr TypeForm type_forms[] = {
    {"b1", DType::Bool, 1, 1, 1},
    {"i1", DType::Int8, 1, 0x80, -128},
    {"i2", DType::Int16, 2, 0x8001, -32767},
    {"i4", DType::Int32, 4, 0x80000002, -2147483646},
    {"i8", DType::Int64, 8, 0xFFFFFFFF00000000, -4294967296},
    {"u1", DType::UInt8, 1, 0xFE, 254},
    {"u2", DType::UInt16, 2, 0xFEFF, 65279},
    {"u4", DType::UInt32, 4, 0xFEFFFFFF, 4278190079},
    {"u8", DType::UInt64, 8, 0x0010000000000001, 4503599627370497},
    {"f2", DType::Float16, 2, 0x3E00, 1.5},
    {"V2", DType::BFloat16, 2, 0x3FC0, 1.5},
    {"f4", DType::Float32, 4, 0x3FC00000, 1.5},
    {"f8", DType::Float64, 8, 0x3FF8000000000000, 1.5},
};
static_assert(std::size(type_forms) == dtype_count);

std::string header_of(const std::string& descr, const char* shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

TEST_CASE("npy: every dtype in both byte orders and all versions") {
  TemporaryFolder folder;
  for (const TypeForm& form : type_forms) {
    for (int version : {1, 2, 3}) {
      for (char order : {'<', '>', '=', '|'}) {
        if (order == '|' && form.bytes > 1 && form.dtype != DType::BFloat16) continue;
        INFO(order << form.code << " in version " << version);
        std::string one =
            order == '>' ? big_endian(form.bits, form.bytes) : little_endian(form.bits, form.bytes);
        std::string zero(static_cast<std::size_t>(form.bytes), '\0');
        std::string path = folder.put(
            "x.npy", npy_file(header_of(order + std::string(form.code), "(2,)"), zero + one, version));
        Tensor tensor = read_npy(path);
        CHECK(tensor.dtype() == form.dtype);
        CHECK(tensor.shape() == Shape{2});
        CHECK(tensor.get_double(0) == 0);
        CHECK(tensor.get_double(1) == form.value);
        write_npy(path, tensor);
        CHECK(identical(read_npy(path), tensor));
      }
    }
  }
}

TEST_CASE("npy: the first index runs fastest in Fortran order, for each size of element") {
  TemporaryFolder folder;
  for (const TypeForm& form : type_forms) {
    if (form.dtype == DType::Bool) continue;
    INFO(form.code);
    std::string data;
    for (std::uint64_t i = 0; i < 6; ++i) data += big_endian(i, form.bytes);
    Tensor tensor = read_npy(
        folder.put("x.npy", npy_file(header_of(std::string(">") + form.code, "(2, 3)", true), data)));
    Tensor plain = read_npy(
        folder.put("y.npy", npy_file(header_of(std::string(">") + form.code, "(3, 2)", false), data)));
    REQUIRE(tensor.shape() == Shape{2, 3});
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) CHECK(tensor.get_double(3 * i + j) == plain.get_double(2 * j + i));
    }
  }
}

TEST_CASE("npy: no elements, one element without dimensions, 32 dimensions") {
  TemporaryFolder folder;
  for (bool fortran : {false, true}) {
    CHECK(
        read_npy(folder.put("x.npy", npy_file(header_of("<f4", "()", fortran), little_endian(0x3FC00000, 4))))
            .get_double(0) == 1.5);
    CHECK(read_npy(folder.put("x.npy", npy_file(header_of("<f4", "(0,)", fortran)))).shape() == Shape{0});
    CHECK(read_npy(folder.put("x.npy", npy_file(header_of("<f4", "(3, 0, 2)", fortran)))).shape() ==
          Shape{3, 0, 2});
  }
  auto ones = [](int rank) {
    std::string shape = "(";
    for (int i = 0; i < rank; ++i) shape += "1, ";
    return shape + ")";
  };
  CHECK(read_npy(folder.put("x.npy", npy_file(header_of("|u1", ones(32).c_str()), "a"))).rank() == 32);
  std::string path = folder.put("x.npy", npy_file(header_of("|u1", ones(33).c_str()), "a"));
  CHECK(failure_of([&] { read_npy(path); }) ==
        "DataError: " + path +
            ": the array has 33 dimensions; at most 32 are read, --max-rank raises the limit (byte 10)");
}

TEST_CASE("npy: a header of 10,000 bytes is the longest") {
  TemporaryFolder folder;
  for (int version : {1, 2, 3}) {
    std::string header = header_of("|u1", "(1,)");
    header.resize(9999, ' ');
    CHECK(read_npy(folder.put("x.npy", npy_file(header, "a", version))).size() == 1);
    std::string path = folder.put("x.npy", npy_file(header + " ", "a", version));
    CHECK(failure_of([&] { read_npy(path); }) ==
          "DataError: " + path + ": the header has 10001 bytes; at most 10000 are read (byte " +
              (version == 1 ? "10)" : "12)"));
  }
}

TEST_CASE("npy: each refusal has its rule") {
  TemporaryFolder folder;
  auto rule = [&](const std::string& bytes) {
    std::string path = folder.put("x.npy", bytes);
    return rule_of([&] { read_npy(path); });
  };
  CHECK(rule("\x93NUMP") == "DataError: file.truncated");
  CHECK(rule("\x93NUMBY    ") == "DataError: npy.magic");
  CHECK(rule(npy_file(header_of("<f4", "()"), "abcd", 4)) == "DataError: npy.version");
  CHECK(rule(npy_file(header_of("<f4", "()"), "abcd", 0)) == "DataError: npy.version");
  CHECK(rule(npy_file("[]")) == "DataError: npy.header");
  CHECK(rule(npy_file("{'descr'")) == "DataError: npy.header");
  CHECK(rule(npy_file("{'descr': '<f4")) == "DataError: npy.header");
  CHECK(rule(npy_file("{'descr': '<f4', 'fortran_order': True}")) == "DataError: npy.key");
  CHECK(rule(npy_file("{'shape': (), 'shape': ()}")) == "DataError: npy.key");
  CHECK(rule(npy_file("{'shapes': ()}")) == "DataError: npy.key");
  CHECK(rule(npy_file(header_of("<f4", "(-1,)"))) == "DataError: npy.shape");
  CHECK(rule(npy_file(header_of("<f4", "(1.0,)"))) == "DataError: npy.header");
  CHECK(rule(npy_file(header_of("<f4", "(n,)"))) == "DataError: npy.shape");
  CHECK(rule(npy_file(header_of("<f4", "(9223372036854775807,)"))) == "DataError: file.shape");
  CHECK(rule(npy_file(header_of("<f4", "(0, 9223372036854775807)"))) == "DataError: file.shape");
  CHECK(rule(npy_file(header_of("<f4", "(4611686018427387904, 4)"))) == "DataError: file.shape");
  for (const char* descr : {"|O", "<O8", "O"}) {
    std::string found = rule(npy_file(header_of(descr, "()"), "12345678"));
    CHECK(found == (descr[0] == 'O' ? "DataError: npy.dtype" : "DataError: npy.pickle"));
  }
  for (const char* descr : {"<c8", "<U3", "|S3", "<M8[ns]", "<f16", "<f3", "|V2x", "", "<", "<V4", "f4"}) {
    INFO(descr);
    CHECK(rule(npy_file(header_of(descr, "()"))) == "DataError: npy.dtype");
  }
  CHECK(rule(npy_file(header_of("<f4", "(2,)"), "1234567")) == "DataError: npy.size");
  CHECK(rule(npy_file(header_of("<f4", "(2,)"), "123456789")) == "DataError: npy.size");
  CHECK(rule(npy_file(header_of("|b1", "(2,)"), "\x01\xFF")) == "DataError: file.bool");
}

TEST_CASE("npy: what is shown of a bad header is short and visible") {
  TemporaryFolder folder;
  std::string path = folder.put("x.npy", npy_file("{'\x1b[31m" + std::string(500, 'k') + "': 1}"));
  std::string text = failure_of([&] { read_npy(path); });
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.size() < path.size() + 170);
}

std::string idx_file(int code, const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string bytes = {'\0', '\0', static_cast<char>(code), static_cast<char>(shape.size())};
  for (std::uint32_t dimension : shape) bytes += big_endian(dimension, 4);
  return bytes + data;
}

TEST_CASE("IDX: all its types, plain and gzipped, with 1 to 4 dimensions") {
  TemporaryFolder folder;
  struct Form {
    int code;
    const char* type;
  };
  for (Form idx : {Form{0x08, "u1"}, Form{0x09, "i1"}, Form{0x0B, "i2"}, Form{0x0C, "i4"}, Form{0x0D, "f4"},
                   Form{0x0E, "f8"}}) {
    for (const TypeForm& form : type_forms) {
      if (std::string(form.code) != idx.type) continue;
      INFO(form.code);
      std::string data = big_endian(form.bits, form.bytes);
      for (const std::vector<std::uint32_t>& shape :
           std::vector<std::vector<std::uint32_t>>{{1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}}) {
        for (bool gzip : {false, true}) {
          std::string bytes = idx_file(idx.code, shape, data);
          Tensor tensor = read_idx(folder.put("x", gzip ? deflated(bytes, true) : bytes));
          CHECK(tensor.dtype() == form.dtype);
          CHECK(tensor.rank() == static_cast<int>(shape.size()));
          CHECK(tensor.get_double(0) == form.value);
        }
      }
    }
  }
  CHECK(read_idx(folder.put("x", idx_file(8, {0, 28, 28}, ""))).shape() == Shape{0, 28, 28});
}

TEST_CASE("IDX: each refusal has its rule") {
  TemporaryFolder folder;
  auto rule = [&](const std::string& bytes) {
    std::string path = folder.put("x", bytes);
    std::string plain = rule_of([&] { read_idx(path); });
    folder.put("x", deflated(bytes, true));
    CHECK(rule_of([&] { read_idx(path); }) == plain);
    return plain;
  };
  CHECK(rule("") == "DataError: file.truncated");
  CHECK(rule(std::string("\0\0\x08\x02\0\0", 6)) == "DataError: file.truncated");
  CHECK(rule(idx_file(0x0A, {1}, "a")) == "DataError: idx.magic");
  CHECK(rule("\1" + idx_file(8, {1}, "a")) == "DataError: idx.magic");
  CHECK(rule(idx_file(8, {}, "a")) == "DataError: idx.rank");
  CHECK(rule(idx_file(8, {1, 1, 1, 1, 1}, "a")) == "DataError: idx.rank");
  CHECK(rule(idx_file(8, {2}, "abc")) == "DataError: idx.size");
  CHECK(rule(idx_file(8, {0xFFFFFFFF, 0xFFFFFFFF}, "abc")) == "DataError: file.shape");
  // More than memory that is trusted: the gzipped file is gone through before anything is allocated.
  CHECK(rule(idx_file(8, {0x7FFFFFFF, 0x10}, "abc")) == "DataError: idx.size");
  std::string path = folder.put("x", deflated(idx_file(8, {2}, "a"), true));
  CHECK(failure_of([&] { read_idx(path); }) ==
        "DataError: " + path + ": truncated: 1 more bytes were expected (byte 9)");
  path = folder.put("x", deflated(idx_file(8, {1}, "a"), true) + deflated("more", true));
  CHECK(rule_of([&] { read_idx(path); }) == "DataError: file.compressed");
}

}  // namespace
}  // namespace relish
