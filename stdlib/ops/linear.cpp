// The linear layer under its two names.
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/elementwise/synonym.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_linear {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "rows, (..., in)"},
    {"weight", ParamKind::Tensor, "tensor", "", "(out, in), or (in,) for one output without a dimension"},
    {"bias", ParamKind::OptionalTensor, "tensor", "", "what is added; broadcasts to the result"},
    {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
     "dtype of the result, of the sums and of the bias; None: the operands'"}};
constexpr Param dense_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "rows, (..., in)"},
    {"weight", ParamKind::Tensor, "tensor", "", "(out, in)"},
    {"units", ParamKind::Attribute, "int or None", "None", "number of outputs; None: as the weight says"},
    {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
     "dtype of the result and of the sums; None: the operands'"}};

constexpr std::size_t bias_index = 2;
bool has_bias(const CallView& call) { return call.has(bias_index); }

Type infer(const CallView& call) {
  for (std::size_t i = 0; i < 2; ++i) require_number(call, i);
  std::optional<DType> dtype = dtype_attribute(call, "out_dtype");
  if (dtype && is_bool(*dtype))
    call.reject("dtype", call.span, "out_dtype is bool, expected a dtype of numbers");
  if (!dtype) dtype = common_dtype(call, 0, 1);
  const BroadcastShape data = shape_of(call.tensor(0)), weight = shape_of(call.tensor(1));
  if (data.rank == 0) call.reject("rank", call.span_of(0), "data has rank 0, expected at least 1");
  if (weight.rank == 0 || weight.rank > 2)
    call.reject("rank", call.span_of(1), fmt::format("weight has rank {}, expected 1 or 2", weight.rank));
  if (data.dims && weight.dims && prove_different(data.dims->back(), weight.dims->back())) {
    call.reject("inner", call.span,
                fmt::format("data has rows of {} and weight of {} elements, expected the same",
                            print(data.dims->back()), print(weight.dims->back())));
  }
  BroadcastShape result;
  if (data.rank > 0 && weight.rank > 0) {
    result.rank = data.rank - 1 + (weight.rank == 2);
    if (data.dims && weight.dims) {
      result.dims = Dims(data.dims->begin(), data.dims->end() - 1);
      if (weight.rank == 2) result.dims->push_back(weight.dims->front());
    }
    if (result.rank == 0) result.dims = Dims{};
  }
  if (has_bias(call)) {
    const TensorType& bias = call.tensor(bias_index);
    if (dtype && bias.dtype && *dtype != *bias.dtype) {
      call.reject("dtype", call.span_of(bias_index),
                  fmt::format("bias has dtype {}, and the product {}; expected the same",
                              name_of(*bias.dtype), name_of(*dtype)));
    }
    const BroadcastShape sum = broadcast(call, result, shape_of(bias));
    const bool grows = result.dims && sum.dims && !provably_equal(result.dims, sum.dims);
    if (grows || (result.rank >= 0 && sum.rank > result.rank)) {
      call.reject("bias", call.span_of(bias_index),
                  fmt::format("bias has type {}, which does not broadcast to the product",
                              print(call.args[bias_index].type())));
    }
  }
  return tensor_of(result, dtype);
}

Value evaluate(const EvalCall& c) {
  const TensorType& type = *c.result_type.tensor();
  const Tensor data = convert_tensor(c.in(0), *type.dtype), weight = convert_tensor(c.in(1), *type.dtype);
  const std::int64_t inner = data.shape().back();
  if (inner != weight.shape().back()) {
    fail(ErrorClass::Runtime, c.call.span, "linear.inner",
         fmt::format("linear: data has rows of {} and weight of {} elements, expected the same", inner,
                     weight.shape().back()));
  }
  Shape shape(data.shape().begin(), data.shape().end() - 1);
  if (weight.rank() == 2) shape.push_back(weight.shape()[0]);
  if (has_bias(c.call) && broadcast_values(c.call, shape, c.in(bias_index).shape()) != shape)
    fail(ErrorClass::Runtime, c.call.span, "linear.bias",
         fmt::format("linear: bias of shape ({}) does not broadcast to the product, ({})",
                     fmt::join(c.in(bias_index).shape(), ", "), fmt::join(shape, ", ")));
  Tensor result = Tensor::empty(data.dtype(), shape);
  const std::int64_t outputs = weight.rank() == 2 ? weight.shape()[0] : 1;
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *x = data.view<T>().data(), *w = weight.view<T>().data();
    const T* b = has_bias(c.call) ? c.in(bias_index).template view<T>().data() : nullptr;
    T* target = result.mutable_view<T>().data();
    const Shape bias_strides =
        b ? broadcast_strides(c.in(bias_index).shape(), shape) : Shape(shape.size(), 0);
    std::int64_t next = 0;
    Pace pace;
    for_each_row<1>(shape, {bias_strides}, [&](const auto& at, const auto& step, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, ++next, pace(inner)) {
        Sum<T> total{};
        for (std::int64_t k = 0; k < inner; ++k)
          total = total + to_sum(x[next / outputs * inner + k]) * to_sum(w[next % outputs * inner + k]);
        if (b) total = total + to_sum(b[at[0] + i * step[0]]);
        target[next] = from_sum<T>(total);
      }
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), weight = lowering.input(1);
  std::optional<Buffer> bias;
  if (has_bias(c.call)) bias = lowering.input(bias_index);
  const Buffer result = lowering.output();
  const Scalar inner = data.shape().back();
  lowering.require_equal(inner, weight.shape().back(),
                         "linear: rows of data and of weight must have the same length");
  const DType wide = compute_dtype(result.dtype());
  const bool matrix = weight.rank() == 2;
  const Buffer total =
      wide == result.dtype() && !bias ? result : lowering.temporary("total", result.shape(), wide);
  lowering.reduce("linear", total, result.shape(), {inner}, [&](const Dims& s, const Dims& r) {
    Dims row(s.begin(), matrix ? s.end() - 1 : s.end());
    row.push_back(r[0]);
    const Dims column = matrix ? Dims{s.back(), r[0]} : Dims{r[0]};
    return cast(wide, lowering.load_as(result.dtype(), data, row)) *
           cast(wide, lowering.load_as(result.dtype(), weight, column));
  });
  if (!(total == result)) {
    lowering.map("bias", result, [&](const Dims& i) {
      Scalar product = lowering.loops().load(total, i);
      if (!bias) return product;
      return product + lowering.load_as(wide, *bias, lowering.broadcast_index(*bias, result.shape(), i));
    });
  }
  return lowering.finish();
}

GraphValue as_dtype(const GraphValue& x, std::optional<DType> dtype) {
  if (!dtype || x.type().dtype == dtype) return x;
  return call_op("astype", {x}, {{"dtype", *dtype}});
}
GraphValue product_of(const GraphValue& a, const GraphValue& b) {
  return call_op("matmul", {a, b}, {{"out_dtype", Attribute()}});
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims data = rule.dims(0), weight = rule.dims(1);
  const std::optional<DType> out_dtype = dtype_attribute(c.call, "out_dtype");
  const GraphValue g = rule.cotangent();
  const GraphValue x = as_dtype(rule.argument(0), out_dtype), w = as_dtype(rule.argument(1), out_dtype);
  const Scalar rows = product(Dims(data.begin(), data.end() - 1));
  const GraphValue x_rows = data.size() == 2 ? x : reshaped(x, {rows, data.back()});
  Partials partials(c.call.args.size());
  if (weight.size() == 1) {
    const GraphValue column = call_op("expand_dims", {g}, {{"axis", axes_attribute({-1})}});
    const GraphValue g_row = data.size() == 2 ? g : reshaped(g, {rows});
    partials[0] = as_dtype(column * w, c.call.tensor(0).dtype).expr();
    partials[1] = as_dtype(product_of(g_row, x_rows), c.call.tensor(1).dtype).expr();
  } else {
    const GraphValue g_rows = data.size() == 2 ? g : reshaped(g, {rows, weight.front()});
    const GraphValue g_columns = call_op("permute_dims", {g_rows}, {{"axes", axes_attribute({1, 0})}});
    partials[0] = as_dtype(product_of(g, w), c.call.tensor(0).dtype).expr();
    partials[1] = as_dtype(product_of(g_columns, x_rows), c.call.tensor(1).dtype).expr();
  }
  if (has_bias(c.call)) partials[bias_index] = rule.fit(g, bias_index).expr();
  return partials;
}

// --- The name of 2019.

Meaning meaning_of_dense(const CallView& call) {
  return {
      find_op("linear"), {call.args.begin(), call.args.end()}, {{"out_dtype", call.attribute("out_dtype")}}};
}

Type infer_dense(const CallView& call) {
  const BroadcastShape weight = shape_of(call.tensor(1));
  if (weight.rank >= 0 && weight.rank != 2)
    call.reject("rank", call.span_of(1), fmt::format("weight has rank {}, expected 2", weight.rank));
  if (const auto* units = call.attribute("units").as<std::int64_t>();
      units && weight.dims && prove_different(weight.dims->front(), Scalar(*units))) {
    call.reject("units", call.span,
                fmt::format("units is {}, and weight has {} rows", *units, print(weight.dims->front())));
  }
  const BroadcastShape data = shape_of(call.tensor(0));
  if (data.dims && weight.dims && !data.dims->empty() &&
      prove_different(data.dims->back(), weight.dims->back())) {
    call.reject("inner", call.span,
                fmt::format("data has rows of {} and weight of {} elements, expected the same",
                            print(data.dims->back()), print(weight.dims->back())));
  }
  return synonym::infer<meaning_of_dense>(call);
}

// Whether the weight has so many rows as `units` says is known here, or when it runs.
PrimFunc lower_dense(const LowerCall& c) {
  PrimFunc function = synonym::lower<meaning_of_dense>(c);
  const auto* units = c.call.attribute("units").as<std::int64_t>();
  const Scalar& rows = function.params[1].buffer()->shape().front();
  if (!units || prove_equal(rows, Scalar(*units))) return function;
  const Stmt same =
      make_stmt(AssertStmt{equal(rows, Scalar(*units)), "dense: units is not the number of rows of weight"},
                c.call.span);
  function.body = seq({same, function.body}, function.body->span);
  return function;
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]", "[[17.0, 23.0], [39.0, 53.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [10.0, 20.0]", "[[27.0, 43.0], [49.0, 73.0]]"},
    {"[1.0, 2.0], [[5.0, 6.0], [7.0, 8.0]]", "[17.0, 23.0]"},
    {"[[1, 2], [3, 4]], [5, 6]", "[17, 39]"},
    {"rand((2, 3, 4), \"float64\"), rand((5, 4), \"float64\"), rand((5,), \"float64\")"},
    {"rand((2, 3, 4), \"float64\"), rand((5, 4), \"float64\"), rand((3, 1), \"float64\")"},
    {"rand((3, 4), \"float64\"), rand((4,), \"float64\"), rand((1,), \"float64\")"},
    {"rand((3, 0), \"float32\"), rand((2, 0), \"float32\"), rand((2,), \"float32\")"},
    {"rand((5, 1), \"float32\"), rand((2, 1), \"float32\"), rand((2,), \"float32\")"},
    {"rand((2, 3), \"float16\"), rand((4, 3), \"float16\"), out_dtype=\"float32\""},
};
constexpr Sample dense_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], units=2", "[[17.0, 23.0], [39.0, 53.0]]"},
    {"rand((2, 3, 4), \"float64\"), rand((5, 4), \"float64\")"},
    {"rand((3, 4), \"float64\"), rand((4, 4), \"float64\"), units=4"},
    {"rand((3, 0), \"float32\"), rand((2, 0), \"float32\")"},
    {"rand((5, 1), \"float32\"), rand((2, 1), \"float32\")"},
    {"rand((2, 3), \"float16\"), rand((4, 3), \"float16\"), out_dtype=\"float32\""},
};
constexpr Reject rejects[] = {
    {"linear.inner", "rand((2, 3), \"float32\"), rand((3, 2), \"float32\")", "rows of 3 and weight of 2"},
    {"linear.rank", "rand((), \"float32\"), rand((3, 2), \"float32\")", "data has rank 0"},
    {"linear.rank", "rand((2, 3), \"float32\"), rand((1, 2, 3), \"float32\")", "weight has rank 3"},
    {"linear.dtype", "rand((2, 3), \"float32\"), rand((2, 3), \"float64\")", "expected the same"},
    {"linear.dtype", "rand((2, 3), \"float32\"), rand((2, 3), \"float32\"), rand((2,), \"float64\")",
     "bias has dtype float64"},
    {"linear.bias", "rand((2, 3), \"float32\"), rand((4, 3), \"float32\"), rand((1, 2, 4), \"float32\")",
     "does not broadcast to the product"},
    {"linear.shape", "rand((2, 3), \"float32\"), rand((4, 3), \"float32\"), rand((3,), \"float32\")",
     "do not broadcast"},
};
constexpr Reject dense_rejects[] = {
    {"dense.inner", "rand((2, 3), \"float32\"), rand((3, 2), \"float32\")", "rows of 3 and weight of 2"},
    {"dense.units", "rand((2, 3), \"float32\"), rand((4, 3), \"float32\"), units=3", "weight has 4 rows"},
    {"dense.rank", "rand((2, 3), \"float32\"), rand((3,), \"float32\")", "weight has rank 1"},
};

}  // namespace

extern const Op op_linear{
    .name = "linear",
    .summary = "Rows times the transposed weight, plus a bias.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "ddata = g @ weight, dweight = transposed g @ data over all rows, dbias = sum_to(g, bias)",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "matmul(data, permute_dims(weight)) + bias. TVM takes it apart when it reads the text; here it is an "
        "operator, whose sum and bias are rounded once."};

extern const Op op_nn_dense = synonym_of<meaning_of_dense>(
    {.name = "nn.dense",
     .summary = "Rows times the transposed weight.",
     .params = dense_params,
     .infer = infer_dense,
     .lower = lower_dense,
     .gradient_doc = "ddata = g @ weight, dweight = transposed g @ data over all rows",
     .agreement = Agreement::Sum,
     .samples = dense_samples,
     .rejects = dense_rejects,
     .doc = "R.linear without a bias. A name of Relay from 2019 that TVM has no more."});

}  // namespace relish::ops_linear
