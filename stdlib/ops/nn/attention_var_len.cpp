// Attention over sequences of different lengths, laid out one behind the other.
#include "ir/printer/printer.h"
#include "stdlib/families/reductions/attention.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_nn_attention_var_len {
namespace {

using attention::Mask;

constexpr Param params[] = {
    {"queries", ParamKind::Tensor, "tensor", "", "(1, queries of all sequences, heads, size)"},
    {"keys", ParamKind::Tensor, "tensor", "", "(1, keys of all sequences, heads, size)"},
    {"values", ParamKind::Tensor, "tensor", "", "(1, keys of all sequences, heads, size of a value)"},
    {"seqstart_q", ParamKind::Tensor, "tensor", "", "where each sequence's queries start, then their number"},
    {"seqstart_k", ParamKind::Tensor, "tensor", "", "where each sequence's keys start, then their number"},
    {"max_seqlen_q", ParamKind::Tensor, "tensor", "", "the most queries of a sequence, of rank 0"},
    {"max_seqlen_k", ParamKind::Tensor, "tensor", "", "the most keys of a sequence, of rank 0"},
    attention::scale_param,
    attention::causal_param,
    attention::window_param};

constexpr std::size_t seqstart_q = 3, seqstart_k = 4, max_seqlen_q = 5, max_seqlen_k = 6;

Type infer(const CallView& call) {
  const Type result = attention::infer(call);
  if (const auto dims = known_dims(call.tensor(0)); dims && prove_different((*dims)[0], Scalar(1))) {
    call.reject("batch", call.span_of(0),
                fmt::format("queries have a batch of {}, expected 1", print((*dims)[0])));
  }
  for (const std::size_t i : {seqstart_q, seqstart_k, max_seqlen_q, max_seqlen_k}) {
    const TensorType& type = call.tensor(i);
    const int wanted = i <= seqstart_k ? 1 : 0, rank = shape_of(type).rank;
    if ((type.dtype && !is_int(*type.dtype)) || (rank >= 0 && rank != wanted)) {
      call.reject("starts", call.span_of(i),
                  fmt::format("{} has type {}, expected integers of rank {}", params[i].name,
                              print(call.args[i].type()), wanted));
    }
  }
  const auto q = known_dims(call.tensor(seqstart_q)), k = known_dims(call.tensor(seqstart_k));
  if (q && k && prove_different((*q)[0], (*k)[0])) {
    call.reject("starts", call.span_of(seqstart_k),
                fmt::format("seqstart_k has {} elements and seqstart_q {}, expected the same", print((*k)[0]),
                            print((*q)[0])));
  }
  return result;
}

// The starts must begin with 0, not descend, and end with the number of rows.
std::vector<std::int64_t> starts_of(const EvalCall& c, std::size_t i, std::int64_t rows) {
  std::vector<std::int64_t> starts;
  const auto refuse = [&](const std::string& found) {
    fail(ErrorClass::Runtime, c.call.span, "attention_var_len.starts",
         fmt::format("attention_var_len: {} must go from 0 up to {} without descending; {}", params[i].name,
                     rows, found));
  };
  for (std::int64_t k = 0; k < c.in(i).size(); ++k) {
    const std::int64_t start = index_at(c.in(i), k);
    if (k == 0 ? start != 0 : start < starts.back())
      refuse(fmt::format("found {} at [{}]{}", index_text(c.in(i), k), k,
                         k == 0 ? "" : fmt::format(" behind {}", starts.back())));
    starts.push_back(start);
  }
  if (starts.empty()) refuse("found no element");
  if (starts.back() != rows) refuse(fmt::format("found {} at its end", starts.back()));
  return starts;
}

Value evaluate(const EvalCall& c) {
  const Tensor &q = c.in(0), &k = c.in(1), &v = c.in(2);
  const std::int64_t queries = q.shape()[1], heads = q.shape()[2], size = q.shape()[3];
  const std::int64_t keys = k.shape()[1], out = v.shape()[3];
  if (q.shape()[0] != 1 || k.shape() != Shape{1, keys, heads, size} ||
      v.shape() != Shape{1, keys, heads, out}) {
    fail(ErrorClass::Runtime, c.call.span, "attention_var_len.shape",
         fmt::format("attention_var_len: queries ({}), keys ({}) and values ({}) do not fit together",
                     fmt::join(q.shape(), ", "), fmt::join(k.shape(), ", "), fmt::join(v.shape(), ", ")));
  }
  const std::vector<std::int64_t> starts_q = starts_of(c, seqstart_q, queries);
  const std::vector<std::int64_t> starts_k = starts_of(c, seqstart_k, keys);
  if (starts_q.size() != starts_k.size()) {
    fail(ErrorClass::Runtime, c.call.span, "attention_var_len.starts",
         fmt::format("attention_var_len: seqstart_q has {} elements and seqstart_k {}, expected the same",
                     starts_q.size(), starts_k.size()));
  }
  const Mask mask = attention::mask_of(c.call);
  const double scale = attention::scale_of(c.call, size);
  Tensor result = Tensor::empty(q.dtype(), {1, queries, heads, out});
  visit_float(q.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *qs = q.view<T>().data(), *ks = k.view<T>().data(), *vs = v.view<T>().data();
    T* target = result.mutable_view<T>().data();
    std::vector<double> mean;
    for (std::size_t s = 0; s + 1 < starts_q.size(); ++s) {
      const std::int64_t own_queries = starts_q[s + 1] - starts_q[s],
                         own_keys = starts_k[s + 1] - starts_k[s];
      for (std::int64_t i = 0; i < own_queries; ++i) {
        for (std::int64_t h = 0; h < heads; ++h) {
          const std::int64_t row = (starts_q[s] + i) * heads + h;
          const auto column = [&](std::int64_t j) { return (starts_k[s] + j) * heads + h; };
          const auto score = [&](std::int64_t j) -> std::optional<double> {
            if (!mask.sees(j - i - mask.offset(own_queries, own_keys))) return std::nullopt;
            double dot = 0;
            for (std::int64_t d = 0; d < size; ++d)
              dot += to_sum(qs[row * size + d]) * to_sum(ks[column(j) * size + d]);
            return dot * scale;
          };
          const auto value_at = [&](std::int64_t j, std::int64_t d) {
            return to_sum(vs[column(j) * out + d]);
          };
          attention::attend(own_keys, out, score, value_at, mean);
          for (std::int64_t d = 0; d < out; ++d) target[row * out + d] = T(mean[static_cast<std::size_t>(d)]);
        }
      }
    }
  });
  return result;
}

// Of the rows 0 to n - 1, as a column or a row: the number of the sequence (plus 1), and the place in it,
// counted from its start or from its end.
struct Rows {
  GraphValue sequence, place;
};
Rows rows_of(const GraphValue& starts, const Scalar& n, int axis, bool from_end) {
  FunctionBuilder& builder = starts.builder();
  const GraphValue wide = call_op("astype", {starts}, {{"dtype", DType::Int64}});
  const GraphValue all = call_op("expand_dims", {wide}, {{"axis", axes_attribute({0})}});
  const GraphValue rows = attention::places(n, 0, builder);
  const GraphValue begun = call_op("less_equal", {all, rows});  // (rows, starts)
  begun.leaf();
  rows.leaf();
  const auto folded = [&](std::string_view op, const GraphValue& x) {
    GraphValue column = call_op(op, {x}, {{"axis", attribute_of({1})}, {"keepdims", true}});
    if (axis == 0) return column;
    return call_op("permute_dims", {column}, {{"axes", axes_attribute({1, 0})}});
  };
  const auto integer = [&](std::int64_t value) {
    return GraphValue(constant(Tensor::scalar_int(DType::Int64, value), builder.origin()), builder);
  };
  const GraphValue sequence = folded("sum", call_op("astype", {begun}, {{"dtype", DType::Int64}}));
  const GraphValue edge =
      from_end ? folded("min", where(begun, integer(std::numeric_limits<std::int64_t>::max()), all))
               : folded("max", where(begun, all, integer(-1)));
  return {sequence, attention::places(n, axis, builder) - edge};
}

// Which keys a query sees in one attention over all sequences: those of its own.
GraphValue visible(const GradientRule& rule) {
  const Mask mask = attention::mask_of(rule.call());
  const Rows q = rows_of(rule.argument(seqstart_q), rule.dims(0)[1], 0, mask.bottom_right);
  const Rows k = rows_of(rule.argument(seqstart_k), rule.dims(1)[1], 1, mask.bottom_right);
  GraphValue visible = call_op("equal", {q.sequence, k.sequence});
  if (const auto seen = attention::seen(mask, k.place - q.place)) visible = attention::both(visible, *seen);
  visible.leaf();
  return visible;
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return attention::partials(rule, visible(rule), false);
}

Expr parts(const VjpCall& c) {
  const GradientRule rule(c);
  return attention::parts(rule, visible(rule), false);
}

constexpr Sample samples[] = {
    {"[[[[1.0]], [[1.0]], [[1.0]]]], [[[[0.0]], [[0.0]], [[0.0]]]], [[[[2.0]], [[6.0]], [[5.0]]]], "
     "tensor([0, 2, 3]), tensor([0, 2, 3]), tensor(2), tensor(2)",
     "[[[[4.0]], [[4.0]], [[5.0]]]]"},
    {"rand((1, 5, 2, 3), \"float64\"), rand((1, 6, 2, 3), \"float64\"), rand((1, 6, 2, 4), \"float64\"), "
     "tensor([0, 2, 5], \"int32\"), tensor([0, 3, 6], \"int32\"), tensor(3, \"int32\"), tensor(3, "
     "\"int32\")"},
    {"rand((1, 5, 2, 3), \"float64\"), rand((1, 6, 2, 3), \"float64\"), rand((1, 6, 2, 4), \"float64\"), "
     "tensor([0, 2, 5]), tensor([0, 2, 6]), tensor(3), tensor(4), scale=0.5, causal_mask=\"BottomRight\""},
    {"rand((1, 5, 1, 2), \"float64\"), rand((1, 5, 1, 2), \"float64\"), rand((1, 5, 1, 2), \"float64\"), "
     "tensor([0, 0, 5]), tensor([0, 0, 5]), tensor(5), tensor(5), causal_mask=\"TopLeft\", window_size=2"},
    {"rand((1, 0, 2, 3), \"float32\"), rand((1, 0, 2, 3), \"float32\"), rand((1, 0, 2, 4), \"float32\"), "
     "tensor([0]), tensor([0]), tensor(0), tensor(0)"},
};
constexpr Reject rejects[] = {
    {"attention_var_len.batch",
     "rand((2, 3, 1, 4), \"float32\"), rand((2, 3, 1, 4), \"float32\"), rand((2, 3, 1, 4), \"float32\"), "
     "tensor([0, 3]), tensor([0, 3]), tensor(3), tensor(3)",
     "a batch of 2"},
    {"attention_var_len.starts",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "tensor([0, 3]), tensor([0, 1, 3]), tensor(3), tensor(3)",
     "seqstart_k has 3 elements"},
    {"attention_var_len.starts",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 1, 4), \"float32\"), "
     "tensor([0.0, 3.0]), tensor([0, 3]), tensor(3), tensor(3)",
     "expected integers of rank 1"},
    {"attention_var_len.shape",
     "rand((1, 3, 1, 4), \"float32\"), rand((1, 3, 2, 4), \"float32\"), rand((1, 3, 2, 4), \"float32\"), "
     "tensor([0, 3]), tensor([0, 3]), tensor(3), tensor(3)",
     "the number of heads is 1"},
};

}  // namespace

extern const Op op_nn_attention_var_len{
    .name = "nn.attention_var_len",
    .summary = "Attention within each of several sequences that stand one behind the other.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .vjp = vjp,
    .parts = parts,
    .gradient_doc =
        "as nn.attention, where no query sees a key of another sequence; needs memory for all pairs "
        "of queries and keys",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Sequence s has the queries from seqstart_q[s] to seqstart_q[s + 1] and likewise keys; mask and "
        "window "
        "hold within it. The starts must begin with 0, not descend, and end with the number of rows, or a "
        "RuntimeError says so. max_seqlen_q and max_seqlen_k are hints and change nothing. TVM has the "
        "operator but no lowering for it."};

}  // namespace relish::ops_nn_attention_var_len
