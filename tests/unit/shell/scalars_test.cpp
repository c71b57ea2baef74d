// Python's arithmetic and comparison in scripts, and where it ends.
#include <catch2/catch.hpp>

#include "support/limits.h"
#include "support/memory.h"
#include "tests/unit/shell/script_harness.h"

using relish::limits;
using relish::memory_held;

using relish::testing::run_alone;

TEST_CASE("numbers follow Python") {
  CHECK(run_alone("1 / 2") == "0.5\n");
  CHECK(run_alone("-7 % 3") == "2\n");
  CHECK(run_alone("7 % -3") == "-2\n");
  CHECK(run_alone("-7 // 2") == "-4\n");
  CHECK(run_alone("-7.5 // 2") == "-4.0\n");
  CHECK(run_alone("-7.5 % 2") == "0.5\n");
  CHECK(run_alone("2 ** 10") == "1024\n");
  CHECK(run_alone("2 ** -1") == "0.5\n");
  CHECK(run_alone("-2 ** 2") == "-4\n");
  CHECK(run_alone("True + True") == "2\n");
  CHECK(run_alone("True & False") == "False\n");
  CHECK(run_alone("~5") == "-6\n");
  CHECK(run_alone("1 << 4 | 3") == "19\n");
  CHECK(run_alone("10 - 4 - 3") == "3\n");
  CHECK(run_alone("9007199254740993 == 9007199254740992.0") == "False\n");
  CHECK(run_alone("1e308 * 10") == "inf\n");
}

TEST_CASE("what does not fit is an error, never a wrapped number") {
  CHECK(run_alone("9223372036854775807 + 1").starts_with("RuntimeError"));
  CHECK(run_alone("-9223372036854775807 - 2").starts_with("RuntimeError"));
  CHECK(run_alone("3037000500 * 3037000500").starts_with("RuntimeError"));
  CHECK(run_alone("(-9223372036854775807 - 1) // -1").starts_with("RuntimeError"));
  CHECK(run_alone("10 ** 19").starts_with("RuntimeError"));
  CHECK(run_alone("1 << 63").starts_with("RuntimeError"));
  CHECK(run_alone("1 / 0").starts_with("RuntimeError: division by zero"));
  CHECK(run_alone("1.0 % 0").starts_with("RuntimeError: division by zero"));
  CHECK(run_alone("int(1e19)").starts_with("RuntimeError"));
  CHECK(run_alone("(-8.0) ** 0.5").starts_with("RuntimeError"));
  CHECK(run_alone("-(-9223372036854775808)").starts_with("RuntimeError"));
  CHECK(run_alone("- -9223372036854775808").starts_with("RuntimeError"));
  CHECK(run_alone("-9223372036854775808") == "-9223372036854775808\n");
  CHECK(run_alone("-(-9223372036854775807)") == "9223372036854775807\n");
  CHECK(run_alone("-(9223372036854775808)").starts_with("SyntaxError"));
  CHECK(run_alone("len(range(-9223372036854775808, 9223372036854775807))").starts_with("RuntimeError"));
  CHECK(run_alone("len(range(-1, 9223372036854775807))").starts_with("RuntimeError"));
  CHECK(run_alone("len(range(0, 9223372036854775807))") == "9223372036854775807\n");
  CHECK(run_alone("range(-9223372036854775808, 9223372036854775807, 3)[6148914691236517204]") ==
        "9223372036854775804\n");
}

TEST_CASE("slices of ranges are Python's") {
  CHECK(run_alone("range(10)[0:9:2]") == "range(0, 9, 2)\n");
  CHECK(run_alone("range(10)[::-1]") == "range(9, -1, -1)\n");
  CHECK(run_alone("range(10)[-3:100]") == "range(7, 10)\n");
  CHECK(run_alone("range(1, 20, 3)[1:4]") == "range(4, 13, 3)\n");
  CHECK(run_alone("range(1, 20, 3)[5:1:-2]") == "range(16, 4, -6)\n");
  CHECK(run_alone("range(10)[::9223372036854775807]") == "range(0, 10, 9223372036854775807)\n");
  CHECK(run_alone("range(0, 10, 2)[::9223372036854775807]").starts_with("RuntimeError"));
  CHECK(run_alone("range(-9223372036854775808, 9223372036854775807) == "
                  "range(-9223372036854775808, 9223372036854775806)") == "False\n");
}

TEST_CASE("integers are rounded to tens as in Python") {
  CHECK(run_alone("round(1234, -2), round(1250, -2), round(1350, -2), round(-1250, -2), round(-1251, -2)") ==
        "(1200, 1200, 1400, -1200, -1300)\n");
  CHECK(run_alone("round(1234, 2), round(5, -1), round(15, -1), round(1234, -20), round(True, -1)") ==
        "(1234, 0, 20, 0, 0)\n");
  CHECK(run_alone("round(4999999999999999999, -19)") == "0\n");
  CHECK(run_alone("round(9223372036854775807, -1)").starts_with("RuntimeError"));
  CHECK(run_alone("round(9223372036854775807, -19)").starts_with("RuntimeError"));
}

TEST_CASE("lists and strs count against the memory limit, and are given back") {
  const std::uint64_t before = limits().memory_bytes;
  const std::uint64_t held = memory_held();
  limits().memory_bytes = held + (std::uint64_t{4} << 20);
  for (const std::string& text :
       {std::string("xs = []\nfor i in range(1000):\n    xs = xs + [[i] * 1000]"),
        std::string("d = {}\nfor i in range(1000):\n    d = {'a': d, 'b': [i] * 1000}"),
        std::string("s = 'x' * 100000\nxs = []\nfor i in range(1000):\n    xs = xs + [s + str(i)]"),
        std::string("x = [0] * 1000000"), std::string("t = (0,) * 1000000")}) {
    INFO(text);
    CHECK(run_alone(text).starts_with("ResourceLimit"));
  }
  CHECK(run_alone("for i in range(1000):\n    x = [i] * 1000\nlen(x)") == "1000\n");
  limits().memory_bytes = before;
  CHECK(memory_held() == held);
}

TEST_CASE("comparisons and conditions") {
  CHECK(run_alone("1 < 2 < 3") == "True\n");
  CHECK(run_alone("1 < 3 < 2") == "False\n");
  CHECK(run_alone("'a' < 'b'") == "True\n");
  CHECK(run_alone("[1, 2] < [1, 3]") == "True\n");
  CHECK(run_alone("2 in [1, 2]") == "True\n");
  CHECK(run_alone("'x' not in {'y': 1}") == "True\n");
  CHECK(run_alone("True and not False") == "True\n");
  CHECK(run_alone("if 1:\n    print(2)") == "2\n");
  CHECK(run_alone("1 and 2, 0 or 'x', [] and 3, not ''") == "(2, 'x', [], True)\n");
  CHECK(run_alone("if tensor([1]):\n    pass").starts_with("TypeError"));
  CHECK(run_alone("1 < 'a'").starts_with("TypeError"));
  CHECK(run_alone("3 if 1 > 2 else 4") == "4\n");
}

TEST_CASE("text and containers") {
  CHECK(run_alone("'ab' + 'c' * 2") == "abcc\n");
  CHECK(run_alone("[1] + [2, 'x']") == "[1, 2, 'x']\n");
  CHECK(run_alone("(1, 2) * 2") == "(1, 2, 1, 2)\n");
  CHECK(run_alone("{'a': 1, 'a': 2}") == "{'a': 2}\n");
  CHECK(run_alone("[1, 2, 3][-1]") == "3\n");
  CHECK(run_alone("[1, 2, 3][::-1]") == "[3, 2, 1]\n");
  CHECK(run_alone("'äöü'[1]") == "ö\n");
  CHECK(run_alone("{'k': 5}['k']") == "5\n");
  CHECK(run_alone("[1][3]").starts_with("RuntimeError"));
  CHECK(run_alone("{'k': 5}['j']").starts_with("RuntimeError"));
  CHECK(run_alone("len([1, 2]), len('äö'), len({'a': 1})") == "(2, 2, 1)\n");
  CHECK(run_alone("None") == "");
  CHECK(run_alone("print(None, 'a', ['a'], 1.0)") == "None a ['a'] 1.0\n");
}

TEST_CASE("formats follow Python") {
  CHECK(run_alone("f'{1.5:.3f}|{3:>4}|{3:<4}|{3:^5}|'") == "1.500|   3|3   |  3  |\n");
  CHECK(run_alone("f'{1234567:,} {255:x} {5:08b} {0.256:.1%}'") == "1,234,567 ff 00000101 25.6%\n");
  CHECK(run_alone("f'{-3:05d} {3:+d} {1e10:g} {2.0}'") == "-0003 +3 1e+10 2.0\n");
  CHECK(run_alone("x = 'a'\nf'{x!r} {x:>3} {{}}'") == "'a'   a {}\n");
  CHECK(run_alone("f'{1.5:d}'").starts_with("TypeError"));
  CHECK(run_alone("f'{1.5:.q}'").starts_with("SyntaxError"));
  CHECK(run_alone("f'{tensor(0.25):.3f}'") == "0.250\n");
}

TEST_CASE("built-ins") {
  CHECK(run_alone("list = [x for x in range(3)]\nlist") == "[0, 1, 2]\n");
  CHECK(run_alone("sum([1, 2.5]), min(3, 1), max([1, 5])") == "(3.5, 1, 5)\n");
  CHECK(run_alone("round(2.5), round(3.5), round(2.675, 2), round(-7)") == "(2, 4, 2.67, -7)\n");
  CHECK(run_alone("int('12'), float('1e3'), int(-2.7), bool(0), str(1.0)") ==
        "(12, 1000.0, -2, False, '1.0')\n");
  CHECK(run_alone("abs(-3), abs(-2.5)") == "(3, 2.5)\n");
  CHECK(run_alone("sorted([3, 1, 2], reverse=True)") == "[3, 2, 1]\n");
  CHECK(run_alone("for i, x in enumerate(['a'], start=1):\n    print(i, x)") == "1 a\n");
  CHECK(run_alone("zip([1, 2], ['a', 'b'])") == "[(1, 'a'), (2, 'b')]\n");
  CHECK(run_alone("range(10)[2:5]") == "range(2, 5)\n");
  CHECK(run_alone("len(range(0, 10, 3))") == "4\n");
  CHECK(run_alone("int('x')").starts_with("RuntimeError"));
  CHECK(run_alone("int(1, 2)").starts_with("TypeError"));
  CHECK(run_alone("int('1', 2, 3)").starts_with("UsageError"));
  CHECK(run_alone("prnt(1)").find("did you mean 'print'") != std::string::npos);
  CHECK(run_alone("print") == "<built-in function print>\n");
  CHECK(run_alone("arg").starts_with("TypeError"));
}
