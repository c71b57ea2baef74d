// A program text cut into what stands at its top level and in its classes, without reading any of it: so the
// functions that differ between two texts are found at the speed of comparing them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish {

struct TextUnit {
  enum class Kind { Class, Function, Other };
  Kind kind = Kind::Other;
  std::string_view owner;  // the class that it stands in; empty at top level
  std::string_view name;   // of a class or function
  // From its decorators, or the comments above, to what follows it; of a class its header alone.
  std::size_t begin = 0, end = 0;
  bool decorated = false;
};
// In the order of the text, without gaps. The names are parts of it.
std::vector<TextUnit> text_units(std::string_view text);

// Whether the unit is a module, or a function of tensors: a decorator of it says so. In a Python file others
// may have decorators too.
bool is_declaration(std::string_view text, const TextUnit& unit);

// The text with blank lines in the place of the units that are not `wanted`: lines keep their numbers.
std::string text_of_units(std::string_view text, const std::vector<TextUnit>& units,
                          const std::vector<bool>& wanted);

}  // namespace relish
