// Metrics by numbers made by hand, over batches that are summed up.
#include "train/metrics.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/catch_failure.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::LinearEvaluator;
using testing::rule_of;

double metric_of(const Metric& metric, const Tensor& predictions, const Tensor& targets, std::int64_t counted,
                 const Judgement& judgement = {}) {
  LinearEvaluator evaluator;
  const auto sum = make_metric_sum(metric, judgement, evaluator, nullptr);
  // The rows in two batches, of which the second has more than count.
  const std::int64_t rows = predictions.shape().front();
  std::vector<std::int64_t> first = {0}, rest;
  for (std::int64_t row = 1; row < rows; ++row) rest.push_back(row);
  for (const auto& part : {first, rest}) {
    const Tensor own = gather_rows(targets, part);
    const bool head = part.size() == 1;
    const Tensor given = gather_rows(predictions, part);
    sum->add({&given, 1}, {&own, 1}, head ? 1 : counted - 1);
  }
  return sum->value();
}

TEST_CASE("differences are means over elements, and rows that do not count are left out") {
  const Tensor p = Tensor::from<double>({4, 2}, std::vector<double>{1, 2, 3, 4, 5, 7, 100, 100});
  const Tensor t = Tensor::from<double>({4, 2}, std::vector<double>{1, 0, 2, 4, 8, 7, 0, 0});
  CHECK(metric_of("mse", p, t, 3) == Approx((4 + 1 + 9) / 6.0));
  CHECK(metric_of("mae", p, t, 3) == Approx((2 + 1 + 3) / 6.0));
  // Columns (1, 2, 8) and (0, 4, 7): what is left is 10 and 4 of their spreads.
  const double spread0 = 69 - 121 / 3.0, spread1 = 65 - 121 / 3.0;
  CHECK(metric_of("r2", p, t, 3) == Approx(((1 - 10 / spread0) + (1 - 4 / spread1)) / 2));
  const Tensor narrow = Tensor::zeros(DType::Float64, {4, 1});
  CHECK(rule_of([&] { metric_of("mse", p, narrow, 3); }) == "DataError: metric.values");
}

TEST_CASE("top_k counts the greatest, the first of equals before the others") {
  const Tensor p = Tensor::from<float>({4, 3}, std::vector<float>{3, 2, 1, 1, 1, 1, 0, NAN, 9, 5, 6, 7});
  const Tensor t = Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{1, 2, 2, -100});
  Metric top("top_k");
  Judgement judgement;
  judgement.ignored_label = -100;
  top.k = 2;
  CHECK(metric_of(top, p, t, 4, judgement) == Approx(1 / 3.0));
  top.k = 3;
  CHECK(metric_of(top, p, t, 4, judgement) == Approx(2 / 3.0));
  top.k = 4;
  CHECK(rule_of([&] { metric_of(top, p, t, 4, judgement); }) == "DataError: metric.logits");
}

TEST_CASE("perplexity is e to the mean negative log-likelihood") {
  const Tensor p = Tensor::from<double>({3, 2}, std::vector<double>{0, 0, std::log(3.0), 0, 1000, 0});
  const Tensor t = Tensor::from<std::int64_t>({3}, std::vector<std::int64_t>{0, 0, 0});
  CHECK(metric_of("perplexity", p, t, 3) == Approx(std::exp((std::log(2.0) + std::log(4 / 3.0)) / 3)));
  CHECK(Metric("perplexity").less_is_better);
  CHECK(!Metric("r2").less_is_better);
}

}  // namespace
}  // namespace relish
