// Graph expressions (Relax): immutable typed nodes behind counted handles, in A-normal form. A function body
// is a flat list of blocks of bindings; an operand is a leaf (variable, constant, shape, scalar, string,
// dtype, global name) or a tuple of leaves. Operators are table entries (ir/op.h); the kinds here are closed,
// so a visitor that forgets one does not compile.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/attribute.h"
#include "ir/comment.h"
#include "ir/type.h"
#include "runtime/tensor.h"

namespace relish {

struct Op;

// A graph variable: an identity with a type. `dataflow`: visible only inside its dataflow block.
class Var {
 public:
  Var() = default;
  Var(std::string name, Type type, bool dataflow = false, Span span = {});

  std::uint64_t id() const { return node_->id; }
  const std::string& name() const { return node_->name; }
  const Type& type() const { return node_->type; }
  bool dataflow() const { return node_->dataflow; }
  Span span() const { return node_->span; }
  bool defined() const { return node_ != nullptr; }
  friend bool operator==(const Var& a, const Var& b) { return a.node_ == b.node_; }

 private:
  struct Node {
    std::uint64_t id;
    std::string name;
    Type type;
    bool dataflow;
    Span span;
  };
  std::shared_ptr<const Node> node_;
};

struct ExprNode;

class Expr {
 public:
  Expr() = default;
  Expr(const Var& var);
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  const Type& type() const;
  Span span() const;
  const ExprNode& node() const { return *node_; }
  bool same_as(const Expr& other) const { return node_ == other.node_; }
  template <class K>
  const K* as() const;
  // The variable when this is just a variable.
  const Var* as_var() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct VarRef {
  Var var;
};
struct Constant {
  Tensor value;
};
struct TupleExpr {
  std::vector<Expr> fields;
};
struct TupleGet {
  Expr tuple;
  int index;
};
struct OpCall {
  const Op* op;
  std::vector<Expr>
      args;  // the operator's non-attribute parameters in order; absent optional ones at the end dropped
  Attributes attributes;  // all attribute parameters in declared order, defaults filled in
};
struct FunctionCall {
  Expr callee;
  std::vector<Expr> args;
};  // callee: GlobalRef of a Relax function, or a variable
// Calls a prim_func in destination-passing style: tensors and scalars of `args` in order, then freshly
// allocated results of `out_types`. The result is the one tensor, or a tuple when `tuple_result`.
struct CallTir {
  Expr callee;  // GlobalRef of a prim_func
  std::vector<Expr> args;
  std::vector<Type> out_types;
  bool tuple_result;
};
struct ShapeLiteral {
  std::vector<Scalar> dims;
};
struct ScalarValueExpr {
  Scalar value;
};  // R.prim_value(n), plain numbers in scalar positions
struct StringLiteral {
  std::string value;
};
struct DTypeLiteral {
  DType value;
};
struct GlobalRef {
  std::string name;
};

using ExprKind = std::variant<VarRef, Constant, TupleExpr, TupleGet, OpCall, FunctionCall, CallTir,
                              ShapeLiteral, ScalarValueExpr, StringLiteral, DTypeLiteral, GlobalRef>;

struct ExprNode {
  Span span;
  Type type;
  ExprKind kind;
};

template <class K>
const K* Expr::as() const {
  return node_ ? std::get_if<K>(&node_->kind) : nullptr;
}

struct VarBinding {
  Var var;
  Expr value;
};
// Binds `var` to `value` cast to `type`: checks at run time and binds fresh symbolic dims.
struct MatchCast {
  Var var;
  Expr value;
  Type type;
};

struct Binding {
  std::variant<VarBinding, MatchCast> kind;
  Span span;
  CommentsPtr comments;
  bool annotated = false;  // the text gave the variable a type

  const Var& var() const;
  const Expr& value() const;
};

struct BindingBlock {
  bool dataflow = false;
  std::vector<Binding> bindings;  // of a dataflow block: outputs are the variables with dataflow() == false
  Span span;
  CommentsPtr comments;
};

struct Function {
  std::string name;
  std::vector<Var> params;
  Type result_type;
  std::vector<BindingBlock> blocks;
  Expr result;            // a leaf or (nested) tuple of leaves
  Attributes attributes;  // without global_symbol when it equals the name
  bool pure = true;
  bool is_private = false;
  Span span;  // of the name
  Span result_span;
  CommentsPtr result_comments;  // of the return statement
  CommentsPtr comments;
};
using FunctionPtr = std::shared_ptr<const Function>;

// Leaf construction. Types are known without inference.
Expr constant(Tensor value, Span span = {});
Expr tuple(std::vector<Expr> fields, Span span = {});
Expr shape_literal(std::vector<Scalar> dims, Span span = {});
Expr scalar_value(Scalar value, Span span = {});
Expr string_literal(std::string value, Span span = {});
Expr dtype_literal(DType value, Span span = {});
Expr global_ref(std::string name, Type type, Span span = {});
Expr var_ref(const Var& var, Span span);
// Non-leaf construction with inference; Failure(TypeError) when ill-typed.
Expr tuple_get(Expr tuple, int index, Span span = {});
Expr op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span = {});
Expr op_call(std::string_view op_name, std::vector<Expr> args, Attributes attributes = {}, Span span = {});
Expr function_call(Expr callee, std::vector<Expr> args, Span span = {});
Expr call_tir(Expr callee, std::vector<Expr> args, std::vector<Type> out_types, bool tuple_result,
              Span span = {});

FunctionType function_type_of(const Function& function);

}  // namespace relish
