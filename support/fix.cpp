// Reading of fixes from diagnostics.
#include "support/fix.h"

#include <algorithm>
#include <optional>

#include "support/suggest.h"

namespace relish {
namespace {

// X of `before 'X' after`, when the text has that form.
std::optional<std::string> quoted(std::string_view text, std::string_view before, std::string_view after) {
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  text.remove_prefix(before.size());
  if (text.size() < after.size()) return std::nullopt;
  return std::string(text.substr(0, text.size() - after.size()));
}

// Of a string in quotes, what is between them.
Span inside_quotes(Span span) {
  const SourceFile* file = Sources::instance().find(span.file);
  if (!file || span.end - span.begin < 2) return span;
  const std::string_view text = std::string_view(file->text()).substr(span.begin, span.end - span.begin);
  const bool string = (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return string ? Span{span.file, span.begin + 1, span.end - 1} : span;
}

std::optional<Fix> fix_of(const DiagnosticNote& note) {
  if (!note.span.known()) return std::nullopt;
  if (auto replacement = quoted(note.text, "write '", "' here")) return Fix{note.span, *replacement};
  if (auto addition = quoted(note.text, "insert '", "' here"))
    return Fix{Span{note.span.file, note.span.end, note.span.end}, *addition};
  if (note.text == "remove this") return Fix{note.span, ""};
  return std::nullopt;
}

}  // namespace

bool is_fix(const DiagnosticNote& note) { return fix_of(note).has_value(); }

DiagnosticNote write_here(Span at, std::string_view text) {
  return {at, fmt::format("write '{}' here", text)};
}
DiagnosticNote insert_here(Span behind, std::string_view text) {
  return {behind, fmt::format("insert '{}' here", text)};
}
DiagnosticNote remove_this(Span at) { return {at, "remove this"}; }

std::vector<DiagnosticNote> write_nearest(Span at, std::string_view wanted,
                                          std::span<const std::string> candidates) {
  if (auto name = nearest_name(wanted, candidates); name && *name != wanted) return {write_here(at, *name)};
  return {};
}

std::vector<Fix> fixes_of(const Diagnostic& diagnostic) {
  std::vector<Fix> fixes;
  constexpr std::string_view question = "did you mean '";
  const std::size_t at = diagnostic.message.rfind(question);
  if (at != std::string::npos && diagnostic.span.known()) {
    if (auto text = quoted(std::string_view(diagnostic.message).substr(at), question, "'?"))
      fixes.push_back({inside_quotes(diagnostic.span), *text});
  }
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (auto fix = fix_of(note)) fixes.push_back(std::move(*fix));
  }
  return fixes;
}

std::string apply_fixes(std::string_view source, std::vector<Fix> fixes) {
  std::string result(source);
  std::stable_sort(fixes.begin(), fixes.end(),
                   [](const Fix& a, const Fix& b) { return a.at.begin > b.at.begin; });
  for (const Fix& fix : fixes) result.replace(fix.at.begin, fix.at.end - fix.at.begin, fix.text);
  return result;
}

}  // namespace relish
