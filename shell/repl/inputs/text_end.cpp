// Counting of statements, by cutting the text without reading it.
#include "shell/repl/inputs/text_end.h"

#include <algorithm>
#include <string_view>

#include "shell/program/text_units.h"
#include "support/counted.h"
#include "support/source.h"
#include "support/value_text.h"

namespace relish {
namespace {

// Where the statements of a part begin.
std::vector<std::size_t> statements_of(const InputPart& part) {
  if (part.command) return {0};
  std::vector<std::size_t> begins;
  for (const TextUnit& unit : text_units(part.text)) {
    const std::string_view words =
        without_blanks(std::string_view(part.text).substr(unit.begin, unit.end - unit.begin));
    if (unit.owner.empty() && !words.starts_with("else") && !words.starts_with("elif"))
      begins.push_back(unit.begin);
  }
  return begins;
}

// `done`: how many statements of all ran.
void note(Failure& failure, const std::vector<InputPart>& parts, std::size_t at, std::size_t before,
          std::size_t done) {
  std::size_t all = 0;
  for (const InputPart& part : parts) all += statements_of(part).size();
  if (all < 2) return;
  done = std::min(done, all - 1);
  const std::vector<std::size_t> begins = statements_of(parts[at]);
  const Span span = failure.diagnostics().front().span;
  const std::size_t place = span.known() ? span.begin : 0;
  const auto behind = std::upper_bound(begins.begin(), begins.end(), place);
  const std::size_t with_fault = before + static_cast<std::size_t>(behind - begins.begin());
  // What runs has its faults in itself or above it: this one was found when the text was read.
  if (with_fault > done + 1 && span.known()) {
    failure.note({},
                 fmt::format("statement {} of {} cannot be read, and what stands together is read before it "
                             "runs: {} did not run",
                             with_fault, all, counted(all - done, "statement")));
    return;
  }
  if (done + 1 == all) return;
  failure.note({}, fmt::format("the text ends at statement {} of {}; {} behind it did not run", done + 1, all,
                               counted(all - done - 1, "statement")));
}

std::size_t statements_before(const std::vector<InputPart>& parts, std::size_t at) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < at; ++i) before += statements_of(parts[i]).size();
  return before;
}

}  // namespace

void note_end(Failure& failure, const std::vector<InputPart>& parts, std::size_t at, std::size_t ran) {
  const std::size_t before = statements_before(parts, at);
  note(failure, parts, at, before, before + ran);
}

void note_unread(Failure& failure, const std::vector<InputPart>& parts) {
  if (parts.empty()) return;
  // The part that begins last in front of the fault.
  const Span span = failure.diagnostics().front().span;
  const SourceFile* source = span.known() ? Sources::instance().find(span.file) : nullptr;
  std::size_t at = 0;
  while (source && at + 1 < parts.size() && parts[at + 1].line <= source->position(span.begin).line) ++at;
  note(failure, parts, at, statements_before(parts, at), 0);
}

}  // namespace relish
