// Matching in time |pattern| * |name|: only the last star can have taken too little, so going back ends
// there.
#include "support/glob.h"

#include <cstddef>

namespace relish {
namespace {

// Whether one element at the head of `pattern` (no star) takes `c`; `length` is what of the pattern it is.
bool element_takes(std::string_view pattern, char c, std::size_t& length) {
  length = 1;
  if (pattern.front() == '?') return true;
  const std::size_t close = pattern.front() == '[' ? pattern.find(']', 2) : std::string_view::npos;
  if (close == std::string_view::npos) return pattern.front() == c;
  length = close + 1;
  std::string_view set = pattern.substr(1, close - 1);
  const bool negated = set.front() == '!' && set.size() > 1;
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    found = found || (range ? set[i] <= c && c <= set[i + 2] : set[i] == c);
    if (range) i += 2;
  }
  return found != negated;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos;  // behind the last star
  std::size_t taken = 0;                      // where the name went on behind what that star took
  while (n < name.size()) {
    std::size_t length = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      taken = n;
    } else if (p < pattern.size() && element_takes(pattern.substr(p), name[n], length)) {
      p += length;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace relish
