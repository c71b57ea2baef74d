// Lines of the account.
#include "transform/gradient/path_account.h"

#include <algorithm>

namespace relish {

void PathAccount::note(const Binding& binding, bool active, std::string rule) {
  const auto [place, fresh] = by_var_.try_emplace(binding.var().id(), lines_.size());
  if (!fresh) return;
  GradientLine line;
  line.function = functions_.empty() ? std::string() : functions_.back();
  line.binding = binding.var().name();
  line.span = binding.span.known() ? binding.span : binding.value().span();
  line.active = active;
  if (active) line.rule = std::move(rule);
  lines_.push_back(std::move(line));
}

void PathAccount::keep(const Var& var, std::string how, std::optional<std::int64_t> bytes) {
  const auto found = by_var_.find(var.id());
  if (found == by_var_.end()) return;
  lines_[found->second].kept = std::move(how);
  lines_[found->second].bytes = bytes;
}

void tell_taped(const Cut& cut, PathAccount& account) {
  for (const Var& var : cut.kept) account.keep(var, "on a tape, each call", std::nullopt);
  for (const Binding& binding : cut.again) account.keep(binding.var(), "computed again", 0);
}

std::vector<GradientLine> PathAccount::lines() const {
  std::vector<std::string> order;
  for (const GradientLine& line : lines_)
    if (std::find(order.begin(), order.end(), line.function) == order.end()) order.push_back(line.function);
  std::vector<GradientLine> result;
  for (const std::string& function : order)
    for (const GradientLine& line : lines_)
      if (line.function == function) result.push_back(line);
  return result;
}

}  // namespace relish
