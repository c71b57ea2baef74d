// Reading and rewriting of golden files.
#include "tests/golden/golden_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "support/failure.h"

namespace relish::testing {
namespace {

constexpr std::string_view output_heading = "# expect";
constexpr std::string_view error_heading = "# expect stderr";
constexpr std::string_view block_mark = "#|";

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string read_whole(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_at(ErrorClass::IO, path, "golden.read", "cannot read the file");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string trimmed(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

// "# name: value" of the head; no name when the line is none of these.
std::pair<std::string, std::string> directive(const std::string& line) {
  static const std::regex form(
      R"(^# (test|about|like|pipe|given|shows|stdin|stdout|signal|tolerance|exit):\s*(.*)$)");
  std::smatch match;
  if (!std::regex_match(line, match, form)) return {};
  return {match[1], trimmed(match[2].str())};
}

const std::regex& expectation_form() {
  static const std::regex form(R"(# (error|warning|note)(\[(\w+)\])?(@(\d+))?: )");
  return form;
}

// Cuts the expectations off the end of a line.
std::vector<Expectation> take_expectations(std::string& line, std::uint32_t number) {
  std::vector<Expectation> found;
  std::vector<std::size_t> starts, texts;
  for (std::sregex_iterator i(line.begin(), line.end(), expectation_form()), end; i != end; ++i) {
    const std::smatch& match = *i;
    Expectation expectation;
    expectation.line = number;
    expectation.severity = match[1] == "error"     ? Severity::Error
                           : match[1] == "warning" ? Severity::Warning
                                                   : Severity::Note;
    expectation.error_class = match[3];
    if (match[5].matched) expectation.column = static_cast<std::uint32_t>(std::stoul(match[5]));
    starts.push_back(static_cast<std::size_t>(match.position()));
    texts.push_back(static_cast<std::size_t>(match.position() + match.length()));
    found.push_back(expectation);
  }
  if (found.empty()) return found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::size_t end = i + 1 < found.size() ? starts[i + 1] : line.size();
    found[i].text = trimmed(std::string_view(line).substr(texts[i], end - texts[i]));
  }
  line = line.substr(0, starts.front());
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
  return found;
}

std::string without_expectations(std::string line) {
  take_expectations(line, 0);
  return line;
}

void apply_directive(GoldenFile& file, const std::string& name, const std::string& value) {
  if (name == "test") {
    std::size_t blank = value.find(' ');
    file.command = value.substr(0, blank);
    file.options = blank == std::string::npos ? "" : trimmed(value.substr(blank));
  } else if (name == "like") {
    file.like = value;
  } else if (name == "pipe") {
    file.pipes.push_back(value);
  } else if (name == "given") {
    file.given.push_back(value);
  } else if (name == "shows") {
    file.shows.push_back(value);
  } else if (name == "stdin") {
    file.input = value;
  } else if (name == "stdout") {
    file.output_to = value;
  } else if (name == "signal") {
    file.signal = value;
  } else if (name == "tolerance") {
    file.tolerance = value;
  } else if (name == "exit") {
    file.exit_code = std::stoi(value);
  }
}

// The parts of a file by line: the head ends at `body`, the expected blocks begin at `blocks`.
struct Layout {
  std::vector<std::string> lines;
  std::size_t body = 0;
  std::size_t blocks = 0;
};

Layout lay_out(std::string_view text) {
  Layout layout{split_lines(text)};
  while (layout.body < layout.lines.size() && !directive(layout.lines[layout.body]).first.empty())
    ++layout.body;
  layout.blocks = layout.lines.size();
  for (std::size_t i = layout.body; i < layout.lines.size(); ++i) {
    if (layout.lines[i] == output_heading || layout.lines[i] == error_heading) {
      layout.blocks = i;
      break;
    }
  }
  return layout;
}

void read_blocks(GoldenFile& file, const Layout& layout) {
  std::optional<std::string>* block = nullptr;
  for (std::size_t i = layout.blocks; i < layout.lines.size(); ++i) {
    const std::string& line = layout.lines[i];
    if (line == output_heading) {
      block = &file.output;
      *block = "";
    } else if (line == error_heading) {
      block = &file.error_output;
      *block = "";
    } else if (line.starts_with(block_mark)) {
      std::string_view rest = std::string_view(line).substr(block_mark.size());
      if (rest.starts_with(' ')) rest.remove_prefix(1);
      **block += std::string(rest) + "\n";
    } else if (!trimmed(line).empty()) {
      fail_at(ErrorClass::Usage, fmt::format("{}:{}", file.path, i + 1), "golden.block",
              fmt::format("found a line outside the expected block; its lines begin with '{}'", block_mark));
    }
  }
}

std::string block_text(std::string_view heading, std::string_view text) {
  std::string result(heading);
  result += '\n';
  for (const std::string& line : split_lines(text)) {
    result += line.empty() ? std::string(block_mark) + "\n" : fmt::format("{} {}\n", block_mark, line);
  }
  return result;
}

std::string severity_word(const Told& told) {
  if (told.severity == Severity::Error) return fmt::format("error[{}]", told.error_class);
  return told.severity == Severity::Warning ? "warning" : "note";
}

// New inline expectations by line: every diagnostic with its class and column, and the notes that the file
// asked for.
std::map<std::uint32_t, std::vector<std::string>> inline_texts(const GoldenFile& file,
                                                               const Outcome& outcome) {
  std::map<std::uint32_t, std::vector<std::string>> result;
  for (const Told& told : told_by(file, outcome.diagnostics)) {
    const auto asked = [&](const Expectation& expectation) {
      return expectation.severity == Severity::Note && expectation.line == told.line;
    };
    const bool note = told.severity == Severity::Note;
    if (note && std::none_of(file.expectations.begin(), file.expectations.end(), asked)) continue;
    const std::string column = told.line == 0 || told.rule.empty() ? "" : fmt::format("@{}", told.column);
    result[told.line].push_back(fmt::format("# {}{}: {}", severity_word(told), column, told.with_rule()));
  }
  return result;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (char c : text) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> GoldenFile::words() const { return split_words(options); }

std::optional<std::string> GoldenFile::option(std::string_view flag) const {
  std::vector<std::string> all = words();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == flag) return i + 1 < all.size() ? all[i + 1] : std::string();
  }
  return std::nullopt;
}

std::string without_times(const std::string& text) {
  static const std::regex form(R"([0-9.e+]+ s \([0-9.e+]+ steps/s\))");
  return std::regex_replace(text, form, "<time>");
}

std::vector<Told> told_by(const GoldenFile& file, const std::vector<Diagnostic>& diagnostics) {
  const std::string own_name = std::filesystem::path(file.path).filename().string();
  const std::string folder = std::filesystem::path(file.path).parent_path().string() + "/";
  std::vector<Told> all;
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto add = [&](Span span, Severity severity, std::string text, const std::string& rule) {
      const SourceFile* source = Sources::instance().find(span.file);
      const bool here = source && source->name() == own_name;
      const LineColumn at = here ? source->position(span.begin) : LineColumn{};
      all.push_back({at.line, at.column, severity, std::string(name_of(diagnostic.error_class)),
                     std::move(text), rule});
    };
    std::string place = diagnostic.place;
    if (place.starts_with(folder)) place.erase(0, folder.size());
    add(diagnostic.span, diagnostic.severity,
        place.empty() ? diagnostic.message : place + ": " + diagnostic.message, diagnostic.id);
    for (const DiagnosticNote& note : diagnostic.notes) {
      add(note.span.known() ? note.span : diagnostic.span, Severity::Note, note.text, "");
    }
  }
  return all;
}

GoldenFile read_golden_file(const std::string& path, const std::string& name) {
  GoldenFile file;
  file.path = path;
  file.name = name;
  Layout layout = lay_out(read_whole(path));
  for (std::size_t i = 0; i < layout.body; ++i) {
    auto [key, value] = directive(layout.lines[i]);
    apply_directive(file, key, value);
    file.source += '\n';
  }
  if (file.command.empty()) {
    fail_at(ErrorClass::Usage, path, "golden.header", "found no first line '# test: COMMAND'");
  }
  // A transcript and a text for another program keep every comment.
  const bool inline_expectations = file.command != "repl" && file.command != "screen";
  for (std::size_t i = layout.body; i < layout.blocks; ++i) {
    std::string line = layout.lines[i];
    auto number = static_cast<std::uint32_t>(i + 1);
    if (inline_expectations) {
      std::vector<Expectation> found = take_expectations(line, number);
      if (!found.empty() && trimmed(line).empty()) {  // alone: of the line above
        for (Expectation& expectation : found) {
          // Of the nearest line above that is not such a comment itself; below the head, of no line.
          std::size_t above = i;
          while (above > layout.body && trimmed(without_expectations(layout.lines[above - 1])).empty() &&
                 !trimmed(layout.lines[above - 1]).empty()) {
            --above;
          }
          expectation.line = above == layout.body ? 0 : static_cast<std::uint32_t>(above);
        }
        line.clear();
      }
      file.expectations.insert(file.expectations.end(), found.begin(), found.end());
    }
    file.source += line + '\n';
  }
  read_blocks(file, layout);
  return file;
}

std::string updated_text(const GoldenFile& file, const Outcome& outcome) {
  Layout layout = lay_out(read_whole(file.path));
  const bool rewrite_inline = (!file.expectations.empty() || !outcome.diagnostics.empty()) &&
                              file.command != "repl" && file.command != "screen" && file.command != "cli";
  std::map<std::uint32_t, std::vector<std::string>> found;
  if (rewrite_inline) found = inline_texts(file, outcome);
  std::string text;
  for (std::size_t i = 0; i < layout.body; ++i) text += layout.lines[i] + '\n';
  if (outcome.transcript) return text + *outcome.transcript;
  for (const std::string& expectation : found[0]) text += expectation + '\n';
  for (std::size_t i = layout.body; i < layout.blocks; ++i) {
    std::string line = layout.lines[i];
    if (rewrite_inline) {
      const bool had = !take_expectations(line, 0).empty();
      if (had && trimmed(line).empty()) continue;
      for (const std::string& expectation : found[static_cast<std::uint32_t>(i + 1)])
        line += "  " + expectation;
    }
    text += line + '\n';
  }
  if (file.output || (!outcome.output.empty() && file.expectations.empty())) {
    text += block_text(output_heading, outcome.output);
  }
  if (file.error_output || (!outcome.error_output.empty() && file.command == "cli")) {
    text += block_text(error_heading, outcome.error_output);
  }
  return text;
}

}  // namespace relish::testing
