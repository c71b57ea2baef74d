// Scalars of prim_funcs: locals that are assigned, values that are bound once, and what lasts to the end of a
// body.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/prim_func/prim_func_loops.h"

namespace relish {

class PrimFuncScalars : public PrimFuncLoops {
 protected:
  using PrimFuncLoops::PrimFuncLoops;

  // A statement whose effect lasts to the end of the body that it stands in: `wrap` receives what follows.
  struct OpenScope {
    std::size_t first;  // position among the statements of the body
    std::function<Stmt(Stmt)> wrap;
  };

  void read_scalar(const ast::Statement& statement, const ast::Expr& target, const ast::Expr* annotation,
                   const ast::Expr* value, std::vector<Stmt>& into);
  bool read_special_value(const ast::Statement& statement, const ast::Expr& target, const ast::Expr& value,
                          std::vector<Stmt>& into);
  bool bind_several(const ast::TupleValue& names, const ast::Expr& value);
  void declare_scalar(const ast::Statement& statement, const ast::Expr& target, const std::string& callee,
                      const ast::Call& call, std::vector<Stmt>& into);
  // What an annotation of a scalar says: T.int32, T.let, T.let[T.int32], T.float32[4].
  struct ScalarAnnotation {
    std::optional<DType> dtype;
    bool let = false;
    std::optional<std::int64_t> length;
    std::optional<Handle> pointer;  // T.handle("float32")
  };
  ScalarAnnotation read_annotation(const ast::Expr& annotation);
  [[noreturn]] void refuse_constant(const std::string& name, Span at, Span bound) const;
  void define_let(const ast::Statement& statement, const std::string& name, Span at, Scalar value,
                  std::vector<Stmt>& into);
  // T.LetStmt(e, var=v), T.bind(e, var=v), T.let(v, e) as a statement or in a with: false for other calls.
  bool read_let(const std::string& name, const ast::Statement& statement, const ast::Call& call,
                const ast::Expr* target, std::vector<Stmt>& into);
  void read_augmented(const ast::Statement& statement, const ast::AugmentedAssignment& assignment,
                      std::vector<Stmt>& into);

  std::vector<OpenScope> scopes_;  // of the body that is being read
  bool checked_ = true;
  std::map<std::string, Span> bound_once_;  // declared variables that T.bind and its kin gave a value
  // Of each name with T.let[T.int32], by its place: that annotation and the type inside it.
  std::map<std::uint32_t, std::pair<Span, Span>> lets_;
};

}  // namespace relish
