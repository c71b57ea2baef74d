// Walks, checked indices and slices.
#include "stdlib/families/shapes/movement.h"

#include <algorithm>
#include <cstring>

#include "ir/calls/fault.h"

namespace relish {
namespace {

constexpr std::int64_t far = 2147483647;  // bounds beyond it mean the end or the start

}  // namespace

std::int64_t position_of(const Shape& shape, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return position;
}

void copy_element(Tensor& target, std::int64_t to, const Tensor& source, std::int64_t from) {
  RELISH_CHECK(target.dtype() == source.dtype() && to >= 0 && to < target.size() && from >= 0 &&
               from < source.size());
  const auto bytes = static_cast<std::size_t>(size_of(source.dtype()));
  std::memcpy(static_cast<char*>(target.mutable_data()) + static_cast<std::size_t>(to) * bytes,
              static_cast<const char*>(source.data()) + static_cast<std::size_t>(from) * bytes, bytes);
}

Tensor gathered(const Tensor& x, const Shape& shape,
                const std::function<std::int64_t(const Shape& index)>& from) {
  Tensor result = Tensor::empty(x.dtype(), shape);
  std::int64_t to = 0;
  for_each_index(shape, [&](const Shape& index) { copy_element(result, to++, x, from(index)); });
  return result;
}

std::string place_of(const Shape& shape, std::int64_t flat) {
  Shape place(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) place[d] = flat % shape[d];
  return fmt::format("[{}]", fmt::join(place, ", "));
}

std::string at_place(std::string_view name, const Shape& shape, std::int64_t flat) {
  return shape.empty() ? "" : fmt::format(" at {} of {}", place_of(shape, flat), name);
}

std::int64_t index_at(const Tensor& indices, std::int64_t flat) {
  const std::int64_t index = indices.get_int(flat);
  return indices.dtype() == DType::UInt64 && index < 0 ? INT64_MAX : index;
}

std::string index_text(const Tensor& indices, std::int64_t flat) {
  const std::int64_t index = indices.get_int(flat);
  return indices.dtype() == DType::UInt64 ? fmt::to_string(static_cast<std::uint64_t>(index))
                                          : fmt::to_string(index);
}

std::int64_t wrapped_index(const Tensor& indices, std::int64_t flat, std::int64_t extent) {
  const std::int64_t index = indices.get_int(flat);
  if (indices.dtype() == DType::UInt64) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) % static_cast<std::uint64_t>(extent));
  }
  return (index % extent + extent) % extent;
}

void check_index(const CallView& call, std::string_view name, const Tensor& indices, std::int64_t flat,
                 const Indexed& of) {
  const std::int64_t index = index_at(indices, flat);
  if (index >= -of.extent && index < of.extent) return;

  fail(fault_class(FaultKind::IndexOutOfRange), call.span, fault_id(FaultKind::IndexOutOfRange),
       fmt::format("{}: index {}{} is out of range for axis {} of {}, which has length {}", call.op.name,
                   index_text(indices, flat), at_place(name, indices.shape(), flat), of.axis, of.data,
                   of.extent));
}

void check_indices(const CallView& call, std::string_view name, const Tensor& indices, const Indexed& of) {
  in_polled_parts(
      indices.size(),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) check_index(call, name, indices, i, of);
      },
      call.span);
}

std::string index_message(const CallView& call, std::string_view data, std::size_t axis) {
  return fmt::format("an index of {} is out of range for axis {} of {}", call.op.name, axis, data);
}

void require_indices(const CallView& call, std::size_t i) {
  const std::optional<DType> dtype = dtype_of_argument(call, i);
  if (dtype && !is_int(*dtype)) {
    call.reject("indices", call.span_of(i),
                fmt::format("{} has dtype {}, expected integers", call.op.params[i].name, name_of(*dtype)));
  }
}

void require_same_dtype(const CallView& call, std::size_t i, std::size_t j) {
  const std::optional<DType> a = call.tensor(i).dtype, b = call.tensor(j).dtype;
  if (!a || !b || *a == *b) return;
  call.reject("dtype", call.span_of(j),
              fmt::format("{} has dtype {} and {} has dtype {}, expected the same", call.op.params[i].name,
                          name_of(*a), call.op.params[j].name, name_of(*b)));
}

BroadcastShape replaced_dims(const BroadcastShape& shape, int begin, int end, const BroadcastShape& middle) {
  if (shape.rank < 0 || middle.rank < 0) return {};
  BroadcastShape result{std::nullopt, shape.rank - (end - begin) + middle.rank};
  if (!shape.dims || !middle.dims) return result;
  Dims dims(shape.dims->begin(), shape.dims->begin() + begin);
  dims.insert(dims.end(), middle.dims->begin(), middle.dims->end());
  dims.insert(dims.end(), shape.dims->begin() + end, shape.dims->end());
  result.dims = std::move(dims);
  return result;
}

Dims replaced_dim(Dims dims, int axis, const Scalar& dim) {
  dims[static_cast<std::size_t>(axis)] = dim;
  return dims;
}

Dims without_dim(Dims dims, int axis) {
  dims.erase(dims.begin() + axis);
  return dims;
}

void check_indices(Lowering& lowering, const Buffer& indices, const Buffer& data, std::size_t axis) {
  const CallView& call = lowering.call();
  const Scalar extent = data.shape()[axis];
  lowering.loops().spatial("check", indices.shape(), [&](const Dims& i) {
    const Scalar index = wide_index(lowering.loops().load(indices, i));
    const Scalar inside = logical(LogicalOp::And, Scalar(0) - extent <= index, index < extent);
    return make_stmt(AssertStmt{inside, index_message(call, data.name(), axis)}, call.span);
  });
}

Scalar wide_index(const Scalar& index) {
  if (index.dtype() != DType::UInt64) return cast(DType::Int64, index);
  return cast(DType::Int64, min(index, int_literal(DType::UInt64, INT64_MAX)));
}

Scalar wrapped_index(const Scalar& index, const Scalar& extent) {
  if (index.dtype() != DType::UInt64) return floor_mod(cast(DType::Int64, index), extent);
  return cast(DType::Int64, floor_mod(index, cast(DType::UInt64, extent)));
}

Scalar from_start(const Scalar& index, const Scalar& extent) {
  const Scalar wide = wide_index(index);
  return select(wide < Scalar(0), wide + extent, wide);
}

Scalar checked_place(const Scalar& index, const Scalar& extent) {
  return max(min(from_start(index, extent), extent - Scalar(1)), Scalar(0));
}

Stmt repeat(std::string_view name, const Scalar& extent, Span span,
            const std::function<Stmt(const Scalar& i)>& body) {
  const ScalarVar i(std::string(name), DType::Int64, span);
  return make_stmt(For{i, Scalar(0), extent, LoopKind::Serial, body(use(i, span)), {}}, span);
}

Stmt repeat_index(std::string_view name, const Dims& shape, Span span,
                  const std::function<Stmt(const Dims& index)>& body) {
  Dims index;
  const std::function<Stmt(std::size_t)> level = [&](std::size_t dim) -> Stmt {
    if (dim == shape.size()) return body(index);
    return repeat(fmt::format("{}{}", name, dim), shape[dim], span, [&](const Scalar& i) {
      index.push_back(i);
      return level(dim + 1);
    });
  };
  return level(0);
}

// Both shapes are walked in row-major order: the flat position of an element is the same.
PrimFunc lower_same_order(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  for (std::size_t i = 1; i < c.call.args.size(); ++i) {
    if (c.call.args[i].type().tensor()) lowering.input(i);
  }
  const Buffer result = lowering.output();
  lowering.require_equal(product(x.shape()), product(result.shape()),
                         fmt::format("{}: the number of elements must not change", c.call.op.name));
  lowering.map("reshape", result, [&](const Dims& i) {
    Scalar flat = 0;
    for (std::size_t d = 0; d < i.size(); ++d) flat = d == 0 ? i[0] : flat * result.shape()[d] + i[d];
    Dims index(x.shape().size());
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = d == 0 ? flat : floor_mod(flat, x.shape()[d]);
      if (d > 0) flat = floor_div(flat, x.shape()[d]);
    }
    return lowering.loops().load(x, index);
  });
  return lowering.finish();
}

// --- Slices.

Slice slice_of(std::int64_t extent, std::int64_t begin, std::int64_t end, std::int64_t step, bool inbound) {
  RELISH_CHECK(step != 0);
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const auto bound = [&](std::int64_t value) {
    if (value >= far) return high;
    if (value <= -far) return low;
    const std::int64_t counted = value < 0 ? value + extent : value;
    return inbound ? counted : std::clamp(counted, low, high);
  };
  const std::int64_t first = bound(begin), last = bound(end);
  const std::int64_t length = step > 0 ? last - first : first - last;
  // The negation is of the unsigned number: that of the lowest one would overflow.
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::int64_t count =
      length <= 0 ? 0 : 1 + static_cast<std::int64_t>(static_cast<std::uint64_t>(length - 1) / stride);
  return {first, step, count};
}

SymbolicSlice slice_of(const Scalar& extent, const Scalar& begin, const Scalar& end, std::int64_t step,
                       bool inbound) {
  const auto n = extent.as_int(), b = begin.as_int(), e = end.as_int();
  if (n && b && e) {
    const Slice slice = slice_of(*n, *b, *e, step, inbound);
    return {slice.begin, slice.step, slice.count};
  }
  Scalar low = step > 0 ? 0 : -1, high = canonical(step > 0 ? extent : extent - Scalar(1));
  const auto bound = [&](const Scalar& value) -> Scalar {
    const auto literal = value.as_int();
    if (literal && *literal >= far) return high;
    if (literal && *literal <= -far) return low;
    if (prove_equal(value, extent)) return high;
    if (literal == 0 && step > 0) return 0;
    if (literal == -1 && step < 0) return high;
    // extent is added to a negative bound: max(0, min(1, -v)) is 1 for those and else 0.
    Scalar counted = value;
    if (literal && *literal < 0)
      counted = value + extent;
    else if (!literal && !inbound)
      counted = value + extent * max(Scalar(0), min(Scalar(1), Scalar(0) - value));
    if (inbound) return canonical(counted);
    if (literal) return canonical(*literal < 0 ? max(counted, low) : min(counted, high));
    return canonical(max(min(counted, high), low));
  };
  const Scalar first = bound(begin), last = bound(end);
  const Scalar length = canonical(step > 0 ? last - first : first - last);
  const Scalar stride = step > 0 ? step : -std::max(step, -far);
  Scalar count = step == 1 || step == -1 ? length : floor_div(length + stride - Scalar(1), stride);
  const bool from_edge = prove_equal(first, step > 0 ? low : high);
  const bool to_edge = prove_equal(last, step > 0 ? high : low);
  if (!inbound && !from_edge && !to_edge) count = max(Scalar(0), count);
  return {first, step, canonical(count)};
}

// --- Gradients.

GraphValue zeros_of(const Dims& dims, const GraphValue& dtype_like) {
  return call_op("zeros", {shape_value(dims, dtype_like.builder())},
                 {{"dtype", dtype_like.type().dtype.value_or(DType::Float32)}});
}

// Equal keys sort stably, so that their order is that of their positions.
GraphValue positions(const Dims& dims, int axis, FunctionBuilder& builder) {
  const GraphValue equal = call_op("zeros", {shape_value(dims, builder)}, {{"dtype", DType::Int8}});
  return call_op("argsort", {equal}, {{"axis", axis}, {"descending", false}, {"dtype", DType::Int64}});
}

GraphValue scalars(const std::vector<Scalar>& values, FunctionBuilder& builder) {
  std::vector<Expr> fields;
  for (const Scalar& value : values) fields.push_back(scalar_value(value, builder.origin()));
  return GraphValue(tuple(std::move(fields), builder.origin()), builder);
}

GraphValue sliced(const GraphValue& x, int axis, const Scalar& begin, const Scalar& end) {
  FunctionBuilder& builder = x.builder();
  return call_op("strided_slice",
                 {x, scalars({axis}, builder), scalars({begin}, builder), scalars({end}, builder)},
                 {{"assume_inbound", true}});
}

GraphValue padded(const GraphValue& g, const Dims& dims, int axis, const Scalar& begin, const Scalar& end,
                  std::int64_t step) {
  FunctionBuilder& builder = g.builder();
  const auto scalar = [&](const Scalar& value) {
    return GraphValue(scalar_value(value, builder.origin()), builder);
  };
  return call_op("slice_scatter", {zeros_of(dims, g), g, scalar(begin), scalar(end), scalar(step)},
                 {{"axis", axis}});
}

}  // namespace relish
