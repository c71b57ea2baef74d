// Rewriting and walking of scalars and loop statements.
#include <algorithm>

#include "ir/rewriting/rewrite.h"

#include "ir/scalars/scalar_order.h"

namespace relish {
namespace {

Scalar with_kind(const Scalar& scalar, ScalarKind kind) {
  return Scalar(std::make_shared<const ScalarNode>(scalar.span(), scalar.dtype(), std::move(kind)));
}

// Rewrites the elements of a list with `rewrite`; whether one changed.
template <class T, class F>
bool rewrite_list(std::vector<T>& list, F&& rewrite) {
  bool changed = false;
  for (T& item : list) {
    T replaced = rewrite(item);
    if (replaced.same_as(item)) continue;
    item = std::move(replaced);
    changed = true;
  }
  return changed;
}

using ScalarHandler = std::function<std::optional<Scalar>(const Scalar&)>;
using StmtHandler = std::function<std::optional<Stmt>(const Stmt&)>;

// A node with what `Child` makes of its operands. An operand of another dtype goes through the constructors,
// which convert and check again.
template <class Child>
class OperandMapper {
 public:
  explicit OperandMapper(const Child& child) : child_(child) {}

  Scalar operator()(const Scalar& scalar) const {
    return std::visit([&](const auto& kind) { return children(scalar, kind); }, scalar->kind);
  }

 private:
  Scalar children(const Scalar& scalar, const IntLiteral&) const { return scalar; }
  Scalar children(const Scalar& scalar, const FloatLiteral&) const { return scalar; }
  Scalar children(const Scalar& scalar, const VarUse&) const { return scalar; }
  Scalar children(const Scalar& scalar, const Binary& node) const {
    return pair(scalar, node,
                [&](const Scalar& a, const Scalar& b) { return binary(node.op, a, b, scalar.span()); });
  }
  Scalar children(const Scalar& scalar, const Compare& node) const {
    return pair(scalar, node,
                [&](const Scalar& a, const Scalar& b) { return compare(node.op, a, b, scalar.span()); });
  }
  Scalar children(const Scalar& scalar, const Logical& node) const {
    return pair(scalar, node,
                [&](const Scalar& a, const Scalar& b) { return logical(node.op, a, b, scalar.span()); });
  }
  Scalar children(const Scalar& scalar, const Not& node) const {
    Scalar a = child_(node.a);
    return a.same_as(node.a) ? scalar : logical_not(std::move(a), scalar.span());
  }
  Scalar children(const Scalar& scalar, const Select& node) const {
    Scalar condition = child_(node.condition), a = child_(node.a), b = child_(node.b);
    if (condition.same_as(node.condition) && a.same_as(node.a) && b.same_as(node.b)) return scalar;
    return node.lazy ? if_then_else(condition, a, b, scalar.span()) : select(condition, a, b, scalar.span());
  }
  Scalar children(const Scalar& scalar, const Cast& node) const {
    Scalar a = child_(node.a);
    return a.same_as(node.a) ? scalar : cast(scalar.dtype(), std::move(a), scalar.span());
  }
  Scalar children(const Scalar& scalar, const Reinterpret& node) const {
    Scalar a = child_(node.a);
    return a.same_as(node.a) ? scalar : reinterpret(scalar.dtype(), std::move(a), scalar.span());
  }
  Scalar children(const Scalar& scalar, const Let& node) const {
    Scalar value = child_(node.value), body = child_(node.body);
    if (value.same_as(node.value) && body.same_as(node.body)) return scalar;
    return let(node.var, std::move(value), std::move(body), scalar.span());
  }
  Scalar children(const Scalar& scalar, const Load& node) const {
    std::vector<Scalar> indices = node.indices;
    bool changed = rewrite_list(indices, child_);
    return changed ? with_kind(scalar, Load{node.buffer, std::move(indices)}) : scalar;
  }
  Scalar children(const Scalar& scalar, const IntrinsicCall& node) const {
    std::vector<Scalar> args = node.args;
    return rewrite_list(args, child_) ? intrinsic(node.intrinsic, std::move(args), scalar.span()) : scalar;
  }

  Scalar children(const Scalar& scalar, const TextLiteral&) const { return scalar; }
  Scalar children(const Scalar& scalar, const DataOf&) const { return scalar; }
  Scalar children(const Scalar& scalar, const ForeignCall& node) const {
    ForeignCall copy = node;
    return rewrite_list(copy.args, child_) ? with_kind(scalar, std::move(copy)) : scalar;
  }

  template <class K, class Make>
  Scalar pair(const Scalar& scalar, const K& node, Make&& make) const {
    Scalar a = child_(node.a), b = child_(node.b);
    if (a.same_as(node.a) && b.same_as(node.b)) return scalar;
    bool same_dtypes = a.dtype() == node.a.dtype() && b.dtype() == node.b.dtype();
    return same_dtypes ? with_kind(scalar, K{node.op, std::move(a), std::move(b)})
                       : make(std::move(a), std::move(b));
  }

  const Child& child_;
};

// Children first.
class ScalarRewriter {
 public:
  explicit ScalarRewriter(const ScalarHandler& handler) : handler_(handler) {}

  Scalar operator()(const Scalar& scalar) const {
    Scalar rebuilt = OperandMapper(*this)(scalar);
    if (std::optional<Scalar> replaced = handler_(rebuilt)) return *std::move(replaced);
    return rebuilt;
  }

 private:
  const ScalarHandler& handler_;
};

// One traversal for rewriting and substitution. `Policy` says what becomes of scalars, of variables and
// buffers where they are bound, and of finished statements.
template <class Policy>
class StmtRewriter {
 public:
  explicit StmtRewriter(Policy& policy) : policy_(policy) {}

  Stmt operator()(const Stmt& stmt) {
    if (!stmt.defined()) return stmt;
    return policy_.finish(std::visit([&](const auto& kind) { return children(stmt, kind); }, stmt->kind));
  }

 private:
  // Each rebuilds the node from its parts and keeps the handle when all of them stayed the same.
  template <class K>
  Stmt result(const Stmt& stmt, bool changed, K kind) {
    return changed ? make_stmt(std::move(kind), stmt->span, stmt->comments) : stmt;
  }

  Scalar scalar(const Scalar& value, bool& changed) {
    if (!value.defined()) return value;
    Scalar replaced = policy_.scalar(value);
    changed |= !replaced.same_as(value);
    return replaced;
  }
  Stmt body(const Stmt& stmt, bool& changed) {
    Stmt replaced = (*this)(stmt);
    changed |= stmt.defined() && !replaced.same_as(stmt);
    return replaced;
  }
  ScalarVar var(const ScalarVar& bound, bool& changed) {
    ScalarVar replaced = policy_.bound(bound);
    changed |= !(replaced == bound);
    return replaced;
  }
  Buffer buffer(const Buffer& used, bool& changed) {
    Buffer replaced = policy_.buffer(used);
    changed |= !(replaced == used);
    return replaced;
  }
  Buffer allocated(const Buffer& made, bool& changed) {
    Buffer replaced = policy_.allocated(made);
    changed |= !(replaced == made);
    return replaced;
  }

  Stmt children(const Stmt& stmt, const For& loop) {
    bool changed = false;
    For copy = loop;
    copy.begin = scalar(loop.begin, changed);
    copy.extent = scalar(loop.extent, changed);
    copy.step = scalar(loop.step, changed);
    copy.var = var(loop.var, changed);
    copy.body = body(loop.body, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const While& loop) {
    bool changed = false;
    While copy;
    copy.condition = scalar(loop.condition, changed);
    copy.body = body(loop.body, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const BlockStmt& block) {
    bool changed = false;
    BlockStmt copy = block;
    for (IterVar& iter : copy.iters) {
      iter.begin = scalar(iter.begin, changed);
      iter.extent = scalar(iter.extent, changed);
      iter.binding = scalar(iter.binding, changed);
    }
    for (IterVar& iter : copy.iters) iter.var = var(iter.var, changed);
    copy.predicate = scalar(block.predicate, changed);
    for (Buffer& made : copy.allocations) made = allocated(made, changed);
    for (auto* regions : {&copy.reads, &copy.writes}) {
      if (!*regions) continue;
      for (BufferRegion& region : **regions) this->region(region, changed);
    }
    for (BufferView& each : copy.views) view(each, changed);
    copy.init = body(block.init, changed);
    copy.body = body(block.body, changed);
    return result(stmt, changed, std::move(copy));
  }
  void region(BufferRegion& region, bool& changed) {
    region.buffer = buffer(region.buffer, changed);
    for (RegionDim& dim : region.dims) {
      dim.begin = scalar(dim.begin, changed);
      dim.extent = scalar(dim.extent, changed);
    }
  }
  void view(BufferView& view, bool& changed) {
    view.source = buffer(view.source, changed);
    if (view.region) region(*view.region, changed);
    view.buffer = allocated(view.buffer, changed);
  }
  Stmt children(const Stmt& stmt, const ViewStmt& declared) {
    bool changed = false;
    ViewStmt copy = declared;
    view(copy.view, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const Break&) { return stmt; }
  Stmt children(const Stmt& stmt, const Continue&) { return stmt; }
  Stmt children(const Stmt& stmt, const Return& returned) {
    bool changed = false;
    Return copy{scalar(returned.value, changed)};
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const Store& store) {
    bool changed = false;
    Store copy = store;
    copy.buffer = buffer(store.buffer, changed);
    for (Scalar& index : copy.indices) index = scalar(index, changed);
    copy.value = scalar(store.value, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const AllocateStmt& allocate) {
    bool changed = false;
    AllocateStmt copy;
    copy.value = scalar(allocate.value, changed);
    copy.buffer = allocated(allocate.buffer, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const DefineScalar& define) {
    bool changed = false;
    DefineScalar copy = define;
    copy.value = scalar(define.value, changed);
    copy.var = var(define.var, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const AssignScalar& assign) {
    bool changed = false;
    AssignScalar copy = assign;
    copy.value = scalar(assign.value, changed);
    copy.var = var(assign.var, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const IfStmt& branch) {
    bool changed = false;
    IfStmt copy;
    copy.condition = scalar(branch.condition, changed);
    copy.then_body = body(branch.then_body, changed);
    copy.else_body = body(branch.else_body, changed);
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const AssertStmt& check) {
    bool changed = false;
    AssertStmt copy{scalar(check.condition, changed), check.message};
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const Evaluate& evaluate) {
    bool changed = false;
    Evaluate copy{scalar(evaluate.value, changed)};
    return result(stmt, changed, std::move(copy));
  }
  Stmt children(const Stmt& stmt, const SeqStmt& sequence) {
    std::vector<Stmt> list = sequence.body;
    bool changed = rewrite_list(list, *this);
    if (!changed) return stmt;
    // A replacement may be a sequence itself; the comments of the old one stay in front.
    return stmt->comments ? make_stmt(SeqStmt{std::move(list)}, stmt->span, stmt->comments)
                          : seq(std::move(list), stmt->span);
  }

  Policy& policy_;
};

struct HandlerPolicy {
  const ScalarHandler& scalar_handler;
  const StmtHandler& stmt_handler;

  Scalar scalar(const Scalar& value) const { return scalar_handler ? rewrite(value, scalar_handler) : value; }
  ScalarVar bound(const ScalarVar& var) const { return var; }
  Buffer buffer(const Buffer& buffer) const { return buffer; }
  Buffer allocated(const Buffer& buffer) const { return buffer; }
  Stmt finish(Stmt stmt) const {
    if (!stmt_handler) return stmt;
    std::optional<Stmt> replaced = stmt_handler(stmt);
    return replaced ? *std::move(replaced) : stmt;
  }
};

struct SubstitutionPolicy {
  const ScalarMap& scalars;
  BufferMap buffers;  // grows by the allocations whose shapes change

  Scalar scalar(const Scalar& value) const { return substitute(value, scalars, buffers); }
  ScalarVar bound(const ScalarVar& var) const {
    auto found = scalars.find(var.id());
    std::optional<ScalarVar> renamed = found == scalars.end() ? std::nullopt : found->second.as_var();
    return renamed ? *renamed : var;
  }
  Buffer buffer(const Buffer& buffer) const {
    auto found = buffers.find(buffer.id());
    return found == buffers.end() ? buffer : found->second;
  }
  Buffer allocated(const Buffer& made) {
    if (buffers.contains(made.id())) return buffer(made);
    std::vector<Scalar> shape = made.shape(), strides = made.strides();
    const auto replace = [&](const Scalar& value) { return scalar(value); };
    bool changed = rewrite_list(shape, replace);
    changed = rewrite_list(strides, replace) || changed;
    Scalar offset = made.elem_offset();
    if (offset.defined()) {
      Scalar replaced_offset = scalar(offset);
      changed = changed || !replaced_offset.same_as(offset);
      offset = std::move(replaced_offset);
    }
    if (!changed) return made;
    Buffer replaced(made.name(), made.dtype(), std::move(shape), made.scope(), made.span());
    if (!strides.empty() || offset.defined())
      replaced = replaced.with_layout(std::move(strides), std::move(offset));
    if (made.is_pointer()) replaced = replaced.as_pointer(made.pointer_type());
    buffers.emplace(made.id(), replaced);
    return replaced;
  }
  Stmt finish(Stmt stmt) const { return stmt; }
};

}  // namespace

Scalar map_operands(const Scalar& scalar, const std::function<Scalar(const Scalar&)>& map) {
  return OperandMapper(map)(scalar);
}

Scalar rewrite(const Scalar& scalar, const ScalarHandler& handler) { return ScalarRewriter(handler)(scalar); }

Stmt rewrite(const Stmt& stmt, const ScalarHandler& scalar_handler, const StmtHandler& stmt_handler) {
  HandlerPolicy policy{scalar_handler, stmt_handler};
  return StmtRewriter<HandlerPolicy>(policy)(stmt);
}

Stmt substitute(const Stmt& stmt, const ScalarMap& scalars, const BufferMap& buffers) {
  if (scalars.empty() && buffers.empty()) return stmt;
  SubstitutionPolicy policy{scalars, buffers};
  return StmtRewriter<SubstitutionPolicy>(policy)(stmt);
}

void for_each_scalar(const Scalar& scalar, const std::function<void(const Scalar&)>& visit) {
  std::vector<const Scalar*> stack{&scalar};
  while (!stack.empty()) {
    const Scalar& at = *stack.back();
    stack.pop_back();
    visit(at);
    const auto first = static_cast<std::ptrdiff_t>(stack.size());
    for_each_operand(at, [&](const Scalar& operand) { stack.push_back(&operand); });
    std::reverse(stack.begin() + first, stack.end());
  }
}

void for_each_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit) {
  if (!stmt.defined()) return;
  visit(stmt);
  std::visit(
      [&](const auto& kind) {
        using K = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<K, SeqStmt>) {
          for (const Stmt& inner : kind.body) for_each_stmt(inner, visit);
        } else if constexpr (std::is_same_v<K, IfStmt>) {
          for_each_stmt(kind.then_body, visit);
          for_each_stmt(kind.else_body, visit);
        } else if constexpr (std::is_same_v<K, BlockStmt>) {
          for_each_stmt(kind.init, visit);
          for_each_stmt(kind.body, visit);
        } else if constexpr (requires { kind.body; }) {
          for_each_stmt(kind.body, visit);
        }
      },
      stmt->kind);
}

void for_each_scalar(const Stmt& stmt, const std::function<void(const Scalar&)>& visit) {
  auto one = [&](const Scalar& scalar) {
    if (scalar.defined()) for_each_scalar(scalar, visit);
  };
  auto made = [&](const Buffer& buffer) {
    for (const Scalar& dim : buffer.shape()) one(dim);
    for (const Scalar& stride : buffer.strides()) one(stride);
    one(buffer.elem_offset());
  };
  auto viewed = [&](const BufferView& view) {
    if (view.region) {
      for (const RegionDim& dim : view.region->dims) one(dim.begin), one(dim.extent);
    }
    made(view.buffer);
  };
  for_each_stmt(stmt, [&](const Stmt& inner) {
    std::visit(
        [&](const auto& kind) {
          using K = std::decay_t<decltype(kind)>;
          if constexpr (requires { kind.begin; }) one(kind.begin), one(kind.extent);
          if constexpr (requires { kind.condition; }) one(kind.condition);
          if constexpr (requires { kind.indices; }) {
            for (const Scalar& index : kind.indices) one(index);
          }
          if constexpr (requires { kind.value; }) one(kind.value);
          if constexpr (requires { kind.step; }) one(kind.step);
          if constexpr (std::is_same_v<K, AllocateStmt>) made(kind.buffer);
          if constexpr (std::is_same_v<K, ViewStmt>) viewed(kind.view);
          if constexpr (std::is_same_v<K, BlockStmt>) {
            for (const IterVar& iter : kind.iters) one(iter.begin), one(iter.extent), one(iter.binding);
            one(kind.predicate);
            for (const Buffer& buffer : kind.allocations) made(buffer);
            for (const BufferView& view : kind.views) viewed(view);
          }
        },
        inner->kind);
  });
}

}  // namespace relish
