// The text up to the hole is read as it stands, with its brackets closed.
#include "shell/repl/completion/hole_completion.h"

#include <algorithm>

#include "frontend/reader.h"
#include "frontend/text/scanner.h"
#include "shell/program/highlight.h"
#include "shell/workspace/workspace.h"

namespace relish {
namespace {

std::string open_brackets_closed(std::string_view text) {
  constexpr std::string_view opens = "([{", closes = ")]}";
  const std::vector<TokenSpan> spans = token_spans(text);
  std::string wanted;
  std::size_t span = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (span < spans.size() && spans[span].end <= at) ++span;
    const bool inside = span < spans.size() && spans[span].begin <= at;
    const bool words =
        inside && (spans[span].kind == TokenKind::String || spans[span].kind == TokenKind::Comment);
    if (words) continue;
    if (const std::size_t kind = opens.find(text[at]); kind != std::string_view::npos) wanted += closes[kind];
    if (!wanted.empty() && text[at] == wanted.back()) wanted.pop_back();
  }
  std::reverse(wanted.begin(), wanted.end());
  return wanted;
}

}  // namespace

std::optional<Completions> complete_hole(Workspace& workspace, std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_name_part(text[begin - 1])) --begin;
  if (begin == text.size() || begin == 0 || text[begin - 1] != '?') return std::nullopt;
  --begin;
  ReadOptions options = workspace.script().reading_options();
  Diagnostics diagnostics;
  const std::uint32_t source =
      Sources::instance().add("<typed>", std::string(text) + open_brackets_closed(text) + "\n");
  Completions completions;
  completions.word = text.substr(begin);
  for (const HoleReport& hole : read_source(source, options, diagnostics).holes) {
    if (hole.span.begin != begin) continue;
    for (const std::string& candidate : hole.candidates)
      completions.candidates.push_back({candidate, hole.wanted, ""});
  }
  return completions;
}

}  // namespace relish
