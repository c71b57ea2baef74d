// Code generation of places: what holds each leaf of a value, the slots by which values go to other
// functions, and the memory of tensors.
#pragma once

#include <functional>
#include <vector>

#include "jit/graph/codegen_sizes.h"
#include "jit/steps/steps.h"

namespace relish::jit {

class PlaceEmitter {
 public:
  PlaceEmitter(FunctionCode& code, SizeEmitter& sizes, const std::vector<Place>& places);

  // A tensor or box by its address; the dims of a tensor or shape, or the scalar.
  struct Held {
    llvm::Value* address = nullptr;
    std::vector<llvm::Value*> values;
  };
  const Held& operator[](PlaceId place) const { return held_[place]; }
  const Place& described(PlaceId place) const { return places_[place]; }
  const std::vector<Place>& described() const { return places_; }
  llvm::Value* scalar(PlaceId place) const { return held_[place].values.at(0); }
  void hold(PlaceId place, std::vector<llvm::Value*> values) { held_[place].values = std::move(values); }
  void move(PlaceId place, llvm::Value* address) { held_[place].address = address; }
  // Where a tensor of rank 0 with a bool is, that bool.
  llvm::Value* truth_in(PlaceId place);

  // Leaves that are held already stay as they are.
  void read_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position);
  void write_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position) const;
  void write_slots(const std::vector<ValueTree>& trees, llvm::Value* slots) const;
  // Slots in the frame of the function with the values in them.
  llvm::Value* slots_of(const std::vector<ValueTree>& trees) const;

  void take_arena(const step::TakeArena& arena, Span span);
  void return_arena();
  // `tell`: ends the call where a dim is negative, from the status of that fault.
  void allocate(PlaceId place, bool clear, Span span, const std::function<void(llvm::Value* status)>& tell);
  void copy(PlaceId from, PlaceId to);
  void share(PlaceId from, PlaceId result, bool to_write);
  void release(PlaceId place);
  void take_over(PlaceId from, PlaceId result, Span span);

 private:
  void own_tensor(PlaceId place, bool clear, std::int32_t site);
  llvm::Value* bytes(PlaceId place) {
    return sizes_.bytes(places_[place].dtype, places_[place].dims, places_[place].span);
  }
  llvm::Value* planned_bytes(PlaceId place) {
    return sizes_.planned_bytes(places_[place].dtype, places_[place].dims, places_[place].span);
  }

  FunctionCode& code_;
  SizeEmitter& sizes_;
  const std::vector<Place>& places_;
  std::vector<Held> held_;
  llvm::Value* arena_ = nullptr;
  std::vector<llvm::Value*> arena_slots_;
};

}  // namespace relish::jit
