// The fixes of diagnostics, put into the input that they speak of; where they have no place in it, words by
// the nearest ones.
#include "shell/workspace/proposal.h"

#include <algorithm>

#include "frontend/text/scanner.h"
#include "support/fix.h"

namespace relish {
namespace {

struct Replacement {
  std::string wrong, right;
};

// The text at the place of a diagnostic, if that is one name.
std::string name_at(Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  if (!source || span.end > source->text().size()) return {};
  const std::string_view text = source->text().substr(span.begin, span.end - span.begin);
  const bool name = std::all_of(text.begin(), text.end(), [](char c) { return is_name_part(c) || c == '.'; });
  return name ? std::string(text) : std::string();
}

// Of "unknown name 'wieght'; did you mean 'weight'?": what stands there, or else what is quoted first.
std::optional<Replacement> replacement_of(const Diagnostic& diagnostic) {
  constexpr std::string_view asks = "did you mean '";
  const std::string_view message = diagnostic.message;
  const std::size_t hint = message.rfind(asks);
  if (hint == std::string_view::npos) return std::nullopt;
  const std::string_view behind = message.substr(hint + asks.size());
  const std::size_t right_end = behind.find('\'');
  if (right_end == std::string_view::npos) return std::nullopt;
  std::string right(behind.substr(0, right_end)), wrong = name_at(diagnostic.span);
  if (wrong.empty()) {
    const std::size_t begin = message.find('\''), end = message.find('\'', begin + 1);
    if (begin >= hint || end >= hint) return std::nullopt;
    wrong = message.substr(begin + 1, end - begin - 1);
  }
  if (wrong.starts_with(':') && !right.starts_with(':')) right = ":" + right;
  return Replacement{std::move(wrong), std::move(right)};
}

// Where the word stands in the text from `at` on, not as part of a longer one.
std::size_t place_of_word(std::string_view text, std::string_view word, std::size_t at) {
  for (; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_name_part(text[at - 1]) || !is_name_part(word.front());
    const bool ends = end >= text.size() || !is_name_part(text[end]) || !is_name_part(word.back());
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

// Where the line of a diagnostic begins; its sources number lines as the input does.
std::size_t begin_of_line(std::string_view input, Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  if (!source) return 0;
  std::size_t at = 0;
  for (std::uint32_t line = source->position(span.begin).line; line > 1; --line) {
    const std::size_t end = input.find('\n', at);
    if (end == std::string_view::npos) return 0;
    at = end + 1;
  }
  return at;
}

// A change of the input, by bytes.
struct ProposedEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

// Where the byte of a source stands in the input, whose lines are numbered alike; nothing where the lines are
// not the same.
std::optional<std::size_t> place_in_input(std::string_view input, const SourceFile& source,
                                          std::uint32_t at) {
  const std::uint32_t number = source.position(at).line;
  const std::string_view line = source.line(number);
  if (!line.data()) return std::nullopt;
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < number; ++i) {
    const std::size_t end = input.find('\n', begin);
    if (end == std::string_view::npos) return std::nullopt;
    begin = end + 1;
  }
  const std::string_view own = input.substr(begin, input.find('\n', begin) - begin);
  const auto column = at - static_cast<std::size_t>(line.data() - source.text().data());
  return own == line && column <= own.size() ? std::optional(begin + column) : std::nullopt;
}

// Whether a nearer word would take the place of more than a word: of a call whose function's name is wrong.
bool replaces_too_much(const Diagnostic& diagnostic, const Fix& fix) {
  const std::string_view written = written_at(fix.at);
  const bool word =
      std::all_of(written.begin(), written.end(), [](char c) { return is_name_part(c) || c == '.'; });
  return !word && diagnostic.message.ends_with("did you mean '" + fix.text + "'?");
}

// What the fixes of the diagnostic do with the input; nothing where one of them has no place there.
std::vector<ProposedEdit> edits_of(std::string_view input, const Diagnostic& diagnostic) {
  std::vector<ProposedEdit> edits;
  for (const Fix& fix : fixes_of(diagnostic)) {
    if (replaces_too_much(diagnostic, fix)) return {};
    const SourceFile* source = Sources::instance().find(fix.at.file);
    const auto begin = source ? place_in_input(input, *source, fix.at.begin) : std::nullopt;
    const auto end = source ? place_in_input(input, *source, fix.at.end) : std::nullopt;
    if (!begin || !end || *end < *begin) return {};
    edits.push_back({*begin, *end, fix.text});
  }
  return edits;
}

// From the end on, so that places stay; of two that meet the first one counts.
void apply_edits(std::string& text, std::vector<ProposedEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const ProposedEdit& a, const ProposedEdit& b) { return a.begin < b.begin; });
  std::vector<ProposedEdit> apart;
  for (ProposedEdit& edit : edits) {
    const bool meets =
        !apart.empty() && (edit.begin < apart.back().end ||
                           (edit.begin == apart.back().begin && edit.text == apart.back().text));
    if (!meets) apart.push_back(std::move(edit));
  }
  for (auto edit = apart.rbegin(); edit != apart.rend(); ++edit)
    text.replace(edit->begin, edit->end - edit->begin, edit->text);
}

}  // namespace

std::optional<std::string> corrected_input(std::string_view input, std::span<const Diagnostic> diagnostics) {
  std::string text(input);
  std::vector<ProposedEdit> edits;
  std::vector<const Diagnostic*> by_words;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::vector<ProposedEdit> own = edits_of(input, diagnostic);
    if (own.empty()) by_words.push_back(&diagnostic);
    edits.insert(edits.end(), own.begin(), own.end());
  }
  apply_edits(text, std::move(edits));
  for (const Diagnostic* each : by_words) {
    const Diagnostic& diagnostic = *each;
    const auto replacement = replacement_of(diagnostic);
    if (!replacement || replacement->wrong.empty()) continue;
    std::size_t at = place_of_word(text, replacement->wrong, begin_of_line(text, diagnostic.span));
    if (at == std::string_view::npos) at = place_of_word(text, replacement->wrong, 0);
    if (at != std::string_view::npos) text.replace(at, replacement->wrong.size(), replacement->right);
  }
  return text == input ? std::nullopt : std::optional<std::string>(std::move(text));
}

}  // namespace relish
