// The greedy algorithm of Myers over lines: paths of growing numbers of changes, the furthest point of each
// diagonal.
#include "shell/program/text_diff.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace relish {
namespace {

using Lines = std::vector<std::string_view>;

// Beyond so many changes the memory of the paths, which grows with their square, is not worth a shorter diff.
constexpr int most_changes = 1000;
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

struct Step {
  char mark;  // ' ', '-', '+'
  std::string_view line;
};

// The steps between the common beginning and end, in order.
std::vector<Step> middle_steps(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, most_changes);
  std::vector<std::vector<int>> rounds;  // furthest x of diagonals -d…d before round d
  std::vector<int> furthest(2 * static_cast<std::size_t>(most) + 3, 0);
  auto at = [&](std::vector<int>& values, int diagonal) -> int& {
    return values[static_cast<std::size_t>(diagonal + most + 1)];
  };
  int changes = -1;
  for (int d = 0; d <= most && changes < 0; ++d) {
    rounds.push_back(furthest);
    for (int k = -d; k <= d; k += 2) {
      bool down = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) ++x;
      at(furthest, k) = x;
      if (x >= n && x - k >= m) {
        changes = d;
        break;
      }
    }
  }
  std::vector<Step> steps;
  if (changes < 0) {
    for (std::string_view line : a) steps.push_back({'-', line});
    for (std::string_view line : b) steps.push_back({'+', line});
    return steps;
  }
  int x = n, y = m;
  for (int d = changes; d > 0; --d) {
    std::vector<int>& before = rounds[static_cast<std::size_t>(d)];
    int k = x - y;
    bool down = k == -d || (k != d && at(before, k - 1) < at(before, k + 1));
    int from = down ? k + 1 : k - 1;
    int from_x = at(before, from), from_y = from_x - from;
    while (x > from_x && y > from_y) {
      steps.push_back({' ', a[static_cast<std::size_t>(x - 1)]});
      --x, --y;
    }
    if (down) {
      steps.push_back({'+', b[static_cast<std::size_t>(--y)]});
    } else {
      steps.push_back({'-', a[static_cast<std::size_t>(--x)]});
    }
  }
  while (x > 0) {
    steps.push_back({' ', a[static_cast<std::size_t>(--x)]});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

std::string text_diff(std::string_view before, std::string_view after) {
  const Lines a = lines_of(before), b = lines_of(after);
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', a[i]});
  const auto cut = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  for (const Step& step : middle_steps(cut(a), cut(b))) steps.push_back(step);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) steps.push_back({' ', a[i]});

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
      body += steps[k].line;
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
