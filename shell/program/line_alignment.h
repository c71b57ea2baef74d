// Which lines of two texts belong together: the fewest that have to be taken away and added.
#pragma once

#include <cstddef>
#include <vector>

namespace relish {

// One line of both texts, of the first alone or of the second alone, by index.
struct AlignedLine {
  char mark;  // ' ', '-', '+'
  std::size_t before = 0, after = 0;
};

// Lines are given by numbers, equal ones for equal lines. In order; texts that differ in more than a thousand
// lines have their differing middle as one change.
std::vector<AlignedLine> aligned_lines(const std::vector<std::size_t>& before,
                                       const std::vector<std::size_t>& after);

}  // namespace relish
