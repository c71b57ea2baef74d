// Places, labels and greatest values.
#include "train/judgement.h"

#include <algorithm>
#include <cmath>

#include "runtime/format.h"
#include "support/failure.h"

namespace relish {
namespace {

// The class of the greatest value of a place; -1 when one of them is NaN.
std::int64_t greatest_class(const Tensor& values, const Classes& places, std::int64_t place) {
  std::int64_t best = 0;
  double best_value = values.get_double(places.index(place, 0));
  if (std::isnan(best_value)) return -1;
  for (std::int64_t c = 1; c < places.classes; ++c) {
    const double value = values.get_double(places.index(place, c));
    if (std::isnan(value)) return -1;
    if (value > best_value) {
      best = c;
      best_value = value;
    }
  }
  return best;
}

[[noreturn]] void refuse_shapes(std::string_view metric, const Tensor& predictions, const Tensor& targets,
                                std::string_view expected) {
  const Shape before_last(predictions.shape().begin(), predictions.shape().end() - (predictions.rank() > 0));
  const bool classes_last = predictions.rank() > 2 && targets.shape() == before_last;
  fail(ErrorClass::Data, {}, "metric.logits",
       fmt::format("{}: found predictions {} {} and targets {} {}; expected {}{}", metric,
                   name_of(predictions.dtype()), format_shape(predictions.shape()), name_of(targets.dtype()),
                   format_shape(targets.shape()), expected,
                   classes_last ? "; classes stand in dimension 1 of predictions of higher rank, as for the "
                                  "loss cross_entropy, and here they seem to stand last"
                                : ""));
}

bool is_number(DType dtype) { return is_float(dtype) || is_int(dtype); }

Hits count_above(const Tensor& predictions, const Tensor& targets, std::int64_t places,
                 const Judgement& judgement) {
  if (!judgement.threshold) {
    fail(
        ErrorClass::Usage, {}, "metric.threshold",
        fmt::format("accuracy: found predictions of one column, {}, and no loss that says from where on they "
                    "are positive; expected accuracy(threshold=0.5), or the loss",
                    format_shape(predictions.shape())));
  }
  if (targets.size() != predictions.size() || (!is_number(targets.dtype()) && targets.dtype() != DType::Bool))
    refuse_shapes("accuracy", predictions, targets, "a number of one column for each row");
  Hits result;
  for (std::int64_t place = 0; place < places; ++place) {
    const double target = targets.get_double(place);
    if (judgement.ignored_label && target == static_cast<double>(*judgement.ignored_label)) continue;
    ++result.places;
    const double value = predictions.get_double(place);
    if (!std::isnan(value) && !std::isnan(target) && (value > *judgement.threshold) == (target > 0.5))
      ++result.hits;
  }
  return result;
}

void check_label(std::string_view metric, std::int64_t label, const Classes& classes,
                 const Judgement& judgement) {
  if (label >= 0 && label < classes.classes) return;
  fail(ErrorClass::Data, {}, "metric.label",
       fmt::format("{}: found the label {}; expected 0 to {}{}", metric, label, classes.classes - 1,
                   label < 0 && !judgement.ignored_label
                       ? ", or a loss with ignore_index, which leaves such rows out"
                       : ""));
}

// Labels (n, ...) of predictions (n, classes, ...); the number of places of the first rows.
std::int64_t places_of_labels(std::string_view metric, const Tensor& predictions, const Tensor& targets,
                              std::int64_t rows) {
  const Shape& shape = predictions.shape();
  Shape labels = shape;
  if (labels.size() >= 2) labels.erase(labels.begin() + 1);
  const bool fits = shape.size() >= 2 && is_float(predictions.dtype()) && is_int(targets.dtype()) &&
                    targets.shape() == labels && shape[1] > 0;
  if (!fits) refuse_shapes(metric, predictions, targets, "floats (n, classes) and integers (n,)");
  RELISH_CHECK(rows <= shape.front());
  return rows * Classes(predictions).inner;
}

Hits count_labels(const Tensor& predictions, const Tensor& targets, std::int64_t places,
                  const Judgement& judgement) {
  const Classes classes(predictions);
  Hits result;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t label = targets.get_int(place);
    if (label == judgement.ignored_label) continue;
    check_label("accuracy", label, classes, judgement);
    ++result.places;
    if (greatest_class(predictions, classes, place) == label) ++result.hits;
  }
  return result;
}

Hits count_greatest(const Tensor& predictions, const Tensor& targets, std::int64_t places) {
  const Classes classes(predictions);
  Hits result;
  result.places = places;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t found = greatest_class(predictions, classes, place);
    if (found >= 0 && found == greatest_class(targets, classes, place)) ++result.hits;
  }
  return result;
}

}  // namespace

Classes::Classes(const Tensor& predictions) {
  const Shape& shape = predictions.shape();
  if (shape.size() >= 2) classes = shape[1];
  for (std::size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
}

std::int64_t counted_places(const Tensor& targets, std::int64_t rows, const Judgement& judgement) {
  if (!judgement.ignored_label || !is_int(targets.dtype())) return rows;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < targets.size(); ++i)
    if (targets.get_int(i) != *judgement.ignored_label) ++counted;
  return counted;
}

Hits count_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                const Judgement& judgement) {
  const Shape& shape = predictions.shape();
  if (shape.empty() || !is_float(predictions.dtype()) || targets.rank() == 0 ||
      targets.shape().front() != shape.front())
    refuse_shapes("accuracy", predictions, targets, "floats (n, classes) and integers (n,)");
  RELISH_CHECK(rows <= shape.front());
  const Classes classes(predictions);
  const std::int64_t places = rows * classes.inner;
  if (places == 0) return {};
  if (classes.classes == 1) return count_above(predictions, targets, places, judgement);
  if (targets.shape() == shape && is_float(targets.dtype()))
    return count_greatest(predictions, targets, places);
  Shape labels = shape;
  labels.erase(labels.begin() + 1);
  if (classes.classes == 0 || !is_int(targets.dtype()) || targets.shape() != labels)
    refuse_shapes("accuracy", predictions, targets,
                  "floats (n, classes) and integers (n,), or floats of the predictions' shape");
  return count_labels(predictions, targets, places, judgement);
}

Hits count_top_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows, std::int64_t k,
                    const Judgement& judgement) {
  const std::int64_t places = places_of_labels("top_k", predictions, targets, rows);
  const Classes classes(predictions);
  if (k > classes.classes) {
    fail(ErrorClass::Data, {}, "metric.logits",
         fmt::format("top_k: found predictions of {} classes; expected at least k = {}", classes.classes, k));
  }
  Hits result;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t label = targets.get_int(place);
    if (label == judgement.ignored_label) continue;
    check_label("top_k", label, classes, judgement);
    ++result.places;
    const double own = predictions.get_double(classes.index(place, label));
    std::int64_t before = std::isnan(own) ? k : 0;
    for (std::int64_t c = 0; c < classes.classes && before < k; ++c) {
      const double value = predictions.get_double(classes.index(place, c));
      if (std::isnan(value)) before = k;
      if (value > own || (value == own && c < label)) ++before;
    }
    if (before < k) ++result.hits;
  }
  return result;
}

LogLikelihood negative_log_likelihood(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                                      const Judgement& judgement) {
  const std::int64_t places = places_of_labels("perplexity", predictions, targets, rows);
  const Classes classes(predictions);
  LogLikelihood result;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t label = targets.get_int(place);
    if (label == judgement.ignored_label) continue;
    check_label("perplexity", label, classes, judgement);
    ++result.places;
    double greatest = predictions.get_double(classes.index(place, 0));
    for (std::int64_t c = 1; c < classes.classes; ++c)
      greatest = std::max(greatest, predictions.get_double(classes.index(place, c)));
    double sum = 0;
    for (std::int64_t c = 0; c < classes.classes; ++c)
      sum += std::exp(predictions.get_double(classes.index(place, c)) - greatest);
    result.sum += greatest + std::log(sum) - predictions.get_double(classes.index(place, label));
  }
  return result;
}

}  // namespace relish
