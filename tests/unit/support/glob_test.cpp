// Patterns of names.
#include "support/glob.h"

#include <catch2/catch.hpp>
#include <string>

namespace relish {
namespace {

TEST_CASE("a pattern matches whole names") {
  for (const char* pattern :
       {"w0", "w?", "w*", "*", "**", "*0", "w[0-3]", "w[abc0]", "w[!1-9]", "[w]0", "*w*0*"}) {
    INFO(pattern);
    CHECK(matches_glob(pattern, "w0"));
  }
  for (const char* pattern :
       {"", "w", "w00", "W0", "?", "???", "w0*?", "w[1-3]", "w[!0]", "*1", "[0]w", "w[0"}) {
    INFO(pattern);
    CHECK_FALSE(matches_glob(pattern, "w0"));
  }
  CHECK(matches_glob("", ""));
  CHECK(matches_glob("*", ""));
  CHECK(matches_glob("a*b*c", "a-b-b-c"));
  CHECK_FALSE(matches_glob("a*b*c", "a-c-b"));
  CHECK(matches_glob("[", "["));
  CHECK(matches_glob("[]]", "]"));
  CHECK(matches_glob("w[a-]", "w-"));
}

TEST_CASE("many stars are matched in the time of a few") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  CHECK_FALSE(matches_glob(pattern + "b", std::string(20000, 'a')));
}

}  // namespace
}  // namespace relish
