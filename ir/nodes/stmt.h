// Loop-level statements (prim_funcs): loops, blocks with iteration variables, stores, scalars, control flow.
// Immutable nodes behind counted handles, closed kinds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/nodes/attribute.h"
#include "ir/nodes/comment.h"
#include "ir/nodes/origin.h"
#include "ir/nodes/scalar.h"

namespace relish {

struct StmtNode;

class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(std::shared_ptr<const StmtNode> node) : node_(std::move(node)) {}
  bool defined() const { return node_ != nullptr; }
  const StmtNode& node() const { return *node_; }
  const StmtNode* operator->() const { return node_.get(); }
  bool same_as(const Stmt& other) const { return node_ == other.node_; }
  template <class K>
  const K* as() const;

 private:
  std::shared_ptr<const StmtNode> node_;
};

// ThreadBinding: iterations stand for threads of a device; run here one after the other.
enum class LoopKind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, ThreadBinding };
// Ordered (T.axis.scan) and Opaque axes promise nothing about their iterations, which run in the order of the
// text.
enum class IterKind : std::uint8_t { Spatial, Reduce, Ordered, Opaque };

struct IterVar {
  ScalarVar var;
  IterKind kind;
  Scalar begin, extent;  // domain [begin, begin + extent)
  Scalar binding;        // value in terms of the loop variables
};

struct RegionDim {
  Scalar begin, extent;
};
struct BufferRegion {
  Buffer buffer;
  std::vector<RegionDim> dims;
};

struct For {
  ScalarVar var;
  Scalar begin, extent;
  LoopKind kind;
  Stmt body;
  Attributes annotations;
  Scalar step = {};         // undefined: 1; else positive
  std::string thread = {};  // of a ThreadBinding: "blockIdx.x"
};
struct While {
  Scalar condition;
  Stmt body;
};
// A buffer over the elements of another, with its own shape, strides and offset (Buffer::strides,
// Buffer::elem_offset). `region`: T.match_buffer on a region, whose dims and offset the view takes; else
// T.decl_buffer(..., data=source.data).
struct BufferView {
  Buffer buffer;
  Buffer source;
  std::optional<BufferRegion> region;
};
// One computation over block variables. `init` runs before the body for instances where every reduce variable
// equals the begin of its domain. `reads`/`writes` are declarative.
struct BlockStmt {
  std::string name;
  std::vector<IterVar> iters;
  Scalar predicate;  // undefined: always
  std::optional<std::vector<BufferRegion>> reads, writes;
  std::vector<Buffer> allocations;
  Stmt init;  // undefined: none
  Stmt body;
  Attributes attributes;
  std::vector<BufferView> views = {};  // seen by init and body
};
struct Store {
  Buffer buffer;
  std::vector<Scalar> indices;
  Scalar value;
};
struct AllocateStmt {
  Buffer buffer;
  Scalar value = {};  // of a pointer: what gives it (a foreign call); undefined: nothing does
};  // visible in the statements that follow it in its sequence
struct ViewStmt {
  BufferView view;
};  // likewise
// A new local. `let`: immutable; else assignable. Undefined `value`: zero.
struct DefineScalar {
  ScalarVar var;
  Scalar value;
  bool let = false;
};
struct AssignScalar {
  ScalarVar var;
  Scalar value;
};
struct IfStmt {
  Scalar condition;
  Stmt then_body, else_body;
};  // else_body may be undefined
struct AssertStmt {
  Scalar condition;
  std::string message;
};
struct Break {};     // of the innermost For or While
struct Continue {};  // likewise
// Ends a prim_func that has a result dtype.
struct Return {
  Scalar value;
};
// T.evaluate(0): nothing. T.evaluate(A[i]) asks for the element: its line comes to a cache before it is read.
struct Evaluate {
  Scalar value;
};
struct SeqStmt {
  std::vector<Stmt> body;
};

using StmtKind = std::variant<For, While, BlockStmt, Store, AllocateStmt, ViewStmt, DefineScalar,
                              AssignScalar, IfStmt, AssertStmt, Break, Continue, Return, Evaluate, SeqStmt>;

struct StmtNode {
  Span span;
  StmtKind kind;
  CommentsPtr comments;
};

template <class K>
const K* Stmt::as() const {
  return node_ ? std::get_if<K>(&node_->kind) : nullptr;
}

Stmt make_stmt(StmtKind kind, Span span = {}, CommentsPtr comments = nullptr);
Stmt seq(std::vector<Stmt> body, Span span = {});  // flattens nested sequences; one statement stays itself

struct PrimParam {
  std::variant<Buffer, ScalarVar> value;
  std::string handle = {};  // of a buffer that came as a T.handle: the handle's name in the text
  const Buffer* buffer() const { return std::get_if<Buffer>(&value); }
  const ScalarVar* scalar() const { return std::get_if<ScalarVar>(&value); }
  const std::string& name() const { return buffer() ? buffer()->name() : scalar()->name(); }
};

// Symbolic variables of buffer shapes that are not scalar parameters are solved from the arguments at entry.
struct PrimFunc {
  std::string name;
  std::vector<PrimParam> params;
  std::vector<Buffer> allocations;  // of the implicit root block
  Stmt body;
  Attributes attributes;  // without global_symbol when it equals the name; noalias without prefix "tir."
  bool is_private = false;
  Span span;  // of the name
  CommentsPtr comments;
  std::optional<DType> result_dtype = {};  // of a function that returns a scalar
  OriginPtr origin = nullptr;              // of one that a command made
};
using PrimFuncPtr = std::shared_ptr<const PrimFunc>;

// The buffer parameters that the body stores to, by parameter index, and whether each is also loaded before.
struct ParamAccess {
  bool read = false, written = false;
};
std::vector<ParamAccess> param_accesses(const PrimFunc& function);

Stmt substitute(const Stmt& stmt, const ScalarMap& scalars, const BufferMap& buffers = {});

}  // namespace relish
