// Finding of places for cuts, by the units of a text and its words.
#include "shell/repl/inputs/long_texts.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "shell/program/text_units.h"

namespace relish {
namespace {

bool is_word_sign(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Calls `visit` with each word of the text and where it begins, those of comments and strings among them.
template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_sign(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_word_sign(text[at])) ++at;
    visit(text.substr(begin, at - begin), begin);
  }
}

// Where each name is bound first, or may be: of a statement all words in front of its first sign of equality
// count.
std::unordered_map<std::string_view, std::size_t> first_bindings(std::string_view text,
                                                                 const std::vector<TextUnit>& units) {
  std::unordered_map<std::string_view, std::size_t> first;
  for (const TextUnit& unit : units) {
    if (!unit.owner.empty()) continue;
    if (unit.kind != TextUnit::Kind::Other) {
      first.try_emplace(unit.name, unit.begin);
      continue;
    }
    const std::string_view words = text.substr(unit.begin, unit.end - unit.begin);
    const std::size_t sign = words.find('=');
    if (sign == std::string_view::npos && words.find("import") == std::string_view::npos) continue;
    for_each_word(words.substr(0, sign),
                  [&](std::string_view word, std::size_t) { first.try_emplace(word, unit.begin); });
  }
  return first;
}

// By position of a cut: whether a name is mentioned in front of it that is bound behind it alone. Positions
// are the ends of the stretches in which that holds, with where they begin.
std::vector<std::pair<std::size_t, std::size_t>> forward_mentions(std::string_view text,
                                                                  const std::vector<TextUnit>& units) {
  auto first = first_bindings(text, units);
  std::vector<std::pair<std::size_t, std::size_t>> stretches;
  for_each_word(text, [&](std::string_view word, std::size_t at) {
    const auto found = first.find(word);
    if (found == first.end()) return;
    if (at < found->second) stretches.emplace_back(at, found->second);
    first.erase(found);  // the first mention decides
  });
  return stretches;  // in the order of their begins
}

std::vector<std::size_t> cuts_of(std::string_view text) {
  const std::vector<TextUnit> units = text_units(text);
  const auto stretches = forward_mentions(text, units);
  std::vector<std::size_t> cuts;
  std::unordered_set<std::string_view> defined;  // since the last cut
  std::size_t begin = 0, stretch = 0, covered = 0;
  for (const TextUnit& unit : units) {
    if (unit.kind == TextUnit::Kind::Other || !unit.owner.empty()) continue;
    for (; stretch < stretches.size() && stretches[stretch].first < unit.begin; ++stretch)
      covered = std::max(covered, stretches[stretch].second);
    if (unit.begin - begin >= long_part && covered < unit.begin && defined.contains(unit.name)) {
      cuts.push_back(unit.begin);
      begin = unit.begin;
      defined.clear();
    }
    defined.insert(unit.name);
  }
  return cuts;
}

}  // namespace

std::vector<InputPart> cut_long_parts(std::vector<InputPart> parts) {
  std::vector<InputPart> result;
  for (InputPart& part : parts) {
    const std::vector<std::size_t> cuts =
        part.command || part.text.size() <= long_part ? std::vector<std::size_t>() : cuts_of(part.text);
    std::size_t begin = 0;
    std::uint32_t line = part.line;
    for (const std::size_t cut : cuts) {
      InputPart piece{false, part.text.substr(begin, cut - begin), line};
      line += static_cast<std::uint32_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
      result.push_back(std::move(piece));
      begin = cut;
    }
    if (begin == 0) {
      result.push_back(std::move(part));
    } else {
      result.push_back({false, part.text.substr(begin), line});
    }
  }
  return result;
}

}  // namespace relish
