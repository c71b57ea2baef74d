// Taking blocks, scalars and allocations out of statements.
#include "transform/gradient/plain_statements.h"

#include <fmt/format.h>

namespace relish {
namespace {

class PlainReader {
 public:
  explicit PlainReader(const PrimFunc& function) : function_(function) {}

  PlainStatements run() {
    for (const Buffer& buffer : function_.allocations) allocate(buffer);
    made_.body = visit(function_.body);
    return std::move(made_);
  }

 private:
  Stmt refuse(Span span, std::string what) {
    made_.obstacles.push_back({span, std::move(what)});
    return nothing(span);
  }
  static Stmt nothing(Span span) { return seq({}, span); }

  Scalar known(const Scalar& scalar) const {
    return scalar.defined() ? substitute(scalar, scalars_) : scalar;
  }

  void allocate(const Buffer& buffer) {
    if (buffer.is_pointer() || !buffer.strides().empty() || buffer.elem_offset().defined())
      refuse(buffer.span(), fmt::format("'{}' has a layout of its own", buffer.name()));
    made_.locals.push_back(buffer);
  }

  Stmt visit(const Stmt& stmt) {
    if (!stmt.defined()) return nothing(function_.span);
    const Span span = stmt->span;
    if (const auto* node = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      for (const Stmt& each : node->body) body.push_back(visit(each));
      return seq(std::move(body), span);
    }
    if (const auto* node = stmt.as<For>()) {
      For made{node->var, known(node->begin), known(node->extent), LoopKind::Serial, visit(node->body), {}};
      made.step = known(node->step);
      return make_stmt(std::move(made), span);
    }
    if (const auto* node = stmt.as<While>())
      return make_stmt(While{known(node->condition), visit(node->body)}, span);
    if (const auto* node = stmt.as<IfStmt>())
      return make_stmt(IfStmt{known(node->condition), visit(node->then_body), visit(node->else_body)}, span);
    if (const auto* node = stmt.as<BlockStmt>()) return block(*node, span);
    if (const auto* node = stmt.as<Store>()) {
      std::vector<Scalar> indices;
      for (const Scalar& index : node->indices) indices.push_back(known(index));
      return make_stmt(Store{node->buffer, std::move(indices), known(node->value)}, span);
    }
    if (const auto* node = stmt.as<AllocateStmt>()) {
      allocate(node->buffer);
      return nothing(span);
    }
    if (const auto* node = stmt.as<DefineScalar>()) {
      const Buffer local(node->var.name(), node->var.dtype(), {int_literal(DType::Int32, 1)}, "global", span);
      const Scalar value = node->value.defined() ? known(node->value) : zero(node->var.dtype());
      made_.locals.push_back(local);
      scalars_.insert_or_assign(node->var.id(), load(local, {int_literal(DType::Int32, 0)}, span));
      return make_stmt(Store{local, {int_literal(DType::Int32, 0)}, value}, span);
    }
    if (const auto* node = stmt.as<AssignScalar>()) {
      const Load& place = *scalars_.at(node->var.id()).as<Load>();
      return make_stmt(Store{*place.buffer, place.indices, known(node->value)}, span);
    }
    if (stmt.as<AssertStmt>()) return nothing(span);  // it held when the function ran
    if (const auto* node = stmt.as<Evaluate>()) {
      if (node->value.as<IntLiteral>()) return nothing(span);
      return refuse(span, "a call inside of a prim_func has no derivative");
    }
    if (stmt.as<ViewStmt>())
      return refuse(span, "a view of another buffer has no gradient rule; index that buffer itself");
    return refuse(
        span,
        "a prim_func that is left by break, continue or return has no gradient rule; say by the condition "
        "of a while how long it goes on");
  }

  Stmt block(const BlockStmt& node, Span span) {
    if (!node.views.empty())
      return refuse(span, "a view of another buffer has no gradient rule; index that buffer itself");
    Scalar first;  // whether all reduce axes are at their begin
    for (const IterVar& iter : node.iters) {
      const Scalar binding = known(iter.binding);
      scalars_.insert_or_assign(iter.var.id(), binding);
      if (iter.kind != IterKind::Reduce) continue;
      const Scalar here = compare(CompareOp::Eq, binding, known(iter.begin), span);
      first = first.defined() ? logical(LogicalOp::And, first, here) : here;
    }
    for (const Buffer& buffer : node.allocations) allocate(buffer);
    std::vector<Stmt> body;
    if (node.init.defined()) {
      const Stmt init = visit(node.init);
      body.push_back(first.defined() ? make_stmt(IfStmt{first, init, {}}, span) : init);
    }
    body.push_back(visit(node.body));
    Stmt made = seq(std::move(body), span);
    if (node.predicate.defined()) made = make_stmt(IfStmt{known(node.predicate), made, {}}, span);
    return made;
  }

  const PrimFunc& function_;
  PlainStatements made_;
  ScalarMap scalars_;  // what stands for block variables and local scalars
};

}  // namespace

PlainStatements plain_statements(const PrimFunc& function) { return PlainReader(function).run(); }

}  // namespace relish
