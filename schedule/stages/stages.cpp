// Taking prim_funcs apart into stages.
#include "schedule/stages/stages.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/nest.h"
#include "loops/reduction.h"
#include "loops/work.h"
#include "schedule/plain_indices.h"

namespace relish {
namespace {

bool row_major(const Buffer& buffer) {
  return buffer.strides().empty() && !buffer.elem_offset().defined() && !buffer.is_pointer();
}

bool has_loads(const Scalar& value) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return !loads.empty();
}

// Loops and axes that promise nothing but their numbers.
bool plain_axis(const Axis& axis, const Nest& nest) {
  const For& loop = *axis.loop;
  if (loop.kind != LoopKind::Serial || !loop.annotations.empty() || has_loads(loop.extent)) return false;
  if (axis.iter && axis.iter->kind != IterKind::Spatial && axis.iter->kind != IterKind::Reduce) return false;
  return std::none_of(nest.axes.begin(), nest.axes.end(),
                      [&](const Axis& other) { return uses_var(loop.extent, other.loop->var); });
}

class StageReader {
 public:
  explicit StageReader(const PrimFunc& function) { assume_sizes(function, prover_); }

  bool read(const Stmt& stmt) {
    if (const auto* sequence = stmt.as<SeqStmt>())
      return sequence->body.size() <= most_stages &&
             std::all_of(sequence->body.begin(), sequence->body.end(),
                         [&](const Stmt& child) { return read(child); });
    if (stages_.size() == most_stages) return false;
    if (stmt.as<For>()) return read_nest(stmt);
    return read_single(stmt);
  }

  std::vector<Stage> take() { return std::move(stages_); }

 private:
  bool read_nest(const Stmt& stmt) {
    auto nest = perfect_loops(stmt);
    if (!nest) return false;
    if (nest->store_stmt.as<AssertStmt>()) return read_checks(*nest);
    if (!nest->store) return false;
    const bool distinct = find_stored_axes(*nest);
    if (!distinct && !spatial(*nest)) return false;
    for (const Axis& axis : nest->axes)
      if (!plain_axis(axis, *nest)) return false;
    const bool starts = nest->block && nest->block->init.defined();
    if (nest->block && !nest->block->attributes.empty()) return false;
    const Store* init = starts && distinct ? matching_init(*nest) : nullptr;
    if (starts && !init) return false;
    relish::enter(*nest, prover_);
    const bool fits = !may_fault(*nest, init, prover_);
    if (fits) add(*nest, init, distinct);
    relish::leave(*nest, prover_);
    return fits;
  }

  // Loops around an assert. Its condition itself may not fail: what that reads is checked elsewhere.
  bool read_checks(const Nest& nest) {
    for (const Axis& axis : nest.axes)
      if (!plain_axis(axis, nest)) return false;
    if (nest.block && (nest.block->init.defined() || !nest.block->attributes.empty())) return false;
    const auto& check = *nest.store_stmt.as<AssertStmt>();
    relish::enter(nest, prover_);
    const bool fits = !may_fault(check.condition, prover_);
    if (fits) {
      Stage stage = check_stage(nest.block, nest.store_stmt);
      // The axes of a check are of one kind: it has no elements to tell them apart by.
      ScalarMap once;
      for (const Axis& axis : nest.axes) add_axis(stage, axis, false, once);
      if (!once.empty()) replace_in(stage, once, {});
      StageValue& value = stage.values.front();
      value.value = with_plain_indices(value.value, prover_);
      stages_.push_back(std::move(stage));
    }
    relish::leave(nest, prover_);
    return fits;
  }

  static Stage check_stage(const BlockStmt* block, const Stmt& stmt) {
    const auto& check = *stmt.as<AssertStmt>();
    Stage stage;
    stage.name = block ? block->name : "check";
    stage.span = stmt->span;
    stage.values.push_back({{}, {}, {}, check.condition, stmt->span, stmt->comments, check.message});
    return stage;
  }

  // `once`: what stands for axes of one iteration.
  static void add_axis(Stage& stage, const Axis& axis, bool reduces, ScalarMap& once) {
    if (axis.loop->extent.as_int() == 1)
      once.emplace(axis.var.id(), int_literal(axis.var.dtype(), 0));
    else
      stage.axes.push_back({axis.var, axis.loop->extent, reduces});
  }

  // Whether its block says that the iterations store to elements of their own.
  static bool spatial(const Nest& nest) {
    return nest.block && std::all_of(nest.axes.begin(), nest.axes.end(),
                                     [](const Axis& axis) { return axis.iter->kind == IterKind::Spatial; });
  }

  void add(const Nest& nest, const Store* init, bool distinct) {
    Stage stage;
    stage.name = nest.block ? nest.block->name : nest.store->buffer.name();
    stage.span = nest.store_stmt->span;
    stage.distinct = distinct;
    ScalarMap once;
    for (const Axis& axis : nest.axes) add_axis(stage, axis, distinct && !axis.stored, once);
    stage.values.push_back({{},
                            nest.store->buffer,
                            nest.store->indices,
                            cast(nest.store->buffer.dtype(), nest.store->value),
                            nest.store_stmt->span,
                            nest.store_stmt->comments});
    if (init) stage.init = init->value;
    if (!once.empty()) replace_in(stage, once, {});
    // An init before the only update is a first statement of its own.
    if (stage.init.defined() && !stage.reduces()) {
      Stage first = stage;
      first.values.front().value = std::exchange(first.init, Scalar());
      stage.init = Scalar();
      stages_.push_back(fresh_stage(first, {}, {}));
    }
    for (StageValue& value : stage.values) value.value = with_plain_indices(value.value, prover_);
    stages_.push_back(std::move(stage));
  }

  // A store or an assert without loops, perhaps in a block.
  bool read_single(const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    const bool plain =
        !block || (block->iters.empty() && !block->predicate.defined() && block->allocations.empty() &&
                   !block->init.defined() && block->attributes.empty() && block->views.empty());
    const Stmt inner = block ? block->body : stmt;
    if (const auto* check = inner.as<AssertStmt>()) {
      if (!plain || may_fault(check->condition, prover_)) return false;
      stages_.push_back(check_stage(block, inner));
      return true;
    }
    const auto* store = inner.as<Store>();
    if (!plain || !store || may_fault(store->value, prover_)) return false;
    for (std::size_t d = 0; d < store->indices.size(); ++d)
      if (store->indices[d].as_int() != 0 || store->buffer.shape()[d].as_int() != 1) return false;
    Stage stage;
    stage.name = block ? block->name : store->buffer.name();
    stage.span = inner->span;
    const Scalar value = cast(store->buffer.dtype(), store->value);
    stage.values.push_back({{}, store->buffer, store->indices, value, inner->span, inner->comments});
    stages_.push_back(std::move(stage));
    return true;
  }

  RangeProver prover_;
  std::vector<Stage> stages_;
};

}  // namespace

bool Stage::reduces() const {
  return std::any_of(axes.begin(), axes.end(), [](const StageAxis& axis) { return axis.reduces; });
}

bool Stage::checks() const {
  return std::any_of(values.begin(), values.end(),
                     [](const StageValue& value) { return value.message.has_value(); });
}

bool have_checks(const std::vector<Stage>& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const Stage& stage) { return stage.checks(); });
}

std::optional<std::vector<Stage>> stages_of(const PrimFunc& function) {
  if (!function.body.defined() || function.result_dtype || declares_views(function)) return std::nullopt;
  for (const PrimParam& param : function.params)
    if (param.buffer() && !row_major(*param.buffer())) return std::nullopt;
  for (const Buffer& buffer : function.allocations)
    if (!row_major(buffer)) return std::nullopt;
  StageReader reader(function);
  if (!reader.read(function.body)) return std::nullopt;
  return reader.take();
}

void replace_in(Stage& stage, const ScalarMap& scalars, const BufferMap& buffers) {
  for (StageAxis& axis : stage.axes) axis.extent = substitute(axis.extent, scalars, buffers);
  if (stage.init.defined()) stage.init = substitute(stage.init, scalars, buffers);
  for (StageValue& value : stage.values) {
    value.value = substitute(value.value, scalars, buffers);
    for (Scalar& index : value.indices) index = substitute(index, scalars, buffers);
    if (!value.target.defined()) continue;
    const auto found = buffers.find(value.target.id());
    if (found != buffers.end()) value.target = found->second;
  }
}

Stage fresh_stage(const Stage& stage, const ScalarMap& scalars, const BufferMap& buffers) {
  Stage copy = stage;
  ScalarMap all = scalars;
  for (StageAxis& axis : copy.axes) {
    const ScalarVar fresh(axis.var.name(), axis.var.dtype(), axis.var.span());
    all.insert_or_assign(axis.var.id(), use(fresh));
    axis.var = fresh;
  }
  for (StageValue& value : copy.values) {
    if (!value.name.defined()) continue;
    const ScalarVar fresh(value.name.name(), value.name.dtype(), value.name.span());
    all.insert_or_assign(value.name.id(), use(fresh));
    value.name = fresh;
  }
  replace_in(copy, all, buffers);
  return copy;
}

void for_each_access(const Stage& stage, const VisitAccess& visit) {
  std::vector<Access> loads;
  if (stage.init.defined()) collect_loads(stage.init, loads);
  for (const StageValue& value : stage.values) {
    collect_loads(value.value, loads);
    for (const Scalar& index : value.indices) collect_loads(index, loads);
  }
  for (const Access& load : loads) visit(*load.buffer, *load.indices, false);
  for (const StageValue& value : stage.values)
    if (value.target.defined()) visit(value.target, value.indices, true);
}

bool loads_from(const Stage& stage, const Buffer& buffer) {
  bool found = false;
  for_each_access(stage, [&](const Buffer& each, const std::vector<Scalar>&, bool store) {
    found = found || (!store && each == buffer);
  });
  return found;
}

bool stores_to(const Stage& stage, const Buffer& buffer) {
  return std::any_of(stage.values.begin(), stage.values.end(), [&](const StageValue& value) {
    return value.target.defined() && value.target == buffer;
  });
}

bool reads_windows(const Stage& stage, const Buffer& buffer) {
  const auto moves = [&](const Scalar& index, bool reduces) {
    return std::any_of(stage.axes.begin(), stage.axes.end(), [&](const StageAxis& axis) {
      return axis.reduces == reduces && uses_var(index, axis.var);
    });
  };
  bool found = false;
  for_each_access(stage, [&](const Buffer& each, const std::vector<Scalar>& indices, bool store) {
    if (store || !(each == buffer)) return;
    found = found || std::any_of(indices.begin(), indices.end(), [&](const Scalar& index) {
              return moves(index, true) && moves(index, false);
            });
  });
  return found;
}

bool is_contraction(const Stage& stage) {
  if (!stage.reduces() || stage.values.size() != 1) return false;
  const StageValue& value = stage.values.front();
  const auto update = as_update(Store{value.target, value.indices, value.value});
  if (!update || update->op != BinaryOp::Add) return false;
  Scalar term = update->addend;
  if (const auto* guarded = term.as<Select>(); guarded && guarded->lazy) term = guarded->a;
  const auto* factors = term.as<Binary>();
  if (!factors || factors->op != BinaryOp::Mul) return false;
  bool left = false, right = false;
  for (const StageAxis& axis : stage.axes) {
    if (axis.reduces) continue;
    const bool in_left = uses_var(factors->a, axis.var), in_right = uses_var(factors->b, axis.var);
    left = left || (in_left && !in_right);
    right = right || (in_right && !in_left);
  }
  return left && right;
}

void enter(const Stage& stage, RangeProver& prover) {
  for (const StageAxis& axis : stage.axes)
    prover.enter_loop(axis.var, int_literal(axis.var.dtype(), 0), axis.extent);
}

void leave(const Stage& stage, RangeProver& prover) {
  for (std::size_t i = 0; i < stage.axes.size(); ++i) prover.leave_loop();
}

bool uses_var(const Scalar& value, const ScalarVar& var) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

}  // namespace relish
