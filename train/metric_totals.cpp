// A mean is a sum and a count. The squares of r2 are taken around the mean of each batch, and moved to the
// mean of all where two batches meet, so that no sum of squares grows beyond what is left of it.
#include "train/metric_totals.h"

#include <cmath>

#include "support/failure.h"

namespace relish {
namespace {

constexpr std::size_t sums_of_mean = 2;

bool is_determination(const Metric& metric) { return metric.function.empty() && metric.name == "r2"; }

std::size_t columns_of(std::size_t sums) { return (sums - 1) / 3; }

void join_determination(std::span<const double> batch, std::span<double> total) {
  const double count = batch[0], before = total[0], all = count + before;
  if (count == 0) return;
  const std::size_t columns = columns_of(batch.size());
  for (std::size_t left = 1; left <= columns; ++left) {
    const std::size_t mean = left + columns, spread = mean + columns;
    const double away = batch[mean] - total[mean];
    total[left] += batch[left];
    total[mean] += away * count / all;
    total[spread] += batch[spread] + away * away * before * count / all;
  }
  total[0] = all;
}

double determination(std::span<const double> total) {
  const std::size_t columns = columns_of(total.size());
  if (total[0] == 0 || columns == 0) return std::nan("");
  double sum = 0;
  for (std::size_t left = 1; left <= columns; ++left) sum += 1 - total[left] / total[left + 2 * columns];
  return sum / static_cast<double>(columns);
}

}  // namespace

MetricTotals::MetricTotals(std::vector<Metric> metrics, std::size_t width)
    : metrics_(std::move(metrics)), width_(width) {
  RELISH_CHECK(!parts().empty());
}

// Each metric is asked for once, so that r2 has what the others leave.
std::vector<MetricTotals::Part> MetricTotals::parts() const {
  std::size_t means = 0;
  for (const Metric& metric : metrics_) means += is_determination(metric) ? 0 : sums_of_mean;
  std::vector<Part> result;
  std::size_t first = 0;
  for (const Metric& metric : metrics_) {
    result.push_back({metric, first, is_determination(metric) ? width_ - means : sums_of_mean});
    first += result.back().count;
  }
  RELISH_CHECK(first == width_, "sums of metrics");
  return result;
}

void MetricTotals::add(std::span<const double> batches, std::vector<double>& totals) const {
  RELISH_CHECK(batches.size() % width_ == 0);
  totals.resize(width_);
  for (; !batches.empty(); batches = batches.subspan(width_)) {
    for (const Part& part : parts()) {
      const std::span<const double> batch = batches.subspan(part.first, part.count);
      const std::span<double> total = std::span(totals).subspan(part.first, part.count);
      if (is_determination(part.metric)) {
        join_determination(batch, total);
      } else {
        for (std::size_t i = 0; i < part.count; ++i) total[i] += batch[i];
      }
    }
  }
}

Metrics MetricTotals::values(const std::vector<double>& totals) const {
  std::vector<double> sums = totals;
  sums.resize(width_);
  Metrics result;
  for (const Part& part : parts()) {
    const std::span<const double> own = std::span<const double>(sums).subspan(part.first, part.count);
    if (is_determination(part.metric)) {
      result[part.metric.name] = determination(own);
      continue;
    }
    const double mean = own[1] == 0 ? std::nan("") : own[0] / own[1];
    const bool is_exponent = part.metric.function.empty() && part.metric.name == "perplexity";
    result[part.metric.name] = is_exponent ? std::exp(mean) : mean;
  }
  return result;
}

}  // namespace relish
