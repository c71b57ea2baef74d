// What changed between two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace relish {

// A unified diff with three lines of context, without a heading; empty when the texts are equal. The fewest
// changed lines; in texts that differ in more than a thousand lines, the differing middle as one change.
std::string text_diff(std::string_view before, std::string_view after);

}  // namespace relish
