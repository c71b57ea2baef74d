// Taking the statements of a prim_func apart into assignments.
#include "transform/gradient/assignments.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/extremes.h"
#include "loops/faults.h"
#include "loops/range_prover.h"

namespace relish {
namespace {

// A value as an update of the element that it is stored to.
class UpdateReader {
 public:
  UpdateReader(const Buffer& buffer, const std::vector<Scalar>& indices)
      : buffer_(buffer), indices_(indices) {}

  struct Found {
    Update update;
    Scalar value;
  };
  // Nothing when it reads its buffer in another way.
  std::optional<Found> read(const Scalar& value) const {
    if (!loads(value)) return Found{Update::Set, value};
    if (const auto added = addend(value)) return Found{Update::Sum, *added};
    if (const auto* node = value.as<Binary>();
        node && (node->op == BinaryOp::Max || node->op == BinaryOp::Min))
      return extreme(node->op == BinaryOp::Max, node->a, node->b);
    const auto* node = value.as<Select>();
    if (!node) return std::nullopt;
    if (const auto found = as_extreme(*node)) return extreme(found->largest, found->a, found->b);
    if (const auto* compared = node->condition.as<Compare>()) {
      const bool greater = compared->op == CompareOp::Gt || compared->op == CompareOp::Ge;
      const bool less = compared->op == CompareOp::Lt || compared->op == CompareOp::Le;
      const auto are = [&](const Scalar& a, const Scalar& b) {
        return structurally_equal(node->a, a) && structurally_equal(node->b, b);
      };
      if ((greater || less) && are(compared->a, compared->b)) return extreme(greater, node->a, node->b);
      if ((greater || less) && are(compared->b, compared->a)) return extreme(less, node->a, node->b);
    }
    return conditional(*node);
  }

 private:
  bool is_target(const Scalar& value) const {
    const auto* load = value.as<Load>();
    return load && *load->buffer == buffer_ && same_indices(load->indices, indices_);
  }

  bool loads(const Scalar& value) const {
    std::vector<Access> all;
    collect_loads(value, all);
    return std::any_of(all.begin(), all.end(), [&](const Access& each) { return *each.buffer == buffer_; });
  }

  // What a sum adds to the element; one term of it is the element itself.
  std::optional<Scalar> addend(const Scalar& value) const {
    if (const auto* call = value.as<IntrinsicCall>(); call && call->intrinsic == Intrinsic::Fma) {
      if (is_target(call->args[2]) && !loads(call->args[0]) && !loads(call->args[1]))
        return call->args[0] * call->args[1];
      return std::nullopt;
    }
    const auto* node = value.as<Binary>();
    if (!node || (node->op != BinaryOp::Add && node->op != BinaryOp::Sub)) return std::nullopt;
    const bool adds = node->op == BinaryOp::Add;
    if (!loads(node->b)) {
      if (is_target(node->a)) return adds ? node->b : zero(node->b.dtype()) - node->b;
      if (const auto rest = addend(node->a)) return binary(node->op, *rest, node->b, value.span());
    } else if (adds && !loads(node->a)) {
      if (is_target(node->b)) return node->a;
      if (const auto rest = addend(node->b)) return binary(node->op, node->a, *rest, value.span());
    }
    return std::nullopt;
  }

  std::optional<Found> extreme(bool largest, const Scalar& a, const Scalar& b) const {
    const Update update = largest ? Update::Max : Update::Min;
    if (is_target(a) && !loads(b)) return Found{update, b};
    if (is_target(b) && !loads(a)) return Found{update, a};
    return std::nullopt;
  }

  // A sum where the condition holds, and the element as it was where not; or the other way.
  std::optional<Found> conditional(const Select& node) const {
    if (loads(node.condition)) return std::nullopt;
    if (is_target(node.b)) {
      if (const auto added = addend(node.a))
        return Found{Update::Sum, if_then_else(node.condition, *added, zero(added->dtype()))};
    } else if (is_target(node.a)) {
      if (const auto added = addend(node.b))
        return Found{Update::Sum, if_then_else(node.condition, zero(added->dtype()), *added)};
    }
    return std::nullopt;
  }

  const Buffer& buffer_;
  const std::vector<Scalar>& indices_;
};

class AssignmentReader {
 public:
  explicit AssignmentReader(const PrimFunc& function) : function_(function) {
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      if (const auto* assign = stmt.as<AssignScalar>()) assigned_.insert(assign->var.id());
      if (const auto* store = stmt.as<Store>()) written_.insert(store->buffer.id());
    });
  }

  Assignments run() {
    for (const Buffer& buffer : function_.allocations) allocate(buffer);
    visit(function_.body);
    return std::move(made_);
  }

 private:
  void obstacle(Span span, std::string what) { made_.obstacles.push_back({span, std::move(what)}); }

  // The expression in terms of loops, parameters and expanded buffers.
  Scalar known(const Scalar& scalar) {
    const Scalar replaced = substitute(scalar, scalars_);
    if (expanded_.empty()) return replaced;
    return rewrite(replaced, [&](const Scalar& each) -> std::optional<Scalar> {
      const auto* load = each.as<Load>();
      const auto found = load ? expanded_.find(load->buffer->id()) : expanded_.end();
      if (found == expanded_.end()) return std::nullopt;
      std::vector<Scalar> indices = found->second.prefix;
      indices.insert(indices.end(), load->indices.begin(), load->indices.end());
      return relish::load(found->second.buffer, std::move(indices), each.span());
    });
  }

  bool loads_written(const Scalar& scalar) const {
    std::vector<Access> all;
    collect_loads(scalar, all);
    return std::any_of(all.begin(), all.end(), [&](const Access& access) {
      return written_.contains(access.buffer->id()) || made_inside_.contains(access.buffer->id());
    });
  }

  // A bound of a loop or a block: known before, but for what inputs say.
  Scalar bound(const Scalar& scalar, Span span) {
    Scalar made = known(scalar);
    if (loads_written(made)) obstacle(span, "the bounds of this loop are computed by the prim_func itself");
    return made;
  }

  // A bound of a loop. Conditions go into the loops that they stand around, where the bound would be asked
  // for all the same: what may fail is asked for only where the text does, and else is `otherwise`.
  Scalar bound_of_loop(const Scalar& scalar, std::int64_t otherwise, Span span) {
    const Scalar made = bound(scalar, span);
    if (guards_.empty()) return made;
    RangeProver prover;
    for (const DomainAxis& axis : loops_) prover.enter_loop(axis.var, axis.begin, axis.extent);
    if (!may_fault(made, prover)) return made;
    Scalar all = guards_.front().condition;
    for (std::size_t i = 1; i < guards_.size(); ++i) all = logical(LogicalOp::And, all, guards_[i].condition);
    return if_then_else(all, made, int_literal(made.dtype(), otherwise));
  }

  struct Expanded {
    Buffer buffer;
    std::vector<Scalar> prefix;
  };

  // The buffer with a dimension for each loop around: one for each time that it is made.
  Expanded expand(const std::string& name, DType dtype, const std::vector<Scalar>& shape, Span span) {
    std::vector<Scalar> dims, prefix;
    for (const DomainAxis& loop : loops_) {
      if (loop.extent.as_int() == 1) continue;
      std::vector<ScalarVar> vars;
      collect_vars(loop.extent, vars);
      const bool varies = std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
        return std::any_of(loops_.begin(), loops_.end(),
                           [&](const DomainAxis& each) { return each.var == var; });
      });
      if (varies) obstacle(span, fmt::format("'{}' is made in loops whose bounds vary", name));
      dims.push_back(loop.extent);
      prefix.push_back(canonical(use(loop.var) - loop.begin));
    }
    for (const Scalar& size : shape) dims.push_back(known(size));
    if (dims.empty()) {
      dims.emplace_back(1);
      prefix.emplace_back(0);
    }
    Buffer made(name, dtype, std::move(dims), "global", span);
    made_inside_.insert(made.id());
    made_.locals.push_back(made);
    return {made, std::move(prefix)};
  }

  void allocate(const Buffer& buffer) {
    if (buffer.is_pointer() || !buffer.strides().empty() || buffer.elem_offset().defined()) {
      return obstacle(buffer.span(), fmt::format("'{}' has a layout of its own", buffer.name()));
    }
    expanded_.insert_or_assign(buffer.id(),
                               expand(buffer.name(), buffer.dtype(), buffer.shape(), buffer.span()));
  }

  void visit(const Stmt& stmt) {
    if (!stmt.defined()) return;
    if (const auto* node = stmt.as<SeqStmt>()) {
      for (const Stmt& each : node->body) visit(each);
    } else if (const auto* node = stmt.as<For>()) {
      loop(*node, stmt->span);
    } else if (const auto* node = stmt.as<BlockStmt>()) {
      block(*node, stmt->span);
    } else if (const auto* node = stmt.as<Store>()) {
      store(*node, stmt->span);
    } else if (const auto* node = stmt.as<AllocateStmt>()) {
      allocate(node->buffer);
    } else if (const auto* node = stmt.as<DefineScalar>()) {
      define(*node, stmt->span);
    } else if (const auto* node = stmt.as<AssignScalar>()) {
      const auto found = variables_.find(node->var.id());
      if (found != variables_.end())
        assign(found->second.buffer, found->second.prefix, known(node->value), stmt->span);
    } else if (const auto* node = stmt.as<IfStmt>()) {
      branch(*node);
    } else if (stmt.as<AssertStmt>()) {
      // It held when the function ran.
    } else if (const auto* node = stmt.as<Evaluate>()) {
      if (!node->value.as<IntLiteral>())
        obstacle(stmt->span, "a call inside of a prim_func has no derivative");
    } else if (stmt.as<While>()) {
      obstacle(stmt->span, "a while loop of a prim_func has no gradient rule");
    } else if (stmt.as<ViewStmt>()) {
      obstacle(stmt->span, "a view of another buffer has no gradient rule");
    } else {
      obstacle(stmt->span, "a prim_func that is left by break, continue or return has no gradient rule");
    }
  }

  void loop(const For& node, Span span) {
    const Scalar begin = bound_of_loop(node.begin, 0, span);
    const Scalar extent = bound_of_loop(node.extent, 0, span);
    DomainAxis axis{node.var, begin, extent};
    if (node.step.defined()) {
      const Scalar step = bound_of_loop(node.step, 1, span);
      const ScalarVar round(node.var.name(), node.var.dtype(), node.var.span());
      axis = {round, int_literal(node.var.dtype(), 0),
              canonical(floor_div(extent + step - int_literal(step.dtype(), 1), step))};
      scalars_.insert_or_assign(node.var.id(), begin + use(round) * step);
    }
    loops_.push_back(std::move(axis));
    nodes_.push_back(&node);
    visit(node.body);
    loops_.pop_back();
    nodes_.pop_back();
  }

  void block(const BlockStmt& node, Span span) {
    if (!node.views.empty()) return obstacle(span, "a view of another buffer has no gradient rule");
    for (const IterVar& iter : node.iters)
      scalars_.insert_or_assign(iter.var.id(), bound(iter.binding, span));
    const std::size_t guards = guards_.size();
    if (node.predicate.defined()) guard(node.predicate);
    const BlockStmt* around = block_;
    block_ = &node;
    for (const Buffer& buffer : node.allocations) allocate(buffer);
    if (node.init.defined()) init(node, span);
    visit(node.body);
    block_ = around;
    guards_.resize(guards);
  }

  // The init runs where all reduce axes are at their begin: outside of the loops that drive them.
  void init(const BlockStmt& node, Span span) {
    const ScalarMap before = scalars_;
    std::unordered_set<std::uint64_t> spatial, reduce;
    for (const IterVar& iter : node.iters) {
      std::vector<ScalarVar> vars;
      collect_vars(scalars_.at(iter.var.id()), vars);
      for (const ScalarVar& var : vars) (iter.kind == IterKind::Reduce ? reduce : spatial).insert(var.id());
    }
    const auto all_loops = loops_;
    const auto all_nodes = nodes_;
    loops_.clear();
    nodes_.clear();
    ScalarMap first;
    for (std::size_t i = 0; i < all_loops.size(); ++i) {
      const DomainAxis& axis = all_loops[i];
      if (reduce.contains(axis.var.id()) && !spatial.contains(axis.var.id())) {
        first.emplace(axis.var.id(), substitute(axis.begin, first));
      } else {
        loops_.push_back(axis);
        nodes_.push_back(all_nodes[i]);
      }
    }
    for (const IterVar& iter : node.iters) {
      Scalar& value = scalars_.at(iter.var.id());
      value = substitute(value, first);
      if (iter.kind != IterKind::Reduce || prove_equal(value, known(iter.begin))) continue;
      obstacle(span, "where this init runs is not known before the run");
    }
    const std::vector<Guard> guards = guards_;
    for (Guard& guard : guards_) guard.condition = substitute(guard.condition, first);
    in_init_ = true;
    visit(node.init);
    in_init_ = false;
    guards_ = guards;
    scalars_ = before;
    loops_ = all_loops;
    nodes_ = all_nodes;
  }

  void guard(const Scalar& condition) {
    guards_.push_back({known(condition), made_.list.size(), loops_.size()});
  }

  void branch(const IfStmt& node) {
    const auto side = [&](const Stmt& body, bool taken) {
      if (!body.defined()) return;
      guard(taken ? node.condition : logical_not(node.condition));
      sides_.push_back({&node, taken});
      visit(body);
      sides_.pop_back();
      guards_.pop_back();
    };
    // Both are asked where the if stands.
    const std::size_t order = made_.list.size();
    side(node.then_body, true);
    const std::size_t behind = made_.list.size();
    side(node.else_body, false);
    for (std::size_t i = behind; i < made_.list.size(); ++i)
      made_.list[i].guards[guards_.size()].order = order;
  }

  void store(const Store& node, Span span) {
    const auto found = expanded_.find(node.buffer.id());
    std::vector<Scalar> indices;
    if (found != expanded_.end()) indices = found->second.prefix;
    for (const Scalar& index : node.indices) indices.push_back(known(index));
    assign(found != expanded_.end() ? found->second.buffer : node.buffer, std::move(indices),
           known(node.value), span);
  }

  void assign(const Buffer& buffer, std::vector<Scalar> indices, const Scalar& value, Span span) {
    Assignment made;
    made.loops = loops_;
    made.nodes = nodes_;
    made.guards = guards_;
    made.sides = sides_;
    made.block = block_;
    made.init = in_init_;
    made.buffer = buffer;
    made.indices = std::move(indices);
    made.span = span;
    made.order = made_.list.size();
    made.stored = value;
    const auto update = UpdateReader(made.buffer, made.indices).read(value);
    if (update) {
      made.update = update->update;
      made.value = update->value;
    } else {
      obstacle(span, fmt::format("'{}' is computed from what it held before, other than by a sum, a maximum "
                                 "or a minimum",
                                 buffer.name()));
      made.value = value;
    }
    made_.list.push_back(std::move(made));
  }

  // A scalar that is never assigned again and hangs on inputs alone stands for its value, if that is short: a
  // chain of them would grow without end. Others are buffers.
  void define(const DefineScalar& node, Span span) {
    const Scalar value = node.value.defined() ? known(node.value) : zero(node.var.dtype());
    std::size_t size = 0;
    for_each_scalar(value, [&](const Scalar&) { ++size; });
    const std::size_t longest = is_float(value.dtype()) ? 32 : 256;
    if (!assigned_.contains(node.var.id()) && !loads_written(value) && size <= longest) {
      scalars_.insert_or_assign(node.var.id(), value);
      return;
    }
    Expanded made = expand(node.var.name(), node.var.dtype(), {}, span);
    scalars_.insert_or_assign(node.var.id(), load(made.buffer, made.prefix, span));
    assign(made.buffer, made.prefix, value, span);
    variables_.insert_or_assign(node.var.id(), std::move(made));
  }

  const PrimFunc& function_;
  Assignments made_;
  std::vector<DomainAxis> loops_;
  std::vector<const For*> nodes_;
  std::vector<Guard> guards_;
  std::vector<IfSide> sides_;
  const BlockStmt* block_ = nullptr;
  bool in_init_ = false;
  ScalarMap scalars_;
  std::unordered_map<std::uint64_t, Expanded> expanded_;   // buffers, by the id in the text
  std::unordered_map<std::uint64_t, Expanded> variables_;  // scalars that are assigned
  std::unordered_set<std::uint64_t> assigned_, written_, made_inside_;
};

}  // namespace

Assignments assignments_of(const PrimFunc& function) { return AssignmentReader(function).run(); }

}  // namespace relish
