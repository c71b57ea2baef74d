// Between which numbers integers lie, and the text of what can wrap around.
#include "loops/explicit_wraps.h"

#include "loops/intervals.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// A function of the buffers O and I of 64 elements and of a dtype, and of an open number n of them.
PrimFuncPtr integers(const std::string& dtype, const std::string& body) {
  const std::string text =
      "@I.ir_module(check_well_formed=False)\nclass M:\n    @T.prim_func\n    def f(O: T.Buffer((64,), \"" +
      dtype + "\"), I: T.Buffer((64,), \"" + dtype + "\"), a: T.handle):\n        n = T." + dtype +
      "()\n        A = T.match_buffer(a, (n,), \"" + dtype + "\")\n" + body;
  return read_module("test.relish", text)->prim_func("f");
}

bool is_kept(const std::string& dtype, const std::string& body) {
  const PrimFuncPtr function = integers(dtype, body);
  return with_explicit_wraps(function) == function;
}

// The last line of what is written.
std::string last_line(const std::string& body) {
  const std::string text = print(with_explicit_wraps(integers("int32", body))->body);
  const std::size_t end = text.find_last_not_of('\n'), begin = text.rfind('\n', end);
  return text.substr(text.find_first_not_of(' ', begin + 1),
                     end - text.find_first_not_of(' ', begin + 1) + 1);
}

// Of the value stored inside of all loops.
std::pair<std::int64_t, std::int64_t> range_of(const std::string& body, const std::string& dtype = "int32") {
  const PrimFuncPtr function = integers(dtype, body);
  const Interval range = Intervals(*function).of(all_of<Store>(*function).back()->value);
  return {static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)};
}

using Range = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("intervals: of every operation, from the ends of its operands") {
  const auto of = [](const std::string& value) {
    return range_of("        for i in range(3, 10):\n            O[0] = " + value + "\n");
  };
  CHECK(of("i") == Range{3, 9});
  CHECK(of("i - 5") == Range{-2, 4});
  CHECK(of("5 - i * 2") == Range{-13, -1});
  CHECK(of("i * i") == Range{9, 81});
  CHECK(of("(i - 5) * (i - 5)") == Range{-8, 16});
  CHECK(of("(i - 5) // 3") == Range{-1, 1});
  CHECK(of("(i - 20) // 3") == Range{-6, -4});
  CHECK(of("T.truncdiv(i - 20, 3)") == Range{-5, -3});
  CHECK(of("i // (i - 1)") == Range{0, 4});
  CHECK(of("i // (i - 5)") == Range{-9, 9});
  CHECK(of("i % 5") == Range{0, 4});
  CHECK(of("i % 100") == Range{0, 9});
  CHECK(of("(i - 20) % 5") == Range{0, 4});
  CHECK(of("T.truncmod(i - 20, 5)") == Range{-4, 4});
  CHECK(of("T.min(i, 5)") == Range{3, 5});
  CHECK(of("T.max(i, 5)") == Range{5, 9});
  CHECK(of("T.if_then_else(i < 5, -7, i)") == Range{-7, 9});
  CHECK(of("i & 12") == Range{0, 9});
  CHECK(of("I[0] & 12") == Range{0, 12});
  CHECK(of("i >> 1") == Range{0, 9});
  CHECK(of("(i - 5) >> 1") == Range{-2, 4});
  CHECK(of("I[0]") == Range{INT32_MIN, INT32_MAX});
  CHECK(of("i * 1000000000") == Range{INT32_MIN, INT32_MAX});  // it wraps
  CHECK(of("i * 1000000000 - i * 999999999") == Range{INT32_MIN, INT32_MAX});
  CHECK(of("(i * 1000000000) // 1000000") == Range{-2148, 2147});
  CHECK(of("T.Cast(\"int32\", T.Cast(\"int8\", i))") == Range{3, 9});
  CHECK(of("T.Cast(\"int32\", T.Cast(\"int8\", i * 100))") == Range{-128, 127});
}

TEST_CASE("intervals: loops, locals, sizes") {
  CHECK(range_of("        for i in range(n):\n            O[0] = i\n").second < INT32_MAX - 65534);
  CHECK(
      range_of(
          "        for i in range(n):\n            for j in range(i, i + 4):\n                O[0] = j - i\n")
          .first < 0);
  CHECK(range_of("        k: T.int32 = 7\n        O[0] = k\n") == Range{7, 7});
  CHECK(
      range_of(
          "        k: T.int32 = 7\n        for i in range(4):\n            O[0] = k\n            k = k + 1\n") ==
      Range{INT32_MIN, INT32_MAX});
  CHECK(
      range_of(
          "        for i in range(8):\n            with T.sblock(\"b\"):\n                v = T.axis.spatial(8, i)\n"
          "                O[v] = v\n") == Range{0, 7});
}

TEST_CASE("explicit wraps: what cannot leave its dtype stays") {
  CHECK(is_kept("int32",
                "        for i in range(64):\n            O[T.min(i * 1048576 // 1048576, 63)] = 1\n"));
  CHECK(is_kept(
      "int32", "        for i in range(n):\n            if i // 4 * 4 + 3 < n:\n                A[i] = 1\n"));
  CHECK(is_kept(
      "int32",
      "        for i, j in T.grid((n + 63) // 64, 64):\n            if i * 64 + j < n:\n                "
      "A[i * 64 + j] = 1\n"));
  CHECK(is_kept("int64",
                "        for i, j in T.grid(n, n):\n            if i * n + j < n * n:\n                "
                "A[j] = T.int64(1)\n"));
  // Where it only counts modulo its width: an index is in range or refused.
  CHECK(
      is_kept("int32", "        for i in range(n):\n            O[i * 1048576] = I[i * 7] * 1048576 + i\n"));
  CHECK(is_kept("int32",
                "        for i in range(n):\n            O[i] = T.if_then_else(i < 5, i * 1048576, 0)\n"));
}

TEST_CASE("explicit wraps: what is compared, divided, converted or bounds a loop is written") {
  const std::string loop = "        for i in range(4096):\n            ";
  CHECK(last_line(loop + "O[T.min(i * 1048576, 5)] = 1\n") ==
        "O[T.min(T.Cast(\"int32\", T.Cast(\"uint32\", i) * T.uint32(1048576)), 5)] = 1");
  CHECK(last_line(loop + "O[(i * 1048576 - 3) // 1048576] = 1\n") ==
        "O[T.Cast(\"int32\", T.Cast(\"uint32\", i) * T.uint32(1048576) - T.uint32(3)) // 1048576] = 1");
  CHECK(last_line(loop + "O[T.min(i * -1048576, 5)] = 1\n") ==
        "O[T.min(T.Cast(\"int32\", T.Cast(\"uint32\", i) * T.Cast(\"uint32\", -1048576)), 5)] = 1");
  CHECK(last_line(loop + "O[0] = T.Select(i * 1048576 < 64, 1, 0)\n") ==
        "O[0] = T.Select(T.Cast(\"int32\", T.Cast(\"uint32\", i) * T.uint32(1048576)) < 64, 1, 0)");
  CHECK(last_line(loop + "O[T.Cast(\"int64\", i * 1048576)] = 1\n") ==
        "O[T.Cast(\"int64\", T.Cast(\"int32\", T.Cast(\"uint32\", i) * T.uint32(1048576)))] = 1");
  CHECK_FALSE(is_kept("int32", loop + "for j in range(i * 1048576): O[0] = 1\n"));
  CHECK_FALSE(is_kept("int32", loop + "for j in range(i * 1048576, i * 1048576 + 2): O[0] = 1\n"));
  CHECK_FALSE(is_kept("int32", loop + "k: T.int32 = i * 1048576\n            O[T.min(k, 5)] = 1\n"));
  CHECK_FALSE(
      is_kept("int32", loop + "with T.sblock(\"b\"):\n                v = T.axis.spatial(64, i * 1048576)\n"
                              "                O[v] = 1\n"));
  CHECK_FALSE(is_kept("int32", "        for i in range(n):\n            O[T.min(i * 2, 5)] = 1\n"));
  CHECK_FALSE(is_kept(
      "int64", "        for i in range(n):\n            O[T.min(i * n * n, T.int64(5))] = T.int64(1)\n"));
  // A sum that wraps in between and comes back is the number that it would be.
  CHECK(is_kept("int32",
                "        for i in range(64):\n            O[T.min(i + 2147483647 - 2147483647, 63)] = 1\n"));
}

TEST_CASE("explicit wraps: a loop whose variable leaves its dtype counts its iterations") {
  CHECK(last_line("        for i in range(I[0], I[0] + 9):\n            O[i % 64] = i\n") ==
        "O[T.Cast(\"int32\", T.Cast(\"uint32\", i_first) + T.Cast(\"uint32\", i)) % 64] = "
        "T.Cast(\"int32\", T.Cast(\"uint32\", i_first) + T.Cast(\"uint32\", i))");
  CHECK_FALSE(
      is_kept("int32", "        for i in range(2147483640, 2147483647 + 9):\n            O[i & 63] = 1\n"));
  CHECK_FALSE(
      is_kept("int32", "        for i in T.serial(n, n + 70000, step=3):\n            O[i & 63] = 1\n"));
  // What it begins with may be another number by then.
  const std::string first = print(with_explicit_wraps(integers("int32",
                                                               "        k: T.int32 = I[0]\n"
                                                               "        for i in range(k, k + 9):\n"
                                                               "            k = k + 1\n"
                                                               "            O[i % 64] = i\n"))
                                      ->body);
  CHECK(first.find("i_first: T.let[T.int32] = k") != std::string::npos);
  // These end in their dtype.
  CHECK(is_kept("int32", "        for i in range(2147483640, 2147483647):\n            O[i & 63] = 1\n"));
  CHECK(is_kept("int32",
                "        for i in range(n):\n            for j in range(i, n):\n                A[j] = i\n"));
  CHECK(is_kept(
      "int32",
      "        for i in range(n):\n            for j in range(i + 1, n):\n                A[j] = i\n"));
  CHECK(is_kept(
      "int32",
      "        for i in range(n):\n            for j in range(i, i + 9):\n                O[j] = i\n"));
}

TEST_CASE("explicit wraps: sizes and places of buffers, bounds of views and of axes") {
  const auto first_line_with = [](const std::string& body, const std::string& part) {
    const std::string text = print(*with_explicit_wraps(integers("int32", body)));
    const std::size_t at = text.find(part), begin = text.rfind('\n', at) + 1;
    REQUIRE(at != std::string::npos);
    return text.substr(begin, text.find('\n', at) - begin);
  };
  const std::string wraps = "T.Cast(\"int32\", T.Cast(\"uint32\", I[0]) * T.uint32(5))";
  CHECK(first_line_with("        B = T.alloc_buffer((I[0] * 5,), \"int32\")\n        B[0] = 1\n",
                        "T.alloc_buffer")
            .find(wraps) != std::string::npos);
  CHECK(first_line_with("        for i in range(2):\n            B = T.alloc_buffer((I[0] * 5,), \"int32\")\n"
                        "            B[0] = 1\n",
                        "T.alloc_buffer")
            .find(wraps) != std::string::npos);
  const std::string view = "        V = T.decl_buffer((4,), \"int32\", data=O.data, ";
  CHECK(first_line_with(view + "strides=[I[0] * 5])\n        V[0] = 1\n", "T.decl_buffer").find(wraps) !=
        std::string::npos);
  CHECK(first_line_with(view + "elem_offset=I[0] * 5)\n        V[0] = 1\n", "T.decl_buffer").find(wraps) !=
        std::string::npos);
  CHECK(first_line_with(
            "        with T.sblock(\"b\"):\n            V = T.match_buffer(O[I[0] * 5:I[0] * 5 + 4], "
            "(4,), \"int32\")\n            V[0] = 1\n",
            "T.match_buffer(O")
            .find(wraps) != std::string::npos);
  CHECK(first_line_with("        for i in range(4):\n            with T.sblock(\"b\"):\n                v = "
                        "T.axis.reduce((I[0] * 5, I[0] * 5 + 4), I[0] * 5 + i)\n                O[0] = v\n",
                        "T.axis.reduce((")
            .find(wraps) != std::string::npos);
  const std::string axis = "        with T.sblock(\"b\"):\n            v = T.axis.spatial(64, I[0] * 5)\n";
  CHECK(first_line_with(axis + "            O[v] = v\n", "T.axis.spatial").find(wraps) != std::string::npos);
  CHECK(first_line_with("        with T.sblock(\"b\"):\n            V = T.match_buffer(O[3:3 + I[0] * 5], "
                        "(4,), \"int32\")\n            V[0] = 1\n",
                        "T.match_buffer(O")
            .find("T.uint32(5)") != std::string::npos);
  CHECK(first_line_with("        for i in T.serial(0, 9, step=I[0] * 5):\n            O[i] = 1\n", "range(")
            .find(wraps) != std::string::npos);
  // What is computed inside of a size counts as anywhere.
  CHECK_FALSE(
      is_kept("int32", "        B = T.alloc_buffer((T.min(I[0] * 5, 9),), \"int32\")\n        B[0] = 1\n"));
  CHECK(is_kept("int32", "        B = T.alloc_buffer((n // 4 * 4,), \"int32\")\n        B[0] = 1\n"));
}
