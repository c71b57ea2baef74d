// Reordering of dimensions.
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_permute_dims {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"axes", ParamKind::Attribute, "list[int] or None", "None",
                             "dimension i of the result is dimension axes[i] of x; None reverses"}};

// The order of the input's dimensions in the result.
std::vector<int> order_of(const CallView& call, int rank) {
  std::vector<int> order;
  if (call.attribute("axes").is_none()) {
    for (int i = rank; i-- > 0;) order.push_back(i);
    return order;
  }
  order = ordered_axes(call, "axes", rank);
  if (static_cast<int>(order.size()) != rank) {
    call.reject("axes", call.span,
                fmt::format("axes lists {} dimensions, expected each of the {} once", order.size(), rank));
  }
  return order;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return result;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape shape = shape_of(x);
  if (shape.rank < 0) {
    const Attribute& axes = call.attribute("axes");
    return TensorType{x.dtype, std::nullopt, axes.is_none() ? -1 : static_cast<int>(int_list(axes).size())};
  }
  const std::vector<int> order = order_of(call, shape.rank);
  if (!shape.dims) return TensorType{x.dtype, std::nullopt, shape.rank};
  Dims dims;
  for (int axis : order) dims.push_back((*shape.dims)[static_cast<std::size_t>(axis)]);
  return TensorType{x.dtype, std::move(dims), shape.rank};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> order = order_of(c.call, x.rank());
  const Shape compact = row_major_strides(x.shape());
  Shape shape, strides;
  for (int axis : order) {
    shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
    strides.push_back(compact[static_cast<std::size_t>(axis)]);
  }
  Tensor result = Tensor::empty(x.dtype(), shape);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<1>(shape, {strides}, [&](const auto& offsets, const auto& steps, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) *target++ = source[offsets[0] + i * steps[0]];
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const std::vector<int> from = inverse(order_of(c.call, x.rank()));
  lowering.map("transpose", result, [&](const Dims& i) {
    Dims index;
    for (int position : from) index.push_back(i[static_cast<std::size_t>(position)]);
    return lowering.loops().load(x, index);
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const int rank = shape_of(c.call.tensor(0)).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of x");
  const Attribute axes = axes_attribute(inverse(order_of(c.call, rank)));
  return {call_op("permute_dims", {rule.cotangent()}, {{"axes", axes}}).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], axes=[0, 1]", "[[1.0, 2.0], [3.0, 4.0]]"},
    {"rand((2, 3, 4), \"float32\"), axes=[2, 0, 1]"},
    {"rand((2, 3, 4), \"float64\"), axes=[-1, 0, -2]"},
    {"rand((0, 3, 1), \"float32\"), axes=[1, 2, 0]"},
    {"rand((), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"permute_dims.axes", "rand((2, 3), \"float32\"), axes=[0]", "expected each of the 2 once"},
    {"permute_dims.axis", "rand((2, 3), \"float32\"), axes=[0, 0]", "given twice"},
};

constexpr std::string_view aliases[] = {"transpose"};

}  // namespace

extern const Op op_permute_dims{.name = "permute_dims",
                                .summary = "Reorder the dimensions of a tensor.",
                                .params = params,
                                .infer = infer,
                                .eval = evaluate,
                                .lower = lower,
                                .vjp = vjp,
                                .gradient_doc = "dx = permute_dims(g, the inverse order)",
                                .agreement = Agreement::DataMovement,
                                .samples = samples,
                                .rejects = rejects,
                                .aliases = aliases,
                                .doc =
                                    "Negative axes count from the end. Without axes a matrix is transposed. "
                                    "transpose is the name of 2019."};

}  // namespace relish::ops_permute_dims
