// Insertion and removal of dimensions of length 1.
#include <algorithm>

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_expand_dims {
namespace {

constexpr Param expand_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or list[int]", "", "positions of the new dimensions in the result"}};
constexpr Param squeeze_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                                    {"axis", ParamKind::Attribute, "int or list[int] or None", "None",
                                     "dimensions to drop; None drops every 1"}};

// A copy of x under the result's shape, where element `index` of the result is element `at(index)` of x.
template <class At>
PrimFunc lower_copy(const LowerCall& c, const At& at) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  lowering.map("copy", result, [&](const Dims& i) { return lowering.loops().load(x, at(x, i)); });
  return lowering.finish();
}

Value evaluate_reshaped(const EvalCall& c) { return c.in(0).reshaped(result_shape(c)); }

// --- expand_dims

Type infer_expand(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape shape = shape_of(x);
  if (shape.rank < 0) return TensorType{x.dtype, std::nullopt, -1};
  const int rank = shape.rank + static_cast<int>(int_list(call.attribute("axis")).size());
  const std::vector<int> axes = axes_of(call, "axis", rank);
  if (!shape.dims) return TensorType{x.dtype, std::nullopt, rank};
  Dims dims;
  auto next = shape.dims->begin();
  for (int i = 0; i < rank; ++i) dims.push_back(contains(axes, i) ? Scalar(1) : *next++);
  return TensorType{x.dtype, std::move(dims), rank};
}

PrimFunc lower_expand(const LowerCall& c) {
  return lower_copy(c, [&](const Buffer&, const Dims& i) {
    const std::vector<int> axes = axes_of(c.call, "axis", static_cast<int>(i.size()));
    Dims index;
    for (std::size_t d = 0; d < i.size(); ++d) {
      if (!contains(axes, static_cast<int>(d))) index.push_back(i[d]);
    }
    return index;
  });
}

Partials vjp_expand(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("squeeze", {rule.cotangent()}, {{"axis", c.call.attribute("axis")}}).expr()};
}

constexpr Sample expand_samples[] = {
    {"[1.0, 2.0, 3.0], axis=0", "[[1.0, 2.0, 3.0]]"}, {"[1.0, 2.0], axis=[1]", "[[1.0], [2.0]]"},
    {"[1.0, 2.0], axis=[0, -1]", "[[[1.0], [2.0]]]"}, {"rand((2, 3), \"float64\"), axis=-2"},
    {"rand((), \"float32\"), axis=[0, 1]"},           {"rand((0,), \"float32\"), axis=1"},
};
constexpr Reject expand_rejects[] = {
    {"expand_dims.axis", "rand((2,), \"float32\"), axis=3", "out of range"},
};

// --- squeeze

// The dimensions that go: every literal 1, or the listed ones among them. Whether a symbolic one goes cannot
// be told.
std::vector<int> dropped_axes(const CallView& call, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  const bool all = call.attribute("axis").is_none();
  std::vector<int> dropped;
  for (int axis : axes_of(call, "axis", rank)) {
    const Scalar& dim = dims[static_cast<std::size_t>(axis)];
    if (is_one(dim))
      dropped.push_back(axis);
    else if (!all && !dim.as_int()) {
      call.reject("axis", call.span,
                  fmt::format("dimension {} of shape {} may or may not be 1; fix it with match_cast", axis,
                              describe_dims(dims)));
    }
  }
  return dropped;
}

Type infer_squeeze(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape shape = shape_of(x);
  if (!shape.dims) return TensorType{x.dtype, std::nullopt, -1};
  const bool all = call.attribute("axis").is_none();
  const bool symbolic =
      std::any_of(shape.dims->begin(), shape.dims->end(), [](const Scalar& d) { return !d.as_int(); });
  if (all && symbolic) return TensorType{x.dtype, std::nullopt, -1};
  const std::vector<int> dropped = dropped_axes(call, *shape.dims);
  Dims dims;
  for (int i = 0; i < shape.rank; ++i) {
    if (!contains(dropped, i)) dims.push_back((*shape.dims)[static_cast<std::size_t>(i)]);
  }
  const int rank = static_cast<int>(dims.size());
  return TensorType{x.dtype, std::move(dims), rank};
}

PrimFunc lower_squeeze(const LowerCall& c) {
  return lower_copy(c, [&](const Buffer& x, const Dims& i) {
    const std::vector<int> dropped = dropped_axes(c.call, x.shape());
    Dims index;
    auto next = i.begin();
    for (int d = 0; d < x.rank(); ++d) index.push_back(contains(dropped, d) ? Scalar(0) : *next++);
    return index;
  });
}

Partials vjp_squeeze(const VjpCall& c) {
  const GradientRule rule(c);
  return {reshaped(rule.cotangent(), rule.dims(0)).expr()};
}

constexpr Sample squeeze_samples[] = {
    {"[[[1.0], [2.0]]]", "[1.0, 2.0]"},
    {"[[[1.0], [2.0]]], axis=0", "[[1.0], [2.0]]"},
    {"[[[1.0], [2.0]]], axis=[-1]", "[[1.0, 2.0]]"},
    {"[[1.0, 2.0]], axis=1", "[[1.0, 2.0]]"},
    {"rand((1, 0, 1), \"float32\")"},
    {"rand((1, 3, 1, 2), \"float64\"), axis=[0, 2]"},
};
constexpr Reject squeeze_rejects[] = {
    {"squeeze.axis", "rand((2, 1), \"float32\"), axis=2", "out of range"},
};

}  // namespace

extern const Op op_expand_dims{.name = "expand_dims",
                               .summary = "Insert dimensions of length 1.",
                               .params = expand_params,
                               .infer = infer_expand,
                               .eval = evaluate_reshaped,
                               .lower = lower_expand,
                               .vjp = vjp_expand,
                               .gradient_doc = "dx = squeeze(g, axis)",
                               .agreement = Agreement::DataMovement,
                               .samples = expand_samples,
                               .rejects = expand_rejects,
                               .doc = "Axes are positions in the result; negative ones count from its end."};

extern const Op op_squeeze{.name = "squeeze",
                           .summary = "Drop dimensions of length 1.",
                           .params = squeeze_params,
                           .infer = infer_squeeze,
                           .eval = evaluate_reshaped,
                           .lower = lower_squeeze,
                           .vjp = vjp_squeeze,
                           .gradient_doc = "dx = reshape(g, shape of x)",
                           .agreement = Agreement::DataMovement,
                           .samples = squeeze_samples,
                           .rejects = squeeze_rejects,
                           .doc =
                               "A listed dimension that is not 1 is kept. Without axes, a symbolic dimension "
                               "makes the rank of the result "
                               "unknown."};

}  // namespace relish::ops_expand_dims
