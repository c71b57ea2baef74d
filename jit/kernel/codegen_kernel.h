// Code generation of one prim_func: `int32 kernel(Ctx*, parameters..., symbolic dims...)` in LLVM IR. Loops
// run as the text says (schedule/schedule.h), checks that are proved fall away (loops/range_prover.h).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/stmt.h"
#include "jit/engine/runtime_calls.h"
#include "jit/engine/sites.h"
#include "jit/kernel/codegen_vector.h"
#include "loops/range_prover.h"
#include "loops/reduction.h"

namespace relish::jit {

class KernelEmitter : private VectorEmitter {
 public:
  KernelEmitter(llvm::Module& module, const TargetTraits& target, std::vector<Site>& sites,
                std::string first_site = {});

  // Its type is kernel_type.
  llvm::Function* emit(const PrimFunc& function, const std::string& symbol);

 private:
  // codegen_stmt.cpp
  void start_frame(llvm::Function* function);
  void finish_frame();
  void statement(const Stmt& stmt);
  void jump(llvm::BasicBlock* target, std::size_t scratch);
  void give_back(std::size_t scratch);
  void fetch_ahead();
  void unreachable_from_here();
  void block(const BlockStmt& block, Span span);
  void store(const Store& store, Span span);
  void ask_for(const Load& element, Span span);
  void if_stmt(const IfStmt& node);
  void allocate(const Buffer& buffer, bool clear);
  void view(const BufferView& view, Span span);
  void return_value(const Return& returned);

  void sequence_child(const Stmt& child, std::size_t taken);

  // codegen_outline.cpp: statements in functions of their own.
  struct Captured {
    std::vector<ScalarVar> scalars;
    std::vector<Buffer> buffers;
    std::vector<llvm::Value*> all;     // of the scalars, then address and dims of each buffer
    std::vector<llvm::Value*> values;  // those that are no constants: they are handed over
  };
  Captured capture(std::span<const Stmt> body);
  void emit_apart(llvm::Function* function, unsigned first, const Captured& captured,
                  const std::function<void()>& emit);
  bool sequence_in_parts(const SeqStmt& sequence, std::size_t taken);
  bool statements_apart(std::span<const Stmt> body);
  static bool leaves_sequence(const Stmt& stmt);

  // codegen_loops.cpp
  void for_loop(const Stmt& stmt);
  void loop_over(const For& loop, llvm::Value* first, llvm::Value* count);
  // `jumps`: break and continue in the body mean this loop.
  void counted_loop(llvm::Value* first, llvm::Value* count, std::int64_t step,
                    const std::function<void(llvm::Value*)>& body,
                    const std::function<llvm::MDNode*()>& hints = {}, bool jumps = false);
  llvm::Value* iterations(const For& loop);
  For with_known_step(const For& loop, Span span);
  llvm::MDNode* vector_hints(const For& loop);
  void iteration(const For& loop, llvm::Value* counter, llvm::Value* begin);
  void unrolled_loop(const For& loop);
  void strips(const For& loop, llvm::Value* first, llvm::Value* count, llvm::Value* begin);
  void parallel_loop(const Stmt& stmt);
  void while_loop(const While& loop);
  // Simple statements run, as int64. `first`: of the loops around that are not entered yet, their first
  // round.
  llvm::Value* work_of(const Stmt& stmt, const ScalarMap& first);
  bool polls_rarely(const For& loop) const;

  std::string symbol_;
  int nests_ = 0;
  bool in_parallel_ = false;
  bool has_views_ = false;       // buffers may share elements: nothing is reordered or run at once
  std::size_t chunk_depth_ = 0;  // open loops in the body of a parallel loop
};

}  // namespace relish::jit
