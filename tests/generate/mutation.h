// Wrong programs: right ones with exactly one rule of the language broken, so that the class and the line of
// the error are known by construction.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/error_class.h"
#include "tests/generate/random.h"
#include "tests/generate/source_text.h"

namespace relish::generate {

struct Mutant {
  std::string rule;
  std::string text;
  ErrorClass error_class;
  std::uint32_t line = 0;  // from 1
};

// A right program's text while one rule is broken in it.
struct Draft {
  SourceText source;
  Random& random;

  std::string& text(std::size_t line) { return source.lines[line].text; }
  const SourceLine& line(std::size_t index) const { return source.lines[index]; }
  // Some line that passes.
  std::optional<std::size_t> some_line(const std::function<bool(const SourceLine&)>& holds);
  void replace(std::size_t line, const Token& token, const std::string& with) {
    text(line).replace(token.begin, token.end - token.begin, with);
  }
  // A name near to `name` that the text does not have and that means nothing in the language.
  std::string misspelt(const std::string& name);
};

// A place in a line of a draft.
struct Place {
  std::size_t line;
  Token token;
};
// Some token that passes, of some line that passes; `holds` sees the line's tokens and the index of one.
std::optional<Place> some_token(
    Draft& draft, const std::function<bool(const SourceLine&)>& line_holds,
    const std::function<bool(const std::string&, const std::vector<Token>&, std::size_t)>& holds);

// The line (from 0) at which a text was made wrong; nothing when it has no place for that.
using MaybeLine = std::optional<std::size_t>;
// Misspells the name at the place and gives its line; nothing when there is no place.
MaybeLine misspell(Draft& draft, const std::optional<Place>& place);
// A new line above `at`, with the same indentation; `at` again.
MaybeLine insert_above(Draft& draft, MaybeLine at, const std::string& text);

// Where the value of a binding or store begins; npos when the line has none.
std::size_t value_begin(const std::string& line);

struct MutationRule {
  const char* name;
  ErrorClass error_class;
  MaybeLine (*apply)(Draft&);  // breaks the rule in the draft
  bool surface = false;        // in programs that are generated as text
};

std::span<const MutationRule> syntax_mutations();   // mutate_syntax.cpp
std::span<const MutationRule> name_mutations();     // mutate_names.cpp
std::span<const MutationRule> type_mutations();     // mutate_types.cpp
std::span<const MutationRule> loop_mutations();     // mutate_loops.cpp
std::span<const MutationRule> control_mutations();  // mutate_control.cpp
std::vector<MutationRule> mutation_rules();

// The mutant of a seed under a rule; nothing when the seed's program has no place for it.
std::optional<Mutant> mutant_of(const MutationRule& rule, std::uint64_t seed);

// What became of a mutant.
struct Verdict {
  bool refused = false;
  bool class_right = false;
  bool line_right = false;
  bool mended = false;  // by the fixes of the first error
  std::string told;     // the first error as "line: Class: message [id]"
};
Verdict verdict_on(const Mutant& mutant);
// The program itself on the mutant's text, in both tiers: empty when both refuse it in the same words and
// with the class's exit code, and no crash; else what differs.
std::string refusal_of_program(const Mutant& mutant);

}  // namespace relish::generate
