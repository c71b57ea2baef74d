// The string literals of a C++ source, without those in comments and without raw ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish::testing {

struct SourceLiteral {
  std::string text;  // escapes as they are written
  std::size_t line;
};

std::vector<SourceLiteral> literals_of(std::string_view source);

}  // namespace relish::testing
