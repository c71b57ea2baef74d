// Reading of what is typed, with what the session knows.
#include "shell/repl/faults/input_faults.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/reader.h"
#include "frontend/text/scanner.h"
#include "shell/repl/faults/statement_check.h"
#include "shell/repl/inputs/input_parts.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"

namespace relish {
namespace {

constexpr std::size_t most_faults = 50;
// Texts that were read stay as long as the process: beyond so many bytes of them no more is read.
constexpr std::size_t most_bytes_read = std::size_t{64} << 20;
// A fault of an open function whose end may still be written.
constexpr std::string_view id_of_end = "function.return", id_of_bracket = "syntax.bracket",
                           id_of_string = "syntax.string";

// `:` lines are read when they run, and what stands behind them may depend on what they do; files are read
// when they are wanted.
bool may_be_read(std::string_view text) {
  return !text.starts_with(':') && !asked_page(text) && text.find("\n:") == std::string_view::npos &&
         text.find("load(") == std::string_view::npos && !text.starts_with(">>>") && !text.starts_with('[');
}

bool is_wanted(const Diagnostic& diagnostic, Missing missing, std::size_t last_line) {
  if (diagnostic.severity != Severity::Error) return false;
  if (diagnostic.id == id_of_string && diagnostic.span.end > last_line) return false;
  if (missing == Missing::Nothing) return true;
  if (diagnostic.id == id_of_end) return false;
  if (missing == Missing::Bracket && diagnostic.id == id_of_bracket) return false;
  return diagnostic.error_class != ErrorClass::Syntax || diagnostic.span.end <= last_line;
}

}  // namespace

std::vector<InputFault> input_faults(Workspace& workspace, std::string_view text,
                                     const std::function<bool()>& goes_on) {
  static std::size_t bytes_read = 0;
  if (text.find_first_not_of(" \t\n") == std::string_view::npos || !may_be_read(text)) return {};
  if (bytes_read + text.size() > most_bytes_read) return {};
  bytes_read += text.size();
  // A line of blanks at the end is one that is written next.
  const std::string_view written = text.substr(0, text.find_last_not_of(" \t\n") + 1);
  const Missing missing = missing_in_input(std::string(written) + "\n");
  // What an open bracket or string holds is no statement yet: all before its line is.
  const std::size_t last = written.find_last_of('\n');
  const std::size_t last_line = last == std::string_view::npos ? 0 : last + 1;
  if (missing == Missing::Bracket && last_line == 0) return {};
  ReadOptions options = workspace.script().reading_options();
  options.load_module = {};
  options.goes_on = goes_on;
  Diagnostics diagnostics;
  const std::uint32_t source = Sources::instance().add("<typed>", std::string(text) + "\n");
  const ReadResult read = read_source(source, options, diagnostics);
  std::vector<InputFault> faults;
  const auto add = [&](Span span, const std::string& message) {
    const std::size_t begin = std::min<std::size_t>(span.begin, text.size());
    const std::size_t end = std::clamp<std::size_t>(span.end, begin, text.size());
    // One fault may be found in two ways.
    const bool known = std::any_of(faults.begin(), faults.end(), [&](const InputFault& other) {
      return other.begin < end && begin < other.end;
    });
    if (span.file == source && !known && faults.size() < most_faults) faults.push_back({begin, end, message});
  };
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (is_wanted(diagnostic, missing, last_line)) add(diagnostic.span, diagnostic.message);
  check_statements(workspace, read, !diagnostics.has_errors(), goes_on,
                   [&](Span span, const std::string& message) {
                     if (missing != Missing::Bracket || span.end <= last_line) add(span, message);
                   });
  std::stable_sort(faults.begin(), faults.end(),
                   [](const InputFault& a, const InputFault& b) { return a.begin < b.begin; });
  return faults;
}

std::vector<InputFault> carried_faults(const std::vector<InputFault>& faults, std::string_view before,
                                       std::string_view now) {
  const std::size_t least = std::min(before.size(), now.size());
  std::size_t front = 0, back = 0;
  while (front < least && before[front] == now[front]) ++front;
  while (back < least - front && before[before.size() - 1 - back] == now[now.size() - 1 - back]) ++back;
  std::vector<InputFault> carried;
  for (const InputFault& fault : faults) {
    if (fault.end <= front) {
      carried.push_back(fault);
    } else if (fault.begin >= before.size() - back) {
      carried.push_back(
          {fault.begin + now.size() - before.size(), fault.end + now.size() - before.size(), fault.message});
    }
  }
  return carried;
}

std::vector<InputFault> shown_faults(const std::vector<InputFault>& faults, std::string_view text,
                                     std::size_t cursor) {
  const bool in_word = cursor > 0 && cursor <= text.size() &&
                       (is_name_part(text[cursor - 1]) || text[cursor - 1] == '.' || text[cursor - 1] == '?');
  std::vector<InputFault> shown;
  for (const InputFault& fault : faults) {
    const bool word_at_cursor = in_word && fault.end == cursor;
    if (!word_at_cursor && fault.begin < fault.end) shown.push_back(fault);
  }
  return shown;
}

std::string fault_line(const std::vector<InputFault>& shown, std::string_view text, std::size_t cursor) {
  if (shown.empty()) return {};
  // The last that begins in front of the cursor, else the first.
  const InputFault* told = &shown.front();
  for (const InputFault& fault : shown)
    if (fault.begin <= cursor) told = &fault;
  const std::string_view above = text.substr(0, told->begin);
  const auto line = std::count(above.begin(), above.end(), '\n') + 1;
  std::string words = told->message.substr(0, told->message.find('\n'));
  const bool one_line = text.find('\n') == std::string_view::npos;
  std::string others = shown.size() > 1 ? fmt::format(" (1 of {})", shown.size()) : std::string();
  return one_line ? fmt::format("! {}{}", words, others)
                  : fmt::format("! line {}: {}{}", line, words, others);
}

}  // namespace relish
