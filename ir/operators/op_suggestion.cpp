// Names of operators by their last words.
#include "ir/operators/op_suggestion.h"

#include <algorithm>
#include <vector>

#include "ir/operators/op.h"
#include "support/suggest.h"

namespace relish {
namespace {

std::string_view last_word(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::optional<std::string> nearest_op(std::string_view wanted, std::span<const std::string_view> others) {
  std::vector<std::string> names = op_names();
  names.insert(names.end(), others.begin(), others.end());
  std::vector<std::string> words;
  words.reserve(names.size());
  for (const std::string& name : names) words.emplace_back(last_word(name));
  const std::optional<std::string> word = nearest_name(last_word(wanted), words);
  if (!word) return nearest_name(wanted, names);
  // Of several with this word the nearest as a whole.
  std::erase_if(names, [&](const std::string& name) { return last_word(name) != *word; });
  const std::optional<std::string> nearest = nearest_name(wanted, names);
  return nearest ? nearest : names.front();
}

}  // namespace relish
