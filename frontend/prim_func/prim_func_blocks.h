// Blocks of prim_funcs: axes, regions, init, attributes; and what else is written with `with`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/prim_func/prim_func_scalars.h"

namespace relish {

class PrimFuncBlocks : public PrimFuncScalars {
 protected:
  using PrimFuncScalars::PrimFuncScalars;

  void read_with(const ast::Statement& statement, const ast::With& with, BlockStmt* block,
                 std::vector<Stmt>& into);
  Stmt read_block(const ast::Statement& statement, const ast::With& with, const ast::Call& call);
  bool read_axes(const ast::Expr& target, const ast::Expr& value, BlockStmt* block);
  void read_remap(const ast::Expr& target, const ast::Expr& value, const ast::Call& call, BlockStmt& block);
  [[noreturn]] void refuse_axis_letter(const std::string& letters, std::size_t i, Span at,
                                       const ast::Expr& target);
  void read_axis(const std::string& kind, const ast::Expr& target, const ast::Expr& value,
                 const ast::Call& call, BlockStmt& block);
  void add_axis(BlockStmt& block, const ast::Expr& target, IterKind kind, const Scalar& begin,
                const Scalar& extent, const Scalar& binding);
  std::vector<BufferRegion> read_regions(const ast::Call& call);
  bool read_block_call(const std::string& name, const ast::Expr& expr, BlockStmt* block);
  void read_assert(const ast::Statement& statement, const ast::Expr& condition, const ast::Expr* message,
                   std::vector<Stmt>& into);

  BlockStmt* described_ = nullptr;        // the block that a T.reads in an if belongs to
  std::uint32_t indented_until_ = 0;      // to where a fix that indents is proposed already
  std::span<const ast::Statement> rest_;  // of the body that is being read: the statement and what follows
};

}  // namespace relish
