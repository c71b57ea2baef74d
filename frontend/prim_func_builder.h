// Builds a prim_func from its definition: parameters, loops, blocks, buffers, scalars.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "frontend/scalar_reader.h"
#include "frontend/type_reader.h"
#include "ir/stmt.h"

namespace relish {

class PrimFuncBuilder : public ScalarScope {
 public:
  explicit PrimFuncBuilder(ReadContext& context) : context_(context), reader_(context, *this, DType::Int32) {}

  // Reports what is wrong, statement by statement; null when something was.
  PrimFuncPtr build(const ast::FunctionDefinition& definition, CommentsPtr comments, bool is_private);

  ScalarMeaning find(const std::string& name, Span use) override;
  std::vector<std::string> names() const override;

 private:
  struct Local {
    ScalarVar var;
  };  // may be assigned
  struct Handle {
    std::size_t param;
  };  // a parameter that match_buffer makes a buffer of
  struct Refused {};  // its declaration was wrong: silent
  using Meaning = std::variant<Buffer, Scalar, Local, Handle, Refused>;
  struct Entry {
    Meaning meaning;
    Span span;
  };

  // prim_func_params.cpp
  void declare_symbols(const ast::FunctionDefinition& definition);
  void read_params(const ast::FunctionDefinition& definition);
  void read_param(const ast::Parameter& parameter);
  struct BufferArgument {
    std::string name;
    Span name_span;
    const ast::Expr* value;
  };
  std::vector<BufferArgument> buffer_arguments(const std::vector<ast::Argument>& arguments,
                                               std::size_t first) const;
  Buffer read_buffer(const std::string& name, Span at, const std::vector<BufferArgument>& arguments);
  void match_buffer(const std::string& name, const ast::Expr& target, const ast::Call& call);
  void check_params(const ast::FunctionDefinition& definition);

  // prim_func_builder.cpp
  Stmt read_body(const ast::Block& body, BlockStmt* block);
  void read_statement(const ast::Statement& statement, BlockStmt* block, std::vector<Stmt>& into);
  void read_expression(const ast::Statement& statement, const ast::Expr& expr, BlockStmt* block,
                       std::vector<Stmt>& into);
  void read_assignment(const ast::Statement& statement, const ast::Assignment& assignment, BlockStmt* block,
                       std::vector<Stmt>& into);
  bool read_declaration(const ast::Expr& target, const ast::Expr& value);
  void read_scalar(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   const ast::Expr* value, std::vector<Stmt>& into);
  void read_augmented(const ast::Statement& statement, const ast::AugmentedAssignment& assignment,
                      std::vector<Stmt>& into);
  void store(const ast::Statement& statement, const ast::Expr& target, const ast::Subscript& subscript,
             const ast::Expr& value, std::vector<Stmt>& into);
  Stmt read_if(const ast::Statement& statement, const ast::If& branches);

  // prim_func_blocks.cpp
  Stmt read_for(const ast::Statement& statement, const ast::For& loop);
  Stmt read_with(const ast::Statement& statement, const ast::With& with, BlockStmt* block);
  bool read_axes(const ast::Expr& target, const ast::Expr& value, BlockStmt* block);
  void add_axis(BlockStmt& block, const ast::Expr& target, IterKind kind, Scalar begin, Scalar extent,
                Scalar binding);
  std::vector<BufferRegion> read_regions(const ast::Call& call);
  bool read_allocation(const ast::Statement& statement, const ast::Expr& target, const ast::Expr& value,
                       BlockStmt* block, std::vector<Stmt>& into);
  bool read_block_call(const std::string& name, const ast::Expr& expr, BlockStmt* block);

  void bind(const std::string& name, Meaning meaning, Span at) {
    frames_.back().insert_or_assign(name, Entry{std::move(meaning), at});
  }
  Entry* look_up(const std::string& name);
  void refuse_names(const ast::Statement& statement);
  const std::string& name_target(const ast::Expr& target) const;
  Buffer buffer_target(const ast::Subscript& subscript);
  [[noreturn]] void type_error(Span at, std::string_view id, std::string message) const {
    fail(ErrorClass::Type, at, id, std::move(message));
  }
  CommentsPtr take_comments(const CommentsPtr& own);

  ReadContext& context_;
  ScalarReader reader_;
  SymbolTable symbols_;
  std::vector<std::map<std::string, Entry>> frames_;
  std::vector<Span> refused_;  // statements of the body
  bool damaged_ = false;       // one of them is no statement at all
  struct LoopRange {
    Scalar begin, extent;
  };
  std::unordered_map<std::uint64_t, LoopRange> loops_;
  PrimFunc function_;
  Comments pending_;  // of lines that are no statements of the IR: kept for the next one
};

}  // namespace relish
