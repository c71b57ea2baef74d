// Columns of a menu.
#include "shell/repl/editor/menu.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/repl/editor/screen.h"

namespace relish {

std::vector<std::string> menu_lines(std::span<const Candidate> candidates, std::size_t begin) {
  std::vector<std::string> lines;
  std::size_t texts = 0, kinds = 0;
  const std::size_t end = std::min(candidates.size(), begin + menu_rows);
  for (std::size_t i = begin; i < end; ++i) {
    texts = std::max(texts, width_of(candidates[i].text));
    kinds = std::max(kinds, width_of(candidates[i].kind));
  }
  const auto column = [](const std::string& text, std::size_t width) {
    return text + std::string(width - width_of(text) + 2, ' ');
  };
  for (std::size_t i = begin; i < end; ++i) {
    const Candidate& candidate = candidates[i];
    std::string line = "  " + column(candidate.text, texts) + column(candidate.kind, kinds) + candidate.doc;
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(std::move(line));
  }
  if (candidates.size() > menu_rows)
    lines.push_back(fmt::format("  {} to {} of {}; Tab shows more", begin + 1, end, candidates.size()));
  return lines;
}

}  // namespace relish
