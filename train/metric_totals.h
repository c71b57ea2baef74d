// Metrics of the training rows as the steps tell them: each batch gives sums (transform/metric_sums.h), and
// what an epoch has of them is part of the state of a job.
#pragma once

#include <span>
#include <vector>

#include "train/metrics.h"
#include "train/observer.h"

namespace relish {

class MetricTotals {
 public:
  // `metrics`: those of predictions, in the order of the steps' sums; `width`: how many sums a batch tells.
  MetricTotals(std::vector<Metric> metrics, std::size_t width);

  // Sums of batches, one behind the other, into those of the batches before; empty ones are none.
  void add(std::span<const double> batches, std::vector<double>& totals) const;
  Metrics values(const std::vector<double>& totals) const;

 private:
  struct Part {
    const Metric& metric;
    std::size_t first, count;  // of its sums
  };
  std::vector<Part> parts() const;

  std::vector<Metric> metrics_;
  std::size_t width_;
};

}  // namespace relish
