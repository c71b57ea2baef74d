// A golden file: an ordinary program with its expectations in comments, so that users can read and run it.
//
//   # test: check --option           what is done with the text below
//   # exit: 4                        its exit code, where the class does not say it
//   y = R.exp(1)  # error[TypeError]@7: message [rule]   at the end of the line it speaks of, or alone on the
//                                                        line below; class, column and rule may be left out
//   # expect                                             the whole output, to the end of the file
//   #| first line
//
// Expectations are cut out of the text under test by blanking, so its lines keep their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"

namespace relish::testing {

// A comment that promises a diagnostic.
struct Expectation {
  std::uint32_t line =
      0;  // that the diagnostic must have; 0: it has no place in the file (written below the head)
  Severity severity = Severity::Error;
  std::string error_class;   // "TypeError"; empty: any
  std::uint32_t column = 0;  // 0: any
  std::string text;          // part of the message with its rule in brackets
};

struct GoldenFile {
  std::string path;
  std::string name;                // "check/bad-shape.relish", for reports
  std::string command;             // first word behind "# test:"
  std::string options;             // the rest of that line
  std::string like;                // "# like:" print: a file beside this one with the same canonical text
  std::vector<std::string> pipes;  // "# pipe:" lines, each a command behind the one before
  std::vector<std::string> given;  // "# given:" lines: files that the command finds
  std::vector<std::string> shows;  // "# shows:" lines: files that are shown behind the output
  std::string input;               // "# stdin:" the file of the temporary folder given as standard input
  std::string output_to;           // "# stdout:" closed (nobody reads) or full (a device without room)
  std::string signal;              // "# signal: INT 300" (milliseconds after the start)
  std::string tolerance;           // "# tolerance: 6": agreement class of the numbers in the output
  std::optional<int> exit_code;
  std::string source;  // the text under test
  std::vector<Expectation> expectations;
  std::optional<std::string> output;        // "# expect"
  std::optional<std::string> error_output;  // "# expect stderr"

  // "--dialect 2022" -> "2022"; nothing when the option is absent.
  std::optional<std::string> option(std::string_view flag) const;
  std::vector<std::string> words() const;  // of `options`
};

// Words of a command line: blanks separate, '…' and "…" hold together.
std::vector<std::string> split_words(std::string_view text);

// Throws Failure(UsageError) for a file without a header or with an unknown one.
GoldenFile read_golden_file(const std::string& path, const std::string& name);

// A diagnostic or note as an expectation sees it: its line in the file under test (0 elsewhere) and its text.
struct Told {
  std::uint32_t line = 0, column = 0;
  Severity severity = Severity::Error;
  std::string error_class, text;
  std::string rule;  // empty for what is said beside a diagnostic

  // "message [rule]", as the program shows it.
  std::string with_rule() const { return rule.empty() ? text : text + " [" + rule + "]"; }
};
std::vector<Told> told_by(const GoldenFile& file, const std::vector<Diagnostic>& diagnostics);

// The text of a job with its measured times as "<time>".
std::string without_times(const std::string& text);

// What a file really gave.
struct Outcome {
  std::string output;
  std::string error_output;  // of commands that have one; diagnostics are apart
  std::vector<Diagnostic> diagnostics;
  int exit_code = 0;
  std::vector<std::string> problems;      // laws that do not hold
  std::optional<std::string> transcript;  // of a session: the new text of the file's body
};

// The file with its expectations replaced by what was found.
std::string updated_text(const GoldenFile& file, const Outcome& outcome);

}  // namespace relish::testing
