// Arguments of a whole call to slots, and its result out of them. A call that is repeated takes no memory
// here for what it was given: tensors move in and out with their shapes, and tuples are used again.
#include <fmt/format.h>

#include <algorithm>

#include "jit/runtime/marshal.h"

namespace relish::jit {
namespace {

const std::shared_ptr<const TupleValue>* tuple_in(const Value& value) {
  return std::get_if<std::shared_ptr<const TupleValue>>(&value.kind());
}

bool held_once(const Value& tuple) { return tuple_in(tuple)->use_count() == 1; }

// What nobody else holds may be changed.
std::vector<Value>& fields_of(Value& tuple) { return const_cast<std::vector<Value>&>(tuple.fields()); }

void append_slots(Value& value, const ValueTree& tree, bool alone, CallState& state) {
  CallSlots& slots = state.slots;
  if (tree.kind == ValueTree::Tuple) {
    if (tree.fields.empty()) return;
    std::vector<Value>& fields = fields_of(value);
    alone = alone && held_once(value);
    for (std::size_t i = 0; i < tree.fields.size(); ++i)
      append_slots(fields.at(i), tree.fields[i], alone, state);
    return;
  }
  switch (tree.kind) {
    case ValueTree::TensorLeaf: {
      const Tensor& tensor = value.tensor();
      slots.leaves.push_back({&value, tensor.data(), alone});
      slots.in.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.data())));
      slots.in.insert(slots.in.end(), tensor.shape().begin(), tensor.shape().end());
      return;
    }
    case ValueTree::BoxLeaf:
      slots.leaves.push_back({&value, nullptr, alone});
      slots.in.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(state.box(value))));
      return;
    case ValueTree::ShapeLeaf:
      slots.in.insert(slots.in.end(), value.shape().dims.begin(), value.shape().dims.end());
      return;
    case ValueTree::ScalarLeaf:
      slots.in.push_back(slot_of(value.scalar()));
      return;
    case ValueTree::TextLeaf:
    case ValueTree::Tuple:
      return;
  }
}

class ResultReader {
 public:
  ResultReader(std::vector<Value>& args, const FunctionLayout& layout, CallState& state)
      : args_(args), layout_(layout), state_(state), slots_(state.slots.out.data()) {}

  Value read() {
    count_wanted();
    Value result;
    const ValueTree& tree = layout_.result;
    if (tree.kind != ValueTree::Tuple) {
      read(tree, result);
      return result;
    }
    if (tree.fields.empty()) return Value::tuple({});
    std::vector<Value> fields(tree.fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (tree.fields[i].kind == ValueTree::Tuple) fields[i] = given_tuple(tree.fields[i].fields.size());
      read(tree.fields[i], fields[i]);
    }
    return Value::tuple(std::move(fields));
  }

 private:
  bool is_argument(const Place& place) const { return place.origin == Place::Param && !place.donated; }

  OwnedTensors::Entry* entry_at(std::size_t position) const {
    return state_.tensors.find(reinterpret_cast<void*>(static_cast<std::intptr_t>(slots_[position])));
  }

  // The last place of the result that has a tensor takes it, others share it.
  void count_wanted() {
    std::size_t position = 0;
    for_each_leaf(layout_.result, [&](const ValueTree& leaf) {
      const Place& place = layout_.places.at(leaf.place);
      const bool made =
          leaf.kind == ValueTree::TensorLeaf && !is_argument(place) && place.origin != Place::Constant;
      if (OwnedTensors::Entry* found = made ? entry_at(position) : nullptr) ++found->wanted;
      position += slot_count(leaf);
    });
  }

  // The next argument that is a tuple of so many and was given up with all that it holds; else nothing.
  Value given_tuple(std::size_t size) {
    for (; next_param_ < layout_.params.size(); ++next_param_) {
      const ValueTree& param = layout_.params[next_param_];
      bool whole = !layout_.donated.empty() && param.kind == ValueTree::Tuple && param.fields.size() == size;
      std::size_t leaf = next_leaf_;
      for_each_leaf(param, [&](const ValueTree& each) {
        if (!each.has_storage()) return;
        whole = whole && layout_.donated[leaf] && state_.slots.leaves[leaf].alone;
        ++leaf;
      });
      next_leaf_ = leaf;
      if (whole) return std::move(args_[next_param_++]);
    }
    return {};
  }

  void read(const ValueTree& tree, Value& into) {
    switch (tree.kind) {
      case ValueTree::TensorLeaf:
        read_tensor(tree, into);
        break;
      case ValueTree::ShapeLeaf:
        into = ShapeValue{{slots_ + position_, slots_ + position_ + tree.rank}};
        break;
      case ValueTree::ScalarLeaf:
        into = scalar_of_slot(slots_[position_], tree.dtype);
        break;
      case ValueTree::TextLeaf:
        into = tree.text;
        return;
      case ValueTree::BoxLeaf:
        into = reinterpret_cast<const Box*>(static_cast<std::intptr_t>(slots_[position_]))->value;
        break;
      case ValueTree::Tuple:
        return read_tuple(tree, into);
    }
    position_ += slot_count(tree);
  }

  void read_tuple(const ValueTree& tree, Value& into) {
    if (tuple_in(into) && held_once(into) && into.fields().size() == tree.fields.size()) {
      std::vector<Value>& fields = fields_of(into);
      for (std::size_t i = 0; i < fields.size(); ++i) read(tree.fields[i], fields[i]);
      return;
    }
    std::vector<Value> fields(tree.fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) read(tree.fields[i], fields[i]);
    into = Value::tuple(std::move(fields));
  }

  void read_tensor(const ValueTree& tree, Value& into) {
    const Place& place = layout_.places.at(tree.place);
    if (is_argument(place)) {
      into = *state_.slots.leaves.at(place.leaf).value;
      return;
    }
    if (place.origin == Place::Constant) {
      into = place.constant;
      return;
    }
    OwnedTensors::Entry* found = entry_at(position_);
    RELISH_CHECK(found != nullptr, "a result of compiled code has no tensor");
    const std::span<const std::int64_t> dims(slots_ + position_ + 1, static_cast<std::size_t>(tree.rank));
    const bool last = --found->wanted == 0;
    // Values of one storage may have several shapes, and those without elements several dtypes.
    if (element_count(dims) == 0)
      into = Tensor::empty(tree.dtype, Shape(dims.begin(), dims.end()));
    else if (!std::equal(dims.begin(), dims.end(), found->tensor.shape().begin(),
                         found->tensor.shape().end()))
      into = found->tensor.reshaped(Shape(dims.begin(), dims.end()));
    else if (last)
      into = std::move(found->tensor);
    else
      into = found->tensor;
  }

  std::vector<Value>& args_;
  const FunctionLayout& layout_;
  CallState& state_;
  const std::int64_t* slots_;
  std::size_t position_ = 0;
  std::size_t next_param_ = 0, next_leaf_ = 0;
};

}  // namespace

void slots_of_arguments(std::vector<Value>& args, const FunctionLayout& layout, CallState& state) {
  for (std::size_t i = 0; i < args.size(); ++i) append_slots(args[i], layout.params.at(i), true, state);
  state.slots.out.assign(slot_count(layout.result), 0);
}

void give_up(const FunctionLayout& layout, CallState& state, bool back) {
  for (std::size_t i = 0; i < layout.donated.size(); ++i) {
    if (!layout.donated[i]) continue;
    const CallSlots::Leaf& leaf = state.slots.leaves[i];
    Tensor& tensor = leaf.value->tensor();
    OwnedTensors::Entry& entry = state.tensors.add(leaf.alone ? std::move(tensor) : tensor);
    entry.given = back;
  }
}

void give_back(const FunctionLayout& layout, CallState& state) {
  for (std::size_t i = 0; i < layout.donated.size(); ++i) {
    const CallSlots::Leaf& leaf = state.slots.leaves[i];
    if (!layout.donated[i] || !leaf.alone) continue;
    const OwnedTensors::Entry* entry = state.tensors.find(leaf.data);
    RELISH_CHECK(entry != nullptr, "a tensor that is given back has gone");
    *leaf.value = entry->tensor;
  }
}

Value result_of_call(std::vector<Value>& args, const FunctionLayout& layout, CallState& state) {
  return ResultReader(args, layout, state).read();
}

}  // namespace relish::jit
