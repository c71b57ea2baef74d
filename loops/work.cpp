// Counting work.
#include "loops/work.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "loops/iterations.h"

namespace relish {
namespace {

constexpr std::int64_t cost_of_intrinsic = 3;  // generated code, which is widened with its loop
constexpr std::int64_t nodes_of_simple_statement = 16;
constexpr std::int64_t most_unrolled = 16;
constexpr std::int64_t iterations_of_a_vector = 16, iterations_in_memory = 4;

// How many simple statements take the time of one with this expression.
std::int64_t cost_of(const Scalar& value) {
  if (!value.defined()) return 0;
  std::int64_t nodes = 0;
  for_each_scalar(value, [&](const Scalar&) { ++nodes; });
  return nodes / nodes_of_simple_statement + cost_of_intrinsic * count_intrinsics(value);
}

// The iterations of a loop, of which so many take the time of one where vectors run them.
std::optional<std::int64_t> iterations_by_vectors(const For& loop, std::int64_t at_once) {
  const auto extent = loop.extent.as_int();
  if (!extent || loop.kind != LoopKind::Vectorized) return extent;
  return *extent / at_once + (*extent % at_once > 0 ? 1 : 0);
}

}  // namespace

bool unrolls(const For& loop) {
  return loop.kind == LoopKind::Unrolled && loop.extent.as_int().value_or(INT64_MAX) <= most_unrolled &&
         !loop.step.defined() && !has_own_jump(loop.body, false);
}

bool has_loop(const Stmt& stmt) {
  if (!stmt.defined()) return false;
  if (const auto* loop = stmt.as<For>()) return !unrolls(*loop) || has_loop(loop->body);
  if (stmt.as<While>()) return true;
  if (const auto* n = stmt.as<BlockStmt>()) return has_loop(n->init) || has_loop(n->body);
  if (const auto* n = stmt.as<IfStmt>()) return has_loop(n->then_body) || has_loop(n->else_body);
  if (const auto* n = stmt.as<SeqStmt>()) return std::any_of(n->body.begin(), n->body.end(), has_loop);
  return false;
}

bool has_own_jump(const Stmt& stmt, bool breaks_only) {
  if (!stmt.defined()) return false;
  const auto inside = [&](const Stmt& child) { return has_own_jump(child, breaks_only); };
  if (stmt.as<Break>() || (!breaks_only && stmt.as<Continue>())) return true;
  if (const auto* n = stmt.as<BlockStmt>()) return inside(n->init) || inside(n->body);
  if (const auto* n = stmt.as<IfStmt>()) return inside(n->then_body) || inside(n->else_body);
  if (const auto* n = stmt.as<SeqStmt>()) return std::any_of(n->body.begin(), n->body.end(), inside);
  return false;
}

bool has_return(const Stmt& stmt) {
  bool found = false;
  for_each_stmt(stmt, [&](const Stmt& inner) { found = found || inner.as<Return>(); });
  return found;
}

bool declares_views(const PrimFunc& function) {
  bool found = false;
  if (!function.body.defined()) return false;
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    found = found || stmt.as<ViewStmt>() || (block && !block->views.empty());
  });
  return found;
}

std::optional<std::int64_t> counted_iterations(const For& loop) {
  const auto* store = loop.body.as<Store>();
  const bool in_registers = store && store->buffer.scope() == "local";
  return iterations_by_vectors(loop, in_registers ? iterations_of_a_vector : 1);
}

std::optional<std::int64_t> time_of_vectors(const For& loop) {
  const auto* masked = loop.body.as<IfStmt>();
  const auto* store = (masked && !masked->else_body.defined() ? masked->then_body : loop.body).as<Store>();
  if (!store || loop.kind != LoopKind::Vectorized) return std::nullopt;
  const bool in_registers = store->buffer.scope() == "local";
  const auto vectors =
      iterations_by_vectors(loop, in_registers ? iterations_of_a_vector : iterations_in_memory);
  if (!vectors) return std::nullopt;
  return *vectors * (1 + cost_of_intrinsic * count_intrinsics(store->value));
}

std::int64_t cost_of(const Stmt& stmt) {
  if (const auto* n = stmt.as<Store>()) {
    std::int64_t cost = 1 + cost_of(n->value);
    for (const Scalar& index : n->indices) cost += cost_of(index);
    return cost;
  }
  if (const auto* n = stmt.as<DefineScalar>()) return 1 + cost_of(n->value);
  if (const auto* n = stmt.as<AssignScalar>()) return 1 + cost_of(n->value);
  if (const auto* n = stmt.as<AssertStmt>()) return 1 + cost_of(n->condition);
  if (const auto* n = stmt.as<Evaluate>()) return 1 + cost_of(n->value);
  if (const auto* n = stmt.as<IfStmt>()) return cost_of(n->condition);
  return 1;
}

std::optional<std::int64_t> constant_work(const Stmt& stmt) {
  if (!stmt.defined()) return 0;
  if (stmt.as<While>()) return std::nullopt;
  if (const auto* n = stmt.as<For>()) {
    const auto extent = counted_iterations(*n);
    const auto inner = constant_work(n->body);
    std::int64_t product = 0;
    if (!extent || !inner || __builtin_mul_overflow(*extent, *inner, &product)) return std::nullopt;
    return product;
  }
  const auto sum = [](std::optional<std::int64_t> a,
                      std::optional<std::int64_t> b) -> std::optional<std::int64_t> {
    std::int64_t total = 0;
    if (!a || !b || __builtin_add_overflow(*a, *b, &total)) return std::nullopt;
    return total;
  };
  if (const auto* n = stmt.as<BlockStmt>()) return sum(constant_work(n->init), constant_work(n->body));
  if (const auto* n = stmt.as<IfStmt>())
    return sum(cost_of(stmt), sum(constant_work(n->then_body), constant_work(n->else_body)));
  if (const auto* n = stmt.as<SeqStmt>()) {
    std::optional<std::int64_t> total = 0;
    for (const Stmt& child : n->body) total = sum(total, constant_work(child));
    return total;
  }
  return cost_of(stmt);
}

}  // namespace relish
