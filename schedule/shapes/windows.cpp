// Finding windows: every index of the factor, and what its guard compares, is looked at.
#include "schedule/shapes/windows.h"

#include <algorithm>
#include <numeric>

namespace relish {
namespace {

// The whole numbers by which a factor uses axes: indices of loads, operands of comparisons. False when it
// uses one of the axes otherwise.
bool collect_positions(const Scalar& value, const std::vector<const Axis*>& axes, std::vector<Scalar>& into) {
  if (std::none_of(axes.begin(), axes.end(), [&](const Axis* axis) { return mentions(value, *axis); }))
    return true;
  const auto all = [&](const std::vector<Scalar>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Scalar& part) { return collect_positions(part, axes, into); });
  };
  if (const auto* loaded = value.as<Load>()) {
    into.insert(into.end(), loaded->indices.begin(), loaded->indices.end());
    return true;
  }
  if (const auto* compared = value.as<Compare>()) {
    if (is_float(compared->a.dtype())) return all({compared->a, compared->b});
    into.push_back(compared->a);
    into.push_back(compared->b);
    return true;
  }
  if (const auto* chosen = value.as<Select>()) return all({chosen->condition, chosen->a, chosen->b});
  if (const auto* joined = value.as<Logical>()) return all({joined->a, joined->b});
  if (const auto* denied = value.as<Not>()) return all({denied->a});
  if (const auto* node = value.as<Binary>(); node && is_float(value.dtype())) return all({node->a, node->b});
  if (const auto* node = value.as<Cast>(); node && is_float(node->a.dtype())) return all({node->a});
  return false;
}

// By how much a position counts on with the axis; none when it does not by a number.
std::optional<std::int64_t> step(const Scalar& position, const Axis& axis, RangeProver& prover) {
  const auto stride = prover.stride(position, axis.loop->var);
  return stride ? stride->constant() : std::nullopt;
}

// The term that positions add to the column. None when they do not agree on it.
std::optional<WindowAxis> window_of_column(const Axis* column, const std::vector<const Axis*>& summed,
                                           const std::vector<Scalar>& positions, RangeProver& prover) {
  WindowAxis result{column};
  for (const Scalar& position : positions) {
    const auto by_column = step(position, *column, prover);
    if (!by_column) return std::nullopt;
    if (*by_column == 0) continue;
    for (const Axis* term : summed) {
      const auto by_term = step(position, *term, prover);
      if (!by_term) return std::nullopt;
      if (*by_term == 0) continue;
      WindowAxis met{column, term, 1};
      if (*by_term % *by_column == 0)
        met.spacing = *by_term / *by_column;
      else if (*by_column % *by_term == 0 && *by_column / *by_term > 0)
        met.step = *by_column / *by_term;
      else
        return std::nullopt;
      if (result.term && (result.term != term || result.spacing != met.spacing || result.step != met.step))
        return std::nullopt;
      result = met;
    }
  }
  if (!result.term) return result;
  const auto terms = result.term->loop->extent.as_int();
  if (!terms) return std::nullopt;
  result.terms = *terms;
  // The term is nowhere without the column.
  const bool together = std::all_of(positions.begin(), positions.end(), [&](const Scalar& position) {
    const auto by_column = step(position, *column, prover), by_term = step(position, *result.term, prover);
    return by_term && *by_term * result.step == result.spacing * *by_column;
  });
  return together ? std::optional(result) : std::nullopt;
}

// The term that positions add to the row; one without a term when none does. None when they do not agree on
// it, or on how far apart rows are beside terms.
std::optional<Meeting> meeting_of_row(const Axis* row, const std::vector<const Axis*>& summed,
                                      const std::vector<Scalar>& positions, RangeProver& prover) {
  Meeting result{row};
  for (const Scalar& position : positions) {
    const auto by_row = step(position, *row, prover);
    if (!by_row) return std::nullopt;
    for (const Axis* term : summed) {
      const auto by_term = step(position, *term, prover);
      if (!by_term) return std::nullopt;
      if (*by_row == 0 || *by_term == 0) continue;
      const std::int64_t shared = std::gcd(*by_row, *by_term) * (*by_row < 0 ? -1 : 1);
      const Meeting found{row, term, *by_row / shared, *by_term / shared};
      if (result.term &&
          (result.term != term || result.row_step != found.row_step || result.term_step != found.term_step))
        return std::nullopt;
      result = found;
    }
  }
  if (!result.term) return result;
  // Neither is anywhere without the other.
  const bool together = std::all_of(positions.begin(), positions.end(), [&](const Scalar& position) {
    return (step(position, *row, prover) == 0) == (step(position, *result.term, prover) == 0);
  });
  return together && (result.row_step == 1 || result.reach() == 1) ? std::optional(result) : std::nullopt;
}

}  // namespace

std::vector<Meeting> meetings_of(const Nest& nest, const Scalar& factor, const std::vector<const Axis*>& rows,
                                 const std::vector<const Axis*>& summed, RangeProver& prover) {
  std::vector<const Axis*> axes = rows;
  axes.insert(axes.end(), summed.begin(), summed.end());
  std::vector<Scalar> positions;
  if (!collect_positions(factor, axes, positions)) return {};
  enter(nest, prover);
  std::vector<Meeting> found;
  bool agree = true;
  for (const Axis* row : rows) {
    const auto meeting = meeting_of_row(row, summed, positions, prover);
    agree = agree && meeting && std::none_of(found.begin(), found.end(), [&](const Meeting& other) {
              return other.term == meeting->term;
            });
    if (!agree) break;
    if (meeting->term) found.push_back(*meeting);
  }
  leave(nest, prover);
  return agree ? found : std::vector<Meeting>();
}

std::vector<WindowAxis> windows_of(const Nest& nest, const Scalar& factor,
                                   const std::vector<const Axis*>& columns,
                                   const std::vector<const Axis*>& summed, RangeProver& prover) {
  std::vector<const Axis*> axes = columns;
  axes.insert(axes.end(), summed.begin(), summed.end());
  std::vector<Scalar> positions;
  if (!collect_positions(factor, axes, positions)) return {};
  enter(nest, prover);
  std::vector<WindowAxis> found;
  for (const Axis* column : columns) {
    const auto window = column->loop->extent.as_int() ? window_of_column(column, summed, positions, prover)
                                                      : std::optional<WindowAxis>();
    const bool taken = window && window->term &&
                       std::any_of(found.begin(), found.end(),
                                   [&](const WindowAxis& other) { return other.term == window->term; });
    if (!window || taken)
      found.clear();
    else if (window->term || !found.empty())
      found.push_back(*window);
  }
  leave(nest, prover);
  return found;
}

}  // namespace relish
