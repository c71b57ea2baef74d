// Differences of texts as unified diffs.
#include "shell/program/text_diff.h"

#include <catch2/catch.hpp>

using relish::text_diff;

TEST_CASE("a unified diff has the fewest changed lines") {
  CHECK(text_diff("a\nb\n", "a\nb\n").empty());
  CHECK(text_diff("", "a\n") == "@@ -0,0 +1,1 @@\n+a\n");
  CHECK(text_diff("a\n", "") == "@@ -1,1 +0,0 @@\n-a\n");
  CHECK(text_diff("a\nb\nc\n", "a\nx\nc\n") == "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  // Two changes further apart than their context are two hunks.
  std::string before, after;
  for (int i = 0; i < 20; ++i) {
    before += std::to_string(i) + "\n";
    if (i != 2 && i != 15) after += std::to_string(i) + "\n";
  }
  CHECK(text_diff(before, after) ==
        "@@ -1,6 +1,5 @@\n 0\n 1\n-2\n 3\n 4\n 5\n@@ -13,7 +12,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n");
  CHECK(text_diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n") ==
        "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n");
}
