// Buffers of prim_funcs: allocations, views, pointers to their elements, stores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/prim_func/prim_func_names.h"

namespace relish {

class PrimFuncBuffers : public PrimFuncNames {
 protected:
  using PrimFuncNames::PrimFuncNames;

  // prim_func_params.cpp: T.Buffer, T.match_buffer and what they take.
  struct BufferArgument {
    std::string name;
    Span name_span;
    const ast::Expr* value;
  };
  std::vector<BufferArgument> buffer_arguments(const std::vector<ast::Argument>& arguments,
                                               std::size_t first) const;
  // `data`, when not null, receives the argument data=; `implied` is the shape when none is written.
  Buffer read_buffer(const std::string& name, Span at, const std::vector<BufferArgument>& arguments,
                     const ast::Expr** data = nullptr, const std::vector<Scalar>* implied = nullptr);
  void match_buffer(const std::string& name, const ast::Expr& target, const ast::Call& call);
  void read_buffer_advice(std::string_view name, const ast::Expr& value);

  // prim_func_buffers.cpp
  Buffer buffer_target(const ast::Subscript& subscript);
  void store(const ast::Statement& statement, const ast::Expr& target, const ast::Subscript& subscript,
             const ast::Expr& value, std::vector<Stmt>& into);
  // `predicate`: the lanes that are stored; undefined: all.
  void store_lanes(const Buffer& buffer, const std::vector<Scalar>& indices, const Scalar& value, int lanes,
                   Span at, CommentsPtr comments, std::vector<Stmt>& into, const Scalar& predicate = {});
  bool read_vector_store(const ast::Statement& statement, const ast::Call& call, std::vector<Stmt>& into);
  int stored_lanes(const std::vector<Scalar>& indices, const ScalarOperand& value, Span at) const;
  // Whether what is declared here belongs to the whole function.
  bool at_function_level() const { return frames_.size() - flat_scopes_ == 1; }
  Buffer allocate(const std::string& name, Span at, Buffer buffer, BlockStmt* block,
                  const ast::Statement& statement, std::vector<Stmt>& into);
  void allocate_local(const Buffer& buffer, Span at, std::vector<Stmt>& into);
  bool read_constant(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                     std::vector<Stmt>& into);
  void allocate_strided(const std::string& name, const ast::Statement& statement, Span at, Buffer buffer,
                        BlockStmt* block, std::vector<Stmt>& into);
  bool read_allocation(const ast::Statement& statement, const ast::Expr& target, const ast::Expr& value,
                       BlockStmt* block, std::vector<Stmt>& into);
  std::vector<RegionDim> read_region_dims(const Buffer& buffer, const ast::Subscript& subscript);
  // For a value that names a buffer where an element of it is expected: the element at the place of the
  // store.
  void suggest_element(Failure& failure, const ast::Subscript& target);
  // For a store with too few indices: those with which its value reads the same buffer.
  void suggest_indices(Failure& failure, const Buffer& buffer, const ast::Subscript& target,
                       const ast::Expr& value);

  // prim_func_pointers.cpp
  // T.handle and T.handle("float32") as a type; nothing for any other expression.
  std::optional<Handle> pointer_type(const ast::Expr& expr) const;
  // The elements that an expression points to: p, A.data, T.address_of(A[1, 0]).
  Pointer pointed_to(const ast::Expr& expr, std::vector<Stmt>& into);
  void define_pointer(const std::string& name, const ast::Statement& statement, Span at, const Handle& type,
                      const ast::Expr* value, std::vector<Stmt>& into);
  std::optional<Pointer> address_of(const ast::Expr& expr);
  void declare_view(const std::string& name, const ast::Statement& statement, BufferView view,
                    BlockStmt* block, std::vector<Stmt>& into);
  void declare_view_of(const std::string& name, const ast::Statement& statement, Buffer buffer,
                       const ast::Expr& data, BlockStmt* block, std::vector<Stmt>& into);
  bool read_view_method(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                        BlockStmt* block, std::vector<Stmt>& into);
  void match_region(const ast::Statement& statement, const ast::Expr& target, const ast::Call& call,
                    BlockStmt* block, std::vector<Stmt>& into);

  std::vector<Buffer> device_buffers_;  // of scopes that threads share
  std::vector<BufferView> declared_views_;
  bool has_views_ = false;
  std::size_t flat_scopes_ = 0;  // open scopes whose statements join those around them
};

}  // namespace relish
