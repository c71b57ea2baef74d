// The scanner: logical lines, blocks, comments, faults with their places, and what an input still lacks.
#include "frontend/text/scanner.h"

#include <catch2/catch.hpp>

#include "helpers.h"
#include "support/limits.h"

namespace relish {
namespace {

using test::add_source;
using test::short_text;

// Lines as "text{body|body}", one after another with ';'.
std::string outline(const std::vector<Line>& lines, std::string_view text) {
  std::string result;
  for (const Line& line : lines) {
    if (!result.empty()) result += ";";
    result += text.substr(line.span.begin, line.span.end - line.span.begin);
    if (line.damaged) result += "!";
    if (!line.body.empty()) result += "{" + outline(line.body, text) + "}";
  }
  return result;
}

struct Scanned {
  std::string outline;
  std::string errors;
  ScannedSource source;
};

Scanned scan(std::string text) {
  Diagnostics diagnostics;
  std::uint32_t file = add_source(std::move(text));
  Scanned result;
  result.source = scan_source(file, Sources::instance().find(file)->text(), diagnostics);
  result.outline = relish::outline(result.source.lines, Sources::instance().find(file)->text());
  result.errors = short_text(diagnostics);
  return result;
}

TEST_CASE("logical lines follow brackets, strings and continuations") {
  CHECK(scan("a = 1\nb = (2,\n  3)\n").outline == "a = 1;b = (2,\n  3)");
  CHECK(scan("a = \"x\\\"#\" # c\n").outline == "a = \"x\\\"#\"");
  CHECK(scan("a = '''x\n# y\n''' + b\n").outline == "a = '''x\n# y\n''' + b");
  CHECK(scan("a = 1 + \\\n  2\n").outline == "a = 1 + \\\n  2");
  CHECK(scan("a; b;\nc").outline == "a;b;c");
  CHECK(scan("").outline.empty());
  CHECK(scan("\n\n  \n# only\n").outline.empty());
  CHECK(scan("a\r\nif b:\r\n  c\r\n").outline == "a;if b:{c}");
}

// In a comment or a string what stands behind it would be lost, or would be part of a text.
TEST_CASE("a carriage return alone ends no line, and is told of once") {
  for (const char* text :
       {"a = 1\rb = 2\rc = 3\r", "a = 1  # c\rb = 2\n", "a = \"\"\"x\ry\"\"\"\n", "a = [\r1]\n"}) {
    INFO(text);
    const std::string errors = scan(text).errors;
    const std::string told = "found the character '\\r' without '\\n' behind it";
    CHECK(errors.find(told) != std::string::npos);
    CHECK(errors.find(told) == errors.rfind(told));
    CHECK(errors.find("not part of the language") == std::string::npos);
  }
  CHECK(scan("a = \"\"\"x\r\ny\"\"\"  # c\r\nb = '\\r'\r\n").errors.empty());
}

TEST_CASE("blocks follow indentation") {
  CHECK(scan("class A:\n  def f():\n    x\n    y\n  def g():\n    z\nw\n").outline ==
        "class A:{def f():{x;y};def g():{z}};w");
  CHECK(scan("if a: b; c\nelse: d\ne\n").outline == "if a:{b;c};else:{d};e");
  CHECK(scan("if a:\n  b\n# comment at the margin\n  c\n").outline == "if a:{b;c}");
  CHECK(scan("def f(x: int = 3) -> {1: 2}: return x\n").outline == "def f(x: int = 3) -> {1: 2}:{return x}");
  CHECK(scan("if a:\n\tb\n\tc\n").errors.empty());
}

TEST_CASE("comments belong to the statement that follows or precedes them") {
  auto scanned = scan("# one\n# two\na = [1, # inside\n 2] # behind\n\nb\n# last\n");
  REQUIRE(scanned.source.lines.size() == 2);
  CHECK(scanned.source.lines[0].comments == std::vector<std::string>{"one", "two", "inside"});
  CHECK(scanned.source.lines[0].trailing_comment == "behind");
  CHECK(scanned.source.lines[1].comments.empty());
  CHECK(scanned.source.end_comments == std::vector<std::string>{"last"});
}

TEST_CASE("faults of the text have their exact place") {
  CHECK(scan("a = (1,\n  2\n").errors ==
        "1:5 SyntaxError found '(' that is never closed; expected a closing bracket\n"
        "  note - the text ends before it is closed\n");
  CHECK(scan("def f(a:\n  return a\nx = 1\n").errors ==
        "1:6 SyntaxError found '(' that is never closed; expected a closing bracket\n"
        "  note 2:3 a statement begins before it is closed\n");
  CHECK(scan("a = (1]\n").errors ==
        "1:7 SyntaxError found ']'; expected ')'\n  note 1:5 the open '(' is here\n");
  CHECK(scan("a = 1)\n").errors == "1:6 SyntaxError found ')' without an opening '('\n");
  CHECK(scan("a = 'x\nb\n").errors == "1:5 SyntaxError found a string that is never closed; expected '\n");
  CHECK(scan("a = 'x\nb\n").outline == "a = 'x!;b");
  CHECK(scan("a = \"\"\"x\nb\n").errors ==
        "1:5 SyntaxError found a string that is never closed; expected \"\"\"\n");
  CHECK(scan(std::string("a\0b\n", 4)).errors == "1:2 SyntaxError found a NUL byte; expected text\n");
  CHECK(scan("a = \"\xff\"\n").errors == "1:6 SyntaxError found the byte 0xFF; expected UTF-8 text\n");
  CHECK(scan("# \xc3\n").errors == "1:3 SyntaxError found the byte 0xC3; expected UTF-8 text\n");
  CHECK(scan("x\xc3\xa4 = 1\n").errors ==
        "1:2 SyntaxError found '\xc3\xa4'; expected names of ASCII letters, digits and '_'\n");
  CHECK(scan("a $ b\n").errors ==
        "1:3 SyntaxError found the character '$', which is not part of the language\n");
}

TEST_CASE("faults of indentation") {
  CHECK(scan("if a:\nb\n").errors ==
        "1:5 SyntaxError expected an indented block after 'if'\n  note 2:1 this line is not deeper than the "
        "header\n");
  CHECK(scan("if a:\n").errors == "1:5 SyntaxError expected an indented block after 'if'\n");
  CHECK(scan("a\n  b\nc\n").errors ==
        "2:3 SyntaxError found an indented line; expected one that aligns with its block\n");
  CHECK(scan("if a:\n    b\n  c\n").errors ==
        "3:3 SyntaxError found an unindent that matches no outer block\n");
  CHECK(scan("if a:\n        b\n\tc\n").errors ==
        "3:2 SyntaxError found tabs and spaces mixed so that the block depends on the tab width\n");
}

TEST_CASE("many faults are found in one run") {
  auto scanned = scan("a = (1]\nb = 'x\nc = 2\n  d\n");
  CHECK(scanned.errors ==
        "1:7 SyntaxError found ']'; expected ')'\n  note 1:5 the open '(' is here\n"
        "2:5 SyntaxError found a string that is never closed; expected '\n"
        "4:3 SyntaxError found an indented line; expected one that aligns with its block\n");
}

TEST_CASE("nesting is counted") {
  std::string deep(1000, '(');
  CHECK(scan(deep + "x" + std::string(1000, ')') + "\n").errors.empty());
  deep += '(';
  CHECK(scan(deep + "x" + std::string(1001, ')') + "\n").errors ==
        "1:1001 ResourceLimit found 1001 nested blocks and brackets; expected at most 1000, raise "
        "--max-nesting\n");
  std::string blocks;
  for (int i = 0; i < 1100; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "if x:\n";
  blocks += std::string(1100, ' ') + "y\n";
  CHECK(scan(blocks).errors ==
        "1002:1002 ResourceLimit found 1001 nested blocks; expected at most 1000, raise --max-nesting\n");
}

TEST_CASE("a long list of plain numbers is one token") {
  std::string list = "[";
  for (int i = 0; i < 64; ++i) list += (i ? ", " : "") + std::to_string(i) + (i % 2 ? ".5" : "");
  auto scanned = scan("x = " + list + "]\n");
  REQUIRE(scanned.source.lines.size() == 1);
  REQUIRE(scanned.source.lines[0].number_lists.size() == 1);
  CHECK(scanned.source.lines[0].number_lists[0].begin == 4);
  CHECK(scan("x = " + list + ",\n]\n").source.lines[0].number_lists.size() == 1);
  CHECK(scan("x = " + list + ", y]\n").source.lines[0].number_lists.empty());
  CHECK(scan("x = [" + list + "], " + list + "]]\n").source.lines[0].number_lists.size() == 2);
  CHECK(scan("x = [1, 2]\n").source.lines[0].number_lists.empty());
}

TEST_CASE("what an input still lacks") {
  CHECK(missing_input("x = 1\n") == Missing::Nothing);
  CHECK(missing_input("x = (1,\n") == Missing::Bracket);
  CHECK(missing_input("x = '''a\n") == Missing::String);
  CHECK(missing_input("x = 1 + \\\n") == Missing::Continuation);
  CHECK(missing_input("for i in range(3):\n") == Missing::Body);
  CHECK(missing_input("@R.function\n") == Missing::Body);
  CHECK(missing_input("for i in range(3):\n  print(i)\n") == Missing::BlankLine);
  CHECK(missing_input("for i in range(3):\n  print(i)\n\n") == Missing::Nothing);
  CHECK(missing_input("@R.function\ndef f():\n  for i in x:\n") == Missing::Body);
  CHECK(missing_input("@I.ir_module\nclass M:\n  @R.function\n  def f():\n    return x\n\n") ==
        Missing::BlankLine);
  CHECK(missing_input("@I.ir_module\nclass M:\n  @R.function\n  def f():\n    return x\n\n\n") ==
        Missing::Nothing);
  CHECK(missing_input("for i in range(3): print(i)\n") == Missing::BlankLine);
  CHECK(missing_input("x = (1]\n") == Missing::Nothing);
  CHECK(missing_input("") == Missing::Nothing);
}

}  // namespace
}  // namespace relish
