// Product and sum of three tensors of one shape.
#include "stdlib/families/elementwise/domain.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/shapes.h"

namespace relish::ops_ewise_fma {
namespace {

constexpr Param params[] = {{"x1", ParamKind::Tensor, "tensor", "", "first factor"},
                            {"x2", ParamKind::Tensor, "tensor", "", "second factor"},
                            {"x3", ParamKind::Tensor, "tensor", "", "what is added"}};

Type infer(const CallView& call) {
  require_number(call, 0);
  TensorType result = call.tensor(0);
  for (std::size_t i = 1; i < 3; ++i) {
    const TensorType& type = call.tensor(i);
    if (!type.dtype) result.dtype = std::nullopt;
    if (type.dtype && call.tensor(0).dtype && *type.dtype != *call.tensor(0).dtype) {
      call.reject("dtype", call.span_of(i),
                  fmt::format("{} has dtype {} and x1 has dtype {}, expected the same", params[i].name,
                              name_of(*type.dtype), name_of(*call.tensor(0).dtype)));
    }
    if (result.rank >= 0 && type.rank >= 0 && result.rank != type.rank) {
      call.reject("shape", call.span_of(i),
                  fmt::format("{} has rank {} and x1 has rank {}, expected equal shapes", params[i].name,
                              type.rank, result.rank));
    }
    if (result.rank < 0) result.rank = type.rank;
    const std::optional<Dims> mine = known_dims(type), first = known_dims(result);
    if (!first) result.shape = mine;
    if (!mine || !first) continue;
    for (std::size_t d = 0; d < first->size(); ++d) {
      if (!prove_different((*mine)[d], (*first)[d])) continue;
      call.reject("shape", call.span_of(i),
                  fmt::format("{} has shape {} and x1 has shape {}, expected equal shapes", params[i].name,
                              describe_dims(*mine), describe_dims(*first)));
    }
  }
  return result;
}

Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1), &s = c.in(2);
  Tensor result = Tensor::empty(a.dtype(), a.shape());
  elementwise::visit<elementwise::Domain::Numbers>(a.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *x = a.view<T>().data(), *y = b.view<T>().data(), *z = s.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for (std::int64_t i = 0; i < a.size(); ++i, pace())
      target[i] = from_compute<T>(to_compute(x[i]) * to_compute(y[i]) + to_compute(z[i]));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1), s = lowering.input(2);
  const Buffer result = lowering.output();
  for (std::size_t d = 0; d < a.shape().size(); ++d) {
    lowering.require_equal(a.shape()[d], b.shape()[d], "ewise_fma: x1 and x2 must have equal shapes");
    lowering.require_equal(a.shape()[d], s.shape()[d], "ewise_fma: x1 and x3 must have equal shapes");
  }
  const DType compute = compute_dtype(a.dtype());
  lowering.map("ewise_fma", result, [&](const Dims& i) {
    return lowering.load_as(compute, a, i) * lowering.load_as(compute, b, i) +
           lowering.load_as(compute, s, i);
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  return {(g * rule.argument(1)).expr(), (g * rule.argument(0)).expr(), g.expr()};
}

constexpr Sample samples[] = {
    {"[1.5, -2.0], [2.0, 4.0], [0.5, 1.0]", "[3.5, -7.0]"},
    {"R.const([100, 3], \"int8\"), R.const([2, 4], \"int8\"), R.const([0, 5], \"int8\")", "[-56, 17]", false},
    {"rand((2, 3, 4), \"float64\"), rand((2, 3, 4), \"float64\"), rand((2, 3, 4), \"float64\")"},
    {"rand((0, 3), \"float32\"), rand((0, 3), \"float32\"), rand((0, 3), \"float32\")"},
    {"rand((), \"float32\"), rand((), \"float32\"), rand((), \"float32\")"},
    {"rand((1, 17), \"float32\"), rand((1, 17), \"float32\"), rand((1, 17), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"ewise_fma.dtype", "[1.0], [2.0], R.const([1], \"int32\")", "expected the same"},
    {"ewise_fma.dtype", "[True], [True], [True]", "expected numbers"},
    {"ewise_fma.shape", "[1.0], [2.0, 3.0], [1.0]", "expected equal shapes"},
    {"ewise_fma.shape", "[1.0], [[2.0]], [1.0]", "expected equal shapes"},
};

}  // namespace

extern const Op op_ewise_fma{.name = "ewise_fma",
                             .summary = "x1 * x2 + x3, element by element.",
                             .params = params,
                             .infer = infer,
                             .eval = evaluate,
                             .lower = lower,
                             .vjp = vjp,
                             .gradient_doc = "dx1 = g * x2, dx2 = g * x1, dx3 = g",
                             .samples = samples,
                             .rejects = rejects,
                             .doc =
                                 "No broadcasting. Product and sum are rounded one after the other, as "
                                 "multiply and add are, but in float32 for 16-bit floats."};

}  // namespace relish::ops_ewise_fma
