// The outer product of two vectors.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_outer {
namespace {

constexpr Param params[] = {{"x1", ParamKind::Tensor, "tensor", "", "column, of rank 1"},
                            {"x2", ParamKind::Tensor, "tensor", "", "row, of rank 1"}};

Type infer(const CallView& call) {
  require_number(call, 0);
  require_number(call, 1);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  std::optional<Dims> dims = Dims{};
  for (std::size_t i = 0; i < 2; ++i) {
    const BroadcastShape shape = shape_of(call.tensor(i));
    if (shape.rank >= 0 && shape.rank != 1) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has rank {}, expected 1", params[i].name, shape.rank));
    }
    if (shape.dims && dims)
      dims->push_back(shape.dims->front());
    else
      dims.reset();
  }
  return TensorType{dtype, std::move(dims), 2};
}

Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor result = Tensor::empty(a.dtype(), {a.size(), b.size()});
  visit_dtype(a.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    for (const T& x : a.view<T>()) {
      for (const T& y : b.view<T>()) *target++ = from_compute<T>(to_compute(x) * to_compute(y));
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  const DType wide = compute_dtype(result.dtype());
  lowering.map("outer", result, [&](const Dims& i) {
    return lowering.load_as(wide, a, {i[0]}) * lowering.load_as(wide, b, {i[1]});
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  const auto product = [](const GraphValue& a, const GraphValue& b) {
    return call_op("matmul", {a, b}, {{"out_dtype", Attribute()}}).expr();
  };
  return {product(g, rule.argument(1)), product(rule.argument(0), g)};
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0], [10.0, 100.0]", "[[10.0, 100.0], [20.0, 200.0], [30.0, 300.0]]"},
    {"[1, -2], [3, 4]", "[[3, 4], [-6, -8]]"},
    {"rand((4,), \"float64\"), rand((4,), \"float64\")"},
    {"rand((5,), \"float32\"), rand((1,), \"float32\")"},
    {"rand((0,), \"float32\"), rand((3,), \"float32\")"},
    {"rand((17,), \"float32\"), rand((9,), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"outer.rank", "rand((2, 3), \"float32\"), rand((3,), \"float32\")", "x1 has rank 2"},
    {"outer.rank", "rand((3,), \"float32\"), rand((), \"float32\")", "x2 has rank 0"},
    {"outer.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},
};

}  // namespace

extern const Op op_outer{.name = "outer",
                         .summary = "The products of all pairs of elements of two vectors.",
                         .params = params,
                         .infer = infer,
                         .eval = evaluate,
                         .lower = lower,
                         .vjp = vjp,
                         .gradient_doc = "dx1 = g @ x2, dx2 = x1 @ g",
                         .agreement = Agreement::Exact,
                         .samples = samples,
                         .rejects = rejects,
                         .doc = "Element (i, j) is x1[i] * x2[j]."};

}  // namespace relish::ops_outer
