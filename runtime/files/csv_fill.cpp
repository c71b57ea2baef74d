// Means and medians of columns.
#include "runtime/files/csv_fill.h"

#include <algorithm>

namespace relish {

std::optional<ColumnStatistic::Kind> ColumnStatistic::kind_of(std::string_view word) {
  if (word == "mean") return Kind::Mean;
  if (word == "median") return Kind::Median;
  return std::nullopt;
}

void ColumnStatistic::add(double value) {
  ++count_;
  if (kind_ == Kind::Mean) {
    const double corrected = value - lost_;
    const double sum = sum_ + corrected;
    lost_ = (sum - sum_) - corrected;
    sum_ = sum;
    return;
  }
  // A vector grows to twice its size at most.
  if (values_.size() == values_.capacity())
    held_.grow_to(2 * sizeof(double) * (values_.size() + 1), "the values of a column");
  values_.push_back(value);
}

std::optional<double> ColumnStatistic::value() {
  if (count_ == 0) return std::nullopt;
  if (kind_ == Kind::Mean) return sum_ / static_cast<double>(count_);
  const auto middle = values_.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
  std::nth_element(values_.begin(), middle, values_.end());
  if (count_ % 2 == 1) return *middle;
  return *std::max_element(values_.begin(), middle) / 2 + *middle / 2;
}

}  // namespace relish
