// Where the manual speaks of a subject that is no name of the program: loops, statements, slicing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relish {

struct ManualTopic {
  std::string_view words;  // separated by blanks
  std::string_view page;   // of docs/
  std::string_view section;
};

std::span<const ManualTopic> manual_topics();
// "loops: docs/language.md, Loops", a line for each section that the word is of; in any case, plural or not.
std::optional<std::string> manual_topic(std::string_view word);

}  // namespace relish
