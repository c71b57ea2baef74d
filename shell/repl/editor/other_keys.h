// Keys that terminals send beside those that the editor has functions for.
#pragma once

#include <string>
#include <vector>

namespace relish {

struct OtherKey {
  std::string bytes;
  const char* function;  // of libedit, or of the editor
};

// With Ctrl and Alt the arrows go over words, with Shift they are what they are without. What is not among
// them does nothing.
std::vector<OtherKey> other_keys();

}  // namespace relish
