// The nearest name to a misspelt one, for "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relish {

// The candidate with the least Damerau-Levenshtein distance (case-insensitive matches first), when it is near
// enough to be a likely misspelling; the first of equals. None otherwise.
std::optional<std::string> nearest_name(std::string_view wanted, std::span<const std::string> candidates);

// "; did you mean 'relu'?" or an empty string.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates);

// Of the names of a closed list also what `wanted` is short for: 'bce' of 'binary_cross_entropy', by the
// letters that its words begin with; 'xavier' of 'xavier_uniform', the shortest that begins with it (three
// letters at least). The nearest name comes first.
std::optional<std::string> nearest_choice(std::string_view wanted, std::span<const std::string> choices);
std::string did_you_mean_choice(std::string_view wanted, std::span<const std::string> choices);

}  // namespace relish
