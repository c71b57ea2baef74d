// Nearest names by the optimal-string-alignment form of the Damerau-Levenshtein distance.
#include "support/suggest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace relish {
namespace {

// Longer names are not compared: the cost is quadratic and nobody mistypes them by hand.
constexpr std::size_t max_compared_length = 64;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({substitution, previous[j] + 1, current[j - 1] + 1});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wanted, std::span<const std::string> candidates) {
  if (wanted.empty() || wanted.size() > max_compared_length) return std::nullopt;
  std::string wanted_lower = lower(wanted);
  const std::string* best = nullptr;
  std::size_t best_cost = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > max_compared_length) continue;
    std::size_t longer = std::max(candidate.size(), wanted.size());
    std::size_t shorter = std::min(candidate.size(), wanted.size());
    std::size_t allowed = (longer + 1) / 3;
    if (longer - shorter > allowed) continue;
    std::size_t distance = edit_distance(wanted_lower, lower(candidate));
    if (distance > allowed) continue;
    // Distance without regard to case decides; among equals the exact case wins.
    std::size_t cost = 2 * distance + (candidate == wanted ? 0 : 1);
    if (best == nullptr || cost < best_cost) {
      best = &candidate;
      best_cost = cost;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

namespace {

// "bce" of "binary_cross_entropy"; empty for one word.
std::string initials(std::string_view name) {
  std::string letters;
  for (std::size_t at = 0; at < name.size(); ++at)
    if (name[at] != '_' && (at == 0 || name[at - 1] == '_')) letters += name[at];
  return letters.size() > 1 ? lower(letters) : std::string();
}

std::string question(const std::optional<std::string>& name) {
  return name ? fmt::format("; did you mean '{}'?", *name) : std::string();
}

}  // namespace

std::optional<std::string> nearest_choice(std::string_view wanted, std::span<const std::string> choices) {
  if (std::optional<std::string> nearest = nearest_name(wanted, choices)) return nearest;
  constexpr std::size_t least_letters = 3;
  const std::string beginning = lower(wanted);
  const std::string* found = nullptr;
  for (const std::string& choice : choices) {
    if (!beginning.empty() && initials(choice) == beginning) return choice;
    if (beginning.size() >= least_letters && lower(choice).starts_with(beginning) &&
        (!found || choice.size() < found->size()))
      found = &choice;
  }
  return found ? std::optional(*found) : std::nullopt;
}

std::string did_you_mean_choice(std::string_view wanted, std::span<const std::string> choices) {
  return question(nearest_choice(wanted, choices));
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string> candidates) {
  return question(nearest_name(wanted, candidates));
}

}  // namespace relish
