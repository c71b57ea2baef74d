// A number with its noun, for messages: "1 argument", "2 arguments", "0 indices".
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace relish {

// `many` is the plural where it is not the noun with an s.
template <typename Number>
std::string counted(Number number, std::string_view noun, std::string_view many = {}) {
  if (number == Number{1}) return fmt::format("{} {}", number, noun);
  return many.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, many);
}

}  // namespace relish
