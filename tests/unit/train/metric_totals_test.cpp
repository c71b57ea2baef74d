// Sums that steps tell, joined over batches.
#include "train/metric_totals.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace relish {
namespace {

TEST_CASE("sums of batches are joined to the metrics of an epoch") {
  const MetricTotals totals({"accuracy", "r2", "perplexity"}, 2 + 4 + 2);
  std::vector<double> sums;
  // Of r2 the targets 1, 3 with 0.5 left, then 6, 6, 9 with 2 left.
  totals.add(std::vector<double>{1, 2, 2, 0.5, 2, 2, 0, 2}, sums);
  totals.add(std::vector<double>{3, 3, 3, 2, 7, 6, 5, 3}, sums);
  const Metrics values = totals.values(sums);
  CHECK(values.at("accuracy") == Approx(4 / 5.0));
  CHECK(values.at("perplexity") == Approx(std::exp(1)));
  CHECK(values.at("r2") == Approx(1 - 2.5 / (16 + 4 + 1 + 1 + 16)));
  // Batches that come one behind the other are the same.
  std::vector<double> together;
  totals.add(std::vector<double>{1, 2, 2, 0.5, 2, 2, 0, 2, 3, 3, 3, 2, 7, 6, 5, 3}, together);
  CHECK(together == sums);
}

TEST_CASE("an epoch of which nothing counts has no metrics") {
  const MetricTotals totals({"accuracy", "r2"}, 6);
  std::vector<double> sums;
  totals.add({}, sums);
  totals.add(std::vector<double>{0, 0, 0, 0, NAN, 0}, sums);
  CHECK(std::isnan(totals.values(sums).at("accuracy")));
  CHECK(std::isnan(totals.values(sums).at("r2")));
  totals.add(std::vector<double>{1, 1, 1, 0, 5, 0}, sums);
  CHECK(totals.values(sums).at("accuracy") == 1);
  CHECK(std::isnan(totals.values({}).at("accuracy")));
}

}  // namespace
}  // namespace relish
