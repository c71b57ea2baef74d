// The line behind a transform.
#include "shell/workspace/transform_summary.h"

#include <fmt/format.h>

namespace relish {
namespace {

constexpr std::size_t most_listed = 8;

void add_list(std::string& line, std::string_view sign, const std::vector<std::string>& names) {
  if (names.empty()) return;
  if (!line.empty()) line += "  ";
  line += sign;
  for (std::size_t i = 0; i < names.size() && i < most_listed; ++i) line += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > most_listed) line += fmt::format(" and {} more", names.size() - most_listed);
}

}  // namespace

std::string transform_summary(const TransformCall& call) {
  ModuleChanges changes = changes_between(*call.before, *call.after);
  for (std::string& name : changes.replaced) {
    const std::string before = parameters_of(*call.before->find(name));
    const std::string after = parameters_of(*call.after->find(name));
    if (before != after) name = fmt::format("{} (was {})", after, before);
  }
  std::vector<std::string> stale;
  for (const GlobalFunction& function : stale_functions(*call.after)) {
    const OriginPtr origin = origin_of(function);
    stale.push_back(
        fmt::format("{} (made from {} in [{}])", name_of(function), origin->source, origin->input));
  }
  std::string line;
  add_list(line, "+", changes.added);
  add_list(line, "~", changes.replaced);
  add_list(line, "-", changes.removed);
  add_list(line, "stale:", stale);
  return line.empty() ? "no function changed" : line;
}

}  // namespace relish
