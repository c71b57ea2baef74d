// The greedy algorithm of Myers over lines: paths of growing numbers of changes, the furthest point of each
// diagonal.
#include "shell/program/line_alignment.h"

#include <algorithm>

namespace relish {
namespace {

// Beyond so many changes the memory of the paths, which grows with their square, is not worth a shorter diff.
constexpr int most_line_changes = 1000;

// The steps between the common beginning and end, in order.
std::vector<AlignedLine> middle_steps(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, most_line_changes);
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
  std::vector<AlignedLine> steps;
  if (changes < 0) {
    for (std::size_t i = 0; i < a.size(); ++i) steps.push_back({'-', i, 0});
    for (std::size_t i = 0; i < b.size(); ++i) steps.push_back({'+', a.size(), i});
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
      --x, --y;
      steps.push_back({' ', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
    }
    if (down) {
      --y;
      steps.push_back({'+', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
    } else {
      --x;
      steps.push_back({'-', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
    }
  }
  while (x > 0) {
    --x, --y;
    steps.push_back({' ', static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

std::vector<AlignedLine> aligned_lines(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<AlignedLine> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', i, i});
  const auto cut = [&](const std::vector<std::size_t>& lines) {
    return std::vector<std::size_t>(lines.begin() + static_cast<std::ptrdiff_t>(head),
                                    lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  for (const AlignedLine& step : middle_steps(cut(a), cut(b)))
    steps.push_back({step.mark, head + step.before, head + step.after});
  for (std::size_t i = tail; i > 0; --i) steps.push_back({' ', a.size() - i, b.size() - i});
  return steps;
}

}  // namespace relish
