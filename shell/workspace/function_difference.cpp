// Alignment of lines, first by their texts, then by their texts without names; what is aligned counts as the
// same when its names stand for values that are.
#include "shell/workspace/function_difference.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "shell/program/line_alignment.h"

namespace relish {
namespace {

constexpr std::size_t no_value = static_cast<std::size_t>(-1);

bool begins_word(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool in_word(char c) { return begins_word(c) || (c >= '0' && c <= '9'); }

struct ValueWord {
  std::size_t begin, end;
  bool defines;
};

struct TextLine {
  std::string_view text;
  std::vector<ValueWord> words;    // that stand for values
  std::vector<std::size_t> value;  // of each: a number of its definition; no_value for a name from elsewhere
  std::size_t exact = 0, shape = 0;  // numbers of the text, and of the text without names
  std::size_t partner = no_value;    // the line of the other text that it is taken for
  bool same = false;
  bool moved = false;  // its partner stands somewhere else
};

struct PrintedText {
  std::vector<TextLine> lines;
  std::size_t values = 0;
};

// Words outside strings, those behind a '.' or in front of a '=' of an argument left out.
std::vector<ValueWord> words_of(std::string_view line) {
  std::vector<ValueWord> words;
  char quote = 0;
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const bool header = line.substr(first).starts_with("def ");
  const bool loop = line.substr(first).starts_with("for ");
  bool targets = loop;
  for (std::size_t at = first; at < line.size(); ++at) {
    if (quote != 0) {
      if (line[at] == '\\')
        ++at;
      else if (line[at] == quote)
        quote = 0;
      continue;
    }
    if (line[at] == '"' || line[at] == '\'') quote = line[at];
    if (!begins_word(line[at]) || (at > 0 && (in_word(line[at - 1]) || line[at - 1] == '.'))) continue;
    std::size_t end = at;
    while (end < line.size() && in_word(line[end])) ++end;
    const std::string_view rest = line.substr(end);
    if (loop && line.substr(at, end - at) == "in") targets = false;
    const bool argument = rest.starts_with('=');  // signs of operators stand behind a blank
    const bool defines = (at == first && (rest.starts_with(": ") || rest.starts_with(" = "))) ||
                         (header && rest.starts_with(": ")) || (targets && at > first + 3);
    if (!argument) words.push_back({at, end, defines});
    at = end - 1;
  }
  return words;
}

using Numbers = std::unordered_map<std::string, std::size_t>;

std::size_t numbered_as(Numbers& numbers, std::string text) {
  const std::size_t next = numbers.size();
  return numbers.emplace(std::move(text), next).first->second;
}

PrintedText read_lines(std::string_view text, Numbers& exact, Numbers& shapes) {
  PrintedText result;
  std::unordered_set<std::string_view> defined;
  while (!text.empty()) {
    TextLine line;
    line.text = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.text.size() + 1, text.size()));
    line.words = words_of(line.text);
    for (const ValueWord& word : line.words)
      if (word.defines) defined.insert(line.text.substr(word.begin, word.end - word.begin));
    result.lines.push_back(std::move(line));
  }
  std::unordered_map<std::string_view, std::size_t> present;
  for (TextLine& line : result.lines) {
    const auto name_of = [&](const ValueWord& word) {
      return line.text.substr(word.begin, word.end - word.begin);
    };
    std::erase_if(line.words, [&](const ValueWord& word) { return !defined.contains(name_of(word)); });
    for (const ValueWord& word : line.words) {
      const auto found = present.find(name_of(word));
      line.value.push_back(found == present.end() ? no_value : found->second);
    }
    // A header's parameters are part of what the function is.
    const bool header =
        line.text.substr(std::min(line.text.find_first_not_of(' '), line.text.size())).starts_with("def ");
    std::string shape;
    std::size_t at = 0;
    for (std::size_t i = 0; i < line.words.size(); ++i) {
      const ValueWord& word = line.words[i];
      if (word.defines) present[name_of(word)] = line.value[i] = result.values++;
      if (header) continue;
      shape += line.text.substr(at, word.begin - at);
      shape += '$';
      at = word.end;
    }
    shape += line.text.substr(at);
    line.exact = numbered_as(exact, std::string(line.text));
    line.shape = numbered_as(shapes, std::move(shape));
  }
  return result;
}

// The name that a line binds, where it is one.
std::optional<std::string_view> only_definition(const TextLine& line) {
  std::optional<std::string_view> name;
  for (const ValueWord& word : line.words) {
    if (!word.defines) continue;
    if (name) return std::nullopt;
    name = line.text.substr(word.begin, word.end - word.begin);
  }
  return name;
}

class LineComparison {
 public:
  LineComparison(PrintedText before, PrintedText after)
      : before_(std::move(before)), after_(std::move(after)), value_of_(before_.values, no_value) {}

  FunctionDifference run() {
    align();
    find_moved();
    for (std::size_t i = 0; i < before_.lines.size(); ++i) judge(i);
    collect();
    return std::move(result_);
  }

 private:
  void align();
  void align_between(const std::vector<std::size_t>& removed, const std::vector<std::size_t>& added);
  void find_moved();
  void judge(std::size_t i);
  void collect();
  // Takes the lines for each other: what one defines is what the other defines.
  void pair(std::size_t i, std::size_t j) {
    TextLine& a = before_.lines[i];
    TextLine& b = after_.lines[j];
    a.partner = j;
    b.partner = i;
    map_definitions(a, b);
  }
  void map_definitions(const TextLine& a, const TextLine& b) {
    std::vector<std::size_t> made;
    for (std::size_t k = 0; k < b.words.size(); ++k)
      if (b.words[k].defines) made.push_back(b.value[k]);
    std::size_t next = 0;
    for (std::size_t k = 0; k < a.words.size(); ++k)
      if (a.words[k].defines && next < made.size()) value_of_[a.value[k]] = made[next++];
  }

  PrintedText before_, after_;
  std::vector<std::size_t> value_of_;  // of definitions of the first text in the second
  FunctionDifference result_;
};

void LineComparison::align() {
  std::vector<std::size_t> a, b;
  for (const TextLine& line : before_.lines) a.push_back(line.exact);
  for (const TextLine& line : after_.lines) b.push_back(line.exact);
  std::vector<std::size_t> removed, added;
  for (const AlignedLine& step : aligned_lines(a, b)) {
    if (step.mark == '-') removed.push_back(step.before);
    if (step.mark == '+') added.push_back(step.after);
    if (step.mark != ' ') continue;
    align_between(removed, added);
    removed.clear();
    added.clear();
    pair(step.before, step.after);
  }
  align_between(removed, added);
}

void LineComparison::align_between(const std::vector<std::size_t>& removed,
                                   const std::vector<std::size_t>& added) {
  std::vector<std::size_t> a, b;
  for (const std::size_t i : removed) a.push_back(before_.lines[i].shape);
  for (const std::size_t j : added) b.push_back(after_.lines[j].shape);
  std::vector<std::size_t> left, come;
  // A line that is written otherwise still makes what the line of the same name made, else the line in its
  // place.
  const auto replace = [&] {
    std::unordered_map<std::string_view, std::size_t> by_name;
    for (const std::size_t j : come)
      if (const auto name = only_definition(after_.lines[j])) by_name[*name] = j;
    std::unordered_set<std::size_t> taken;
    const auto is_named = [&](std::size_t i) {
      const auto name = only_definition(before_.lines[i]);
      const auto found = name ? by_name.find(*name) : by_name.end();
      if (found == by_name.end() || !taken.insert(found->second).second) return false;
      map_definitions(before_.lines[i], after_.lines[found->second]);
      return true;
    };
    std::erase_if(left, is_named);
    std::erase_if(come, [&](std::size_t j) { return taken.contains(j); });
    for (std::size_t k = 0; k < std::min(left.size(), come.size()); ++k)
      map_definitions(before_.lines[left[k]], after_.lines[come[k]]);
    left.clear();
    come.clear();
  };
  for (const AlignedLine& step : aligned_lines(a, b)) {
    if (step.mark == '-') left.push_back(removed[step.before]);
    if (step.mark == '+') come.push_back(added[step.after]);
    if (step.mark != ' ') continue;
    replace();
    pair(removed[step.before], added[step.after]);
  }
  replace();
}

// Lines without a partner that stand somewhere else in the other text.
void LineComparison::find_moved() {
  std::unordered_multimap<std::size_t, std::size_t> alone;
  for (std::size_t j = after_.lines.size(); j-- > 0;)
    if (after_.lines[j].partner == no_value) alone.emplace(after_.lines[j].exact, j);
  for (std::size_t i = 0; i < before_.lines.size(); ++i) {
    if (before_.lines[i].partner != no_value || before_.lines[i].words.empty()) continue;
    const auto found = alone.find(before_.lines[i].exact);
    if (found == alone.end()) continue;
    pair(i, found->second);
    before_.lines[i].moved = after_.lines[found->second].moved = true;
    alone.erase(found);
  }
}

void LineComparison::judge(std::size_t i) {
  TextLine& a = before_.lines[i];
  if (a.partner == no_value) return;
  TextLine& b = after_.lines[a.partner];
  a.same = a.shape == b.shape && a.words.size() == b.words.size();
  for (std::size_t k = 0; a.same && k < a.words.size(); ++k) {
    if (a.words[k].defines) continue;
    const std::size_t value = a.value[k];
    a.same = value == no_value ? b.value[k] == no_value : value_of_[value] == b.value[k];
  }
  b.same = a.same;
  if (!a.same) return;
  for (std::size_t k = 0; k < a.words.size(); ++k) {
    if (!a.words[k].defines) continue;
    std::string old(a.text.substr(a.words[k].begin, a.words[k].end - a.words[k].begin));
    std::string now(b.text.substr(b.words[k].begin, b.words[k].end - b.words[k].begin));
    if (old != now) result_.renamed.emplace_back(std::move(old), std::move(now));
  }
}

void LineComparison::collect() {
  std::size_t i = 0, j = 0;
  while (i < before_.lines.size() || j < after_.lines.size()) {
    Hunk hunk{i + 1, j + 1, {}, {}, false};
    bool all_moved = true;
    const auto stays = [](const TextLine& line) { return line.same && !line.moved; };
    for (; i < before_.lines.size() && !stays(before_.lines[i]); ++i) {
      hunk.removed.emplace_back(before_.lines[i].text);
      all_moved &= before_.lines[i].same && before_.lines[i].moved;
    }
    const std::size_t next = i < before_.lines.size() ? before_.lines[i].partner : after_.lines.size();
    for (; j < next; ++j) {
      hunk.added.emplace_back(after_.lines[j].text);
      all_moved &= after_.lines[j].same && after_.lines[j].moved;
    }
    hunk.moved = all_moved;
    if (!hunk.removed.empty() || !hunk.added.empty()) result_.hunks.push_back(std::move(hunk));
    if (i < before_.lines.size()) ++i, ++j;
  }
}

}  // namespace

FunctionDifference function_difference(std::string_view before, std::string_view after) {
  Numbers exact, shapes;
  PrintedText first = read_lines(before, exact, shapes);
  PrintedText second = read_lines(after, exact, shapes);
  return LineComparison(std::move(first), std::move(second)).run();
}

}  // namespace relish
