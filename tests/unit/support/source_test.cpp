// Positions, lines and spans of sources.
#include "support/source.h"

#include <catch2/catch.hpp>

namespace relish {
namespace {

TEST_CASE("a part of a text has the lines of the whole") {
  const SourceFile part("a.relish", "y = 1\nz = 2\n", 100);
  CHECK(part.position(0).line == 100);
  CHECK(part.position(7).line == 101);
  CHECK(part.position(7).column == 2);
  CHECK(part.line(100) == "y = 1");
  CHECK(part.line(101) == "z = 2");
  CHECK(part.line(99).empty());
  CHECK(part.line(1).empty());
  CHECK(part.line(103).empty());
}

TEST_CASE("positions count lines and code points from 1") {
  SourceFile file("a.relish", "x = 1\n\xC3\xA4\xE6\x97\xA5y = 2\r\n\nlast");
  CHECK(file.line_count() == 4);
  CHECK(file.line(2) == "\xC3\xA4\xE6\x97\xA5y = 2");
  CHECK(file.line(3).empty());
  CHECK(file.line(4) == "last");
  CHECK(file.line(5).empty());
  CHECK(file.line(0).empty());
  LineColumn start = file.position(0);
  CHECK((start.line == 1 && start.column == 1));
  LineColumn after_wide = file.position(6 + 5);  // 'y' behind a two-byte and a three-byte character
  CHECK((after_wide.line == 2 && after_wide.column == 3));
  LineColumn end = file.position(1000);
  CHECK((end.line == 4 && end.column == 5));
}

TEST_CASE("a byte order mark is no part of the text") {
  CHECK(SourceFile("a", "\xEF\xBB\xBFx").text() == "x");
}

TEST_CASE("the folder of a source is that of its name") {
  CHECK(SourceFile("a.relish", "").folder().empty());
  CHECK(SourceFile("models/a.relish", "").folder() == "models");
  CHECK(SourceFile("/a.relish", "").folder() == "/");
}

TEST_CASE("cover joins spans of one file") {
  CHECK(cover({1, 2, 5}, {1, 4, 9}) == Span{1, 2, 9});
  CHECK(cover({}, {1, 4, 9}) == Span{1, 4, 9});
  CHECK(cover({1, 2, 5}, {2, 4, 9}) == Span{1, 2, 5});
}

TEST_CASE("sources are found by id") {
  Sources& sources = Sources::instance();
  std::uint32_t id = sources.add("<in 1>", "x");
  REQUIRE(sources.find(id) != nullptr);
  CHECK(sources.find(id)->name() == "<in 1>");
  CHECK(sources.find(0) == nullptr);
  CHECK(sources.find(id + 1000000) == nullptr);
}

}  // namespace
}  // namespace relish
