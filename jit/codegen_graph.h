// Code generation of Relax functions: `int32 f(Ctx*, const int64* in, int64* out)`. Slots of `in` and `out`
// hold the leaves of arguments and results in order (slot_count): a tensor its address and dims, a shape its
// dims, a scalar its value. Kernels are called directly; intermediate tensors live in an arena planned before
// (jit/plan.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "jit/codegen_kernel.h"
#include "jit/engine.h"
#include "jit/graph_values.h"
#include "jit/host_calls.h"
#include "jit/plan.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

class GraphEmitter {
 public:
  // The units of the code go to `build`. `host_calls` receives the calls into the program, `operators` says
  // which calls are operators'; null where there are none (a prim_func by itself).
  GraphEmitter(const LiftedModule& lifted, Build& build, const TargetTraits& target, SiteTable& sites,
               std::vector<HostCall>* host_calls = nullptr, const LoweredCalls* operators = nullptr);

  // The function and everything that it calls. The analysis lives as long as the emitter.
  llvm::Function* function(const Function& function);
  const GraphValues& values(const Function& function);
  // A prim_func behind the same signature: `in` holds its parameters, then its kernel_symbols; `out` receives
  // the scalar that it returns, if any.
  llvm::Function* entry_of(const PrimFunc& function);
  // Hands in what is left, with `entry` for other units to see; its symbol. Nothing is emitted afterwards.
  std::string finish(llvm::Function* entry);

 private:
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
  struct Kernel {
    llvm::Function* code = nullptr;  // declared; it is defined in a unit of its own
    std::vector<bool> clear;         // by parameter: the kernel may leave elements unwritten
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

  const Kernel& kernel(const PrimFunc& function);
  llvm::Function* kernel_code(const PrimFunc& function);
  void hand_in_kernels();
  const GraphValues* callee_values(const Function& function);
  void emit_body();
  void write_result();
  void read_params();
  void check_params();
  void plan_arena();
  Live read_slots(const ValueTree& tree, llvm::Value* slots, std::size_t& position);
  void write_slots(const Live& live, llvm::Value* slots, std::size_t& position);
  llvm::Value* slot(llvm::Value* slots, std::size_t position);
  Live value(const Expr& expr);
  Live call_tir(const CallTir& call, const Expr& expr);
  Live call_kernel(const PrimFunc& function, const CallTir& call, const Expr& expr, bool copies_written);
  void return_fault(llvm::Value* status, const Expr& expr);
  Live function_call(const FunctionCall& call, const Expr& expr);
  Live packed_call(const PackedCall& call, const Expr& expr);  // codegen_native.cpp
  Live machine_call(const PackedCall& call, const Expr& expr);
  Live prim_call(const PrimFunc& callee, const FunctionCall& call, const Expr& expr);

  // codegen_boxes.cpp: values in boxes, and function values.
  // The value as one of `type`: boxed, or taken out of its box; a RuntimeError at `span` that names `what`
  // when it does not fit.
  // `whole`: of the tuple that it is a field of.
  Live convert(const Live& live, const Type& type, Span span, const std::string& what,
               const Type* whole = nullptr);
  Live argument(const Expr& expr, const Type& type, Span span, const std::string& what);
  Live argument(const Expr& expr, const Function& callee, std::size_t position);
  const ValueTree& next_conversion();
  void check_value(const Live& live, const Type& type, Span span, const std::string& what);
  Live function_value(const Function& callee, const std::vector<Expr>& given, bool behind,
                      const ValueTree& result, Span span);
  Live closure_call(const PackedCall& call, const Expr& expr);
  Live call_value(const Expr& callee, const std::vector<Expr>& args, const Expr& expr);
  // Calls the runtime function `name`(context, index of the call, in, out), with `code` in front of `in` when
  // it is given.
  Live host_call_by(const char* name, const std::vector<Live>& args, HostCall call, llvm::Function* code);
  void call_host(const char* name, HostCall call, llvm::Function* code, llvm::Value* in, llvm::Value* out);

  // codegen_control.cpp: ifs, loops, and calls into the program.
  Live if_value(const If& branch, const Expr& expr);
  Live loop_value(const Loop& loop, const Expr& expr);
  Live host_call(const std::vector<Live>& args, HostCall call);
  Live operator_call(const OpCall& call, const Expr& expr);
  // What a lifted region captured, as its function takes it; sizes, which the region may change, are empty.
  using Captured = std::vector<std::optional<Live>>;
  llvm::Value* condition(const Expr& expr, Span span);
  llvm::Value* loop_condition(const Region& region, const Captured& captured, llvm::Value* carried,
                              std::size_t count, Span span);
  Captured captured_of(const Region& region);
  void call_lifted(const Region& region, const Captured& captured, llvm::Value* carried,
                   std::size_t carried_slots, llvm::Value* out);
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
  void match(const Live& live, const Type& type, Span span, const std::string& what);
  void match_dims(const std::vector<llvm::Value*>& found, const std::optional<std::vector<Scalar>>& dims,
                  int rank, bool possible, Site site);
  void bind_dims(const Live& live, const Type& type);
  void make_storage(std::size_t id, bool clear);
  void release_dead();
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

  // The field that a chain of TupleGets takes of a variable; null for other values.
  const Live* part_of_variable(const Expr& expr) const;

  std::string name_in_text(const Function& function) const {
    return written_name(lifted_.functions, function.name);
  }

  const LiftedModule& lifted_;
  const Module& module_;  // of lifted_
  Build& build_;
  std::unique_ptr<CodeUnit> glue_;
  llvm::Module& code_;
  llvm::IRBuilder<> builder_;
  RuntimeCalls runtime_;
  SiteTable& sites_;
  std::vector<HostCall>* host_calls_;
  const LoweredCalls* operators_;
  // The unit that receives kernels at present.
  std::unique_ptr<CodeUnit> kernel_unit_;
  std::optional<KernelEmitter> kernels_;
  std::size_t kernel_instructions_ = 0;  // in it
  const TargetTraits& target_;
  Frame frame_;
  llvm::Value* returned_ = nullptr;  // slot of the scalar that the last kernel called returns, if any
  std::unordered_map<const Function*, llvm::Function*> functions_;
  std::unordered_map<const Function*, std::unique_ptr<GraphValues>> values_;
  std::unordered_map<const PrimFunc*, Kernel> emitted_;
  std::unordered_map<std::uint64_t, ScalarVar> symbol_vars_;
};

}  // namespace relish::jit
