// One function for each way of summing up; what is judged how stands in train/judgement.h, which judges data
// that no step goes over.
#include "transform/metric_sums.h"

#include <algorithm>

#include "ir/nodes/type.h"
#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

const Attributes over_classes = {{"axis", Attribute(AttributeList{Attribute(std::int64_t{1})})}};
const Attributes over_rows = {{"axis", Attribute(AttributeList{Attribute(std::int64_t{0})})}};

const TensorType* shaped(const Expr& value) {
  const TensorType* type = value.type().tensor();
  return type && type->dtype && type->shape && !type->shape->empty() ? type : nullptr;
}

Scalar product_of(std::span<const Scalar> dims) {
  Scalar product(1);
  for (const Scalar& dim : dims) product = product * dim;
  return product;
}

bool same_dims(std::span<const Scalar> one, std::span<const Scalar> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Scalar& a, const Scalar& b) { return prove_equal(a, b); });
}

bool is_number(DType dtype) { return is_float(dtype) || is_int(dtype); }

class MetricWriter {
 public:
  MetricWriter(FunctionBuilder& builder, Module& module, std::span<const Expr> results,
               std::span<const Expr> targets)
      : builder_(builder),
        module_(module),
        results_(results.begin(), results.end()),
        predictions_(results.front()),
        targets_(targets.begin(), targets.end()),
        type_(shaped(predictions_)),
        target_(targets_.empty() ? nullptr : shaped(targets_.front())) {}

  // Pieces of rank 1; none where the types do not say them.
  std::vector<Expr> sums(const StepMetric& metric) {
    if (!type_ || !is_float(*type_->dtype)) return {};
    if (!metric.function.empty()) return of_function(metric);
    if (!target_ || !prove_equal(type_->shape->front(), target_->shape->front())) return {};
    if (metric.name == "accuracy") return accuracy(metric);
    if (metric.name == "top_k") return top_k(metric);
    if (metric.name == "perplexity") return perplexity(metric);
    if (metric.name == "r2") return determination();
    RELISH_CHECK(metric.name == "mse" || metric.name == "mae", metric.name);
    return differences(metric.name == "mse");
  }

 private:
  Expr call(const char* op, std::vector<Expr> args, Attributes attributes = {}) {
    return builder_.call(op, std::move(args), std::move(attributes), "metric");
  }
  static Expr number(double value) { return constant_of(DType::Float64, value); }
  Expr as(const Expr& value, DType dtype) {
    if (*value.type().tensor()->dtype == dtype) return value;
    return call("astype", {value}, {{"dtype", Attribute(dtype)}});
  }
  Expr wide(const Expr& value) { return as(value, DType::Float64); }
  Expr shaped_as(const Expr& value, std::vector<Scalar> dims) {
    if (same_dims(*value.type().tensor()->shape, dims)) return value;
    return call("reshape", {value, shape_literal(std::move(dims))});
  }
  Expr total(const Expr& value) {
    return call("reshape", {call("sum", {wide(value)}), shape_literal({Scalar(1)})});
  }
  // How many elements a tensor of that shape has.
  Expr count(const std::vector<Scalar>& dims) {
    const std::optional<std::int64_t> known = product_of(dims).as_int();
    if (known) {
      Tensor one = Tensor::empty(DType::Float64, {1});
      one.set_double(0, static_cast<double>(*known));
      return constant(one);
    }
    return total(call("ones", {shape_literal(dims)}, {{"dtype", Attribute(DType::Float64)}}));
  }

  std::optional<std::int64_t> classes() const {
    return type_->shape->size() < 2 ? std::int64_t{1} : (*type_->shape)[1].as_int();
  }
  // The shape of the labels of predictions (n, classes, ...).
  std::vector<Scalar> places() const {
    std::vector<Scalar> dims = *type_->shape;
    if (dims.size() >= 2) dims.erase(dims.begin() + 1);
    return dims;
  }
  bool has_labels() const {
    return type_->shape->size() >= 2 && classes().value_or(0) > 0 && is_int(*target_->dtype) &&
           same_dims(*target_->shape, places());
  }

  // The sum over the places whose label counts, and their number.
  std::vector<Expr> over_places(const Expr& values, const Expr& labels, const StepMetric& metric) {
    if (!metric.ignored_label) return {total(values), count(*values.type().tensor()->shape)};
    const DType dtype = *labels.type().tensor()->dtype;
    const Expr ignored = is_float(dtype) ? constant_of(dtype, static_cast<double>(*metric.ignored_label))
                                         : constant(Tensor::scalar_int(DType::Int64, *metric.ignored_label));
    const Expr own = is_float(dtype) ? labels : as(labels, DType::Int64);
    const Expr judged = call("not_equal", {own, ignored});
    return {total(call("where", {judged, wide(values), number(0)})), total(judged)};
  }

  // Places where the greatest of the classes is one, and none of them NaN.
  struct Greatest {
    Expr place, is_number;
  };
  Greatest greatest_of(const Expr& values) {
    const Expr most = call("max", {values}, over_classes);
    return {call("argmax", {values}, {{"axis", Attribute(std::int64_t{1})}}), call("equal", {most, most})};
  }

  std::vector<Expr> accuracy(const StepMetric& metric) {
    const std::optional<std::int64_t> count_of_classes = classes();
    if (!count_of_classes || *count_of_classes == 0) return {};
    if (*count_of_classes == 1) return accuracy_of_column(metric);
    const Greatest found = greatest_of(predictions_);
    if (is_float(*target_->dtype) && same_dims(*target_->shape, *type_->shape)) {
      const Greatest wanted = greatest_of(targets_.front());
      const Expr numbers = call("logical_and", {found.is_number, wanted.is_number});
      const Expr right = call("logical_and", {call("equal", {found.place, wanted.place}), numbers});
      return {total(right), count(places())};
    }
    if (!has_labels()) return {};
    const Expr labels = as(targets_.front(), DType::Int64);
    const Expr right =
        call("logical_and", {call("equal", {as(found.place, DType::Int64), labels}), found.is_number});
    return over_places(right, labels, metric);
  }

  std::vector<Expr> accuracy_of_column(const StepMetric& metric) {
    if (!metric.threshold || !same_size()) return {};
    const DType dtype = *target_->dtype;
    if (!is_number(dtype) && dtype != DType::Bool) return {};
    const Expr found = wide(predictions_);
    const Expr wanted = wide(shaped_as(targets_.front(), *type_->shape));
    const Expr differs = call("logical_xor", {call("greater", {found, number(*metric.threshold)}),
                                              call("greater", {wanted, number(0.5)})});
    const Expr numbers =
        call("logical_and", {call("equal", {found, found}), call("equal", {wanted, wanted})});
    return over_places(call("logical_and", {call("logical_not", {differs}), numbers}), wanted, metric);
  }

  // For each class of a place: whether it is the label, and whether it stands before it.
  struct Labelled {
    Expr is_label, before;
  };
  Labelled labelled() {
    const Scalar number_of_classes(*classes());
    std::vector<Scalar> along(type_->shape->size(), Scalar(1));
    along[1] = number_of_classes;
    const Expr all = shaped_as(call("arange", {scalar_value(Scalar(0)), scalar_value(number_of_classes)}),
                               std::move(along));
    std::vector<Scalar> dims = places();
    dims.insert(dims.begin() + 1, Scalar(1));
    const Expr labels = shaped_as(as(targets_.front(), DType::Int64), std::move(dims));
    return {call("equal", {all, labels}), call("less", {all, labels})};
  }

  std::vector<Expr> top_k(const StepMetric& metric) {
    if (!has_labels() || metric.k > *classes()) return {};
    const Labelled of = labelled();
    const Expr values = wide(predictions_);
    Attributes kept = over_classes;
    kept.emplace_back("keepdims", Attribute(true));
    const Expr own = call("sum", {call("where", {of.is_label, values, number(0)})}, kept);
    const Expr equal_before = call("logical_and", {call("equal", {values, own}), of.before});
    const Expr before = call("logical_or", {call("greater", {values, own}), equal_before});
    const Expr rank = call("sum", {wide(before)}, over_classes);
    const Expr right = call("logical_and", {call("less", {rank, number(static_cast<double>(metric.k))}),
                                            greatest_of(predictions_).is_number});
    return over_places(right, targets_.front(), metric);
  }

  std::vector<Expr> perplexity(const StepMetric& metric) {
    if (!has_labels()) return {};
    const Labelled of = labelled();
    const Expr likelihood =
        call("nn.log_softmax", {wide(predictions_)}, {{"axis", Attribute(std::int64_t{1})}});
    const Expr own = call("sum", {call("where", {of.is_label, likelihood, number(0)})}, over_classes);
    return over_places(call("negative", {own}), targets_.front(), metric);
  }

  bool same_size() const { return prove_equal(product_of(*type_->shape), product_of(*target_->shape)); }

  std::vector<Expr> differences(bool squares) {
    if (!same_size() || !is_number(*target_->dtype)) return {};
    const Expr difference =
        call("subtract", {wide(predictions_), wide(shaped_as(targets_.front(), *type_->shape))});
    return {total(squares ? call("multiply", {difference, difference}) : call("abs", {difference})),
            count(*type_->shape)};
  }

  std::vector<Expr> determination() {
    const std::span<const Scalar> dims = *type_->shape;
    const std::optional<std::int64_t> width = product_of(dims.subspan(1)).as_int();
    if (!width || !same_size() || !is_number(*target_->dtype)) return {};
    const std::vector<Scalar> table = {dims.front(), Scalar(*width)};
    const Expr wanted = wide(shaped_as(targets_.front(), table));
    const Expr left = call("subtract", {wanted, wide(shaped_as(predictions_, table))});
    const Expr mean = call("mean", {wanted}, over_rows);
    const Expr away = call("subtract", {wanted, mean});
    return {count({dims.front()}), call("sum", {call("multiply", {left, left})}, over_rows), mean,
            call("sum", {call("multiply", {away, away})}, over_rows)};
  }

  // A number of the batch counts for each of its rows.
  std::vector<Expr> of_function(const StepMetric& metric) {
    const FunctionPtr function = module_.function(metric.function);
    const std::size_t taken = function->params.size();
    if (taken < 2 || taken > targets_.size() + results_.size()) return {};
    // The first result and some of the targets, or all targets behind as many results as it takes besides.
    const std::size_t own = taken > targets_.size() + 1 ? taken - targets_.size() : 1;
    std::vector<Expr> args(results_.begin(), results_.begin() + static_cast<std::ptrdiff_t>(own));
    args.insert(args.end(), targets_.begin(), targets_.begin() + static_cast<std::ptrdiff_t>(taken - own));
    for (std::size_t i = 0; i < taken; ++i)
      if (fits(args[i].type(), function->params[i].type()) == Fit::Never) return {};
    // Called, not inlined: it may have branches and loops, and no gradient goes through it.
    if (!function->pure || !function->result_type.tensor()) return {};
    const Expr value =
        builder_.emit(function_call(global_ref(GlobalFunction(function)), std::move(args)), "metric");
    const TensorType* type = value.type().tensor();
    const Scalar& rows = type_->shape->front();
    if (!type || !type->dtype || type->rank < 0 || type->rank > 1) return {};
    if (!is_number(*type->dtype) && *type->dtype != DType::Bool) return {};
    if (type->rank == 0) return {call("multiply", {total(value), count({rows})}), count({rows})};
    if (!type->shape || !prove_equal(type->shape->front(), rows)) return {};
    return {total(value), count({rows})};
  }

  FunctionBuilder& builder_;
  Module& module_;
  const std::vector<Expr> results_;
  const Expr predictions_;
  const std::vector<Expr> targets_;
  const TensorType* const type_;
  const TensorType* const target_;
};

}  // namespace

Expr write_metric_sums(FunctionBuilder& builder, Module& module, std::span<const StepMetric> metrics,
                       std::span<const Expr> results, std::span<const Expr> targets) {
  MetricWriter writer(builder, module, results, targets);
  std::vector<Expr> all;
  for (const StepMetric& metric : metrics) {
    const std::vector<Expr> own = writer.sums(metric);
    if (own.empty()) return {};
    all.insert(all.end(), own.begin(), own.end());
  }
  if (all.empty()) return {};
  return builder.call("concat", {tuple(std::move(all))}, {{"axis", Attribute(std::int64_t{0})}},
                      "metric_sums");
}

}  // namespace relish
