// Scalar expressions: the one language of symbolic dimensions in tensor types and of arithmetic in
// prim_funcs. Immutable nodes behind counted handles; a variable is an identity, its name only a hint. Built
// through the functions below, which convert operands by TVM's rules and check dtypes, so an ill-typed scalar
// does not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/nodes/intrinsic.h"
#include "runtime/dtype.h"
#include "support/source.h"

namespace relish {

// A scalar variable: symbolic dimension, loop variable, block variable, scalar parameter or local of a
// prim_func.
class ScalarVar {
 public:
  ScalarVar() = default;
  ScalarVar(std::string name, DType dtype, Span span = {});  // a fresh identity

  std::uint64_t id() const { return node_->id; }
  const std::string& name() const { return node_->name; }
  DType dtype() const { return node_->dtype; }
  Span span() const { return node_->span; }
  bool defined() const { return node_ != nullptr; }
  friend bool operator==(const ScalarVar& a, const ScalarVar& b) { return a.node_ == b.node_; }

 private:
  struct Node {
    std::uint64_t id;
    std::string name;
    DType dtype;
    Span span;
  };
  std::shared_ptr<const Node> node_;
};

struct ScalarNode;
class Buffer;

class Scalar {
 public:
  Scalar() = default;          // undefined: only good for assignment
  Scalar(std::int64_t value);  // an int64 literal: dimensions are written naturally
  Scalar(int value) : Scalar(static_cast<std::int64_t>(value)) {}
  Scalar(const ScalarVar& var);
  explicit Scalar(std::shared_ptr<const ScalarNode> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  DType dtype() const;
  Span span() const;
  const ScalarNode& node() const { return *node_; }
  const ScalarNode* operator->() const { return node_.get(); }
  bool same_as(const Scalar& other) const { return node_ == other.node_; }
  // The literal's value when this is an integer (or bool) literal.
  std::optional<std::int64_t> as_int() const;
  // The variable when this is just a variable.
  std::optional<ScalarVar> as_var() const;
  template <class K>
  const K* as() const;

 private:
  std::shared_ptr<const ScalarNode> node_;
};

// Div is true division of floats and truncating division of integers; Floor* round toward minus infinity.
enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  TruncMod,
  FloorDiv,
  FloorMod,
  Min,
  Max,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
};
enum class CompareOp : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
enum class LogicalOp : std::uint8_t { And, Or };

struct IntLiteral {
  std::int64_t value;
};  // also bool (0 or 1) and uint64 (bit pattern)
struct FloatLiteral {
  double value;
};
struct VarUse {
  ScalarVar var;
};
struct Binary {
  BinaryOp op;
  Scalar a, b;
};  // Min/Max: compare-select, `a < b ? a : b` and `a > b ? a : b`
struct Compare {
  CompareOp op;
  Scalar a, b;
};
struct Logical {
  LogicalOp op;
  Scalar a, b;
};  // as Python's: b is evaluated only where a does not decide
struct Not {
  Scalar a;
};
struct Select {
  Scalar condition, a, b;
  bool lazy;
};  // lazy: T.if_then_else, only the taken side is evaluated (ir/nodes/short_circuit.h)
struct Cast {
  Scalar a;
};
struct Reinterpret {
  Scalar a;
};  // the same bits as a dtype of equal width
// `body` with `var` standing for `value`, which is computed once.
struct Let {
  ScalarVar var;
  Scalar value, body;
};
struct Load {
  std::shared_ptr<const Buffer> buffer;
  std::vector<Scalar> indices;
};
struct IntrinsicCall {
  Intrinsic intrinsic;
  std::vector<Scalar> args;
};
// What is given to a foreign call beside scalars: a text, and the memory of a buffer (A.data, or just the
// name of a pointer) or the buffer with its shape (A). They stand nowhere else.
struct TextLiteral {
  std::string value;
};
struct DataOf {
  std::shared_ptr<const Buffer> buffer;
  bool whole = false;
};
// A call of what is computed elsewhere: native code (T.call_packed, T.call_extern, T.tvm_struct_get, …), or a
// prim_func of the module (`of_module`). Read, checked and printed; ir/calls/foreign_calls.h refuses to run
// it.
struct ForeignCall {
  std::string function;
  std::vector<Scalar> args;
  std::vector<std::string> names;  // of the arguments; empty: by position
  bool of_module = false;
  bool is_pointer = false;  // what it gives
};

using ScalarKind = std::variant<IntLiteral, FloatLiteral, VarUse, Binary, Compare, Logical, Not, Select, Cast,
                                Reinterpret, Let, Load, IntrinsicCall, TextLiteral, DataOf, ForeignCall>;

struct ScalarNode {
  ScalarNode(Span where, DType type, ScalarKind what) : span(where), dtype(type), kind(std::move(what)) {}
  ~ScalarNode();  // takes a long chain of operands apart without recursion
  ScalarNode(const ScalarNode&) = delete;
  ScalarNode& operator=(const ScalarNode&) = delete;

  Span span;
  DType dtype;
  ScalarKind kind;
};

template <class K>
const K* Scalar::as() const {
  return node_ ? std::get_if<K>(&node_->kind) : nullptr;
}

// --- Construction. Operands of different dtype are converted as TVM does: a literal adopts the other
// operand's dtype, float beats integer, wider beats narrower, unsigned beats signed of equal width. Literal
// operands fold where exact only in `dim_*` context (see canonical); here nothing folds, so that text prints
// as it was written.
Scalar int_literal(DType dtype, std::int64_t value, Span span = {});
Scalar float_literal(DType dtype, double value, Span span = {});
Scalar bool_literal(bool value, Span span = {});
Scalar literal(DType dtype, double value,
               Span span = {});  // int or float literal by dtype; value must be exact for ints
Scalar zero(DType dtype);
Scalar use(const ScalarVar& var, Span span = {});
Scalar binary(BinaryOp op, Scalar a, Scalar b, Span span = {});
Scalar compare(CompareOp op, Scalar a, Scalar b, Span span = {});
Scalar logical(LogicalOp op, Scalar a, Scalar b, Span span = {});
Scalar logical_not(Scalar a, Span span = {});
Scalar select(Scalar condition, Scalar a, Scalar b, Span span = {});
Scalar if_then_else(Scalar condition, Scalar a, Scalar b, Span span = {});
Scalar cast(DType dtype, Scalar a, Span span = {});         // returns `a` itself when it has the dtype
Scalar reinterpret(DType dtype, Scalar a, Span span = {});  // Failure(TypeError) when the widths differ
Scalar let(ScalarVar var, Scalar value, Scalar body, Span span = {});
Scalar load(const Buffer& buffer, std::vector<Scalar> indices, Span span = {});
Scalar intrinsic(Intrinsic which, std::vector<Scalar> args, Span span = {});
Scalar text_literal(std::string value, Span span = {});
Scalar data_of(const Buffer& buffer, bool whole, Span span = {});
Scalar foreign_call(ForeignCall call, DType result, Span span = {});
// Whether it is the address of something, with which nothing is computed.
bool is_pointer(const Scalar& scalar);

inline Scalar operator+(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Add, a, b); }
inline Scalar operator-(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Sub, a, b); }
inline Scalar operator*(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Mul, a, b); }
inline Scalar operator/(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Div, a, b); }
inline Scalar operator<(const Scalar& a, const Scalar& b) { return compare(CompareOp::Lt, a, b); }
inline Scalar operator>(const Scalar& a, const Scalar& b) { return compare(CompareOp::Gt, a, b); }
inline Scalar operator<=(const Scalar& a, const Scalar& b) { return compare(CompareOp::Le, a, b); }
inline Scalar operator>=(const Scalar& a, const Scalar& b) { return compare(CompareOp::Ge, a, b); }
Scalar floor_div(const Scalar& a, const Scalar& b);
Scalar floor_mod(const Scalar& a, const Scalar& b);
Scalar min(const Scalar& a, const Scalar& b);
Scalar max(const Scalar& a, const Scalar& b);
Scalar equal(const Scalar& a, const Scalar& b);
// IEEE 754-2019 maximum/minimum (NaN propagates, +0 > -0) written with selects; for integers plain max/min.
Scalar maximum_ieee(const Scalar& a, const Scalar& b);
Scalar minimum_ieee(const Scalar& a, const Scalar& b);

// Numeric limits as literals: lowest finite... for floats -inf/+inf.
Scalar min_value(DType dtype);
Scalar max_value(DType dtype);

// --- Buffers live beside scalars because loads refer to them.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::string name, DType dtype, std::vector<Scalar> shape, std::string scope = "global",
         Span span = {});
  // The same identity is not kept: a fresh buffer with a layout of its own.
  Buffer with_layout(std::vector<Scalar> strides, Scalar elem_offset) const;
  // A pointer. Of a parameter T.handle("float32") the shape is one dimension, found from the argument; of any
  // other pointer, about whose memory nothing is known, it is empty. `type` is the text of its type.
  Buffer as_pointer(std::string type) const;

  std::uint64_t id() const { return node_->id; }
  const std::string& name() const { return node_->name; }
  DType dtype() const { return node_->dtype; }
  // Elements from one index to the next, by dimension; empty: row-major without gaps. Of a parameter a
  // declaration that its (always row-major) argument must meet; variables in it are solved.
  const std::vector<Scalar>& strides() const { return node_->strides; }
  // First element; undefined: 0.
  const Scalar& elem_offset() const { return node_->elem_offset; }
  const std::vector<Scalar>& shape() const { return node_->shape; }
  int rank() const { return static_cast<int>(node_->shape.size()); }
  const std::string& scope() const { return node_->scope; }
  Span span() const { return node_->span; }
  // Of a pointer: the text of its type; empty of a buffer.
  const std::string& pointer_type() const { return node_->pointer_type; }
  bool is_pointer() const { return !node_->pointer_type.empty(); }
  bool defined() const { return node_ != nullptr; }
  friend bool operator==(const Buffer& a, const Buffer& b) { return a.node_ == b.node_; }

 private:
  struct Node {
    std::uint64_t id;
    std::string name;
    DType dtype;
    std::vector<Scalar> shape;
    std::string scope;
    Span span;
    std::vector<Scalar> strides;
    Scalar elem_offset;
    std::string pointer_type = {};
  };
  std::shared_ptr<const Node> node_;
};

// --- Analysis (ir/scalars/scalar_algebra.cpp).
using ScalarMap = std::unordered_map<std::uint64_t, Scalar>;  // variable id -> replacement
using BufferMap = std::unordered_map<std::uint64_t, Buffer>;  // buffer id -> replacement

// Canonical polynomial form of an integer expression: like terms joined, constants folded, terms in a fixed
// order; floor_div, floor_mod, min, max and what is not polynomial are atoms with canonical operands. Equal
// expressions such as n*2 and 2*n, or (n+1)-1 and n, get structurally equal forms.
Scalar canonical(const Scalar& expression);
// Whether the two are equal for all values of their variables, as far as canonical forms tell.
bool prove_equal(const Scalar& a, const Scalar& b);
// Whether they differ for all values (their difference is a non-zero constant).
bool prove_different(const Scalar& a, const Scalar& b);
// Structure equality (variables by identity), no algebra.
bool structurally_equal(const Scalar& a, const Scalar& b);
// The same handle when nothing changed.
Scalar substitute(const Scalar& expression, const ScalarMap& scalars, const BufferMap& buffers = {});
// Calls `visit` for every distinct variable in order of first use.
void collect_vars(const Scalar& expression, std::vector<ScalarVar>& into);
// Product of dims, canonical; 1 for none.
Scalar product(const std::vector<Scalar>& dims);

// Value of an integer expression under an assignment; nullopt if a variable is missing. Divisions by zero
// throw RuntimeError.
std::optional<std::int64_t> evaluate_int(
    const Scalar& expression, const std::function<std::optional<std::int64_t>(const ScalarVar&)>& value_of);

}  // namespace relish
