// Types, loop nests and gradients of scans.
#include "stdlib/families/shapes/scan.h"

#include "ir/calls/entry.h"

namespace relish::scan {

bool exclusive(const CallView& call) { return *call.attribute("exclusive").as<bool>(); }

Type infer(const CallView& call) {
  std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype) {
    require_number(call, 0);
    dtype = call.tensor(0).dtype;
  } else if (is_bool(*dtype)) {
    call.reject("dtype", call.span, "dtype is bool, expected a dtype of numbers");
  }
  const BroadcastShape shape = shape_of(call.tensor(0));
  if (call.attribute("axis").is_none()) {
    if (!shape.dims) return TensorType{dtype, std::nullopt, 1};
    return TensorType{dtype, Dims{product(*shape.dims)}, 1};
  }
  if (shape.rank >= 0) normal_axis(call, call.int_attribute("axis"), shape.rank);
  return tensor_of(shape, dtype);
}

std::int64_t length(const CallView& call, const Type& result) {
  const Shape shape = concrete_shape(*result.tensor());
  if (call.attribute("axis").is_none()) return element_count(shape);
  const int axis = normal_axis(call, call.int_attribute("axis"), static_cast<int>(shape.size()));
  return shape[static_cast<std::size_t>(axis)];
}

PrimFunc lower(const LowerCall& c, double start,
               const std::function<Scalar(const Scalar&, const Scalar&)>& combine) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const bool flat = c.call.attribute("axis").is_none(), before = exclusive(c.call);
  const DType wide = compute_dtype(result.dtype());
  const Span origin = c.call.span;

  // Loops inside one block: along the axis, or over all dims when flat.
  std::vector<int> inside;
  if (flat) {
    for (int i = 0; i < data.rank(); ++i) inside.push_back(i);
  } else {
    inside.push_back(normal_axis(c.call, c.call.int_attribute("axis"), data.rank()));
  }
  const reduction::ReducedLoops loops(data.shape(), inside, false);
  lowering.loops().spatial("scan", loops.spatial, [&](const Dims& line) {
    LocalStatements statements(origin);
    const ScalarVar state = statements.variable("state", literal(wide, start));
    Dims along;
    std::vector<ScalarVar> counters;
    for (int axis : inside) {
      counters.emplace_back(inside.size() == 1 ? "k" : fmt::format("k{}", axis), DType::Int64, origin);
      along.push_back(use(counters.back(), origin));
    }
    const Dims index = loops.input_index(line, along);
    const Dims place = flat ? Dims{flat_index(data.shape(), index)} : index;
    LocalStatements step(origin);
    const Scalar element = cast(wide, lowering.load_as(result.dtype(), data, index));
    if (before) step.append(lowering.store_as(result, place, use(state)));
    step.assign(state, combine(use(state), element));
    if (!before) step.append(lowering.store_as(result, place, use(state)));
    Stmt body = step.finish();
    for (std::size_t i = counters.size(); i-- > 0;)
      body = make_stmt(For{counters[i], Scalar(0), loops.reduce[i], LoopKind::Serial, body, {}}, origin);
    statements.append(body);
    return statements.finish();
  });
  return lowering.finish();
}

Axis axis_of(const GradientRule& rule) {
  const CallView& call = rule.call();
  GraphValue data = rule.argument(0), g = rule.cotangent();
  if (g.type().dtype && data.type().dtype != g.type().dtype)
    data = call_op("astype", {data}, {{"dtype", *g.type().dtype}});
  const Dims dims = rule.dims(0);
  if (!call.attribute("axis").is_none())
    return {normal_axis(call, call.int_attribute("axis"), static_cast<int>(dims.size())), data, g};
  return {0, reshaped(data, {product(dims)}), g};
}

Expr partial(const GradientRule& rule, const GraphValue& along) {
  GraphValue partial = along;
  if (rule.call().attribute("axis").is_none()) partial = reshaped(partial, rule.dims(0));
  const std::optional<DType> dtype = rule.call().tensor(0).dtype;
  if (dtype && partial.type().dtype != dtype) partial = call_op("astype", {partial}, {{"dtype", *dtype}});
  return partial.expr();
}

GraphValue backward_recurrence(const GraphValue& coefficients, const GraphValue& terms, int axis) {
  return call_op("grad.linear_scan", {coefficients, terms}, {{"axis", axis}, {"transposed", true}});
}

GraphValue shifted(const GraphValue& x, int axis, int offset) {
  return call_op("grad.shift", {x}, {{"axis", axis}, {"offset", offset}});
}

}  // namespace relish::scan
