// What a 0-d tensor holds, as a scalar.
#include "ir/printer/printer.h"
#include "stdlib/families/shapes/shapes.h"

namespace relish::ops_item {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor of integers", "", "a 0-d tensor"}};

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  if (x.rank > 0)
    call.reject("rank", call.span_of(0), fmt::format("x has rank {}, expected a 0-d tensor", x.rank));
  if (x.dtype && !is_int(*x.dtype)) {
    call.reject("dtype", call.span_of(0),
                fmt::format("x has dtype {}, expected integers", name_of(*x.dtype)));
  }
  return ScalarType{DType::Int64};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  if (x.rank() != 0) {
    fail(ErrorClass::Runtime, c.call.span, "item.rank",
         fmt::format("item: x has rank {}, expected a 0-d tensor", x.rank()));
  }
  const std::int64_t value = x.get_int(0);
  if (is_unsigned_int(x.dtype()) && value < 0) {
    fail(ErrorClass::Runtime, c.call.span, "item.value",
         fmt::format("item: x is {}, which no int64 holds", static_cast<std::uint64_t>(value)));
  }
  return ScalarValue::of_int(value, DType::Int64);
}

constexpr Sample samples[] = {{"R.const(3, \"int64\")", "3", false},
                              {"R.const(-7, \"int8\")", "-7", false},
                              {"R.const(200, \"uint8\")", "200", false},
                              {"R.const(-30000, \"int16\")", "-30000", false},
                              {"R.const(4294967295, \"uint32\")", "4294967295", false}};
constexpr Reject rejects[] = {{"item.rank", "R.const([1, 2], \"int64\")", "expected a 0-d tensor"},
                              {"item.dtype", "R.const(1.5, \"float32\")", "expected integers"},
                              {"item.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_item{.name = "item",
                        .summary = "What a 0-d tensor of integers holds, as a scalar.",
                        .params = params,
                        .infer = infer,
                        .eval = evaluate,
                        .no_gradient = "the result is an integer",
                        .agreement = Agreement::DataMovement,
                        .samples = samples,
                        .rejects = rejects,
                        .doc =
                            "An extension. `for i in range(k)` of a 0-d tensor k is read as "
                            "`range(R.item(k))`."};

}  // namespace relish::ops_item
