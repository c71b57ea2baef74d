// Graph expressions (Relax): immutable typed nodes behind counted handles, in A-normal form. A function body
// is a flat list of blocks of bindings; an operand is a leaf (variable, constant, shape, scalar, string,
// dtype, global name) or a tuple of leaves. Operators are table entries (ir/operators/op.h); the kinds here
// are closed, so a visitor that forgets one does not compile.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/nodes/attribute.h"
#include "ir/nodes/comment.h"
#include "ir/nodes/origin.h"
#include "ir/nodes/type.h"
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
// callee: GlobalRef of a Relax function, or a variable of function type. A GlobalRef of a prim_func is the
// direct call of lowered modules: impure, the destinations stand among `args` and are written in place; the
// result is void, or the scalar that the prim_func returns.
struct FunctionCall {
  Expr callee;
  std::vector<Expr> args;
};
// Calls a prim_func in destination-passing style: tensors and scalars of `args` in order, then freshly
// allocated results of `out_types`. The result is the one tensor, or a tuple when `tuple_result`.
struct CallTir {
  Expr callee;  // GlobalRef of a prim_func
  std::vector<Expr> args;
  std::vector<Type> out_types;
  bool tuple_result;
  // R.call_tir_inplace when not empty: by result, the index of the argument whose storage it takes, -1 for a
  // fresh one. An argument that somebody else still sees is copied first.
  std::vector<std::int64_t> inplace_indices = {};
  // R.call_tir_with_grad when not empty: the name of a gradient made elsewhere; kept, printed, not used.
  std::string gradient_name = {};
  Attributes gradient_arguments = {};
};
// Calls of functions outside the module: native ones (--native), and those of TVM's virtual machine.
enum class PackedForm : std::uint8_t {
  Dps,                // R.call_dps_packed: inputs, then freshly allocated results of out_types
  Pure,               // R.call_pure_packed
  Impure,             // R.call_packed
  Inplace,            // R.call_inplace_packed
  Builtin,            // R.call_builtin_with_ctx
  MakeClosure,        // R.make_closure(f, (a, b)): f with its last arguments given, as in TVM
  InvokeClosure,      // R.invoke_closure
  InvokePureClosure,  // R.invoke_pure_closure
  // R.vm.call_tir_dyn(f, (a, b, shape)): the direct call of a prim_func, whose last parameters are scalars
  // that take the dims of the shape.
  CallTirDyn,
};
struct PackedCall {
  PackedForm form;
  Expr callee;  // ExternFunc, GlobalRef, or a variable of function type
  std::vector<Expr> args;
  // Dps: the tensors to allocate. Else the result's type, one entry; none: void (R.Tuple()) of the impure
  // forms.
  std::vector<Type> out_types;
  bool tuple_result = false;  // Dps: a list of types was written
  std::vector<std::int64_t> inplace_indices = {};
  Attributes attributes = {};
};
// A function of a native library or of TVM's virtual machine, by its symbol.
struct ExternFunc {
  std::string symbol;
};
struct Function;
// A nested function. It sees the variables around it; it may call itself by the variable bound to it.
struct FunctionExpr {
  std::shared_ptr<const Function> function;
};
struct Region;
// The value of an if: of one result that result, else the tuple of all. `condition`: a bool 0-d tensor or a
// bool scalar. Not in dataflow blocks.
struct If {
  Expr condition;
  std::shared_ptr<const Region> then_region, else_region;  // no parameters, results of the same number
};
// A loop over range(begin, end, step) when `index` is defined (the bounds are int64 scalar leaves, `index` is
// a symbol of the body), else a while with its `condition` region (parameters as the body's, one bool
// result). `initial`: first values of the carried variables; the body's parameters are the variables at the
// head of an iteration, its results their next values. The value is the carried variable, or the tuple of all
// when they are not exactly one. The parameters' types are the joins of first and next values.
struct Loop {
  ScalarVar index;
  Expr begin, end, step;
  std::shared_ptr<const Region> condition;
  std::vector<Expr> initial;
  std::shared_ptr<const Region> body;
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

// A kind that is large or rare stands apart from its node, so that the nodes of which there are millions are
// small. It is read and made as the others are.
template <class K>
class Apart {
 public:
  Apart(K kind) : kind_(std::make_shared<const K>(std::move(kind))) {}
  const K& operator*() const { return *kind_; }

 private:
  std::shared_ptr<const K> kind_;
};

using ExprKind = std::variant<VarRef, Apart<Constant>, TupleExpr, TupleGet, OpCall, FunctionCall,
                              Apart<CallTir>, Apart<PackedCall>, ShapeLiteral, ScalarValueExpr, StringLiteral,
                              DTypeLiteral, GlobalRef, ExternFunc, FunctionExpr, Apart<If>, Apart<Loop>>;

struct ExprNode {
  Span span;
  Type type;
  ExprKind kind;
};
static_assert(sizeof(ExprNode) <= 96, "a kind that is as large as this stands apart");

template <class K>
const K* Expr::as() const {
  if (!node_) return nullptr;
  constexpr bool apart = std::is_same_v<K, Constant> || std::is_same_v<K, CallTir> ||
                         std::is_same_v<K, PackedCall> || std::is_same_v<K, If> || std::is_same_v<K, Loop>;
  if constexpr (apart) {
    const auto* held = std::get_if<Apart<K>>(&node_->kind);
    return held ? &**held : nullptr;
  } else {
    return std::get_if<K>(&node_->kind);
  }
}

// Calls `visit` with the kind itself, wherever it stands.
template <class K>
const K& kind_itself(const K& kind) {
  return kind;
}
template <class K>
const K& kind_itself(const K&& kind) = delete;  // it would be gone
template <class K>
const K& kind_itself(const Apart<K>& kind) {
  return *kind;
}
template <class Visit>
decltype(auto) visit_kind(const Visit& visit, const Expr& expr) {
  return std::visit([&](const auto& kind) -> decltype(auto) { return visit(kind_itself(kind)); },
                    expr.node().kind);
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
  CommentsPtr comments = {};
  CommentsPtr end_comments = {};  // of R.output
};

// A body inside a function: a branch, the body or the condition of a loop. It sees the variables around it;
// what it binds is invisible outside, but for its results (leaves).
struct Region {
  std::vector<Var> params;
  std::vector<BindingBlock> blocks;
  std::vector<Expr> results;
  CommentsPtr end_comments;  // of lines behind the last binding
};
using RegionPtr = std::shared_ptr<const Region>;

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
  OriginPtr origin = nullptr;  // of one that a command made
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
Expr call_tir(CallTir call, Span span = {});
Expr packed_call(PackedCall call, Span span = {});
Expr extern_func(std::string symbol, Span span = {});
Expr function_expr(FunctionPtr function, Span span = {});
// TypeError when the condition is no bool, or when results of the two sides have no common type.
Expr if_expr(Expr condition, Region then_region, Region else_region, Span span = {});
// The parameters' types must be joins already (see join in ir/nodes/type.h).
Expr loop_expr(Loop loop, Span span = {});

FunctionType function_type_of(const Function& function);

// Whether evaluating it may do more than give a value: prints, asserts, calls what is or may be impure, or
// holds a region that does.
bool has_effects(const Expr& expr);
bool has_effects(const Region& region);

}  // namespace relish
