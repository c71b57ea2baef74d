// Pages of the words that are neither operators nor commands: constructs of the language, metrics, formats of
// files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relish {

struct WordPage {
  std::string_view words;  // all that the page is found by, between blanks; the first is its name
  std::string_view text;   // its first line is a summary
};

std::span<const WordPage> word_pages();
// The page of a word; none for an unknown one.
std::optional<std::string> word_page(std::string_view word);

}  // namespace relish
