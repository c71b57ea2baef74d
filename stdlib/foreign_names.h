// What other libraries call an operator: PyTorch's and NumPy's names, and TVM's own in other layers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace relish {

// The operator, without "R.", that has this last word of a name elsewhere; nothing for other words.
std::optional<std::string_view> operator_called_elsewhere(std::string_view word);
// What to write for a word that no operator here has the meaning of: an expression, or nothing at all where
// there is none. Nothing for words that are not known.
std::optional<std::string_view> written_instead(std::string_view word);
// All words of both tables.
std::vector<std::string_view> words_of_others();

}  // namespace relish
