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

// --- Lines of a text; a place is the offset of any character of the line.

std::uint32_t line_begin(std::string_view text, std::uint32_t at) {
  while (at > 0 && text[at - 1] != '\n') --at;
  return at;
}
std::uint32_t line_end(std::string_view text, std::uint32_t at) {
  while (at < text.size() && text[at] != '\n') ++at;
  return at > 0 && at < text.size() && text[at - 1] == '\r' ? at - 1 : at;
}
// Where what the line says begins: behind its indentation, or at its end when it is blank.
std::uint32_t line_content(std::string_view text, std::uint32_t at) {
  at = line_begin(text, at);
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}
std::string_view indentation(std::string_view text, std::uint32_t at) {
  const std::uint32_t begin = line_begin(text, at);
  return text.substr(begin, line_content(text, at) - begin);
}

// The content of each line of the span that is not blank.
std::vector<std::uint32_t> lines_of(std::string_view text, Span span) {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t at = line_begin(text, span.begin); at < span.end;) {
    const std::uint32_t content = line_content(text, at);
    while (at < text.size() && text[at] != '\n') ++at;
    if (content < at && text[content] != '\r') lines.push_back(content);
    ++at;
  }
  return lines;
}

// The indentation of the header above the line: of the next line above with less.
std::size_t indentation_of_header(std::string_view text, std::uint32_t at) {
  const std::size_t own = indentation(text, at).size();
  for (std::uint32_t line = line_begin(text, at); line > 0;) {
    line = line_begin(text, line - 1);
    const std::uint32_t content = line_content(text, line);
    if (content >= line_end(text, line) || text[content] == '#') continue;
    if (content - line < own) return content - line;
  }
  return own;
}

std::vector<Fix> fixes_of(const DiagnosticNote& note) {
  const Span at = note.span;
  const SourceFile* file = at.known() ? Sources::instance().find(at.file) : nullptr;
  if (!file) return {};
  const std::string_view text = file->text();
  if (auto replacement = quoted(note.text, "write '", "' here")) return {{at, *replacement}};
  if (auto addition = quoted(note.text, "insert '", "' here"))
    return {{Span{at.file, at.end, at.end}, *addition}};
  if (note.text == "remove this") return {{at, ""}};
  if (auto line = quoted(note.text, "put '", "' above this")) {
    const std::uint32_t content = line_content(text, at.begin);
    return {{Span{at.file, content, content}, fmt::format("{}\n{}", *line, indentation(text, at.begin))}};
  }
  if (auto line = quoted(note.text, "put '", "' below this")) {
    const std::uint32_t end = line_end(text, at.end > at.begin ? at.end - 1 : at.end);
    return {{Span{at.file, end, end}, fmt::format("\n{}{}", indentation(text, at.begin), *line)}};
  }
  std::vector<Fix> fixes;
  if (note.text == "indent this") {
    for (std::uint32_t line : lines_of(text, at)) fixes.push_back({Span{at.file, line, line}, "    "});
  } else if (note.text == "unindent this") {
    const std::size_t wanted = indentation_of_header(text, at.begin);
    const std::size_t deeper = indentation(text, at.begin).size() - wanted;
    for (std::uint32_t line : lines_of(text, at)) {
      const auto less =
          static_cast<std::uint32_t>(std::min<std::size_t>(deeper, indentation(text, line).size()));
      if (less > 0) fixes.push_back({Span{at.file, line - less, line}, ""});
    }
  }
  return fixes;
}

}  // namespace

std::string_view written_at(Span at) {
  const SourceFile* file = at.known() ? Sources::instance().find(at.file) : nullptr;
  return file ? std::string_view(file->text()).substr(at.begin, at.end - at.begin) : std::string_view();
}

bool is_fix(const DiagnosticNote& note) { return !fixes_of(note).empty(); }

DiagnosticNote write_here(Span at, std::string_view text) {
  return {at, fmt::format("write '{}' here", text)};
}
DiagnosticNote insert_here(Span behind, std::string_view text) {
  return {behind, fmt::format("insert '{}' here", text)};
}
DiagnosticNote remove_this(Span at) { return {at, "remove this"}; }
DiagnosticNote put_above(Span at, std::string_view line) {
  return {at, fmt::format("put '{}' above this", line)};
}
DiagnosticNote put_below(Span at, std::string_view line) {
  return {at, fmt::format("put '{}' below this", line)};
}
DiagnosticNote indent_this(Span lines) { return {lines, "indent this"}; }
DiagnosticNote unindent_this(Span lines) { return {lines, "unindent this"}; }

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
    for (Fix& fix : fixes_of(note)) fixes.push_back(std::move(fix));
  }
  return fixes;
}

std::string apply_fixes(std::string_view source, std::vector<Fix> fixes) {
  std::string result(source);
  // From the last place to the first, so that no place moves; the last of a place goes in first, and those
  // that follow come before it.
  std::reverse(fixes.begin(), fixes.end());
  std::stable_sort(fixes.begin(), fixes.end(),
                   [](const Fix& a, const Fix& b) { return a.at.begin > b.at.begin; });
  for (const Fix& fix : fixes) result.replace(fix.at.begin, fix.at.end - fix.at.begin, fix.text);
  return result;
}

}  // namespace relish
