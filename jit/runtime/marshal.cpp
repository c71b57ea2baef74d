// Values to slots and back.
#include "jit/runtime/marshal.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace relish::jit {

std::int64_t slot_of(const ScalarValue& scalar) {
  if (scalar.dtype == DType::Float64) return std::bit_cast<std::int64_t>(scalar.real);
  if (is_float(scalar.dtype)) return std::bit_cast<std::int32_t>(static_cast<float>(scalar.real));
  return scalar.integer;
}

ScalarValue scalar_of_slot(std::int64_t slot, DType dtype) {
  if (dtype == DType::Float64) return ScalarValue::of_real(std::bit_cast<double>(slot), dtype);
  if (is_float(dtype))
    return ScalarValue::of_real(std::bit_cast<float>(static_cast<std::int32_t>(slot)), dtype);
  return visit_dtype(dtype, [&](auto tag) -> ScalarValue {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, bool>)
      return ScalarValue::of_bool((slot & 1) != 0);
    else if constexpr (std::is_integral_v<T>)
      return ScalarValue::of_int(static_cast<std::int64_t>(static_cast<T>(slot)), dtype);
    else
      return ScalarValue::of_int(slot, dtype);
  });
}

void append_slots(const Value& value, std::vector<std::int64_t>& slots, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    slots.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.data())));
    slots.insert(slots.end(), tensor.shape().begin(), tensor.shape().end());
    tensors.push_back(tensor);
  } else if (value.is_tuple()) {
    for (const Value& field : value.fields()) append_slots(field, slots, tensors);
  } else if (value.is_shape()) {
    slots.insert(slots.end(), value.shape().dims.begin(), value.shape().dims.end());
  } else if (value.is_scalar()) {
    slots.push_back(slot_of(value.scalar()));
  }
}

// A value of slots; `tensor_of(tree, address, shape)` gives its tensors.
template <class F>
Value read_slots(const ValueTree& tree, const std::int64_t* slots, std::size_t& position,
                 const F& tensor_of) {
  switch (tree.kind) {
    case ValueTree::TensorLeaf: {
      void* address = reinterpret_cast<void*>(static_cast<std::intptr_t>(slots[position]));
      Shape shape(slots + position + 1, slots + position + 1 + tree.rank);
      position += slot_count(tree);
      return tensor_of(tree, address, std::move(shape));
    }
    case ValueTree::ShapeLeaf: {
      ShapeValue shape{{slots + position, slots + position + tree.rank}};
      position += slot_count(tree);
      return shape;
    }
    case ValueTree::ScalarLeaf:
      return scalar_of_slot(slots[position++], tree.dtype);
    case ValueTree::TextLeaf:
      return tree.text;
    case ValueTree::BoxLeaf:
      return reinterpret_cast<const Box*>(static_cast<std::intptr_t>(slots[position++]))->value;
    case ValueTree::Tuple:
      break;
  }
  if (tree.fields.empty()) return Value::tuple({});
  std::vector<Value> fields;
  fields.reserve(tree.fields.size());
  for (const ValueTree& field : tree.fields) fields.push_back(read_slots(field, slots, position, tensor_of));
  return Value::tuple(std::move(fields));
}

Value argument_of_slots(const ValueTree& tree, CallState& state, const std::int64_t* slots,
                        std::size_t& position) {
  return read_slots(tree, slots, position, [&](const ValueTree& leaf, void* address, Shape shape) -> Value {
    const OwnedTensors::Entry* made = state.tensors.find(address);
    if (made && made->tensor.dtype() == leaf.dtype && made->tensor.size() == element_count(shape))
      return made->tensor.reshaped(std::move(shape));
    Tensor copy = Tensor::empty(leaf.dtype, std::move(shape));
    if (copy.byte_size() > 0)
      std::memcpy(copy.mutable_data(), address, static_cast<std::size_t>(copy.byte_size()));
    return copy;
  });
}

std::vector<Value> arguments_of(const HostCall& host, CallState& state, const std::int64_t* in) {
  std::vector<Value> args;
  std::size_t position = 0;
  for (const ValueTree& param : host.params) args.push_back(argument_of_slots(param, state, in, position));
  return args;
}

void result_to_slots(const Value& value, const ValueTree& tree, Span span, CallState& state,
                     std::int64_t* slots, std::size_t& position) {
  const auto mismatch = [&]() {
    fail(ErrorClass::Runtime, span, "call.result",
         fmt::format("the call gives {}, which is not of the type that the text says", describe(value)));
  };
  switch (tree.kind) {
    case ValueTree::TensorLeaf: {
      if (!value.is_tensor() || value.tensor().dtype() != tree.dtype || value.tensor().rank() != tree.rank)
        mismatch();
      Tensor tensor = value.tensor();
      void* data = const_cast<void*>(tensor.data());
      // The value may be one that compiled code passed in.
      state.tensors.add(tensor);
      slots[position++] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data));
      for (const std::int64_t dim : tensor.shape()) slots[position++] = dim;
      return;
    }
    case ValueTree::ShapeLeaf:
      if (!value.is_shape() || static_cast<int>(value.shape().dims.size()) != tree.rank) mismatch();
      for (const std::int64_t dim : value.shape().dims) slots[position++] = dim;
      return;
    case ValueTree::ScalarLeaf:
      if (!value.is_scalar() || value.scalar().dtype != tree.dtype) mismatch();
      slots[position++] = slot_of(value.scalar());
      return;
    case ValueTree::TextLeaf:
      return;
    case ValueTree::BoxLeaf:
      slots[position++] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(state.box(value)));
      return;
    case ValueTree::Tuple:
      break;
  }
  if (tree.fields.empty() && value.is_void()) return;
  if (!value.is_tuple() || value.fields().size() != tree.fields.size()) mismatch();
  for (std::size_t i = 0; i < tree.fields.size(); ++i)
    result_to_slots(value.fields()[i], tree.fields[i], span, state, slots, position);
}

}  // namespace relish::jit
