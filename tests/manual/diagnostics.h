// The table of diagnostics: every rule that the sources name, with the golden file that shows its message at
// its line and column.
//
// Rules are found in the sources: a string literal of the form "theme.rule" is one, unless it is the name of
// an operator, an attribute, a Python module or a file. The rules of operators ("matmul.inner") are those
// that their declarations say are broken, which the test of operators breaks one by one. A rule that no text
// can break stands in tests/manual/beyond_texts.txt, with the unit test that breaks it or the reason why none
// can.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace relish::testing {

// Where a rule is shown to be broken.
struct Showing {
  std::string error_class;  // "TypeError"
  std::string message;
  std::string file;    // below tests: "golden/check/bad-dtype.relish"
  bool placed = true;  // line and column are told, or the fault has no source
};

class DiagnosticTable {
 public:
  // Reads sources and golden files. Throws Failure for a golden file that cannot be read.
  DiagnosticTable();

  // What is not as it should be: rules without a showing, lines of beyond_texts.txt that are not needed. Each
  // is one line of text for a reader.
  std::vector<std::string> faults() const;
  // The page docs/diagnostics.md.
  std::string page() const;
  std::size_t size() const { return rules_.size(); }

 private:
  struct Beyond {
    std::string rule, reason;
    std::size_t line;
  };

  void find_rules();
  void find_operator_rules();
  void find_showings();
  void read_beyond();
  const Beyond* beyond(const std::string& rule) const;

  std::map<std::string, std::string> rules_;     // a rule and its first place, "frontend/reader.cpp:73"
  std::map<std::string, Showing> showings_;      // of rules
  std::map<std::string, Showing> of_operators_;  // rules in the declarations of operators
  std::vector<Beyond> beyond_;
};

}  // namespace relish::testing
