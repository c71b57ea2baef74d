// Values as texts: what is one, and where a text stops being one.
#include "support/value_text.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/failure.h"

using namespace relish;
using Kind = WrittenValue::Kind;

namespace {

// The value in a form that says all of it.
std::string shown(const WrittenValue& value) {
  std::string items;
  for (const WrittenValue& item : value.items) items += (items.empty() ? "" : " ") + shown(item);
  switch (value.kind) {
    case Kind::None:
      return "none";
    case Kind::Bool:
      return value.truth ? "true" : "false";
    case Kind::Int:
      return fmt::format("int {}", value.integer);
    case Kind::Real:
      return fmt::format("real {}", value.real);
    case Kind::String:
      return fmt::format("<{}>", value.text);
    case Kind::Word:
      return value.text;
    case Kind::List:
      return fmt::format("list[{}]", items);
    case Kind::Tuple:
      return fmt::format("tuple[{}]", items);
    case Kind::Dict:
      return fmt::format("dict[{}]", items);
    case Kind::Call:
      return fmt::format("{}[{}]", value.text, items);
    case Kind::Argument:
      return fmt::format("{}={}", value.text, items);
  }
  return "";
}

std::string read(std::string_view text) {
  try {
    ValueText reader(text, "it");
    return shown(reader.value("a value"));
  } catch (const Failure& failure) {
    return failure.diagnostics().front().message;
  }
}

}  // namespace

TEST_CASE("values as texts") {
  CHECK(read("5") == "int 5");
  CHECK(read(" +5 ") == "int 5");
  CHECK(read("-9223372036854775808") == "int -9223372036854775808");
  CHECK(read("2.5e3") == "real 2500");
  CHECK(read("-.5") == "real -0.5");
  CHECK(read("1e-400") == "real 0");
  CHECK(read("-inf") == "real -inf");
  CHECK(read("nan") == "real nan");
  CHECK(read("True") == "true");
  CHECK(read("false") == "false");
  CHECK(read("None") == "none");
  CHECK(read("none") == "none");  // a word, which is shown as it is
  CHECK(read("'a b'") == "<a b>");
  CHECK(read("\"a\\\"b\\n\"") == "<a\"b\n>");
  CHECK(read("[[1, 2], [3.5],]") == "list[list[int 1 int 2] list[real 3.5]]");
  CHECK(read("()") == "tuple[]");
  CHECK(read("(1)") == "int 1");
  CHECK(read("(1,)") == "tuple[int 1]");
  CHECK(read("((1, 2), )") == "tuple[tuple[int 1 int 2]]");
  CHECK(read("{'a': 1, \"b\": [x]}") == "dict[<a> int 1 <b> list[x]]");
  CHECK(read("{}") == "dict[]");
  CHECK(read("data/w-1.npz:w0") == "data/w-1.npz:w0");
  CHECK(read("infinity") == "infinity");
  CHECK(read("5x") == "5x");
  CHECK(read("adam(lr = 0.1, betas=(0.9, 0.99))") == "adam[lr=real 0.1 betas=tuple[real 0.9 real 0.99]]");
  CHECK(read("f (a, b=g(c))") == "f[a b=g[c]]");
  CHECK(read("b=[1, 2]") == "b=list[int 1 int 2]");
}

TEST_CASE("texts that are no values") {
  CHECK(read("") == "it: found ''; expected a value");
  CHECK(read("  ") == "it: found ''; expected a value");
  CHECK(read("[1 2]") == "it: found '2' at character 4 of '[1 2]'; expected ',' or ']'");
  CHECK(read("[1, ,2]") == "it: found ',' at character 5 of '[1, ,2]'; expected a value");
  CHECK(read("[1") == "it: found the end of '[1'; expected ',' or ']'");
  CHECK(read("[1,") == "it: found the end of '[1,'; expected a value or ']'");
  CHECK(read("(1]") == "it: found ']' at character 3 of '(1]'; expected ',' or ')'");
  CHECK(read("1]") == "it: found ']' at character 2 of '1]'; expected the end");
  CHECK(read("1 + 1") == "it: found '+' at character 3 of '1 + 1'; expected the end");
  CHECK(read("'a") == "it: found ''a'; expected a closing quote");
  CHECK(read("{'a' 1}") == "it: found '1' at character 6 of '{'a' 1}'; expected ':' behind a key");
  CHECK(read("a=") == "it: found the end of 'a='; expected a value");
  // No int, and no float either: a word, which no place takes for a number.
  CHECK(read("99999999999999999999") == "99999999999999999999");
  CHECK(read(std::string(5000, '[')).find("nested deeper than") != std::string::npos);
  CHECK(read(std::string("a\0b", 3)).find('\0') != std::string::npos);
}

TEST_CASE("values between commas") {
  ValueText reader("a, b(1, 2), 'c, d'");
  std::string all;
  for (const WrittenValue& value : reader.values("a name")) all += shown(value) + "; ";
  CHECK(all == "a; b[int 1 int 2]; <c, d>; ");
  ValueText none(" ");
  CHECK(none.values("a name").empty());
  ValueText open("a,");
  CHECK_THROWS_WITH(open.values("a name"), Catch::Contains("found the end of 'a,'; expected a name"));
}

TEST_CASE("numbers that are the whole text") {
  CHECK(whole_number<std::int64_t>("+5") == 5);
  CHECK_FALSE(whole_number<std::int64_t>("+-5"));
  CHECK_FALSE(whole_number<std::int64_t>(""));
  CHECK_FALSE(whole_number<std::int64_t>("+"));
  CHECK_FALSE(whole_number<std::int64_t>("5.0"));
  CHECK_FALSE(whole_number<std::uint64_t>("-1"));
  CHECK(whole_number<std::uint64_t>("18446744073709551615") == UINT64_MAX);
  CHECK(real_number("5") == 5.0);
  CHECK(real_number("1e-400") == 0.0);
  CHECK_FALSE(real_number("1e400"));
  CHECK_FALSE(real_number("1_0"));
  CHECK_FALSE(real_number(""));
  CHECK(std::isnan(*real_number("nan")));
}

TEST_CASE("texts in parts") {
  using Parts = std::vector<std::string_view>;
  CHECK(split_at_commas(" a, b ,,f(c, d),'e,f'") == Parts{"a", "b", "f(c, d)", "'e,f'"});
  CHECK(split_at_commas("a(1.npy,b.npy") == Parts{"a(1.npy", "b.npy"});
  CHECK(split_at_commas("") == Parts{});
  CHECK(split_at_blanks("M.main --arg x=[1, 2]  --name 'a b'") ==
        Parts{"M.main", "--arg", "x=[1, 2]", "--name", "'a b'"});
  CHECK(split_at_blanks("w) --target 0") == Parts{"w)", "--target", "0"});
  CHECK(split_at_blanks("it's two") == Parts{"it's", "two"});
  CHECK(without_quotes("'a b'") == "a b");
  CHECK(without_quotes("'a'b'") == "'a'b'");
  CHECK(without_quotes("a") == "a");
}

TEST_CASE("constants as values of another kind") {
  struct Other {
    Other() = default;
    Other(bool v) : text(v ? "true" : "false") {}
    Other(std::int64_t v) : text(fmt::format("int {}", v)) {}
    Other(double v) : text(fmt::format("real {}", v)) {}
    Other(const std::string& v) : text("<" + v + ">") {}
    std::string text = "none";
  };
  const auto constant = [](std::string_view text) {
    const auto value = constant_as<Other>(ValueText(text, "it").value("a value"));
    return value ? value->text : std::string("no constant");
  };
  CHECK(constant("None") == "none");
  CHECK(constant("True") == "true");
  CHECK(constant("-3") == "int -3");
  CHECK(constant("0.5") == "real 0.5");
  CHECK(constant("\"a\"") == "<a>");
  for (const char* other : {"word", "[1]", "(1, 2)", "{\"a\": 1}", "f(1)", "a=1"})
    CHECK(constant(other) == "no constant");
}
