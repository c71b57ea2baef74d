// What stands for the missing cells of a column where it is made of the others: their mean or their median.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "support/memory.h"

namespace relish {

class ColumnStatistic {
 public:
  enum class Kind { Mean, Median };

  // Of the word of an option; none for other words.
  static std::optional<Kind> kind_of(std::string_view word);

  explicit ColumnStatistic(Kind kind) : kind_(kind) {}

  void add(double value);
  // Of what was added; none where that is nothing.
  std::optional<double> value();
  std::string_view name() const { return kind_ == Kind::Mean ? "mean" : "median"; }

 private:
  Kind kind_;
  double sum_ = 0, lost_ = 0;  // and what its rounding lost
  std::size_t count_ = 0;
  std::vector<double> values_;  // of a median
  HeldMemory held_;
};

}  // namespace relish
