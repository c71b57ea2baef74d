// Unified hunks of aligned lines.
#include "shell/program/text_diff.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "shell/program/line_alignment.h"

namespace relish {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t context_lines = 3;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string text_diff(std::string_view before, std::string_view after) {
  const Lines a = lines_of(before), b = lines_of(after);
  std::unordered_map<std::string_view, std::size_t> numbers;
  const auto numbered = [&](const Lines& lines) {
    std::vector<std::size_t> result;
    for (std::string_view line : lines) result.push_back(numbers.emplace(line, numbers.size()).first->second);
    return result;
  };
  const std::vector<std::size_t> before_lines = numbered(a);
  const std::vector<AlignedLine> steps = aligned_lines(before_lines, numbered(b));
  const auto line_of = [&](const AlignedLine& step) {
    return step.mark == '+' ? b[step.after] : a[step.before];
  };

  // Hunks: changes that stand no further apart than their context.
  std::string text;
  std::size_t line_a = 1, line_b = 1;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t change = i;
    while (change < steps.size() && steps[change].mark == ' ') ++change;
    if (change == steps.size()) break;
    const std::size_t begin = std::max(i, change > context_lines ? change - context_lines : 0);
    std::size_t last = change;
    for (std::size_t k = change; k < steps.size() && k <= last + 2 * context_lines; ++k) {
      if (steps[k].mark != ' ') last = k;
    }
    const std::size_t end = std::min(steps.size(), last + 1 + context_lines);
    line_a += begin - i;
    line_b += begin - i;
    std::size_t count_a = 0, count_b = 0;
    std::string body;
    for (std::size_t k = begin; k < end; ++k) {
      count_a += steps[k].mark != '+';
      count_b += steps[k].mark != '-';
      body += steps[k].mark;
      body += line_of(steps[k]);
      body += '\n';
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n", count_a ? line_a : line_a - 1, count_a,
                        count_b ? line_b : line_b - 1, count_b);
    text += body;
    line_a += count_a;
    line_b += count_b;
    i = end;
  }
  return text;
}

}  // namespace relish
