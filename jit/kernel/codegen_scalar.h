// Code generation of scalar expressions of prim_funcs, and the state of the LLVM function that is being
// filled.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/stmt.h"
#include "jit/engine/machine.h"
#include "jit/engine/runtime_calls.h"
#include "jit/engine/sites.h"
#include "jit/kernel/kernel_signature.h"
#include "loops/range_prover.h"
#include "loops/reduction.h"

namespace relish::jit {

class ScalarEmitter {
 protected:
  // `sites` receives those of the code, whose first one has the number that is the address of `first_site`.
  ScalarEmitter(llvm::Module& module, const TargetTraits& target, std::vector<Site>& sites,
                std::string first_site);

  // What a scalar variable is at this point.
  struct ScalarSlot {
    llvm::Value* native = nullptr;  // of the dtype's register type; made from `index` when first needed
    llvm::Value* index = nullptr;   // exact value as int64, of loop variables, block variables and dims
    llvm::Value* cell = nullptr;    // address of an assignable local
  };
  struct BufferSlot {
    llvm::Value* pointer = nullptr;
    std::vector<llvm::Value*> dims;  // int64
    // Of a view: elements from one index to the next, its first element in the storage, the elements there.
    std::vector<llvm::Value*> strides = {};
    llvm::Value* base = nullptr;
    llvm::Value* total = nullptr;
  };
  // Where break and continue of an open loop go; temporary memory taken inside it is given back first.
  struct JumpTarget {
    llvm::BasicBlock* on_break = nullptr;
    llvm::BasicBlock* on_continue = nullptr;
    std::size_t scratch = 0;
  };
  // State of the LLVM function that is being filled. Parallel loop bodies are functions of their own.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::Value* context = nullptr;
    llvm::Value* flag = nullptr;   // address of the interrupt flag
    llvm::Value* ahead = nullptr;  // the PiecesAhead of the thread
    llvm::BasicBlock* interrupted = nullptr;
    std::unordered_map<std::uint64_t, ScalarSlot> scalars;
    std::unordered_map<std::uint64_t, BufferSlot> buffers;
    std::vector<ScalarVar> scalar_order;  // for captures, deterministic
    std::vector<Buffer> buffer_order;
    std::vector<ScalarVar> loops;  // open loops, outermost first
    std::vector<JumpTarget> targets;
    std::vector<llvm::Value*> scratch;           // first temporary of each open scope that has any
    std::unordered_set<std::uint64_t> on_stack;  // local buffers
    std::int64_t stack_bytes = 0;                // of those with dimensions
    llvm::Value* result = nullptr;               // address of the scalar result
    // Floating results that the innermost loop goes over again and again: whether the vectorizer may choose
    // the order of some, and whether others keep theirs.
    bool free_sums = false, strict_sums = false;
  };

  void define(const ScalarVar& var, ScalarSlot slot);
  void define(const Buffer& buffer, BufferSlot slot);
  void leave_scope(std::size_t scalars,
                   std::size_t buffers);  // forgets what was defined since the two were counted

  void enter(const For& loop);  // tells the prover

  llvm::Value* scalar(const Scalar& value);
  llvm::Value* index(const Scalar& value);  // exact int64 value of what is proved not to wrap
  llvm::Value* binary(const Binary& node, DType dtype, Span span);
  llvm::Value* integer_binary(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node, DType dtype,
                              Span span);
  llvm::Value* divide(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node, DType dtype,
                      Span span);
  llvm::Value* shift(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node, DType dtype, Span span);
  llvm::Value* float_binary(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* compare(const Compare& node);
  llvm::Value* compared_as(CompareOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* logical(const Logical& node);
  llvm::Value* extreme_of_halves(llvm::Value* a, llvm::Value* b, bool largest);
  llvm::Value* select(const Select& node, DType dtype);
  llvm::Value* cast(llvm::Value* value, DType from, DType to);
  llvm::Value* odd_float(llvm::Value* value);
  llvm::Value* is_nan(llvm::Value* value);
  llvm::Value* saturated(llvm::Value* value, DType to);
  llvm::Value* intrinsic(const IntrinsicCall& node, DType dtype);
  llvm::Value* variable(const ScalarVar& var);
  llvm::Value* element_address(const Buffer& buffer, const std::vector<Scalar>& indices, Span span);
  llvm::Value* stride_of(const BufferSlot& slot, std::size_t dimension);
  llvm::Value* saturated_sum(llvm::Value* a, llvm::Value* b);
  llvm::Value* saturated_product(llvm::Value* a, llvm::Value* b);
  llvm::Value* load_element(llvm::Value* address, DType dtype);
  llvm::Value* in_memory(llvm::Value* value, DType dtype);  // of the memory type
  llvm::Value* from_memory(llvm::Value* raw, DType dtype);
  llvm::Value* math_intrinsic(const IntrinsicCall& node, llvm::Value* x);
  llvm::Value* bit_intrinsic(Intrinsic which, llvm::Value* x, DType dtype);
  void store_element(llvm::Value* value, llvm::Value* address, DType dtype);
  llvm::Value* update(const Store& store, const Update& update);
  // Whether the update adds a product and is part of a sum over a loop around, so that it may be rounded
  // once.
  bool fuses_product(const Store& store, const Update& update);
  // Of the loops around: whether the element stays the same in one of them, and in the innermost.
  struct ReductionLoops {
    bool some = false, innermost = false;
  };
  ReductionLoops reduction_loops(const Store& store);
  llvm::Value* rounded(llvm::Value* value, DType dtype);  // to float16 or bfloat16 precision, kept as float
  llvm::Value* sign_or_zero_extend(llvm::Value* value, DType dtype);
  bool cheap_and_safe(const Scalar& value);
  void fault_unless(llvm::Value* good, Site site, llvm::Value* a = nullptr, llvm::Value* b = nullptr,
                    llvm::Value* c = nullptr);
  std::int32_t add(Site site);  // its number in the unit
  llvm::Type* register_type(DType dtype) const { return jit::register_type(dtype, builder_.getContext()); }
  llvm::Type* memory_type(DType dtype) const;
  llvm::Value* int64(std::int64_t value) const {
    return llvm::ConstantInt::get(builder_.getInt64Ty(), static_cast<std::uint64_t>(value), true);
  }

  llvm::Module& module_;
  mutable llvm::IRBuilder<> builder_;
  const TargetTraits& target_;
  std::vector<Site>& sites_;
  RuntimeCalls runtime_;
  RangeProver prover_;
  Frame frame_;
};

}  // namespace relish::jit
