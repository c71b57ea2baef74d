// Indices as vectors with one marked element.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/scalars.h"

#include "ir/printer/printer.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_one_hot {
namespace {

constexpr Param params[] = {
    {"indices", ParamKind::Tensor, "tensor of integers", "", "which element is marked"},
    {"on_value", ParamKind::Scalar, "int, float (reals are float32) or bool", "",
     "the mark; its dtype is that of the result"},
    {"off_value", ParamKind::Scalar, "int, float (reals are float32) or bool", "",
     "the value of the other elements, of the same dtype"},
    {"depth", ParamKind::Attribute, "int", "", "length of the new axis"},
    {"axis", ParamKind::Attribute, "int", "-1", "where the new axis stands in the result"}};

int new_axis(const CallView& call, int rank) {
  return normal_axis(call, call.int_attribute("axis"), rank + 1);
}

Type infer(const CallView& call) {
  require_integer(call, 0, Bools::Refused);
  const TensorType& indices = call.tensor(0);
  const std::optional<DType> dtype = dtype_of_argument(call, 1), off = dtype_of_argument(call, 2);
  if (dtype && off && *dtype != *off) {
    call.reject("values", call.span_of(2),
                fmt::format("on_value has dtype {} and off_value has dtype {}, expected the same",
                            name_of(*dtype), name_of(*off)));
  }
  const std::int64_t depth = call.int_attribute("depth");
  if (depth < 0) call.reject("depth", call.span, fmt::format("depth is {}, which is negative", depth));
  if (indices.rank < 0) return TensorType{dtype, std::nullopt, -1};
  const int axis = new_axis(call, indices.rank);
  std::optional<Dims> dims = known_dims(indices);
  if (dims) dims->insert(dims->begin() + axis, Scalar(depth));
  return TensorType{dtype, std::move(dims), indices.rank + 1};
}

Value evaluate(const EvalCall& c) {
  const Tensor& indices = c.in(0);
  const DType dtype = *c.result_type.tensor()->dtype;
  const Shape shape = result_shape(c);
  const Tensor on = scalar_tensor(c.args[1].scalar(), dtype), off = scalar_tensor(c.args[2].scalar(), dtype);
  const auto axis = static_cast<std::size_t>(new_axis(c.call, indices.rank()));
  std::int64_t inner = 1;  // elements of indices behind the new axis
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  Tensor result = Tensor::empty(dtype, shape);
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    const T marked = on.view<T>()[0], plain = off.view<T>()[0];
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for (std::int64_t i = 0; i < result.size(); ++i, pace()) {
      const std::int64_t position = i / inner % shape[axis];
      const std::int64_t source = i / (inner * shape[axis]) * inner + i % inner;
      target[i] = indices.get_int(source) == position ? marked : plain;
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer indices = lowering.input(0);
  const Scalar on = scalar_input(lowering, 1, lowering.result_dtype());
  const Scalar off = scalar_input(lowering, 2, lowering.result_dtype());
  const Buffer result = lowering.output();
  const int axis = new_axis(c.call, indices.rank());
  lowering.map("one_hot", result, [&](const Dims& i) {
    Dims source = i;
    source.erase(source.begin() + axis);
    const Scalar index = cast(DType::Int64, lowering.loops().load(indices, source));
    return select(equal(index, i[static_cast<std::size_t>(axis)]), on, off);
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"R.const([0, 2, 1], \"int64\"), 1.0, 0.0, depth=3",
     "[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]", false},
    {"R.const([0, 2, -1], \"int32\"), 5, -1, depth=2, axis=0", "[[5, -1, -1], [-1, -1, -1]]", false},
    {"R.const([[0, 1], [1, 0]], \"uint8\"), True, False, depth=2, axis=1",
     "[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]", false},
    {"R.const(1, \"int64\"), 2.5, 0.5, 3, -1", "[0.5, 2.5, 0.5]", false},
    {"rand((0, 2), \"float32\").astype(\"int32\"), 1, 0, depth=4", "", false},
    {"R.const([3, 1], \"int64\"), 1, 0, depth=0", "", false},
};
constexpr Reject rejects[] = {
    {"one_hot.dtype", "[1.0], 1, 0, depth=2", "expected integers"},
    {"one_hot.values", "R.const([1], \"int64\"), 1.0, 0, depth=2", "expected the same"},
    {"one_hot.depth", "R.const([1], \"int64\"), 1, 0, depth=-2", "is negative"},
    {"one_hot.axis", "R.const([1], \"int64\"), 1, 0, depth=2, axis=2", "out of range"},
};

}  // namespace

extern const Op op_one_hot{.name = "one_hot",
                           .summary = "A new axis with one marked element for each index.",
                           .params = params,
                           .infer = infer,
                           .eval = evaluate,
                           .lower = lower,
                           .no_gradient = "the input is of integers",
                           .zero_gradient = true,
                           .agreement = Agreement::DataMovement,
                           .samples = samples,
                           .rejects = rejects,
                           .doc =
                               "An index that is negative or not below the depth marks nothing. Values "
                               "written as numbers are of int64, "
                               "float32 or bool; R.prim_value(T.float64(1)) gives another dtype."};

}  // namespace relish::ops_one_hot
