// Scaled dot-product attention, without and with a bias.
#include "stdlib/families/reductions/attention.h"
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/iteration.h"

namespace relish::ops_nn_attention {
namespace {

using attention::Mask;

constexpr Param params[] = {attention::query_param,
                            attention::key_param,
                            attention::value_param,
                            {"bias", ParamKind::OptionalTensor, "tensor", "",
                             "added to the scaled products; broadcasts to (batch, heads, queries, keys)"},
                            attention::scale_param,
                            attention::causal_param,
                            attention::window_param};
constexpr Param bias_params[] = {
    attention::query_param,
    attention::key_param,
    attention::value_param,
    {"bias", ParamKind::Tensor, "tensor", "",
     "added to the scaled products; broadcasts to (batch, heads, queries, keys)"},
    attention::scale_param,
    attention::causal_param,
    attention::window_param};

bool has_bias(const CallView& call) { return call.has(attention::bias); }

// (batch, heads, queries, keys), as far as is known.
std::optional<Dims> score_dims(const CallView& call) {
  const std::optional<Dims> q = known_dims(call.tensor(attention::query));
  const std::optional<Dims> k = known_dims(call.tensor(attention::key));
  if (!q || !k) return std::nullopt;
  return Dims{(*q)[0], (*q)[2], (*q)[1], (*k)[1]};
}

Type infer(const CallView& call) {
  const Type result = attention::infer(call);
  if (!has_bias(call)) return result;
  common_dtype(call, attention::query, attention::bias);
  require_float(call, attention::bias);
  const BroadcastShape bias = shape_of(call.tensor(attention::bias));
  const std::optional<Dims> scores = score_dims(call);
  bool wrong = bias.rank >= 0 && bias.rank != 4;
  for (std::size_t i = 0; !wrong && scores && bias.dims && i < 4; ++i)
    wrong = !is_one((*bias.dims)[i]) && prove_different((*bias.dims)[i], (*scores)[i]);
  if (wrong) {
    call.reject("bias", call.span_of(attention::bias),
                fmt::format("bias has type {}, expected a shape that broadcasts to {}",
                            print(call.args[attention::bias].type()),
                            scores ? describe_dims(*scores) : "(batch, heads, queries, keys)"));
  }
  return result;
}

Value evaluate(const EvalCall& c) {
  const Tensor &q = c.in(attention::query), &k = c.in(attention::key), &v = c.in(attention::value);
  const std::int64_t batch = q.shape()[0], queries = q.shape()[1], heads = q.shape()[2], size = q.shape()[3];
  const std::int64_t keys = k.shape()[1], out = v.shape()[3];
  const Shape scores{batch, heads, queries, keys};
  if (k.shape() != Shape{batch, keys, heads, size} || v.shape() != Shape{batch, keys, heads, out} ||
      (has_bias(c.call) && broadcast_values(c.call, scores, c.in(attention::bias).shape()) != scores)) {
    fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.shape", short_name_of(c.call.op)),
         fmt::format(
             "{}: query ({}), key ({}) and value ({}){} do not fit together", short_name_of(c.call.op),
             fmt::join(q.shape(), ", "), fmt::join(k.shape(), ", "), fmt::join(v.shape(), ", "),
             has_bias(c.call) ? fmt::format(" and bias ({})", fmt::join(c.in(attention::bias).shape(), ", "))
                              : ""));
  }
  const Mask mask = attention::mask_of(c.call);
  const double scale = attention::scale_of(c.call, size);
  const std::int64_t offset = mask.offset(queries, keys);
  Tensor result = Tensor::empty(q.dtype(), {batch, queries, heads, out});
  visit_float(q.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *qs = q.view<T>().data(), *ks = k.view<T>().data(), *vs = v.view<T>().data();
    const T* biases = nullptr;
    Shape strides(4, 0);
    if (has_bias(c.call)) {
      biases = c.in(attention::bias).template view<T>().data();
      strides = broadcast_strides(c.in(attention::bias).shape(), scores);
    }
    T* target = result.mutable_view<T>().data();
    std::vector<double> mean;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t i = 0; i < queries; ++i) {
        for (std::int64_t h = 0; h < heads; ++h) {
          const auto score = [&](std::int64_t j) -> std::optional<double> {
            if (!mask.sees(j - i - offset)) return std::nullopt;
            double dot = 0;
            for (std::int64_t d = 0; d < size; ++d) {
              dot += to_sum(qs[((b * queries + i) * heads + h) * size + d]) *
                     to_sum(ks[((b * keys + j) * heads + h) * size + d]);
            }
            dot *= scale;
            if (biases)
              dot += to_sum(biases[b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3]]);
            return dot;
          };
          const auto value_at = [&](std::int64_t j, std::int64_t d) {
            return to_sum(vs[((b * keys + j) * heads + h) * out + d]);
          };
          attention::attend(keys, out, score, value_at, mean);
          for (std::int64_t d = 0; d < out; ++d)
            target[((b * queries + i) * heads + h) * out + d] = T(mean[static_cast<std::size_t>(d)]);
        }
      }
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer q = lowering.input(attention::query), k = lowering.input(attention::key);
  const Buffer v = lowering.input(attention::value);
  std::optional<Buffer> bias;
  if (has_bias(c.call)) bias = lowering.input(attention::bias);
  const Buffer result = lowering.output();
  const std::string misfit = fmt::format("{}: the shapes of query, key, value and bias do not fit together",
                                         short_name_of(c.call.op));
  for (const std::size_t dim : {0, 2, 3}) lowering.require_equal(q.shape()[dim], k.shape()[dim], misfit);
  for (const std::size_t dim : {0, 1, 2}) lowering.require_equal(k.shape()[dim], v.shape()[dim], misfit);

  const DType wide = compute_dtype(q.dtype());
  const auto real = [&](double value) { return float_literal(wide, value); };
  const Dims scores{q.shape()[0], q.shape()[2], q.shape()[1], k.shape()[1]};
  const Dims rows(scores.begin(), scores.end() - 1);
  const Scalar &size = q.shape()[3], &keys = k.shape()[1];
  const auto load = [&](const Buffer& buffer, const Dims& index) {
    return lowering.loops().load(buffer, index);
  };

  const Buffer products = lowering.temporary("products", scores, wide);
  lowering.reduce("products", products, scores, {size}, [&](const Dims& s, const Dims& r) {
    return lowering.load_as(wide, q, {s[0], s[2], s[1], r[0]}) *
           lowering.load_as(wide, k, {s[0], s[3], s[1], r[0]});
  });
  const bool own_scale = c.call.attribute("scale").is_none();
  const Scalar scale = own_scale && !size.as_int()
                           ? real(1) / sqrt(cast(wide, size))
                           : real(attention::scale_of(c.call, size.as_int().value_or(1)));
  const Mask mask = attention::mask_of(c.call);
  const auto score = [&](const Dims& s) {
    Scalar value = load(products, s) * scale;
    if (bias) value = value + lowering.load_as(wide, *bias, lowering.broadcast_index(*bias, scores, s));
    if (!mask.causal) return value;
    Scalar ahead = s[3] - s[2];
    if (mask.bottom_right) ahead = ahead - (keys - q.shape()[1]);
    Scalar sees = ahead <= Scalar(0);
    if (mask.window) sees = logical(LogicalOp::And, sees, ahead > Scalar(-*mask.window));
    return select(sees, value, min_value(wide));
  };
  const Buffer scored = lowering.temporary("scores", scores, wide);
  lowering.map("scores", scored, score);
  const auto at = [](const Dims& row, const Scalar& j) { return Dims{row[0], row[1], row[2], j}; };
  const Buffer largest = lowering.temporary("largest", rows, wide);
  lowering.reduce(
      "largest", largest, rows, {keys},
      [&](const Dims& s, const Dims& r) { return load(scored, at(s, r[0])); },
      [](const Scalar& a, const Scalar& b) { return maximum_ieee(a, b); }, min_value(wide));
  // A query that sees no key has the largest score -inf, and weights of 0.
  const Buffer weights = lowering.temporary("weights", scores, wide);
  lowering.map("weights", weights, [&](const Dims& s) {
    const Scalar own = load(scored, s);
    return select(equal(own, min_value(wide)), real(0), exp(own - load(largest, {s[0], s[1], s[2]})));
  });
  const Buffer total = lowering.temporary("total", rows, wide);
  lowering.reduce("total", total, rows, {keys},
                  [&](const Dims& s, const Dims& r) { return load(weights, at(s, r[0])); });
  const Buffer mixed = lowering.temporary("mixed", result.shape(), wide);
  lowering.reduce("mixed", mixed, result.shape(), {keys}, [&](const Dims& s, const Dims& r) {
    return load(weights, {s[0], s[2], s[1], r[0]}) * lowering.load_as(wide, v, {s[0], r[0], s[2], s[3]});
  });
  lowering.map("attention", result, [&](const Dims& i) {
    const Scalar sum = load(total, {i[0], i[2], i[1]});
    return select(equal(sum, real(0)), real(0), load(mixed, i) / sum);
  });
  return lowering.finish();
}

std::optional<GraphValue> visible(const GradientRule& rule, FunctionBuilder& builder) {
  const Mask mask = attention::mask_of(rule.call());
  if (!mask.causal) return std::nullopt;
  const Scalar queries = rule.dims(attention::query)[1], keys = rule.dims(attention::key)[1];
  GraphValue ahead = attention::places(keys, 1, builder) - attention::places(queries, 0, builder);
  if (mask.bottom_right) {
    const Scalar offset = canonical(keys - queries);
    const Span origin = builder.origin();
    const auto known = offset.as_int();
    ahead = ahead - rule.value(known ? constant(Tensor::scalar_int(DType::Int64, *known), origin)
                                     : scalar_value(offset, origin));
  }
  return attention::seen(mask, ahead);
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return attention::partials(rule, visible(rule, c.builder), has_bias(c.call));
}

Expr parts(const VjpCall& c) {
  const GradientRule rule(c);
  return attention::parts(rule, visible(rule, c.builder), has_bias(c.call));
}

constexpr Sample samples[] = {
    {"[[[[1.0]], [[1.0]]]], [[[[0.0]], [[0.0]]]], [[[[2.0, 4.0]], [[6.0, 0.0]]]]",
     "[[[[4.0, 2.0]], [[4.0, 2.0]]]]"},
    {"[[[[1.0]], [[1.0]]]], [[[[0.0]], [[0.0]]]], [[[[2.0]], [[6.0]]]], causal_mask=\"TopLeft\"",
     "[[[[2.0]], [[4.0]]]]"},
    {"rand((2, 3, 2, 4), \"float64\"), rand((2, 5, 2, 4), \"float64\"), rand((2, 5, 2, 3), \"float64\")"},
    {"rand((1, 3, 2, 4), \"float64\"), rand((1, 5, 2, 4), \"float64\"), rand((1, 5, 2, 3), \"float64\"), "
     "scale=0.5, causal_mask=\"BottomRight\", window_size=2"},
    {"rand((1, 5, 1, 2), \"float64\"), rand((1, 3, 1, 2), \"float64\"), rand((1, 3, 1, 2), \"float64\"), "
     "causal_mask=\"BottomRight\""},
    {"rand((2, 3, 1, 4), \"float32\"), rand((2, 3, 1, 4), \"float32\"), rand((2, 3, 1, 4), \"float32\"), "
     "rand((2, 1, 3, 3), \"float32\"), causal_mask=\"TopLeft\""},
    {"rand((0, 3, 2, 4), \"float32\"), rand((0, 5, 2, 4), \"float32\"), rand((0, 5, 2, 3), \"float32\")"},
    {"rand((1, 2, 1, 1), \"float32\"), rand((1, 1, 1, 1), \"float32\"), rand((1, 1, 1, 1), \"float32\")"},
};
constexpr Sample bias_samples[] = {
    {"[[[[1.0]]]], [[[[0.0]], [[0.0]]]], [[[[2.0]], [[6.0]]]], [[[[0.0, 0.0]]]]", "[[[[4.0]]]]"},
    {"rand((2, 3, 2, 4), \"float64\"), rand((2, 5, 2, 4), \"float64\"), rand((2, 5, 2, 3), \"float64\"), "
     "rand((2, 2, 3, 5), \"float64\")"},
    {"rand((2, 3, 2, 4), \"float64\"), rand((2, 5, 2, 4), \"float64\"), rand((2, 5, 2, 3), \"float64\"), "
     "rand((1, 1, 3, 5), \"float64\"), scale=0.5, causal_mask=\"BottomRight\""},
    {"rand((2, 3, 2, 4), \"float32\"), rand((2, 5, 2, 4), \"float32\"), rand((2, 5, 2, 3), \"float32\"), "
     "rand((1, 2, 1, 5), \"float32\"), causal_mask=\"TopLeft\", window_size=1"},
    {"rand((0, 3, 2, 4), \"float32\"), rand((0, 5, 2, 4), \"float32\"), rand((0, 5, 2, 3), \"float32\"), "
     "rand((1, 1, 3, 5), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"attention.rank",
     "rand((2, 3, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\")",
     "query has rank 3"},
    {"attention.shape",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 5), \"float32\"), rand((1, 3, 1, 4), \"float32\")",
     "the size of a head is 4 in query and 5 in key"},
    {"attention.shape",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 2, 1, 4), \"float32\")",
     "the length of the sequence is 3 in key and 2 in value"},
    {"attention.dtype",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float16\"), rand((1, 3, 1, 4), \"float32\")",
     "expected the same"},
    {"attention.mask",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "causal_mask=\"Left\"",
     "causal_mask is \"Left\""},
    {"attention.window",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "window_size=2",
     "needs a causal_mask"},
    {"attention.window",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "causal_mask=\"TopLeft\", window_size=0",
     "window_size is 0"},
    {"attention.bias",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "rand((1, 1, 3, 2), \"float32\")",
     "broadcasts to (1, 1, 3, 3)"},
};
constexpr Reject bias_rejects[] = {
    {"attention_bias.bias",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "rand((3, 3), \"float32\")",
     "bias has type"},
    {"attention_bias.dtype",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "rand((1, 1, 3, 3), \"float64\")",
     "expected the same"},
};
constexpr std::string_view gradient =
    "with w the weights, (batch, heads, queries, keys), and gw = g @ v^T: ds = w * (gw - sum(w * gw)), dq = "
    "scale "
    "* ds @ k, dk = scale * ds^T @ q, dv = w^T @ g, dbias = sum_to(ds, bias)";
constexpr std::string_view text =
    "softmax(scale * q @ k^T + bias) @ v for each head. A causal mask hides keys; \"BottomRight\" lets query "
    "i see "
    "the keys up to i + keys - queries, and where that is before the first key the result is 0 (TVM takes "
    "the "
    "absolute value of the difference); so it is where the bias is -inf for all keys. A window, which TVM's lowering refuses, leaves the last window_size "
    "of "
    "the keys that are seen.";

}  // namespace

extern const Op op_nn_attention{.name = "nn.attention",
                                .summary = "Means of values, weighted by how well queries and keys agree.",
                                .params = params,
                                .infer = infer,
                                .eval = evaluate,
                                .lower = lower,
                                .vjp = vjp,
                                .parts = parts,
                                .gradient_doc = gradient,
                                .agreement = Agreement::Composite,
                                .samples = samples,
                                .rejects = rejects,
                                .doc = text};

extern const Op op_nn_attention_bias{
    .name = "nn.attention_bias",
    .summary = "Attention with a bias on its scores.",
    .params = bias_params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .parts = parts,
    .gradient_doc = gradient,
    .agreement = Agreement::Composite,
    .samples = bias_samples,
    .rejects = bias_rejects,
    .doc = "nn.attention whose bias must be given: the name under which TVM prints it."};

}  // namespace relish::ops_nn_attention
