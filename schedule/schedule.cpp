// The walk over a prim_func: every nest is arranged where it stands, with what is known of the loops around
// it; then the outermost loops that may run on several threads are marked.
#include "schedule/schedule.h"

#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "loops/explicit_wraps.h"
#include "loops/iterations.h"
#include "loops/primitives.h"
#include "loops/range_prover.h"
#include "loops/work.h"
#include "schedule/contraction/contraction.h"
#include "schedule/contraction/joined_inits.h"
#include "schedule/followers/followers.h"
#include "schedule/nests/carried.h"
#include "schedule/nests/choices.h"
#include "schedule/nests/in_rows.h"
#include "schedule/nests/movement.h"
#include "schedule/nests/packed_terms.h"
#include "schedule/nests/parted_updates.h"
#include "schedule/nests/repeats.h"
#include "schedule/nests/tables.h"
#include "schedule/remainders/remainders.h"
#include "schedule/remainders/spread_sums.h"
#include "schedule/unread_buffers.h"
#include "support/interrupt.h"
#include "support/side_by_side.h"

namespace relish {
namespace {

class Scheduler {
 public:
  Scheduler(const PrimFunc& function, const Target& target, Accumulators accumulators)
      : target_(target), accumulators_(std::move(accumulators)), has_views_(declares_views(function)) {
    assume_sizes(function, prover_);
  }

  // The same handle when nothing changed.
  Stmt statement(const Stmt& stmt) {
    if (!stmt.defined()) return stmt;
    if (stmt.as<For>()) {
      // Buffers that may share elements: nothing is reordered.
      if (has_views_) return loop(stmt);
      if (const auto carried = with_carried_element(stmt, prover_)) return *carried;
      if (const auto parts = part_updates(stmt, prover_)) return statement(*parts);
      if (const auto chosen = choose_in_lanes(stmt, prover_, target_)) return inside(*chosen);
      if (const auto rows = part_repeats(stmt, prover_)) return statement(*rows);
      if (const auto parts = split_by_remainders(stmt, prover_)) return statement(*parts);
      if (const auto contracted = contract(stmt, prover_, target_, {true, false, {}, true})) {
        const Stmt blocks = inside(contracted->blocks);
        if (!contracted->few.defined()) return blocks;
        return make_stmt(
            IfStmt{contracted->few,
                   inside(in_rows(fresh_copy(stmt, {}, {}), prover_, target_, accumulators_)), blocks},
            stmt->span);
      }
      if (const auto tiles = move_in_tiles(stmt, prover_, target_)) return reordered(*tiles);
      if (const auto unpacked = unpack_terms(stmt, prover_)) return statement(*unpacked);
      if (const auto tables = with_tables(stmt, prover_)) return statement(*tables);
      return inside(in_rows(stmt, prover_, target_, accumulators_));
    }
    if (const auto* n = stmt.as<While>()) {
      While copy = *n;
      return changed(n->body, copy.body) ? remade(stmt, std::move(copy)) : stmt;
    }
    if (const auto* n = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : n->iters) prover_.bind(iter.var, iter.binding);
      BlockStmt copy = *n;
      const bool init = changed(n->init, copy.init);
      return changed(n->body, copy.body) || init ? remade(stmt, std::move(copy)) : stmt;
    }
    if (const auto* n = stmt.as<IfStmt>()) {
      IfStmt copy = *n;
      const bool first = changed(n->then_body, copy.then_body);
      return changed(n->else_body, copy.else_body) || first ? remade(stmt, std::move(copy)) : stmt;
    }
    if (const auto* n = stmt.as<SeqStmt>()) {
      std::vector<Stmt> body;
      bool any = false;
      for (const Stmt& child : n->body) {
        body.push_back(statement(child));
        any = any || !body.back().same_as(child);
      }
      return any ? seq(std::move(body), stmt->span) : stmt;
    }
    return stmt;
  }

 private:
  // A nest behind a change of its loops: what stayed the same in the inner ones may change with those that
  // are now innermost.
  Stmt reordered(const Stmt& settled) {
    if (const auto tables = settled.as<For>() ? with_tables(settled, prover_) : std::nullopt)
      return statement(*tables);
    return inside(settled);
  }

  // What lies inside of a nest whose own order is settled.
  Stmt inside(const Stmt& settled) { return settled.as<For>() ? loop(settled) : statement(settled); }

  bool changed(const Stmt& before, Stmt& into) {
    into = statement(before);
    return !into.same_as(before);
  }
  static Stmt remade(const Stmt& stmt, StmtKind kind) {
    return make_stmt(std::move(kind), stmt->span, stmt->comments);
  }

  Stmt loop(const Stmt& stmt) {
    For copy = *stmt.as<For>();
    const LoopKind kind = copy.kind;
    const bool parallel = runs_parallel(stmt);
    if (parallel)
      copy.kind = LoopKind::Parallel;
    else if (kind == LoopKind::Parallel)
      copy.kind = LoopKind::Serial;
    const Stmt body = copy.body;
    const bool outside = std::exchange(in_parallel_, in_parallel_ || parallel);
    prover_.enter_loop(copy.var, copy.begin, copy.extent);
    const bool inner = changed(body, copy.body);
    prover_.leave_loop();
    in_parallel_ = outside;
    return inner || copy.kind != kind ? remade(stmt, std::move(copy)) : stmt;
  }

  // Whether a loop inside is marked to run on several threads, and does enough for that: whoever marked it
  // knows that the loops around it have too few iterations.
  static bool has_parallel_inside(const Stmt& body) {
    bool found = false;
    for_each_stmt(body, [&](const Stmt& stmt) {
      const auto* loop = stmt.as<For>();
      if (found || !loop || loop->kind != LoopKind::Parallel) return;
      found = constant_work(stmt).value_or(least_parallel_work) >= least_parallel_work;
    });
    return found;
  }

  bool runs_parallel(const Stmt& stmt) {
    const For& loop = *stmt.as<For>();
    if (in_parallel_ || has_views_ || unrolls(loop)) return false;
    if (has_own_jump(loop.body, true) || has_return(loop.body)) return false;
    if (loop.extent.as_int().value_or(2) <= 1 || has_parallel_inside(loop.body)) return false;
    if (const auto work = constant_work(stmt); work && *work < least_parallel_work) return false;
    return independent_iterations(loop, prover_);
  }

  const Target& target_;
  RangeProver prover_;
  Accumulators accumulators_;
  const bool has_views_;
  bool in_parallel_ = false;
};

}  // namespace

PrimFuncPtr schedule(const PrimFuncPtr& given, const Target& target) {
  if (!given->body.defined()) return given;
  const PrimFuncPtr written = with_explicit_wraps(given);
  Accumulators accumulators;
  const PrimFuncPtr function =
      with_followers(with_joined_inits(with_spread_sums(written), target), target, accumulators);
  const Stmt body = Scheduler(*function, target, std::move(accumulators)).statement(function->body);
  if (body.same_as(function->body)) return without_unread_buffers(function);
  auto scheduled = std::make_shared<PrimFunc>(*function);
  scheduled->body = body;
  return without_unread_buffers(scheduled);
}

Module schedule(const Module& module, const Target& target) {
  Module result = module;
  std::vector<std::size_t> places;
  std::vector<PrimFuncPtr> functions;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<PrimFuncPtr>(&result.functions[i]);
    if (!function) continue;
    places.push_back(i);
    functions.push_back(*function);
  }
  side_by_side(functions.size(), [&](std::size_t i) {
    poll_interrupt(functions[i]->span);
    const PrimFuncPtr scheduled = schedule(functions[i], target);
    if (scheduled == functions[i]) return;
    verify_after(*scheduled, "schedule");
    functions[i] = scheduled;
  });
  for (std::size_t i = 0; i < places.size(); ++i) result.functions.replace(places[i], functions[i]);
  return result;
}

}  // namespace relish
