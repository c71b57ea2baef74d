// Slots and memory in LLVM IR.
#include "jit/graph/codegen_places.h"

namespace relish::jit {

PlaceEmitter::PlaceEmitter(FunctionCode& code, SizeEmitter& sizes, const std::vector<Place>& places)
    : code_(code), sizes_(sizes), places_(places), held_(places.size()) {
  for (PlaceId id = 0; id < places.size(); ++id) {
    if (places[id].origin != Place::Constant) continue;
    held_[id].address = code_.address(places[id].constant.data());
    for (const std::int64_t dim : places[id].constant.shape()) held_[id].values.push_back(code_.int64(dim));
  }
}

llvm::Value* PlaceEmitter::truth_in(PlaceId place) {
  llvm::IRBuilder<>& builder = code_.builder;
  return builder.CreateIsNotNull(builder.CreateLoad(builder.getInt8Ty(), held_[place].address));
}

void PlaceEmitter::read_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position) {
  if (!tree.is_leaf()) {
    for (const ValueTree& field : tree.fields) read_slots(field, slots, position);
    return;
  }
  std::size_t at = position;
  position += slot_count(tree);
  if (tree.kind == ValueTree::TextLeaf) return;
  Held& held = held_[tree.place];
  if (held.address || !held.values.empty()) return;
  llvm::IRBuilder<>& builder = code_.builder;
  if (tree.kind == ValueTree::ScalarLeaf) {
    held.values.push_back(code_.scalar_of_slot(slots, at, tree.dtype));
    return;
  }
  if (tree.has_storage()) held.address = builder.CreateLoad(code_.ptr, code_.slot(slots, at++));
  for (; at < position; ++at) held.values.push_back(builder.CreateLoad(code_.i64, code_.slot(slots, at)));
}

void PlaceEmitter::write_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position) const {
  llvm::IRBuilder<>& builder = code_.builder;
  for (const ValueTree& field : tree.fields) write_slots(field, slots, position);
  if (!tree.is_leaf() || tree.kind == ValueTree::TextLeaf) return;
  const Held& held = held_[tree.place];
  if (tree.has_storage()) builder.CreateStore(held.address, code_.slot(slots, position++));
  for (llvm::Value* value : held.values) {
    if (value->getType()->isIntegerTy(1)) value = builder.CreateZExt(value, builder.getInt8Ty());
    builder.CreateStore(value, code_.slot(slots, position++));
  }
}

void PlaceEmitter::write_slots(const std::vector<ValueTree>& trees, llvm::Value* slots) const {
  std::size_t position = 0;
  for (const ValueTree& tree : trees) write_slots(tree, slots, position);
}

llvm::Value* PlaceEmitter::slots_of(const std::vector<ValueTree>& trees) const {
  llvm::Value* slots = RuntimeCalls::stack_slots(code_.builder, slot_count(trees));
  write_slots(trees, slots);
  return slots;
}

void PlaceEmitter::take_arena(const step::TakeArena& arena, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  std::vector<llvm::Value*> offsets;
  llvm::Value* total = code_.int64(0);
  for (const std::vector<PlaceId>& slot : arena.slots) {
    llvm::Value* size = code_.int64(64);
    for (const PlaceId place : slot)
      size = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, planned_bytes(place));
    offsets.push_back(total);
    total = builder.CreateAdd(total, size);
  }
  arena_ = code_.runtime.scratch(builder, code_.context, total, code_.sites.add(Site::of_dims(span)));
  for (llvm::Value* offset : offsets)
    arena_slots_.push_back(builder.CreateInBoundsGEP(builder.getInt8Ty(), arena_, offset));
}

void PlaceEmitter::return_arena() { code_.runtime.scratch_release(code_.builder, code_.context, arena_); }

// Gives a temporary its address: in the arena, or as a tensor of its own when it outlives the function or
// when its size was not known at entry.
void PlaceEmitter::allocate(PlaceId place, bool clear, Span span,
                            const std::function<void(llvm::Value* status)>& tell) {
  const Place& described = places_[place];
  Held& held = held_[place];
  bool literal = true;
  sizes_.telling(tell, [&] {
    for (const Scalar& d : described.dims) {
      held.values.push_back(sizes_.dim(d));
      literal = literal && d.as_int();
    }
  });
  if (!literal || !described.slot) {
    const std::int32_t site = code_.sites.add(Site::of_dims(span));
    if (!literal) code_.runtime.refuse_negative(code_.builder, code_.context, site, held.values, tell);
    if (!described.slot) return own_tensor(place, clear, site);
  }
  held.address = arena_slots_.at(*described.slot);
  if (clear)
    code_.builder.CreateMemSet(held.address, code_.builder.getInt8(0), bytes(place), llvm::MaybeAlign(64));
}

void PlaceEmitter::own_tensor(PlaceId place, bool clear, std::int32_t site) {
  llvm::IRBuilder<>& builder = code_.builder;
  Held& held = held_[place];
  llvm::Function* make =
      code_.runtime.get("rt_tensor", code_.ptr, {code_.ptr, code_.i32, code_.i32, code_.ptr, code_.i32});
  make->setReturnDoesNotAlias();
  held.address =
      builder.CreateCall(make, {code_.context, code_.int32(static_cast<std::int64_t>(places_[place].dtype)),
                                code_.int32(static_cast<std::int64_t>(held.values.size())),
                                RuntimeCalls::array_of(builder, held.values), code_.int32(clear ? 1 : 0)});
  code_.runtime.require_at(builder, code_.context, builder.CreateIsNotNull(held.address), site);
}

void PlaceEmitter::copy(PlaceId from, PlaceId to) {
  code_.builder.CreateMemCpy(held_[to].address, llvm::MaybeAlign(64), held_[from].address,
                             llvm::MaybeAlign(64), bytes(to));
}

void PlaceEmitter::share(PlaceId from, PlaceId result, bool to_write) {
  llvm::IRBuilder<>& builder = code_.builder;
  const Held& given = held_[from];
  Held& held = held_[result];
  held = given;
  if (places_[from].kind == ValueTree::BoxLeaf) {
    builder.CreateCall(code_.runtime.get("rt_box_own", builder.getVoidTy(), {code_.ptr, code_.ptr}),
                       {code_.context, given.address});
    return;
  }
  held.address = builder.CreateCall(
      code_.runtime.get(to_write ? "rt_take" : "rt_own", code_.ptr,
                        {code_.ptr, code_.ptr, code_.i32, code_.i32, code_.ptr}),
      {code_.context, given.address, code_.int32(static_cast<std::int64_t>(places_[from].dtype)),
       code_.int32(static_cast<std::int64_t>(given.values.size())),
       RuntimeCalls::array_of(builder, given.values)});
  RuntimeCalls::check_allocated(builder, held.address);
}

void PlaceEmitter::take_over(PlaceId from, PlaceId result, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  const Held& given = held_[from];
  Held& held = held_[result];
  held.values.clear();
  for (const Scalar& dim : places_[result].dims) held.values.push_back(sizes_.dim(dim));
  llvm::Function* take =
      code_.runtime.get("rt_take_over", code_.ptr, {code_.ptr, code_.ptr, code_.i32, code_.i32, code_.ptr});
  held.address = builder.CreateCall(
      take, {code_.context, given.address, code_.int32(static_cast<std::int64_t>(places_[from].dtype)),
             code_.int32(static_cast<std::int64_t>(given.values.size())),
             RuntimeCalls::array_of(builder, given.values)});
  code_.runtime.require_at(builder, code_.context, builder.CreateIsNotNull(held.address),
                           code_.sites.add(Site::of_dims(span)));
}

void PlaceEmitter::release(PlaceId place) {
  const char* name = places_[place].kind == ValueTree::BoxLeaf ? "rt_box_release" : "rt_tensor_release";
  code_.builder.CreateCall(code_.runtime.get(name, code_.builder.getVoidTy(), {code_.ptr, code_.ptr}),
                           {code_.context, held_[place].address});
}

}  // namespace relish::jit
