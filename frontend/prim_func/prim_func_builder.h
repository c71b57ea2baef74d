// Builds a prim_func from its definition: parameters and statements, in the spellings of all versions. What
// the IR has no node for (vectors, pointers, scopes that last to the end of a body) is written out in its
// terms here. The upmost of the layers that begin with prim_func_names.h.
#pragma once

#include <vector>

#include "frontend/module/decorators.h"
#include "frontend/prim_func/prim_func_blocks.h"

namespace relish {

class PrimFuncBuilder final : public PrimFuncBlocks {
 public:
  PrimFuncBuilder(ReadContext& context, const PrimFuncModule& module) : PrimFuncBlocks(context, module) {}

  // Reports what is wrong, statement by statement; null when something was.
  PrimFuncPtr build(const ast::FunctionDefinition& definition, CommentsPtr comments,
                    const FunctionOptions& options);

 private:
  // prim_func_params.cpp
  void declare_symbols(const ast::FunctionDefinition& definition);
  void read_params(const ast::FunctionDefinition& definition);
  void read_param(const ast::FunctionDefinition& definition, const ast::Parameter& parameter);
  void check_params(const ast::FunctionDefinition& definition);
  void read_result(const ast::FunctionDefinition& definition);
  bool read_declaration(const ast::Expr& target, const ast::Expr& value);

  // prim_func_builder.cpp
  Stmt read_body(const ast::Block& body, BlockStmt* block) override;
  Stmt read_body(const ast::Block& body, BlockStmt* block, BlockStmt* described);
  void read_statement(const ast::Statement& statement, BlockStmt* block, std::vector<Stmt>& into);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr, BlockStmt* block,
                       std::vector<Stmt>& into);
  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment, BlockStmt* block,
                       std::vector<Stmt>& into);
  void read_return(const ast::Statement& statement, const ast::Expr& value, std::vector<Stmt>& into);
  bool read_leaving(const ast::Statement& statement, const ast::Expr& expr, std::vector<Stmt>& into);
  void read_jump(bool leaves, const ast::Statement& statement, std::vector<Stmt>& into);
  Stmt read_if(const ast::Statement& statement, const ast::If& branches, BlockStmt* block);
  void check_result();
  void check_device();

  std::vector<Span> refused_;  // statements of the body
  bool damaged_ = false;       // one of them is no statement at all
};

}  // namespace relish
