// The text and JSON forms of diagnostics.
#include "support/render_within.h"

#include <catch2/catch.hpp>

namespace relish {
namespace {

std::uint32_t add(std::string text) { return Sources::instance().add("model.relish", std::move(text)); }

Diagnostic type_error(Span span, std::string message, std::string id = {}) {
  Diagnostic diagnostic;
  diagnostic.span = span;
  diagnostic.message = std::move(message);
  diagnostic.id = std::move(id);
  return diagnostic;
}

std::string text_of(const std::vector<Diagnostic>& diagnostics, RenderOptions options = {}) {
  return render(diagnostics, Sources::instance(), options);
}

TEST_CASE("an error shows place, class, message, rule, line and marks, then its notes") {
  std::uint32_t file = add("def f(x, w):\n    y = R.matmul(x, w)\n");
  Diagnostic diagnostic = type_error({file, 21, 35}, "inner lengths 128 and 64 differ", "matmul.inner");
  diagnostic.note({file, 9, 10}, "w has 64 rows").note("lengths are compared left to right");
  CHECK(text_of({diagnostic}) ==
        "model.relish:2:9: error[TypeError]: inner lengths 128 and 64 differ [matmul.inner]\n"
        "        y = R.matmul(x, w)\n"
        "            ^~~~~~~~~~~~~~\n"
        "model.relish:1:10: note: w has 64 rows\n"
        "note: lengths are compared left to right\n");
}

TEST_CASE("tabs and wide characters keep the marks below the span") {
  std::uint32_t file = add("\tx = \"\xC3\xA4\xE6\x97\xA5\" + y\n");
  // Bytes: tab, x, space, =, space, quote, 2, 3, quote, space, +, space, y.
  CHECK(text_of({type_error({file, 15, 16}, "unknown name 'y'")}) ==
        "model.relish:1:13: error[TypeError]: unknown name 'y'\n"
        "        x = \"\xC3\xA4\xE6\x97\xA5\" + y\n"
        "                    ^\n");
  // Marks on a character take no cell, pictures two.
  file = add("e\xCC\x81\xF0\x9F\x99\x82 y\n");
  CHECK(text_of({type_error({file, 8, 9}, "unknown name 'y'")}).ends_with("\n        ^\n"));
}

TEST_CASE("a span over several lines is marked to the end of the first") {
  std::uint32_t file = add("f(a,\n  b)\n");
  CHECK(text_of({type_error({file, 0, 9}, "bad call")}) ==
        "model.relish:1:1: error[TypeError]: bad call\n"
        "    f(a,\n"
        "    ^~~~\n");
}

TEST_CASE("a span at the end of the text has one mark behind it") {
  std::uint32_t file = add("f(");
  CHECK(text_of({type_error({file, 2, 2}, "expected ')'")}) ==
        "model.relish:1:3: error[TypeError]: expected ')'\n"
        "    f(\n"
        "      ^\n");
}

TEST_CASE("without a source the place stands alone") {
  Diagnostic data = type_error({}, "truncated (byte 80)");
  data.error_class = ErrorClass::Data;
  data.place = "w.npz:w0";
  CHECK(text_of({data}) == "w.npz:w0: error[DataError]: truncated (byte 80)\n");
  CHECK(text_of({type_error({}, "no function")}) == "relish: error[TypeError]: no function\n");
  CHECK(text_of({type_error({99999999, 1, 2}, "gone")}) == "relish: error[TypeError]: gone\n");
}

TEST_CASE("warnings have no class") {
  Diagnostic warning = type_error({}, "unused");
  warning.severity = Severity::Warning;
  CHECK(text_of({warning}) == "relish: warning: unused\n");
}

TEST_CASE("beyond the limit only the number is told") {
  std::vector<Diagnostic> many(23, type_error({}, "bad"));
  std::string text = text_of(many);
  CHECK(text.ends_with("bad\n3 more errors\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 21);
  many.resize(21);
  CHECK(text_of(many).ends_with("\n1 more error\n"));
}

TEST_CASE("control characters of a program never reach the terminal") {
  std::uint32_t file = add("x = \x1b[31m\n");
  std::string text = text_of({type_error({file, 4, 5}, "bad \x07 text\nand more")});
  CHECK(text ==
        "model.relish:1:5: error[TypeError]: bad \\x07 text\\nand more\n"
        "    x = \\x1b[31m\n"
        "        ^~~~\n");
}

TEST_CASE("long lines are cut around the fault") {
  std::uint32_t file = add(std::string(500, 'a') + "!" + std::string(500, 'b'));
  CHECK(text_of({type_error({file, 500, 501}, "bad")}) ==
        "model.relish:1:501: error[TypeError]: bad\n    ..." + std::string(40, 'a') + "!" +
            std::string(79, 'b') + "...\n" + std::string(47, ' ') + "^\n");
}

TEST_CASE("on a narrow terminal no line of a source wraps, so that the marks stand below the fault") {
  const std::uint32_t file = add(std::string(100, 'a') + "!" + std::string(100, 'b'));
  const auto within = [&](std::size_t columns) {
    const Diagnostic error = type_error({file, 100, 101}, "bad");
    return render_within(columns, {&error, 1}, Sources::instance(), {});
  };
  CHECK(within(40) == "model.relish:1:101: error[TypeError]: bad\n    ..." + std::string(10, 'a') + "!" +
                          std::string(19, 'b') + "...\n" + std::string(17, ' ') + "^\n");
  CHECK(within(1) == within(30));
  CHECK(within(1000) == text_of({type_error({file, 100, 101}, "bad")}));
}

TEST_CASE("colors only where asked for") {
  CHECK(text_of({type_error({}, "bad")}).find('\x1b') == std::string::npos);
  CHECK(text_of({type_error({}, "bad")}, {.color = true}).find("\x1b[1;31merror[TypeError]:\x1b[0m") !=
        std::string::npos);
}

TEST_CASE("a line of JSON for each diagnostic") {
  std::uint32_t file = add("ab\ncd");
  Diagnostic diagnostic = type_error({file, 3, 5}, "bad \"x\"", "a.b");
  diagnostic.note("see");
  CHECK(
      render_json(std::vector{diagnostic}, Sources::instance()) ==
      R"({"file":"model.relish","line":2,"column":1,"end_line":2,"end_column":3,"severity":"error",)"
      R"("class":"TypeError","id":"a.b","message":"bad \"x\"","notes":[{"file":null,"line":null,"column":null,)"
      R"("end_line":null,"end_column":null,"text":"see"}],"fixes":[]})"
      "\n");
}

TEST_CASE("printable shortens and replaces") {
  CHECK(printable("a\tb\xFF\xC2\x85") == "a\\tb\xEF\xBF\xBD\\x85");
  CHECK(printable(std::string(100, 'x')) == std::string(80, 'x') + "...");
  CHECK(printable("\xE2\x80\xAE") == "\\u202e");
}

}  // namespace
}  // namespace relish
