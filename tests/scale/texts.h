// Texts of any size for tests of scale: long modules as TVM prints them, and texts whose one dimension
// (nesting, width, number of names or of faults) grows without end. Each kind says what becomes of it, so
// that a test can walk all of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace relish::scale {

enum class Outcome {
  Good,     // reads, checks and prints
  Limit,    // ResourceLimit, perhaps beside other errors
  Refused,  // SyntaxError or TypeError
};

// A kind of text, of which `make(n)` gives one with n of its parts (for modules: of about n bytes).
struct TextKind {
  std::string_view name;
  std::string_view what;
  std::string (*make)(std::size_t n);
  Outcome outcome;  // with many parts (10^5, or 10 KB and more)
};

// Modules whose size is what counts: linear in time and memory.
std::span<const TextKind> modules();
// Texts with one dimension that grows: nesting is refused, chains and widths are not.
std::span<const TextKind> growths();
// Null when there is none of this name in either list.
const TextKind* find_kind(std::string_view name);

}  // namespace relish::scale
