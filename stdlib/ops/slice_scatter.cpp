// A tensor with a slice replaced.
#include "stdlib/families/shapes/movement.h"

#include "ir/calls/fault.h"
#include "ir/printer/printer.h"

namespace relish::ops_slice_scatter {
namespace {

constexpr Param params[] = {
    {"input", ParamKind::Tensor, "tensor", "", "the tensor around the slice"},
    {"src", ParamKind::Tensor, "tensor", "", "the slice's new elements"},
    {"start", ParamKind::Scalar, "int", "", "first index of the slice"},
    {"end", ParamKind::Scalar, "int", "", "index behind the slice"},
    {"step", ParamKind::Scalar, "int", "1", "step of the slice, not 0; negative ones go backwards"},
    {"axis", ParamKind::Attribute, "int", "0", "dimension that is sliced"}};

std::optional<std::int64_t> literal_of(const CallView& call, std::size_t i) {
  const auto* scalar = call.args[i].as<ScalarValueExpr>();
  return scalar ? canonical(scalar->value).as_int() : std::nullopt;
}

std::string length_message() { return "slice_scatter: src must have the length of the slice"; }

Type infer(const CallView& call) {
  require_same_dtype(call, 0, 1);
  for (std::size_t i = 2; i < 5; ++i) {
    const auto* scalar = call.args[i].type().as<ScalarType>();
    if (scalar && !is_int(scalar->dtype)) {
      call.reject("bounds", call.span_of(i),
                  fmt::format("{} has dtype {}, expected an integer", call.op.params[i].name,
                              name_of(scalar->dtype)));
    }
  }
  const auto start = literal_of(call, 2), end = literal_of(call, 3), step = literal_of(call, 4);
  if (!step || *step == 0) call.reject("step", call.span_of(4), "step is not a constant other than 0");
  const TensorType& input = call.tensor(0);
  const BroadcastShape whole = shape_of(input), part = shape_of(call.tensor(1));
  if (whole.rank >= 0 && part.rank >= 0 && whole.rank != part.rank) {
    call.reject("rank", call.span,
                fmt::format("input has rank {} and src {}, expected the same", whole.rank, part.rank));
  }
  if (whole.rank < 0) return input;
  const int axis = normal_axis(call, call.int_attribute("axis"), whole.rank);
  if (!whole.dims || !part.dims) return input;
  for (int d = 0; d < whole.rank; ++d) {
    Scalar want = (*whole.dims)[static_cast<std::size_t>(d)];
    const Scalar& have = (*part.dims)[static_cast<std::size_t>(d)];
    if (d == axis) {
      if (!start || !end || !want.as_int()) continue;
      want = slice_of(*want.as_int(), *start, *end, *step).count;
    }
    if (prove_different(want, have)) {
      call.reject("shape", call.span_of(1),
                  fmt::format("dimension {} of src is {}, expected {}", d, print(have), print(want)));
    }
  }
  return input;
}

Value evaluate(const EvalCall& c) {
  const Tensor& input = c.in(0);
  const Tensor& src = c.in(1);
  const auto axis = static_cast<std::size_t>(normal_axis(c.call, c.call.int_attribute("axis"), input.rank()));
  const Slice slice = slice_of(input.shape()[axis], c.args[2].scalar().integer, c.args[3].scalar().integer,
                               c.args[4].scalar().integer);
  Tensor result = input.copy();
  std::int64_t from = 0;
  for_each_index(src.shape(), [&](Shape index) {
    index[axis] = slice.begin + index[axis] * slice.step;
    copy_element(result, position_of(input.shape(), index), src, from++);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer input = lowering.input(0), src = lowering.input(1);
  const std::int64_t step = *literal_of(c.call, 4);
  const auto scalar = [&](std::size_t i) -> Scalar {
    if (const auto literal = literal_of(c.call, i)) return *literal;
    const auto dtype = c.call.args[i].type().as<ScalarType>()->dtype;
    return cast(DType::Int64, use(lowering.loops().scalar_input(c.call.op.params[i].name, dtype)));
  };
  const Scalar start = scalar(2), end = scalar(3);
  const Buffer result = lowering.output();
  const int axis = normal_axis(c.call, c.call.int_attribute("axis"), input.rank());
  const auto along = static_cast<std::size_t>(axis);
  const SymbolicSlice slice = slice_of(input.shape()[along], start, end, step, false);
  for (int d = 0; d < input.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (d == axis)
      lowering.require_equal(src.shape()[at], slice.count, length_message());
    else
      lowering.require_equal(src.shape()[at], input.shape()[at],
                             fmt::format("slice_scatter: dimension {} of src must be that of input", d));
  }
  lowering.map("copy", result, [&](const Dims& i) { return lowering.loops().load(input, i); });
  lowering.loops().spatial("scatter", src.shape(), [&](const Dims& i) {
    Scalar at = slice.step == 1 ? i[along] : i[along] * Scalar(slice.step);
    if (slice.begin.as_int() != 0) at = slice.begin + at;
    return lowering.loops().store(result, replaced_dim(i, axis, at), lowering.loops().load(src, i));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  const auto values = [&](std::size_t i) { return rule.argument(i); };
  const int rank = shape_of(c.call.tensor(0)).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of input");
  const int axis = normal_axis(c.call, c.call.int_attribute("axis"), rank);
  Partials partials(c.call.args.size());
  partials[0] = call_op("slice_scatter", {g, zeros_of(rule.dims(1), g), values(2), values(3), values(4)},
                        {{"axis", axis}})
                    .expr();
  const auto one = [&](const Expr& value) {
    return GraphValue(tuple({value}, c.builder.origin()), c.builder);
  };
  GraphValue part = call_op("strided_slice", {g, scalars({axis}, c.builder), one(c.call.args[2]),
                                              one(c.call.args[3]), one(c.call.args[4])});
  // The length of a symbolic slice is that of src.
  if (!provably_equal(known_dims(part.type()), known_dims(c.call.tensor(1))))
    part = reshaped(part, rule.dims(1));
  partials[1] = part.expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0, 4.0], [8.0, 9.0], 1, 3", "[1.0, 8.0, 9.0, 4.0]"},
    {"[1.0, 2.0, 3.0, 4.0], [8.0, 9.0], 0, 4, 2", "[8.0, 2.0, 9.0, 4.0]"},
    {"[1.0, 2.0, 3.0, 4.0], [8.0, 9.0], -1, 0, -2", "[1.0, 9.0, 3.0, 8.0]"},
    {"rand((3, 5), \"float64\"), rand((3, 2), \"float64\"), -3, -1, axis=1"},
    {"rand((4, 2), \"float64\"), rand((4, 2), \"float64\"), 0, 2147483647, axis=-2"},
    {"rand((3, 2), \"float32\"), rand((0, 2), \"float32\"), 2, 1"},
    {"rand((0, 4), \"float32\"), rand((0, 1), \"float32\"), 0, 1, axis=1"},
};
constexpr Reject rejects[] = {
    {"slice_scatter.axis", "rand((4,), \"float32\"), rand((1,), \"float32\"), 0, 1, axis=1", "out of range"},
    {"slice_scatter.step", "rand((4,), \"float32\"), rand((1,), \"float32\"), 0, 1, 0", "other than 0"},
    {"slice_scatter.bounds", "rand((4,), \"float32\"), rand((1,), \"float32\"), 0.5, 1",
     "expected an integer"},
    {"slice_scatter.shape", "rand((4,), \"float32\"), rand((3,), \"float32\"), 0, 2", "is 3, expected 2"},
    {"slice_scatter.rank", "rand((4,), \"float32\"), rand((1, 1), \"float32\"), 0, 1", "expected the same"},
    {"slice_scatter.dtype", "rand((4,), \"float32\"), rand((1,), \"float64\"), 0, 1", "expected the same"},
};

}  // namespace

extern const Op op_slice_scatter{
    .name = "slice_scatter",
    .summary = "A tensor with a slice of one dimension replaced.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dinput = g with zeros in the slice, dsrc = the slice of g",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc = "The bounds are those of strided_slice. Unlike TVM, src must have the length of the slice."};

}  // namespace relish::ops_slice_scatter
