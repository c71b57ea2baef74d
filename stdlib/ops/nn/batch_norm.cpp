// Batch normalization.
#include "stdlib/families/reductions/normalization.h"

namespace relish::ops_nn_batch_norm {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"gamma", ParamKind::Tensor, "tensor", "", "factors of the channels, of rank 1"},
    {"beta", ParamKind::Tensor, "tensor", "", "what is added to the channels, of rank 1"},
    {"moving_mean", ParamKind::Tensor, "tensor", "", "running means of the channels, of rank 1"},
    {"moving_var", ParamKind::Tensor, "tensor", "", "running variances of the channels, of rank 1"},
    {"axis", ParamKind::Attribute, "int", "", "axis of the channels"},
    {"epsilon", ParamKind::Attribute, "float", "1e-05", "added to the variance"},
    {"center", ParamKind::Attribute, "bool", "True", "whether beta is added"},
    {"scale", ParamKind::Attribute, "bool", "True", "whether gamma multiplies"},
    {"momentum", ParamKind::Attribute, "float", "0.1", "weight of this batch in the running values"},
    {"training", ParamKind::Attribute, "bool", "True",
     "whether the batch's statistics are used and joined to the running ones"}};

constexpr std::size_t moving_mean = 3, moving_var = 4;

bool training(const CallView& call) { return normalization::flag(call, "training"); }
double momentum_of(const CallView& call) { return *call.attribute("momentum").as<double>(); }

Normalization norm_of(const CallView& call, int rank) {
  const int channel = normal_axis(call, call.int_attribute("axis"), rank);
  Normalization n;
  n.axes = normalization::other_axes({channel}, rank);
  n.weighted = {channel};
  n.epsilon = normalization::epsilon_of(call);
  if (normalization::flag(call, "scale")) n.gamma = 1;
  if (normalization::flag(call, "center")) n.beta = 2;
  return n;
}

Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType& data = call.tensor(0);
  normalization::epsilon_of(call);
  std::optional<Dims> expected;
  if (const int rank = shape_of(data).rank; rank >= 0)
    expected = normalization::dims_at(call, {normal_axis(call, call.int_attribute("axis"), rank)});
  for (std::size_t i = 1; i < 5; ++i) normalization::require_parameter(call, i, expected);
  const TensorType statistics{data.dtype, expected, 1};
  return TupleType{{data, statistics, statistics}};
}

Value evaluate(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Normalization n = norm_of(c.call, data.rank());
  const std::int64_t channels = data.shape()[static_cast<std::size_t>(n.weighted[0])];
  for (std::size_t i = 1; i < 5; ++i) normalization::require_shape(c, i, {channels});
  Tensor mean = c.in(moving_mean), variance = c.in(moving_var);
  Moments used;
  visit_float(data.dtype(), [&](auto element) {
    using T = decltype(element);
    if (!training(c.call)) {
      for (const T& value : mean.template view<T>()) used.mean.push_back(to_sum(value));
      for (const T& value : variance.template view<T>()) used.variance.push_back(to_sum(value));
      return;
    }
    used = moments<T>(data, data.shape(), n.axes);
    const double momentum = momentum_of(c.call);
    const auto joined = [&](const Tensor& old, const std::vector<double>& batch) {
      Tensor result = Tensor::empty(old.dtype(), old.shape());
      for (std::size_t i = 0; i < batch.size(); ++i) {
        result.template mutable_view<T>()[i] =
            T((1 - momentum) * to_sum(old.template view<T>()[i]) + momentum * batch[i]);
      }
      return result;
    };
    mean = joined(mean, used.mean);
    variance = joined(variance, used.variance);
  });
  return Value::tuple({normalization::evaluate(c, n, &used), mean, variance});
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  std::vector<Buffer> in;
  for (std::size_t i = 0; i < 5; ++i) in.push_back(lowering.input(i));
  const Normalization n = norm_of(c.call, in[0].rank());
  const Scalar& channels = in[0].shape()[static_cast<std::size_t>(n.weighted[0])];
  for (std::size_t i = 1; i < 5; ++i) {
    lowering.require_equal(
        in[i].shape()[0], channels,
        fmt::format("batch_norm: {} does not have the shape that the data ask for", in[i].name()));
  }
  const Buffer result = lowering.output(0, "result");
  const Buffer new_mean = lowering.output(1, "new_mean"), new_var = lowering.output(2, "new_var");
  const DType wide = compute_dtype(in[0].dtype());
  MomentBuffers moments{in[moving_mean], in[moving_var]};
  if (training(c.call)) moments = normalization::lower_own_moments(lowering, n, in[0]);
  normalization::lower(lowering, n, in[0], n.gamma ? &in[1] : nullptr, n.beta ? &in[2] : nullptr, moments,
                       result);
  const auto joined = [&](const Buffer& target, const Buffer& old, const Buffer& batch) {
    lowering.map(target.name(), target, [&](const Dims& i) {
      Scalar before = lowering.load_as(wide, old, i);
      if (!training(c.call)) return before;
      return before * float_literal(wide, 1 - momentum_of(c.call)) +
             lowering.load_as(wide, batch, i) * float_literal(wide, momentum_of(c.call));
    });
  };
  joined(new_mean, in[moving_mean], moments.mean);
  joined(new_var, in[moving_var], moments.variance);
  return lowering.finish();
}

// `data` and what the new running values have to do with the data: their cotangents through mean and
// variance.
GraphValue with_statistics(const GraphValue& data, const GradientRule& rule, const CallView& call,
                           const Normalization& n, const GraphValue& deviation) {
  if (!rule.arrived(1) && !rule.arrived(2)) return data;
  const Dims dims = rule.dims(0);
  const double momentum = momentum_of(call);
  const auto spread = [&](const GraphValue& g, double factor) {
    const GraphValue count = reduction::count_like(g, reduction::count_of(dims, n.axes));
    return normalization::along_view(n, g * constant_like(g, factor) / count, static_cast<int>(dims.size()));
  };
  return data + (spread(rule.cotangent(1), momentum) + deviation * spread(rule.cotangent(2), 2 * momentum));
}

// Of the batch's own statistics: they depend on the data, and so do the new running values. The sums that the
// parameters get are also what moving and stretching a channel takes out of the data's partial.
Partials training_partials(const VjpCall& c, const GradientRule& rule, const Normalization& n) {
  const Dims dims = rule.dims(0);
  const int rank = static_cast<int>(dims.size());
  const GraphValue g = rule.cotangent(0);
  const normalization::Standardized x = normalization::standardized(rule, n);
  const auto along = [&](const GraphValue& value) { return normalization::along_view(n, value, rank); };
  const auto summed = [&](const GraphValue& value) {
    GraphValue sum = normalization::as_parameter(rule, n, 1, value);
    sum.leaf();
    return sum;
  };
  const GraphValue total = summed(g), stretched = summed(g * x.normalized);
  GraphValue data = g;
  if (rule.call().tensor(0).dtype == DType::Float16) {
    // Sums of these may be out of range, whose means are not.
    data = g - mean_over(g, n.axes) - x.normalized * mean_over(g * x.normalized, n.axes);
  } else {
    const GraphValue count = reduction::count_like(total, reduction::count_of(dims, n.axes));
    data = g - along(total / count) - x.normalized * along(stretched / count);
  }
  data = data * (n.gamma ? along(rule.argument(1)) * x.scale : x.scale);
  const GraphValue gm = rule.cotangent(1), gv = rule.cotangent(2);
  const double kept = 1 - momentum_of(c.call);
  Partials partials(5);
  partials[0] = with_statistics(data, rule, c.call, n, x.deviation).expr();
  partials[1] = n.gamma ? stretched.expr() : normalization::unused_parameter(rule, 1);
  partials[2] = n.beta ? total.expr() : normalization::unused_parameter(rule, 2);
  partials[moving_mean] = (gm * constant_like(gm, kept)).expr();
  partials[moving_var] = (gv * constant_like(gv, kept)).expr();
  return partials;
}

// Of given statistics: y = gamma * (x - mean) * s + beta with s = 1 / sqrt(variance + epsilon), whose slope
// over the variance is -s^3 / 2.
Partials inference_partials(const GradientRule& rule, const Normalization& n) {
  const int rank = static_cast<int>(rule.dims(0).size());
  const GraphValue x = rule.argument(0), g = rule.cotangent(0);
  const auto along = [&](std::size_t i) { return normalization::along_view(n, rule.argument(i), rank); };
  const auto summed = [&](const GraphValue& value) { return normalization::as_parameter(rule, n, 1, value); };
  const GraphValue deviation = x - along(moving_mean);
  const GraphValue variance = rule.argument(moving_var);
  const GraphValue scale = constant_like(x, 1) / call_op("sqrt", {variance + constant_like(x, n.epsilon)});
  scale.leaf();
  const GraphValue factor = n.gamma ? rule.argument(1) * scale : scale;
  factor.leaf();
  const GraphValue stretched = summed(g * deviation), total = summed(g);
  Partials partials(5);
  partials[0] = (g * normalization::along_view(n, factor, rank)).expr();
  partials[1] = n.gamma ? (stretched * scale).expr() : normalization::unused_parameter(rule, 1);
  partials[2] = n.beta ? total.expr() : normalization::unused_parameter(rule, 2);
  partials[moving_mean] = (rule.cotangent(1) - total * factor).expr();
  partials[moving_var] =
      (rule.cotangent(2) - stretched * factor * (scale * scale) * constant_like(x, 0.5)).expr();
  return partials;
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Normalization n = norm_of(c.call, static_cast<int>(rule.dims(0).size()));
  return training(c.call) ? training_partials(c, rule, n) : inference_partials(rule, n);
}

constexpr Sample samples[] = {
    {"[[1.0, 4.0], [3.0, 0.0]], [1.0, 2.0], [0.5, 0.0], [1.0, 0.0], [1.0, 1.0], axis=1, epsilon=0.0, "
     "momentum=0.5",
     "(tensor([[-0.5, 2.0], [1.5, -2.0]]), tensor([1.5, 1.0]), tensor([1.0, 2.5]))"},
    {"[[1.0, 4.0], [3.0, 0.0]], [1.0, 2.0], [0.5, 0.0], [1.0, 0.0], [1.0, 4.0], axis=1, epsilon=0.0, "
     "training=False",
     "(tensor([[0.5, 4.0], [2.5, 0.0]]), tensor([1.0, 0.0]), tensor([1.0, 4.0]))"},
    {"rand((2, 3, 2, 4), \"float64\"), rand((3,), \"float64\"), rand((3,), \"float64\"), rand((3,), "
     "\"float64\"), rand((3,), \"float64\") + 0.5, axis=1"},
    {"rand((2, 3, 2, 4), \"float64\"), rand((3,), \"float64\"), rand((3,), \"float64\"), rand((3,), "
     "\"float64\"), rand((3,), \"float64\") + 0.5, axis=1, training=False"},
    {"rand((2, 2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((3,), "
     "\"float32\"), rand((3,), \"float32\") + 0.5, axis=-1, center=False, momentum=0.25"},
    {"rand((5, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((3,), "
     "\"float32\"), rand((3,), \"float32\") + 0.5, axis=1, scale=False, epsilon=0.1, training=False"},
    {"rand((4, 1), \"float32\"), rand((1,), \"float32\"), rand((1,), \"float32\"), rand((1,), "
     "\"float32\"), rand((1,), \"float32\") + 0.5, axis=1, center=False, scale=False"},
    {"rand((2, 0), \"float32\"), rand((0,), \"float32\"), rand((0,), \"float32\"), rand((0,), "
     "\"float32\"), rand((0,), \"float32\"), axis=1"},
};
constexpr Reject rejects[] = {
    {"batch_norm.shape",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((2,), \"float32\"), "
     "rand((3,), \"float32\"), axis=1",
     "moving_mean has type"},
    {"batch_norm.dtype",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), "
     "rand((3,), \"float64\"), axis=1",
     "expected the same"},
    {"batch_norm.axis",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), "
     "rand((3,), \"float32\"), axis=2",
     "out of range"},
    {"batch_norm.epsilon",
     "rand((2, 3), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), rand((3,), \"float32\"), "
     "rand((3,), \"float32\"), axis=1, epsilon=-1",
     "epsilon is -1"},
};

}  // namespace

extern const Op op_nn_batch_norm{
    .name = "nn.batch_norm",
    .summary = "Mean 0 and variance 1 of each channel, by the batch's or by running statistics: a tuple.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "training: as nn.layer_norm with means over all axes but the channels', and momentum times the "
        "cotangents of the new running values through mean and variance; inference, with s = 1 / "
        "sqrt(moving_var + epsilon): ddata = g * gamma * s, dgamma = s * sum(g * (x - moving_mean)), dbeta = "
        "sum(g), dmoving_mean = -gamma * s * sum(g), dmoving_var = -gamma * s^3 / 2 * sum(g * (x - "
        "moving_mean))",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Gives (result, new mean, new variance). In training the batch's mean and population variance "
        "normalize, and the running values become (1 - momentum) * old + momentum * batch; else the running "
        "values normalize and are given back as they are. Text from before 2025, which has no `training`, "
        "is read as training: write training=False for inference."};

}  // namespace relish::ops_nn_batch_norm
