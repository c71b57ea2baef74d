// The grid and the names of its folders. Points are drawn by the permutation that orders rows too, so that a
// seed gives the same points everywhere, and a greater number the same ones and more.
#include "shell/commands/training/sweep_plan.h"

#include <algorithm>

#include "runtime/philox.h"
#include "support/failure.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

constexpr std::int64_t most_points = 100'000;

// Letters, digits and a few signs that no shell and no file system minds.
std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || c == '+' || c == '=';
    name += plain ? c : '_';
  }
  return name;
}

std::string folder_of(const SweepPoint& point, std::int64_t number) {
  constexpr std::size_t longest = 120;  // file systems take 255
  std::string name;
  for (const auto& [key, value] : point.values)
    name += (name.empty() ? "" : ",") + plain_name(key + "=" + value);
  return name.size() > longest ? fmt::format("point-{}", number) : name;
}

}  // namespace

std::vector<SweepAxis> sweep_axes(const std::vector<std::string>& words) {
  std::vector<SweepAxis> axes;
  for (const std::string& word : words) {
    const std::size_t mark = word.find('=');
    const auto refuse = [&](std::string_view why) {
      fail(ErrorClass::Usage, {}, "sweep.values",
           fmt::format("found '{}'{}; expected NAME=VALUE,VALUE such as lr=0.1,0.01", printable(word), why));
    };
    if (mark == std::string::npos || mark == 0) refuse("");
    if (word.ends_with(',')) refuse(", with an empty value");
    SweepAxis axis{word.substr(0, mark), {}};
    for (const std::string_view value : split_at_commas(std::string_view(word).substr(mark + 1))) {
      if (value.empty()) refuse(", with an empty value");
      if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
        refuse(", with a value that stands twice");
      axis.values.emplace_back(value);
    }
    if (axis.values.empty()) refuse(", without a value");
    if (std::any_of(axes.begin(), axes.end(),
                    [&](const SweepAxis& other) { return other.name == axis.name; }))
      refuse(fmt::format(", and values of {} before", axis.name));
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes, std::int64_t most,
                                     std::uint64_t seed) {
  std::int64_t all = 1;
  for (const SweepAxis& axis : axes) {
    all *= static_cast<std::int64_t>(axis.values.size());
    if (all > most_points)
      fail(ErrorClass::Usage, {}, "sweep.size",
           fmt::format("found more than {} combinations of values; expected fewer", most_points));
  }
  const std::int64_t count = most > 0 ? std::min(most, all) : all;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i)
    chosen.push_back(most > 0 ? permuted_index(key_from_seed(seed), all, i) : i);

  std::vector<SweepPoint> points;
  for (const std::int64_t number : chosen) {
    SweepPoint point;
    std::int64_t rest = number;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const auto size = static_cast<std::int64_t>(axis->values.size());
      point.values.emplace_back(axis->name, axis->values[static_cast<std::size_t>(rest % size)]);
      rest /= size;
    }
    std::reverse(point.values.begin(), point.values.end());
    point.folder = folder_of(point, number);
    const auto same = [&](const SweepPoint& other) { return other.folder == point.folder; };
    if (std::any_of(points.begin(), points.end(), same)) point.folder += fmt::format("-point-{}", number);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace relish
