// Writing the tangents beside the statements.
#include "transform/forward/prim_tangent.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/primitives.h"
#include "transform/forward/scalar_tangents.h"
#include "transform/gradient/made_prim_func.h"

namespace relish {
namespace {

constexpr const char* no_derivative = "this operation of a prim_func has no derivative";

class PrimTangentMaker {
 public:
  PrimTangentMaker(const PrimFunc& function, std::size_t results, const std::vector<std::size_t>& wrt,
                   std::vector<Obstacle>& obstacles)
      : function_(function), results_(results), obstacles_(obstacles), made_of_(function) {
    for_each_stmt(function.body, [&](const Stmt& stmt) { note_names(stmt); });
    for (const Buffer& buffer : function.allocations) made_of_.take_name(buffer.name());
    for (const std::size_t position : wrt) activate(*function.params[position].buffer());
  }

  std::optional<PrimTangent> run(const std::string& name) {
    find_active();
    const Stmt body = visit(function_.body);
    if (!obstacles_.empty()) return std::nullopt;
    return finish(name, body);
  }

 private:
  void note_names(const Stmt& stmt) {
    if (const auto* node = stmt.as<For>()) made_of_.take_name(node->var.name());
    if (const auto* node = stmt.as<DefineScalar>()) made_of_.take_name(node->var.name());
    if (const auto* node = stmt.as<AllocateStmt>()) made_of_.take_name(node->buffer.name());
    if (const auto* node = stmt.as<ViewStmt>()) made_of_.take_name(node->view.buffer.name());
    if (const auto* node = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : node->iters) made_of_.take_name(iter.var.name());
      for (const Buffer& buffer : node->allocations) made_of_.take_name(buffer.name());
      for (const BufferView& view : node->views) made_of_.take_name(view.buffer.name());
    }
  }

  std::string fresh_name(const std::string& wanted) { return made_of_.fresh_name(wanted); }

  bool activate(const Buffer& buffer) {
    if (tangents_.of_buffer(buffer) || !is_float(buffer.dtype())) return false;
    if (buffer.is_pointer()) {
      obstacles_.push_back({buffer.span(), fmt::format("'{}' is a pointer", buffer.name())});
      return false;
    }
    Buffer dot(fresh_name(buffer.name() + "_dot"), buffer.dtype(), buffer.shape(), buffer.scope(),
               buffer.span());
    if (!buffer.strides().empty() || buffer.elem_offset().defined())
      dot = dot.with_layout(buffer.strides(), buffer.elem_offset());
    tangents_.set(buffer, dot);
    return true;
  }

  bool activate(const ScalarVar& var) {
    if (tangents_.of_local(var) || !is_float(var.dtype())) return false;
    tangents_.set(var, ScalarVar(fresh_name(var.name() + "_dot"), var.dtype(), var.span()));
    return true;
  }

  // What hangs on the wanted: buffers, their views and scalars, until nothing is added.
  void find_active() {
    for (bool grows = true; grows;) {
      grows = false;
      ScalarTangents now = tangents_;  // of this round, with what it refuses
      const auto moves = [&](const Scalar& value) { return value.defined() && now.of(value).defined(); };
      const auto view = [&](const BufferView& each) {
        if (tangents_.of_buffer(each.source)) grows = activate(each.buffer) || grows;
        if (tangents_.of_buffer(each.buffer)) grows = activate(each.source) || grows;
      };
      for_each_stmt(function_.body, [&](const Stmt& stmt) {
        if (const auto* node = stmt.as<Store>(); node && moves(node->value))
          grows = activate(node->buffer) || grows;
        if (const auto* node = stmt.as<DefineScalar>(); node && moves(node->value))
          grows = activate(node->var) || grows;
        if (const auto* node = stmt.as<AssignScalar>(); node && moves(node->value))
          grows = activate(node->var) || grows;
        if (const auto* node = stmt.as<ViewStmt>()) view(node->view);
        if (const auto* node = stmt.as<BlockStmt>())
          for (const BufferView& each : node->views) view(each);
      });
      // What is refused hangs on the wanted too, and would stop them.
      if (!grows)
        for (const Scalar& each : now.refused) obstacles_.push_back({each.span(), no_derivative});
    }
  }

  Scalar tangent_or_zero(const Scalar& value) {
    const Scalar tangent = value.defined() ? tangents_.of(value) : Scalar();
    return tangent.defined() ? tangent : zero(value.dtype());
  }

  // The statement of the tangent goes first: the other may overwrite what it reads.
  Stmt visit(const Stmt& stmt) {
    if (!stmt.defined()) return stmt;
    const auto beside = [&](StmtKind first) {
      return seq({make_stmt(std::move(first), stmt->span), stmt}, stmt->span);
    };
    if (const auto* node = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      for (const Stmt& each : node->body) body.push_back(visit(each));
      return seq(std::move(body), stmt->span);
    }
    if (const auto* node = stmt.as<For>()) {
      For made = *node;
      made.body = visit(node->body);
      return make_stmt(std::move(made), stmt->span, stmt->comments);
    }
    if (const auto* node = stmt.as<While>())
      return make_stmt(While{node->condition, visit(node->body)}, stmt->span, stmt->comments);
    if (const auto* node = stmt.as<IfStmt>())
      return make_stmt(IfStmt{node->condition, visit(node->then_body), visit(node->else_body)}, stmt->span,
                       stmt->comments);
    if (const auto* node = stmt.as<BlockStmt>()) return block(*node, stmt);
    if (const auto* node = stmt.as<Store>()) {
      const Buffer* dot = tangents_.of_buffer(node->buffer);
      return dot ? beside(Store{*dot, node->indices, tangent_or_zero(node->value)}) : stmt;
    }
    if (const auto* node = stmt.as<AllocateStmt>()) {
      const Buffer* dot = tangents_.of_buffer(node->buffer);
      return dot ? beside(AllocateStmt{*dot}) : stmt;
    }
    if (const auto* node = stmt.as<ViewStmt>())
      return tangents_.of_buffer(node->view.buffer) ? beside(ViewStmt{view(node->view)}) : stmt;
    if (const auto* node = stmt.as<DefineScalar>()) {
      const ScalarVar* dot = tangents_.of_local(node->var);
      const Scalar value = node->value.defined() ? tangent_or_zero(node->value) : Scalar();
      return dot ? beside(DefineScalar{*dot, value, node->let}) : stmt;
    }
    if (const auto* node = stmt.as<AssignScalar>()) {
      const ScalarVar* dot = tangents_.of_local(node->var);
      return dot ? beside(AssignScalar{*dot, tangent_or_zero(node->value)}) : stmt;
    }
    if (const auto* node = stmt.as<Evaluate>(); node && !node->value.as<IntLiteral>())
      obstacles_.push_back({stmt->span, "a call inside of a prim_func has no derivative"});
    return stmt;
  }

  BufferView view(const BufferView& of) const {
    BufferView made = of;
    made.buffer = *tangents_.of_buffer(of.buffer);
    made.source = *tangents_.of_buffer(of.source);
    if (made.region) made.region->buffer = made.source;
    return made;
  }

  std::vector<Buffer> with_tangents(const std::vector<Buffer>& buffers) const {
    std::vector<Buffer> result = buffers;
    for (const Buffer& buffer : buffers)
      if (const Buffer* dot = tangents_.of_buffer(buffer)) result.push_back(*dot);
    return result;
  }

  // Regions are said of what is there now: a tangent is read where its buffer is.
  std::optional<std::vector<BufferRegion>> with_tangents(
      const std::optional<std::vector<BufferRegion>>& regions) const {
    if (!regions) return regions;
    std::vector<BufferRegion> result = *regions;
    for (const BufferRegion& region : *regions)
      if (const Buffer* dot = tangents_.of_buffer(region.buffer)) result.push_back({*dot, region.dims});
    return result;
  }

  Stmt block(const BlockStmt& node, const Stmt& stmt) {
    BlockStmt made = node;
    made.allocations = with_tangents(node.allocations);
    for (const BufferView& each : node.views)
      if (tangents_.of_buffer(each.buffer)) made.views.push_back(view(each));
    made.reads = with_tangents(node.reads);
    made.writes = with_tangents(node.writes);
    made.init = visit(node.init);
    made.body = visit(node.body);
    return make_stmt(std::move(made), stmt->span, stmt->comments);
  }

  PrimTangent finish(const std::string& name, const Stmt& body) {
    PrimTangent result;
    PrimFunc made = made_of_.empty(name);
    std::vector<std::size_t> arguments, outputs;
    std::size_t buffers = 0;
    for (const PrimParam& each : function_.params) buffers += each.buffer() ? 1 : 0;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < function_.params.size(); ++i)
      if (function_.params[i].buffer()) (seen++ >= buffers - results_ ? outputs : arguments).push_back(i);
    auto [scalars, own_buffers, scalar_params] = made_of_.own();
    const auto own = [&](const Buffer& buffer) { return remade(buffer, scalars, own_buffers); };
    const auto add = [&](const std::vector<std::size_t>& params, std::vector<std::size_t>& with_tangent) {
      for (const std::size_t i : params) made.params.push_back({own(*function_.params[i].buffer())});
      for (const std::size_t i : params) {
        const Buffer* dot = tangents_.of_buffer(*function_.params[i].buffer());
        if (!dot) continue;
        with_tangent.push_back(i);
        made.params.push_back({own(*dot)});
      }
    };
    add(arguments, result.inputs);
    add(outputs, result.outputs);
    made.params.insert(made.params.end(), scalar_params.begin(), scalar_params.end());
    for (const Buffer& buffer : with_tangents(function_.allocations)) made.allocations.push_back(own(buffer));
    made.body = fresh_copy(body, scalars, own_buffers);
    result.function = std::move(made);
    return result;
  }

  const PrimFunc& function_;
  const std::size_t results_;
  std::vector<Obstacle>& obstacles_;
  MadePrimFunc made_of_;
  ScalarTangents tangents_;
};

}  // namespace

std::optional<PrimTangent> prim_tangent(const PrimFunc& function, std::size_t results,
                                        const std::vector<std::size_t>& wrt, const std::string& name,
                                        std::vector<Obstacle>& obstacles) {
  return PrimTangentMaker(function, results, wrt, obstacles).run(name);
}

}  // namespace relish
