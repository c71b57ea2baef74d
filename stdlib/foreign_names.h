// What other libraries call an operator: PyTorch's and NumPy's names, and TVM's own in other layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/foreign_calls.h"

namespace relish {

// The operator, without "R.", that has this last word of a name elsewhere; nothing for other words.
std::optional<std::string_view> operator_called_elsewhere(std::string_view word);
// What to write for a word that no operator here has the meaning of: an expression, or an empty text where
// there is none. Nothing for words that are not known.
std::optional<std::string> written_instead(std::string_view word);
// The same for a method of the value `object`, which stands in the place of x. What is for statements alone
// says so anywhere else.
std::optional<std::string> written_instead(std::string_view word, std::string_view object,
                                           ProposalPlace place = ProposalPlace::Both);
// Whether that is an expression, which holds for the word with one choice of arguments.
bool is_expression_elsewhere(std::string_view word);
// A row of the table, as the manual and the tests need it.
struct ForeignRow {
  std::string_view word;
  std::string_view write;  // an operator without "R.", an expression, words, or nothing
  enum class Kind : std::uint8_t { Operator, Expression, Statement, Words } kind;
};
// All rows, sorted by word.
std::vector<ForeignRow> foreign_rows();
// All words of both tables.
std::vector<std::string_view> words_of_others();

}  // namespace relish
