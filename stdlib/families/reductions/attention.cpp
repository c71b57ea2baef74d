// Types and gradients of attention.
#include "stdlib/families/reductions/attention.h"

#include "ir/printer/printer.h"

namespace relish::attention {
namespace {

constexpr const char* dim_names[] = {"batch", "length of the sequence", "number of heads", "size of a head"};

// Rejects when dims `a` of argument `i` and `b` of argument `j` provably differ.
void require_same(const CallView& call, std::size_t i, std::size_t j, std::size_t dim) {
  const std::optional<Dims> a = known_dims(call.tensor(i)), b = known_dims(call.tensor(j));
  if (!a || !b || !prove_different((*a)[dim], (*b)[dim])) return;
  call.reject(
      "shape", call.span_of(j),
      fmt::format("the {} is {} in {} and {} in {}, expected the same", dim_names[dim], print((*a)[dim]),
                  call.op.params[i].name, print((*b)[dim]), call.op.params[j].name));
}

GraphValue permuted(const GraphValue& x, const std::vector<int>& order) {
  return call_op("permute_dims", {x}, {{"axes", axes_attribute(order)}});
}
GraphValue product(const GraphValue& a, const GraphValue& b) {
  return call_op("matmul", {a, b}, {{"out_dtype", Attribute()}});
}
GraphValue integer(std::int64_t value, FunctionBuilder& builder) {
  return GraphValue(constant(Tensor::scalar_int(DType::Int64, value), builder.origin()), builder);
}

}  // namespace

Mask mask_of(const CallView& call) {
  Mask mask;
  const Attribute& causal = call.attribute("causal_mask");
  if (const auto* name = causal.as<std::string>()) {
    if (*name != "TopLeft" && *name != "BottomRight") {
      call.reject("mask", call.span,
                  fmt::format("causal_mask is \"{}\", expected TopLeft, BottomRight or None", *name));
    }
    mask.causal = true;
    mask.bottom_right = *name == "BottomRight";
  }
  if (const auto* window = call.attribute("window_size").as<std::int64_t>()) {
    if (*window < 1)
      call.reject("window", call.span, fmt::format("window_size is {}, expected at least 1", *window));
    if (!mask.causal) call.reject("window", call.span, "window_size needs a causal_mask");
    mask.window = *window;
  }
  return mask;
}

double scale_of(const CallView& call, std::int64_t size) {
  if (const double* scale = call.attribute("scale").as<double>()) return *scale;
  return 1 / std::sqrt(static_cast<double>(size));
}

Type infer(const CallView& call) {
  mask_of(call);
  std::optional<DType> dtype;
  for (std::size_t i = query; i <= value; ++i) {
    require_float(call, i);
    dtype = i == query ? call.tensor(i).dtype : common_dtype(call, query, i);
    const int rank = shape_of(call.tensor(i)).rank;
    if (rank >= 0 && rank != 4) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has rank {}, expected 4", call.op.params[i].name, rank));
    }
  }
  for (const std::size_t dim : {0, 2, 3}) require_same(call, query, key, dim);
  for (const std::size_t dim : {0, 1, 2}) require_same(call, key, value, dim);
  const std::optional<Dims> q = known_dims(call.tensor(query)), v = known_dims(call.tensor(value));
  if (!q || !v) return TensorType{dtype, std::nullopt, 4};
  return TensorType{dtype, Dims{(*q)[0], (*q)[1], (*q)[2], (*v)[3]}, 4};
}

GraphValue places(const Scalar& n, int axis, FunctionBuilder& builder) {
  Dims dims{Scalar(1), Scalar(1)};
  dims[static_cast<std::size_t>(axis)] = n;
  const GraphValue ones = call_op("ones", {shape_value(dims, builder)}, {{"dtype", DType::Int64}});
  return call_op("cumsum", {ones}, {{"axis", axis}, {"dtype", Attribute()}, {"exclusive", true}});
}

GraphValue both(const GraphValue& a, const GraphValue& b) {
  FunctionBuilder& builder = a.builder();
  const GraphValue no(constant(Tensor::scalar_int(DType::Bool, 0), builder.origin()), builder);
  return where(a, b, no);
}

std::optional<GraphValue> seen(const Mask& mask, const GraphValue& ahead) {
  if (!mask.causal) return std::nullopt;
  ahead.leaf();
  GraphValue past = call_op("less_equal", {ahead, integer(0, ahead.builder())});
  if (!mask.window) return past;
  return both(past, call_op("greater", {ahead, integer(-*mask.window, ahead.builder())}));
}

namespace {

const std::vector<int> heads_first{0, 2, 1, 3}, heads_first_transposed{0, 2, 3, 1}, transposed{0, 1, 3, 2};

// The factor of the products, in the dtype of q.
GraphValue factor_of(const GradientRule& rule, const GraphValue& q) {
  const Dims dims = rule.dims(query);
  if (!rule.call().attribute("scale").is_none() || dims[3].as_int())
    return constant_like(q, scale_of(rule.call(), dims[3].as_int().value_or(1)));
  const Scalar size = cast(q.type().dtype.value_or(DType::Float32), dims[3]);
  const GraphValue one = constant_like(q, 1);
  return one / call_op("sqrt", {one * rule.value(scalar_value(size, q.builder().origin()))});
}

// softmax(q @ k^T * factor + bias), 0 where nothing is seen or the bias is -inf. Operands have heads first.
GraphValue weights_of(const GraphValue& q, const GraphValue& k_transposed, const GraphValue& factor,
                      const std::optional<GraphValue>& bias, std::optional<GraphValue> visible) {
  GraphValue scores = product(q, k_transposed) * factor;
  if (bias) {
    scores = scores + *bias;
    scores.leaf();
    const GraphValue none = constant_like(q, 0);
    const GraphValue hidden =
        call_op("logical_and", {call_op("isinf", {scores}), call_op("less", {scores, none})});
    const GraphValue above = call_op("logical_not", {hidden});
    visible = visible ? both(*visible, above) : above;
    visible->leaf();
  }
  if (visible) {
    // Finite, so that a query that sees nothing has no NaN.
    const double lowest = q.type().dtype == DType::Float16 ? -6e4 : -1e30;
    scores = where(*visible, scores, constant_like(q, lowest));
  }
  GraphValue weights = call_op("nn.softmax", {scores}, {{"axis", -1}});
  if (visible) weights = where(*visible, weights, constant_like(q, 0));
  weights.leaf();
  return weights;
}

}  // namespace

Expr parts(const GradientRule& rule, const std::optional<GraphValue>& visible, bool with_bias) {
  const DType own = rule.argument(query).type().dtype.value_or(DType::Float32), wide = compute_dtype(own);
  const auto as = [](const GraphValue& x, DType dtype) {
    return x.type().dtype == dtype ? x : call_op("astype", {x}, {{"dtype", dtype}});
  };
  const auto operand = [&](std::size_t i) { return as(rule.argument(i), wide); };
  const GraphValue q = permuted(operand(query), heads_first);
  q.leaf();
  const std::optional<GraphValue> added = with_bias ? std::optional(operand(bias)) : std::nullopt;
  const GraphValue weights =
      weights_of(q, permuted(operand(key), heads_first_transposed), factor_of(rule, q), added, visible);
  const GraphValue mixed = product(weights, permuted(operand(value), heads_first));
  return as(permuted(mixed, heads_first), own).expr();
}

// With s = scale * q @ k^T + bias and w = softmax(s), both (batch, heads, queries, keys): dv = w^T @ g and ds
// = w
// * (gw - sum(w * gw)) with gw = g @ v^T. What is not seen has weight 0.
Partials partials(const GradientRule& rule, const std::optional<GraphValue>& visible, bool with_bias) {
  const GraphValue q = permuted(rule.argument(query), heads_first);
  const GraphValue g = permuted(rule.cotangent(), heads_first);
  q.leaf();
  g.leaf();
  const GraphValue factor = factor_of(rule, q);
  const std::optional<GraphValue> added = with_bias ? std::optional(rule.argument(bias)) : std::nullopt;
  const GraphValue weights =
      weights_of(q, permuted(rule.argument(key), heads_first_transposed), factor, added, visible);
  const GraphValue slope = weights * product(g, permuted(rule.argument(value), heads_first_transposed));
  slope.leaf();
  const GraphValue total = call_op("sum", {slope}, {{"axis", attribute_of({-1})}, {"keepdims", true}});
  const GraphValue moved = slope - weights * total;
  moved.leaf();
  const GraphValue scaled = moved * factor;
  scaled.leaf();

  Partials result(rule.call().args.size());
  result[query] = permuted(product(scaled, permuted(rule.argument(key), heads_first)), heads_first).expr();
  result[key] = permuted(product(permuted(scaled, transposed), q), heads_first).expr();
  result[value] = permuted(product(permuted(weights, transposed), g), heads_first).expr();
  if (with_bias) result[bias] = rule.fit(moved, bias).expr();
  return result;
}

}  // namespace relish::attention
