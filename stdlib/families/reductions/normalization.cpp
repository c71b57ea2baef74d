// Evaluation, loop nests and gradients of normalizations.
#include "stdlib/families/reductions/normalization.h"

#include "ir/printer/printer.h"

namespace relish {

Dims Normalization::view(const Dims& dims) const {
  if (!split) return dims;
  Dims result = dims;
  const auto at = static_cast<std::size_t>(*split);
  result[at] = canonical(floor_div(dims[at], Scalar(groups)));
  result.insert(result.begin() + *split, Scalar(groups));
  return result;
}

Shape Normalization::view(const Shape& shape) const {
  if (!split) return shape;
  Shape result = shape;
  result[static_cast<std::size_t>(*split)] /= groups;
  result.insert(result.begin() + *split, groups);
  return result;
}

namespace normalization {
namespace {

// Row-major strides of a compact tensor of the dims `weighted`, seen from the view: 0 along the others.
Shape strides_along(const Shape& view, const std::vector<int>& weighted) {
  Shape strides(view.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = weighted.size(); k-- > 0;) {
    const auto dim = static_cast<std::size_t>(weighted[k]);
    strides[dim] = stride;
    stride *= view[dim];
  }
  return strides;
}

Dims at(const Dims& index, const std::vector<int>& axes) {
  Dims result;
  for (int axis : axes) result.push_back(index[static_cast<std::size_t>(axis)]);
  return result;
}

// The index into the input for an index of the view.
Dims input_index(const Normalization& n, const Dims& view, const Dims& index) {
  if (!n.split) return index;
  Dims result = index;
  const auto group = static_cast<std::size_t>(*n.split);
  result[group] = index[group] * view[group + 1] + index[group + 1];
  result.erase(result.begin() + *n.split + 1);
  return result;
}

// The index into a parameter: its dims of the view, with a split one put together again.
Dims parameter_index(const Normalization& n, const Dims& view, const Dims& index) {
  if (!n.split || n.weighted.size() != 2) return at(index, n.weighted);
  const auto group = static_cast<std::size_t>(*n.split);
  return {index[group] * view[group + 1] + index[group + 1]};
}

}  // namespace

double epsilon_of(const CallView& call) {
  const double epsilon = *call.attribute("epsilon").as<double>();
  if (!(epsilon >= 0))
    call.reject("epsilon", call.span, fmt::format("epsilon is {}, expected a number of at least 0", epsilon));
  return epsilon;
}

bool flag(const CallView& call, std::string_view name) { return *call.attribute(name).as<bool>(); }

void require_parameter(const CallView& call, std::size_t i, const std::optional<Dims>& expected) {
  common_dtype(call, 0, i);
  require_float(call, i);
  const BroadcastShape shape = shape_of(call.tensor(i));
  if (!expected) return;
  bool wrong = shape.rank >= 0 && shape.rank != static_cast<int>(expected->size());
  for (std::size_t k = 0; !wrong && shape.dims && k < expected->size(); ++k)
    wrong = prove_different((*shape.dims)[k], (*expected)[k]);
  if (!wrong) return;
  call.reject("shape", call.span_of(i),
              fmt::format("{} has type {}, expected the shape {}", call.op.params[i].name,
                          print(call.args[i].type()), describe_dims(*expected)));
}

std::optional<Dims> dims_at(const CallView& call, const std::vector<int>& axes) {
  const std::optional<Dims> dims = known_dims(call.tensor(0));
  if (!dims) return std::nullopt;
  return at(*dims, axes);
}

void require_shape(const EvalCall& c, std::size_t i, const Shape& expected) {
  if (c.in(i).shape() == expected) return;
  const std::string_view name = short_name_of(c.call.op);
  fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.shape", name),
       fmt::format("{}: {} has shape ({}), the data ask for ({})", name, c.call.op.params[i].name,
                   fmt::join(c.in(i).shape(), ", "), fmt::join(expected, ", ")));
}

Type infer_along_axes(const CallView& call, std::size_t parameters) {
  require_float(call, 0);
  const TensorType& data = call.tensor(0);
  epsilon_of(call);
  std::optional<Dims> expected;
  if (const int rank = shape_of(data).rank; rank >= 0) expected = dims_at(call, axes_of(call, "axes", rank));
  for (std::size_t i = 1; i <= parameters; ++i) require_parameter(call, i, expected);
  return data;
}

Value evaluate_along_axes(const EvalCall& c, const Normalization& n, std::size_t parameters) {
  Shape expected;
  for (int axis : n.axes) expected.push_back(c.in(0).shape()[static_cast<std::size_t>(axis)]);
  for (std::size_t i = 1; i <= parameters; ++i) require_shape(c, i, expected);
  return evaluate(c, n);
}

std::vector<int> other_axes(const std::vector<int>& axes, int rank) {
  std::vector<int> others;
  for (int i = 0; i < rank; ++i) {
    if (!contains(axes, i)) others.push_back(i);
  }
  return others;
}

Tensor evaluate(const EvalCall& c, const Normalization& n, const Moments* given) {
  const Tensor& x = c.in(0);
  const Shape view = n.view(x.shape());
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const Moments found = given ? *given : moments<T>(x, view, n.axes, n.centred);
    const T* source = x.view<T>().data();
    const T* gamma = n.gamma ? c.in(*n.gamma).template view<T>().data() : nullptr;
    const T* beta = n.beta ? c.in(*n.beta).template view<T>().data() : nullptr;
    T* target = result.mutable_view<T>().data();
    for_each_row<2>(view, {reduction::result_strides(view, n.axes), strides_along(view, n.weighted)},
                    [&](const auto& offsets, const auto& strides, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        const auto group = static_cast<std::size_t>(offsets[0] + i * strides[0]);
                        const std::int64_t weight = offsets[1] + i * strides[1];
                        double y = (to_sum(*source++) - found.mean[group]) /
                                   std::sqrt(found.variance[group] + n.epsilon);
                        if (gamma) y *= to_sum(gamma[weight]);
                        if (beta) y += to_sum(beta[weight]);
                        *target++ = T(y);
                      }
                    });
  });
  return result;
}

MomentBuffers lower_own_moments(Lowering& lowering, const Normalization& n, const Buffer& data) {
  const Dims view = n.view(data.shape());
  const DType wide = compute_dtype(data.dtype());
  return lower_moments(
      lowering, view, n.axes, wide,
      [&](const Dims& index) { return lowering.load_as(wide, data, input_index(n, view, index)); },
      n.centred);
}

void lower(Lowering& lowering, const Normalization& n, const Buffer& data, const Buffer* gamma,
           const Buffer* beta, const MomentBuffers& moments, const Buffer& result) {
  const Dims view = n.view(data.shape());
  const DType wide = compute_dtype(data.dtype());
  const std::vector<int> kept = other_axes(n.axes, static_cast<int>(view.size()));
  lowering.loops().spatial("normalize", view, [&](const Dims& i) {
    const Dims group = at(i, kept);
    const auto moment = [&](const Buffer& buffer) {
      return cast(wide, lowering.loops().load(buffer, group));
    };
    Scalar y = lowering.load_as(wide, data, input_index(n, view, i));
    if (moments.mean.defined()) y = y - moment(moments.mean);
    y = y / sqrt(moment(moments.variance) + float_literal(wide, n.epsilon));
    if (gamma) y = y * lowering.load_as(wide, *gamma, parameter_index(n, view, i));
    if (beta) y = y + lowering.load_as(wide, *beta, parameter_index(n, view, i));
    return lowering.store_as(result, input_index(n, view, i), y);
  });
}

PrimFunc lower(const LowerCall& c, const Normalization& n) {
  Lowering lowering(c);
  std::vector<Buffer> inputs;
  for (std::size_t i = 0; i < c.call.args.size(); ++i) inputs.push_back(lowering.input(i));
  const Buffer& data = inputs[0];
  if (n.split) {
    const Scalar& channels = data.shape()[static_cast<std::size_t>(*n.split)];
    lowering.require_equal(canonical(floor_mod(channels, Scalar(n.groups))), 0,
                           "the channels do not split into groups of equal size");
  }
  // What the parameters' dims are when the type rule could not compare them.
  Dims weighted = at(n.view(data.shape()), n.weighted);
  if (n.split && weighted.size() == 2) weighted = {data.shape()[static_cast<std::size_t>(*n.split)]};
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    for (std::size_t k = 0; k < weighted.size(); ++k)
      lowering.require_equal(inputs[i].shape()[k], weighted[k],
                             fmt::format("{}: {} does not have the shape that the data ask for",
                                         short_name_of(c.call.op), inputs[i].name()));
  }
  const Buffer result = lowering.output();
  const MomentBuffers moments = lower_own_moments(lowering, n, data);
  lower(lowering, n, data, n.gamma ? &inputs[*n.gamma] : nullptr, n.beta ? &inputs[*n.beta] : nullptr,
        moments, result);
  return lowering.finish();
}

GraphValue along_view(const Normalization& n, const GraphValue& value, int view_rank) {
  const std::vector<int> others = other_axes(n.weighted, view_rank);
  if (others.empty()) return value;
  return call_op("expand_dims", {value}, {{"axis", axes_attribute(others)}});
}

Standardized standardized(const GradientRule& rule, const Normalization& n) {
  const GraphValue x = n.split ? reshaped(rule.argument(0), n.view(rule.dims(0))) : rule.argument(0);
  const GraphValue deviation = n.centred ? x - mean_over(x, n.axes) : x;
  // The squares of halves may be out of range, whose mean is not.
  const bool wide =
      rule.call().tensor(0).dtype == DType::Float32 || rule.call().tensor(0).dtype == DType::Float64;
  const GraphValue variance =
      n.centred && !wide ? call_op("variance", {x}, {{"axis", axes_attribute(n.axes)}, {"keepdims", true}})
                         : mean_over(deviation * deviation, n.axes);
  const GraphValue scale = constant_like(x, 1) / call_op("sqrt", {variance + constant_like(x, n.epsilon)});
  const GraphValue normalized = deviation * scale;
  normalized.leaf();
  return {deviation, scale, normalized};
}

Parts parts(const GradientRule& rule, const Normalization& n, const GraphValue& cotangent) {
  const Dims view = n.view(rule.dims(0));
  const int rank = static_cast<int>(view.size());
  const GraphValue g = n.split ? reshaped(cotangent, view) : cotangent;
  const Standardized x = standardized(rule, n);
  GraphValue scaled = g;
  if (n.gamma) {
    GraphValue gamma = rule.argument(*n.gamma);
    if (n.split && n.weighted.size() == 2) {
      const auto at = static_cast<std::size_t>(*n.split);
      gamma = reshaped(gamma, {view[at], view[at + 1]});
    }
    scaled = g * along_view(n, gamma, rank);
  }
  scaled.leaf();
  return {x.normalized, x.scale, g, scaled};
}

// The part of the cotangent that moving or stretching the whole group would make is taken out.
GraphValue input_partial(const Normalization& n, const Parts& p) {
  const GraphValue stretch = p.normalized * mean_over(p.scaled * p.normalized, n.axes);
  const GraphValue moved = n.centred ? p.scaled - mean_over(p.scaled, n.axes) : p.scaled;
  return (moved - stretch) * p.scale;
}

GraphValue as_input(const GradientRule& rule, const Normalization& n, const GraphValue& in_view) {
  return n.split ? reshaped(in_view, rule.dims(0)) : in_view;
}

GraphValue as_parameter(const GradientRule& rule, const Normalization& n, std::size_t i,
                        const GraphValue& in_view) {
  const int rank = static_cast<int>(rule.dims(0).size()) + (n.split ? 1 : 0);
  const std::vector<int> others = other_axes(n.weighted, rank);
  GraphValue partial = in_view;
  if (!others.empty())
    partial = call_op("sum", {partial}, {{"axis", axes_attribute(others)}, {"keepdims", false}});
  if (n.split && n.weighted.size() == 2) partial = reshaped(partial, rule.dims(i));
  return partial;
}

Expr unused_parameter(const GradientRule& rule, std::size_t i) {
  return call_op("zeros_like", {rule.argument(i)}, {{"dtype", Attribute()}}).expr();
}

Partials vjp(const VjpCall& c, const Normalization& n) {
  const GradientRule rule(c);
  const Parts p = parts(rule, n, rule.cotangent());
  Partials partials(c.call.args.size());
  partials[0] = as_input(rule, n, input_partial(n, p)).expr();
  for (std::size_t i = 1; i < partials.size(); ++i) {
    if (i == n.gamma)
      partials[i] = as_parameter(rule, n, i, p.cotangent * p.normalized).expr();
    else if (i == n.beta)
      partials[i] = as_parameter(rule, n, i, p.cotangent).expr();
    else
      partials[i] = unused_parameter(rule, i);
  }
  return partials;
}

}  // namespace normalization
}  // namespace relish
