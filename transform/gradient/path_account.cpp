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
  vars_.push_back({binding.var().id()});
}

void PathAccount::count_with(const Var& part, const Var& whole) {
  const auto found = by_var_.find(whole.id());
  if (found == by_var_.end() || !by_var_.try_emplace(part.id(), found->second).second) return;
  vars_[found->second].push_back(part.id());
}

void PathAccount::keep(const Var& var, std::string how, std::optional<std::int64_t> bytes) {
  if (by_var_.contains(var.id())) kept_.insert_or_assign(var.id(), Kept{std::move(how), bytes});
}

GradientLine PathAccount::with_kept(std::size_t line) const {
  GradientLine result = lines_[line];
  for (const std::uint64_t id : vars_[line]) {
    const auto found = kept_.find(id);
    if (found == kept_.end()) continue;
    const auto& [how, bytes] = found->second;
    const bool first = result.kept.empty();
    if (first) result.kept = how;
    if (first)
      result.bytes = bytes;
    else if (result.bytes && bytes)
      *result.bytes += *bytes;
    else
      result.bytes.reset();
  }
  return result;
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
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (lines_[i].function == function) result.push_back(with_kept(i));
  return result;
}

}  // namespace relish
