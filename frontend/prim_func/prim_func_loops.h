// Loops of prim_funcs: ranges, grids, threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/prim_func/prim_func_buffers.h"

namespace relish {

class PrimFuncLoops : public PrimFuncBuffers {
 protected:
  using PrimFuncBuffers::PrimFuncBuffers;

  virtual Stmt read_body(const ast::Block& body, BlockStmt* block) = 0;

  struct LoopRange {
    Scalar begin, extent;
  };
  struct LoopHeader {
    std::vector<LoopRange> dimensions;
    LoopKind kind = LoopKind::Serial;
    Attributes annotations;
    Scalar step;
    std::string thread;
    // Of a loop that counts down: its variable in terms of the one that counts up.
    std::function<Scalar(const Scalar&)> counted_down;
    std::optional<DType> dtype;  // of the variables
  };
  void count_down(const Scalar& first, const Scalar& last, std::int64_t step, Span at, LoopHeader& header);
  LoopHeader read_loop_header(const ast::Expr& iterable);
  void read_bounds(const std::string& name, const ast::Expr& iterable, LoopHeader& header);
  void refuse_dependent(const For& loop, const ast::Expr& iterable);
  Stmt read_for(const ast::Statement& statement, const ast::For& loop);
  // T.launch_thread and T.attr(…, "thread_extent", n): the loop over the threads around `body`.
  std::optional<For> read_launch(const std::string& name, const ast::Call& call, const ast::Expr* target);

  std::unordered_map<std::uint64_t, LoopRange> loops_;  // by variable
  int loop_depth_ = 0;
  bool threads_ = false;
};

}  // namespace relish
