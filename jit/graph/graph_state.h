// The state of the code of one Relax function, and what every part of its generation needs: slots of
// arguments and results, the storages of values, symbolic dims and the checks of shapes.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "jit/engine/runtime_calls.h"
#include "jit/engine/sites.h"
#include "jit/graph/graph_values.h"
#include "jit/graph/plan.h"

namespace relish::jit {

class GraphState {
 protected:
  GraphState(llvm::Module& code, SiteTable& sites)
      : code_(code), builder_(code.getContext()), runtime_(code), sites_(sites) {}

  // Code values of one graph value, in the shape of its ValueTree.
  struct Live {
    ValueTree tree;
    std::vector<llvm::Value*> values;  // dims of a shape, or the scalar
    std::vector<Live> fields;
  };
  struct StorageValue {
    llvm::Value* pointer = nullptr;
    std::vector<llvm::Value*> dims;
  };
  struct Frame {
    const Function* source = nullptr;
    const GraphValues* values = nullptr;
    llvm::Function* code = nullptr;
    llvm::Value* context = nullptr;
    llvm::Value* flag = nullptr;
    llvm::BasicBlock* interrupted = nullptr;
    llvm::Value* arena = nullptr;
    llvm::Value* fault_slots = nullptr;  // for the arguments of an operator at fault
    std::size_t fault_slot_count = 0;
    std::unordered_map<std::uint64_t, Live> vars;
    std::unordered_map<std::uint64_t, llvm::Value*> symbols;
    // Computed dimension expressions in canonical form, by their hash.
    std::unordered_multimap<std::uint64_t, std::pair<Scalar, llvm::Value*>> dims;
    std::map<std::pair<DType, std::vector<llvm::Value*>>, llvm::Value*> sizes;  // computed byte sizes
    std::vector<StorageValue> storages;
    std::vector<llvm::Value*> planned;                // address in the arena, by storage
    std::vector<std::vector<std::size_t>> last_used;  // storages, by the position of their last use
    std::vector<llvm::BasicBlock*> bindings;          // where each one begins
    Span span;                                        // of the value that is bound
    std::int64_t position = 0;
    std::size_t conversion = 0;  // of those at this position: the next one
  };

  void plan_arena();
  Live read_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position);
  void write_slots(const Live& live, llvm::Value* slots, std::size_t& position);
  llvm::Value* slot(llvm::Value* slots, std::size_t position);
  // Calls `visit(address slot, tree)` for every tensor and box among the slots of a tree.
  void for_each_stored_slot(const ValueTree& tree, std::size_t& position,
                            const std::function<void(std::size_t, const ValueTree&)>& visit);
  llvm::Value* own(const ValueTree& leaf, const StorageValue& storage);
  void release(llvm::Value* pointer, bool boxed);
  // Runs `emit` with the caches of computed dims as they are now: what it computes is not seen behind it.
  template <class F>
  void apart(F&& emit) {
    const auto dims = frame_.dims;
    const auto sizes = frame_.sizes;
    emit();
    frame_.dims = dims;
    frame_.sizes = sizes;
  }
  Live leaf(const ValueTree& tree);
  void match_dims(const std::vector<llvm::Value*>& found, const std::optional<std::vector<Scalar>>& dims,
                  int rank, bool possible, Site site);
  void bind_dims(const Live& live, const Type& type);
  void make_storage(std::size_t id, bool clear);
  void release_dead();
  Span span_of_binding(std::int64_t position) const;
  llvm::Value* byte_size(const Storage& storage);
  llvm::Value* dim(const Scalar& scalar);
  llvm::Value* dim_uncached(const Scalar& scalar);
  llvm::Value* binary_dim(const Binary& node, const Scalar& scalar);
  llvm::Value* shifted_dim(BinaryOp op, llvm::Value* a, llvm::Value* b, const Scalar& scalar);
  llvm::Value* dim_of_side(const Scalar& condition, const Scalar& a, const Scalar& b);
  llvm::Value* wrapped(llvm::Value* value, DType dtype);
  void fault_where(llvm::Value* condition, Site site, llvm::Value* a, llvm::Value* b);
  llvm::Value* scalar_value_of(const Scalar& scalar);  // a scalar argument, of its dtype's register type
  llvm::Value* scalar_of_slot(llvm::Value* slots, std::size_t position, DType dtype);
  llvm::Value* int64(std::int64_t value) const;
  llvm::Type* scalar_type(DType dtype);

  llvm::Module& code_;
  llvm::IRBuilder<> builder_;
  RuntimeCalls runtime_;
  SiteTable& sites_;
  Frame frame_;
  std::unordered_map<std::uint64_t, ScalarVar> symbol_vars_;
};

}  // namespace relish::jit
