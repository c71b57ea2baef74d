// Collecting rules and their showings, and the page made of both.
#include "tests/manual/diagnostics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "ir/operators/op.h"
#include "stdlib/surface.h"
#include "support/failure.h"
#include "tests/golden/golden_file.h"
#include "tests/manual/source_literals.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

// The folders whose faults are a user's.
constexpr std::array folders = {"support",  "frontend", "ir",  "loops", "stdlib", "transform",
                                "schedule", "interp",   "jit", "train", "shell",  "runtime"};
constexpr std::string_view beyond_name = "tests/manual/beyond_texts.txt";

fs::path root() { return RELISH_SOURCE_DIR; }

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_at(ErrorClass::IO, path.string(), "manual.read", "cannot read the file");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Files of a folder in the order of their names.
std::vector<fs::path> files_below(const fs::path& folder, const std::set<std::string>& extensions) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && extensions.contains(entry.path().extension().string()))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Dotted names that are no rules: attributes, modules of Python, operators, files.
bool names_something_else(const std::string& name) {
  constexpr std::array namespaces = {"tvm.", "relish.", "relax.", "llvm.", "tirx.", "tir.", "nn.", "grad."};
  constexpr std::array extensions = {".relish", ".py", ".npy", ".npz",         ".csv", ".json",
                                     ".jsonl",  ".so", ".tmp", ".safetensors", ".md",  ".html"};
  return std::any_of(namespaces.begin(), namespaces.end(),
                     [&](const char* start) { return name.starts_with(start); }) ||
         std::any_of(extensions.begin(), extensions.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

bool is_rule(const std::string& name) {
  static const std::regex form("[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*");
  return std::regex_match(name, form) && !names_something_else(name) && !find_op(name) &&
         group_of_operator(name) == "own";
}

// Whether the rule stands in the text, and not as a part of another name.
bool has_word(const std::string& text, const std::string& rule) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  for (std::size_t at = 0; (at = text.find(rule, at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || !part(text[at - 1]);
    if (begins && (at + rule.size() == text.size() || !part(text[at + rule.size()]))) return true;
  }
  return false;
}

// "message [rule]" in its two parts; no rule when there is none.
std::pair<std::string, std::string> split_rule(const std::string& text) {
  static const std::regex form("^(.*) \\[([a-z0-9_]+\\.[a-z0-9_]+)\\]$");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return {};
  return {match[1], match[2]};
}

// The diagnostics in the texts that a program shows: "file:3:5: error[TypeError]: message [rule]", or
// "relish: error[UsageError]: …" for a fault outside of texts.
std::vector<std::pair<std::string, Showing>> shown_in(const std::string& text, const std::string& file) {
  static const std::regex form("(^|\n)([^\n]*?): (error\\[(\\w+)\\]|warning|note): ([^\n]*)");
  static const std::regex with_column(".*:[0-9]+:[0-9]+");
  std::vector<std::pair<std::string, Showing>> found;
  for (std::sregex_iterator i(text.begin(), text.end(), form), end; i != end; ++i) {
    auto [message, rule] = split_rule((*i)[5].str());
    if (rule.empty()) continue;
    const std::string place = (*i)[2];
    static const std::regex with_line(".*:[0-9]+");
    const bool placed = std::regex_match(place, with_column) || !std::regex_match(place, with_line);
    found.emplace_back(rule, Showing{(*i)[4].matched ? (*i)[4].str() : (*i)[3].str(), message, file, placed});
  }
  return found;
}

std::string_view word_of(Severity severity) { return severity == Severity::Warning ? "warning" : "note"; }

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace

DiagnosticTable::DiagnosticTable() {
  find_rules();
  find_operator_rules();
  find_showings();
  read_beyond();
}

void DiagnosticTable::find_rules() {
  for (const char* folder : folders) {
    for (const fs::path& path : files_below(root() / folder, {".cpp", ".h"})) {
      const std::string source = read_text(path);
      for (const SourceLiteral& literal : literals_of(source)) {
        if (!is_rule(literal.text)) continue;
        rules_.emplace(literal.text, fmt::format("{}:{}", fs::relative(path, root()).string(), literal.line));
      }
    }
  }
}

void DiagnosticTable::find_operator_rules() {
  for (const Op* op : all_ops()) {
    for (const Reject& reject : op->rejects) {
      of_operators_.emplace(std::string(reject.constraint),
                            Showing{"TypeError", fmt::format("{}: … {}", short_name_of(*op), reject.message),
                                    fmt::format("R.{}({})", op->name, reject.args), true});
    }
  }
}

void DiagnosticTable::find_showings() {
  const auto show = [&](const std::string& rule, const Showing& showing) {
    const auto [found, is_new] = showings_.emplace(rule, showing);
    if (!is_new && !found->second.placed && showing.placed) found->second = showing;
  };
  const fs::path folder = root() / "tests/golden";
  for (const fs::path& path : files_below(folder, {".relish", ".py", ".session"})) {
    const std::string name = fs::relative(path, folder).string();
    const GoldenFile file = read_golden_file(path.string(), name);
    for (const Expectation& expectation : file.expectations) {
      const auto [message, rule] = split_rule(expectation.text);
      const bool error = expectation.severity == Severity::Error;
      if (rule.empty() || (error && expectation.error_class.empty())) continue;
      show(rule, {error ? expectation.error_class : std::string(word_of(expectation.severity)), message,
                  "golden/" + name, expectation.column != 0 || expectation.line == 0});
    }
    for (const std::optional<std::string>& output : {file.error_output, file.output}) {
      if (!output) continue;
      for (const auto& [rule, showing] : shown_in(*output, "golden/" + name)) show(rule, showing);
    }
    if (file.command == "repl") {
      for (const auto& [rule, showing] : shown_in(file.source, "golden/" + name)) show(rule, showing);
    }
  }
}

void DiagnosticTable::read_beyond() {
  std::ifstream stream(root() / beyond_name);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::size_t reason = std::min(line.find_first_not_of(' ', blank), line.size());
    beyond_.push_back({line.substr(0, blank), line.substr(reason), number});
  }
}

// "npz.*" speaks for a theme; a line of its own comes first.
const DiagnosticTable::Beyond* DiagnosticTable::beyond(const std::string& rule) const {
  const std::string theme = rule.substr(0, rule.find('.')) + ".*";
  for (const std::string& wanted : {rule, theme}) {
    for (const Beyond& line : beyond_) {
      if (line.rule == wanted) return &line;
    }
  }
  return nullptr;
}

std::vector<std::string> DiagnosticTable::faults() const {
  std::vector<std::string> faults;
  std::set<std::string> needed;
  std::map<std::string, std::string> unit_tests;
  for (const auto& [rule, place] : rules_) {
    if (of_operators_.contains(rule)) continue;
    const auto shown = showings_.find(rule);
    if (shown != showings_.end() && shown->second.placed) continue;
    const Beyond* line = beyond(rule);
    if (!line) {
      faults.push_back(shown == showings_.end()
                           ? fmt::format("{}: no golden file shows '{}'", place, rule)
                           : fmt::format("{}: tests/{} shows '{}' without line and column", place,
                                         shown->second.file, rule));
      continue;
    }
    needed.insert(line->rule);
    if (!line->reason.starts_with("tests/")) continue;
    const std::string test = line->reason.substr(0, line->reason.find(' '));
    const auto text = unit_tests.try_emplace(test).first;
    if (text->second.empty()) text->second = read_text(root() / test);
    if (!has_word(text->second, rule))
      faults.push_back(fmt::format("{}:{}: {} does not break '{}'", beyond_name, line->line, test, rule));
  }
  for (const Beyond& line : beyond_) {
    if (!needed.contains(line.rule))
      faults.push_back(fmt::format("{}:{}: '{}' needs no line", beyond_name, line.line, line.rule));
    if (line.reason.empty())
      faults.push_back(fmt::format("{}:{}: '{}' has no reason", beyond_name, line.line, line.rule));
  }
  return faults;
}

std::string DiagnosticTable::page() const {
  std::string page =
      "# Diagnostics\n\n"
      "Every rule that a message can name in its brackets, with an example of the message and the file "
      "below\n"
      "`tests/` that shows it at its line and column. Made by `./dev docs`; how messages are written stands "
      "in\n"
      "[messages.md](messages.md), the rules of single operators in [operators.md](operators.md).\n\n"
      "| Rule | Class | Example | Shown in |\n|---|---|---|---|\n";
  for (const auto& [rule, place] : rules_) {
    if (of_operators_.contains(rule)) continue;
    const auto shown = showings_.find(rule);
    const Beyond* line = beyond(rule);
    if (shown != showings_.end() && (shown->second.placed || !line)) {
      const Showing& showing = shown->second;
      page += fmt::format("| `{}` | {} | {} | [{}](../tests/{}) |\n", rule, showing.error_class,
                          in_cell(showing.message), showing.file.substr(showing.file.find('/') + 1),
                          showing.file);
    } else {
      page += fmt::format("| `{}` | | | {} |\n", rule, line ? in_cell(line->reason) : "");
    }
  }
  return page;
}

}  // namespace relish::testing
