// Slots and storages of graph functions.
#include "jit/graph/graph_state.h"

#include <algorithm>

#include "ir/scalars/symbols.h"
#include "support/failure.h"

namespace relish::jit {

llvm::Value* GraphState::int64(std::int64_t value) const {
  return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(code_.getContext()), value);
}

llvm::Type* GraphState::scalar_type(DType dtype) {
  if (dtype == DType::Float64) return builder_.getDoubleTy();
  if (is_float(dtype)) return builder_.getFloatTy();
  return builder_.getIntNTy(is_bool(dtype) ? 1 : static_cast<unsigned>(size_of(dtype)) * 8);
}

llvm::Value* GraphState::slot(llvm::Value* slots, std::size_t position) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), slots, position);
}

// A scalar fills the low bytes of its slot; the halves travel as float, as in registers.
llvm::Value* GraphState::scalar_of_slot(llvm::Value* slots, std::size_t position, DType dtype) {
  llvm::Value* address = slot(slots, position);
  if (is_bool(dtype)) return builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt8Ty(), address));
  return builder_.CreateLoad(scalar_type(dtype), address);
}

GraphState::Live GraphState::read_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position) {
  Live live{tree, {}, {}};
  const auto next = [&] { return builder_.CreateLoad(builder_.getInt64Ty(), slot(slots, position++)); };
  switch (tree.kind) {
    case ValueTree::TensorLeaf: {
      StorageValue& storage = frame_.storages[tree.storage];
      storage.pointer = builder_.CreateLoad(builder_.getPtrTy(), slot(slots, position++));
      storage.dims.clear();
      for (int d = 0; d < tree.rank; ++d) storage.dims.push_back(next());
      break;
    }
    case ValueTree::BoxLeaf:
      frame_.storages[tree.storage].pointer =
          builder_.CreateLoad(builder_.getPtrTy(), slot(slots, position++));
      break;
    case ValueTree::ShapeLeaf:
      for (int d = 0; d < tree.rank; ++d) live.values.push_back(next());
      break;
    case ValueTree::ScalarLeaf:
      live.values.push_back(scalar_of_slot(slots, position++, tree.dtype));
      break;
    case ValueTree::TextLeaf:
      break;
    case ValueTree::Tuple:
      for (const ValueTree& field : tree.fields) live.fields.push_back(read_slots(field, slots, position));
      break;
  }
  return live;
}

void GraphState::write_slots(const Live& live, llvm::Value* slots, std::size_t& position) {
  switch (live.tree.kind) {
    case ValueTree::TensorLeaf: {
      const StorageValue& storage = frame_.storages[live.tree.storage];
      builder_.CreateStore(storage.pointer, slot(slots, position++));
      for (llvm::Value* dim : storage.dims) builder_.CreateStore(dim, slot(slots, position++));
      break;
    }
    case ValueTree::BoxLeaf:
      builder_.CreateStore(frame_.storages[live.tree.storage].pointer, slot(slots, position++));
      break;
    case ValueTree::ShapeLeaf:
    case ValueTree::ScalarLeaf:
      for (llvm::Value* value : live.values) {
        if (value->getType()->isIntegerTy(1)) value = builder_.CreateZExt(value, builder_.getInt8Ty());
        builder_.CreateStore(value, slot(slots, position++));
      }
      break;
    case ValueTree::TextLeaf:
      break;
    case ValueTree::Tuple:
      for (const Live& field : live.fields) write_slots(field, slots, position);
      break;
  }
}

void GraphState::plan_arena() {
  const std::vector<Storage>& storages = frame_.values->storages;
  frame_.planned.assign(storages.size(), nullptr);
  std::vector<Life> lives;
  std::vector<std::size_t> owners;
  for (std::size_t id = 0; id < storages.size(); ++id) {
    const Storage& storage = storages[id];
    if (storage.kind != Storage::Temporary || storage.escapes) continue;
    std::vector<ScalarVar> vars;
    for (const Scalar& dim : storage.dims) collect_vars(dim, vars);
    if (!std::all_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& v) { return frame_.symbols.contains(v.id()); }))
      continue;
    // Whole lines, so that every address is aligned.
    Scalar bytes =
        canonical(product(storage.dims) * Scalar(static_cast<std::int64_t>(size_of(storage.dtype))));
    if (const auto known = bytes.as_int()) bytes = Scalar((*known + 63) / 64 * 64);
    lives.push_back({storage.made, storage.last_use, bytes});
    owners.push_back(id);
  }
  if (lives.empty()) return;
  const MemoryPlan plan = plan_memory(lives);
  std::vector<llvm::Value*> offsets;
  llvm::Value* total = int64(0);
  for (const std::vector<std::size_t>& slot : plan.slots) {
    llvm::Value* size = int64(64);
    for (const std::size_t life : slot) {
      llvm::Value* bytes = byte_size(storages[owners[life]]);
      size = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, bytes);
    }
    offsets.push_back(total);
    total = builder_.CreateAdd(total, size);
  }
  // Of what memory is refused that is for all of them at once: the first of an open size, or of any.
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const auto rank = [&](std::size_t life) {
      return std::pair(lives[life].bytes.as_int().has_value(), life);
    };
    if (!first || rank(i) < rank(*first)) first = i;
  }
  const Span place = span_of_binding(storages[owners[*first]].made);
  frame_.arena = runtime_.scratch(builder_, frame_.context, total, sites_.add(Site::of_dims(place)));
  for (std::size_t i = 0; i < lives.size(); ++i)
    frame_.planned[owners[i]] =
        builder_.CreateInBoundsGEP(builder_.getInt8Ty(), frame_.arena, offsets[plan.slot_of[i]]);
}

// The place of what the binding at a position computes.
Span GraphState::span_of_binding(std::int64_t position) const {
  for (const BindingBlock& block : frame_.source->blocks) {
    if (position >= static_cast<std::int64_t>(block.bindings.size())) {
      position -= static_cast<std::int64_t>(block.bindings.size());
      continue;
    }
    const Binding& binding = block.bindings[static_cast<std::size_t>(position)];
    return binding.value().span().known() ? binding.value().span() : binding.span;
  }
  return frame_.source->span;
}

// Whole lines, so that every address is aligned. Sizes beyond all limits end the call.
llvm::Value* GraphState::byte_size(const Storage& storage) {
  std::vector<llvm::Value*> dims;
  bool literal = true;
  for (const Scalar& d : storage.dims) {
    dims.push_back(dim(d));
    literal = literal && d.as_int();
    // A negative dim is a fault where the tensor is made, not where memory is planned.
    if (!d.as_int())
      dims.back() = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, dims.back(), int64(0));
  }
  if (literal) {
    const auto known =
        canonical(product(storage.dims) * Scalar(static_cast<std::int64_t>(size_of(storage.dtype)))).as_int();
    if (known && *known >= 0 && *known < (std::int64_t{1} << 50)) return int64((*known + 63) / 64 * 64);
  }
  const auto known = frame_.sizes.find({storage.dtype, dims});
  if (known != frame_.sizes.end()) return known->second;
  const std::int32_t site = sites_.add(Site::of_dims(span_of_binding(storage.made)));
  llvm::Value* bytes = runtime_.byte_size(builder_, frame_.context, static_cast<std::int32_t>(storage.dtype),
                                          dims.size(), RuntimeCalls::array_of(builder_, dims), site);
  frame_.sizes.emplace(std::pair(storage.dtype, std::move(dims)), bytes);
  return bytes;
}

// Gives a temporary its address: in the arena, or as a tensor of its own when it outlives the function or
// when its size was not known at entry.
void GraphState::make_storage(std::size_t id, bool clear) {
  const Storage& storage = frame_.values->storages[id];
  StorageValue& value = frame_.storages[id];
  value.dims.clear();
  bool literal = true;
  for (const Scalar& d : storage.dims) {
    value.dims.push_back(dim(d));
    literal = literal && d.as_int();
  }
  const std::int32_t site = sites_.add(Site::of_dims(frame_.span));
  if (!literal) runtime_.refuse_negative(builder_, frame_.context, site, value.dims);
  if (frame_.planned[id]) {
    value.pointer = frame_.planned[id];
    if (clear)
      builder_.CreateMemSet(value.pointer, builder_.getInt8(0), byte_size(storage), llvm::MaybeAlign(64));
    return;
  }
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Type* ptr = builder_.getPtrTy();
  llvm::Function* make = runtime_.get("rt_tensor", ptr, {ptr, i32, i32, ptr, i32});
  make->setReturnDoesNotAlias();
  value.pointer =
      builder_.CreateCall(make, {frame_.context, builder_.getInt32(static_cast<std::uint32_t>(storage.dtype)),
                                 builder_.getInt32(static_cast<std::uint32_t>(value.dims.size())),
                                 RuntimeCalls::array_of(builder_, value.dims), builder_.getInt32(clear)});
  runtime_.require_at(builder_, frame_.context, builder_.CreateIsNotNull(value.pointer), site);
}

void GraphState::release_dead() {
  for (const std::size_t id : frame_.last_used[static_cast<std::size_t>(frame_.position)]) {
    const Storage& storage = frame_.values->storages[id];
    const bool own_tensor =
        storage.kind == Storage::Returned || (storage.kind == Storage::Temporary && !frame_.planned[id]);
    if (!own_tensor || storage.escapes) continue;
    release(frame_.storages[id].pointer, storage.boxed);
  }
}

GraphState::Live GraphState::leaf(const ValueTree& tree) {
  Live live{tree, {}, {}};
  for (const ValueTree& field : tree.fields) live.fields.push_back(leaf(field));
  return live;
}

void GraphState::for_each_stored_slot(const ValueTree& tree, std::size_t& position,
                                      const std::function<void(std::size_t, const ValueTree&)>& visit) {
  if (tree.has_storage()) visit(position, tree);
  if (tree.kind != ValueTree::Tuple) {
    position += slot_count(tree);
    return;
  }
  for (const ValueTree& field : tree.fields) for_each_stored_slot(field, position, visit);
}

llvm::Value* GraphState::own(const ValueTree& leaf, const StorageValue& storage) {
  llvm::Type *ptr = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  if (leaf.kind == ValueTree::BoxLeaf) {
    builder_.CreateCall(runtime_.get("rt_box_own", builder_.getVoidTy(), {ptr, ptr}),
                        {frame_.context, storage.pointer});
    return storage.pointer;
  }
  llvm::Value* owned = builder_.CreateCall(
      runtime_.get("rt_own", ptr, {ptr, ptr, i32, i32, ptr}),
      {frame_.context, storage.pointer, builder_.getInt32(static_cast<std::uint32_t>(leaf.dtype)),
       builder_.getInt32(static_cast<std::uint32_t>(storage.dims.size())),
       RuntimeCalls::array_of(builder_, storage.dims)});
  RuntimeCalls::check_allocated(builder_, owned);
  return owned;
}

void GraphState::release(llvm::Value* pointer, bool boxed) {
  llvm::Type* ptr = builder_.getPtrTy();
  const char* name = boxed ? "rt_box_release" : "rt_tensor_release";
  builder_.CreateCall(runtime_.get(name, builder_.getVoidTy(), {ptr, ptr}), {frame_.context, pointer});
}

}  // namespace relish::jit
