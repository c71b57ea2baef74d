// Windows in registers: for
//
//   for .., x, k, l: C[.., x] = f(C[.., x], A[.., x * 2 + k, l])
//
// with few k and l
//
//   for .., x:
//     held = C[.., x]
//     for k, l in unrolled: held = f(held, A[.., x * 2 + k, l])
//     C[.., x] = held
#include "schedule/nests/windows.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/lanes.h"

namespace relish {
namespace {

// Copies of the body, and of the body of one loop (see unrolls() of loops/work.h).
constexpr std::int64_t most_updates = 32, most_iterations_of_a_loop = 16;
// How far apart what neighbours read may lie, in elements.
constexpr std::int64_t widest_step = 4;

struct Window {
  std::vector<Stmt> around, updates;  // loops, outermost first
  const BlockStmt* block = nullptr;
  Stmt block_stmt;
  std::vector<const Store*> stores;
  std::vector<Buffer> held;   // what they store to
  std::vector<Scalar> place;  // of all of them, by block variables
};

// The stores of a statement that is nothing else.
bool collect_stores(const Stmt& stmt, std::vector<const Store*>& into) {
  if (const auto* sequence = stmt.as<SeqStmt>())
    return std::all_of(sequence->body.begin(), sequence->body.end(),
                       [&](const Stmt& child) { return collect_stores(child, into); });
  const auto* store = stmt.as<Store>();
  if (store) into.push_back(store);
  return store != nullptr;
}

bool is_held(const Window& window, const Buffer& buffer) {
  return std::find(window.held.begin(), window.held.end(), buffer) != window.held.end();
}

// Whether all stores go to one place, and what they store to is read nowhere else.
bool at_one_place(Window& window) {
  std::vector<const Store*> all = window.stores;
  if (window.block->init.defined() && !collect_stores(window.block->init, all)) return false;
  if (all.empty()) return false;  // a block that does nothing, as of T.assume alone
  window.place = all.front()->indices;
  for (const Store* store : window.stores)
    if (!is_held(window, store->buffer)) window.held.push_back(store->buffer);
  std::vector<Access> loads;
  for (const Scalar& index : window.place) collect_loads(index, loads);
  if (!loads.empty()) return false;
  for (const Store* store : all) {
    if (!same_indices(store->indices, window.place) || !is_held(window, store->buffer)) return false;
    collect_loads(store->value, loads);
  }
  return std::all_of(loads.begin(), loads.end(), [&](const Access& load) {
    return !is_held(window, *load.buffer) || same_indices(*load.indices, window.place);
  });
}

bool uses(const std::vector<Scalar>& values, const ScalarVar& var) {
  std::vector<ScalarVar> vars;
  for (const Scalar& value : values) collect_vars(value, vars);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

const IterVar* iter_of(const BlockStmt& block, const For& loop) {
  for (const IterVar& iter : block.iters)
    if (iter.binding.as_var() == std::optional(loop.var)) return &iter;
  return nullptr;
}

// Loops in the order of the text around a block whose variables are theirs, the last of them over updates.
std::optional<Window> window_of(const Stmt& stmt) {
  Window window;
  Stmt at = stmt;
  while (const auto* loop = at.as<For>()) {
    if (loop->begin.as_int() != 0 || loop->step.defined() || !loop->annotations.empty() ||
        (loop->kind != LoopKind::Serial && loop->kind != LoopKind::Parallel))
      return std::nullopt;
    window.around.push_back(at);
    at = loop->body;
  }
  window.block = at.as<BlockStmt>();
  window.block_stmt = at;
  if (!window.block || window.block->predicate.defined() || !window.block->allocations.empty() ||
      !window.block->views.empty() || window.block->iters.size() != window.around.size() ||
      !collect_stores(window.block->body, window.stores) || !at_one_place(window))
    return std::nullopt;
  std::int64_t updates = 1;
  while (!window.around.empty()) {
    const For& loop = *window.around.back().as<For>();
    const IterVar* iter = iter_of(*window.block, loop);
    if (!iter || iter->begin.as_int() != 0) return std::nullopt;
    if (iter->kind != IterKind::Reduce) break;
    const std::int64_t extent = loop.extent.as_int().value_or(0);
    if (uses(window.place, iter->var) || extent < 1 || extent > most_iterations_of_a_loop ||
        (updates *= extent) > most_updates)
      return std::nullopt;
    window.updates.insert(window.updates.begin(), window.around.back());
    window.around.pop_back();
  }
  const bool others_stored = std::all_of(window.around.begin(), window.around.end(), [&](const Stmt& each) {
    const IterVar* iter = iter_of(*window.block, *each.as<For>());
    return iter && iter->kind == IterKind::Spatial && uses(window.place, iter->var);
  });
  if (updates < 2 || window.around.empty() || !others_stored) return std::nullopt;
  return window;
}

// The least and the largest number of elements by which an access moves with the variable.
struct Steps {
  std::int64_t least = 0, largest = 0;
  bool told = false;  // other elements tell where some are read
};

// Whether the access moves by few elements, or not at all, with the variable.
bool moves_little(const Access& access, const ScalarVar& var, RangeProver& prover, Steps& steps) {
  for (std::size_t d = 0; d < access.indices->size(); ++d) {
    const auto stride = prover.stride((*access.indices)[d], var);
    const auto step = stride ? stride->constant() : std::nullopt;
    const bool last = d + 1 == access.indices->size();
    if (!step || (last ? std::abs(*step) > widest_step : *step != 0)) return false;
    steps = {std::min(steps.least, *step), std::max(steps.largest, *step), steps.told};
  }
  return true;
}

// Whether vectors read wherever other elements tell, which is in the buffer in any case.
bool is_gathered(const Access& access, const ScalarVar& var, RangeProver& prover) {
  if (access.store || !access.buffer->strides().empty() || access.buffer->is_pointer()) return false;
  bool told = false;
  for (std::size_t d = 0; d < access.indices->size(); ++d) {
    const Scalar& index = (*access.indices)[d];
    if (!prover.in_range(index, access.buffer->shape()[d])) return false;
    if (!prover.depends_on(index, var)) continue;
    std::vector<Access> loads;
    collect_loads(index, loads);
    if (loads.empty() || !computed_in_lanes(index)) return false;
    told = true;
  }
  return told;
}

// How far apart neighbours read; none when that is far.
std::optional<Steps> steps_of(const Window& window, RangeProver& prover) {
  const auto enter = [&](const Stmt& each) {
    const For& loop = *each.as<For>();
    prover.enter_loop(loop.var, loop.begin, loop.extent);
    if (const IterVar* iter = iter_of(*window.block, loop)) prover.bind(iter->var, iter->binding);
  };
  for (const Stmt& each : window.around) enter(each);
  for (const Stmt& each : window.updates) enter(each);
  std::vector<Access> accesses;
  for (const Store* store : window.stores) {
    accesses.push_back({&store->buffer, &store->indices, true});
    collect_loads(store->value, accesses);
  }
  const ScalarVar& along = window.around.back().as<For>()->var;
  Steps steps;
  const bool little = std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    const bool near = moves_little(access, along, prover, steps);
    const bool told = !near && is_gathered(access, along, prover);
    steps.told = steps.told || told;
    return near || told;
  });
  for (std::size_t i = 0; i < window.around.size() + window.updates.size(); ++i) prover.leave_loop();
  return little ? std::optional(steps) : std::nullopt;
}

// The stores with local buffers for what they store to.
Stmt in_registers(const Stmt& stmt, const Window& window, const std::vector<Buffer>& registers,
                  const std::vector<Scalar>& at = {}) {
  const auto local = [&](const Buffer& buffer) -> const Buffer* {
    const auto at = std::find(window.held.begin(), window.held.end(), buffer);
    return at == window.held.end() ? nullptr : &registers[static_cast<std::size_t>(at - window.held.begin())];
  };
  return rewrite(
      stmt,
      [&](const Scalar& part) -> std::optional<Scalar> {
        const auto* loaded = part.as<Load>();
        const Buffer* held = loaded ? local(*loaded->buffer) : nullptr;
        return held ? std::optional(load(*held, at, part.span())) : std::nullopt;
      },
      [&](const Stmt& each) -> std::optional<Stmt> {
        const auto* store = each.as<Store>();
        const Buffer* held = store ? local(store->buffer) : nullptr;
        if (!held) return std::nullopt;
        return make_stmt(Store{*held, at, store->value}, each->span, each->comments);
      });
}

bool loads_from(const Window& window, const Buffer& buffer) {
  std::vector<Access> loads;
  for (const Store* store : window.stores) collect_loads(store->value, loads);
  return std::any_of(loads.begin(), loads.end(), [&](const Access& load) { return *load.buffer == buffer; });
}

// What are few instructions on vectors: sums, products, comparisons and choices between elements. What is the
// same for all elements is a number.
bool widens(const Scalar& value, const ScalarVar& element) {
  if (const auto* loaded = value.as<Load>()) return has_lanes(loaded->buffer->dtype());
  if (!is_bool(value.dtype()) && !has_lanes(value.dtype())) return false;
  std::vector<Access> loads;
  collect_loads(value, loads);
  if (loads.empty()) return !uses({value}, element);
  if (const auto* chosen = value.as<Select>())
    return widens(chosen->condition, element) && widens(chosen->a, element) && widens(chosen->b, element);
  if (const auto* converted = value.as<Cast>())
    return converted_in_lanes(converted->a.dtype(), value.dtype()) && widens(converted->a, element);
  if (const auto* compared = value.as<Compare>())
    return widens(compared->a, element) && widens(compared->b, element);
  if (const auto* joined = value.as<Logical>())
    return is_bool(joined->a.dtype()) && is_bool(joined->b.dtype()) && widens(joined->a, element) &&
           widens(joined->b, element);
  const auto* node = value.as<Binary>();
  const bool simple =
      node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub || node->op == BinaryOp::Mul);
  return simple && widens(node->a, element) && widens(node->b, element);
}

// Shorter vectors bring nothing.
constexpr std::int64_t fewest_lanes = 4;

// The vectors of a row: they begin so many elements apart, and the last one ends with the row.
struct RowVectors {
  std::int64_t count = 1, step = 0;  // step 0: there are none of that length
};

RowVectors vectors_of(std::int64_t extent, std::int64_t lanes) {
  if (extent < lanes) return {};
  if (extent == lanes) return {1, lanes};
  // Of most rows a few more vectors than needed; else shorter ones are tried.
  const std::int64_t least = (extent + lanes - 1) / lanes;
  for (std::int64_t count = least; count <= least + least / 2; ++count)
    if ((extent - lanes) % (count - 1) == 0) return {count, (extent - lanes) / (count - 1)};
  return {};
}

// How many elements go through registers at once; 0: one by one.
std::int64_t lanes_of(const Window& window, const Steps& steps, const Target& target) {
  const auto extent = window.around.back().as<For>()->extent.as_int();
  const ScalarVar element = iter_of(*window.block, *window.around.back().as<For>())->var;
  if (!window.block->init.defined() || !extent || steps.least < 0 || window.place.empty() ||
      window.place.back().as_var() != element)
    return 0;
  std::vector<const Store*> stores = window.stores;
  collect_stores(window.block->init, stores);
  std::int64_t narrowest = sizeof(std::int64_t);
  for (const Store* store : stores) {
    const DType dtype = store->buffer.dtype();
    if (!has_lanes(dtype) || !widens(store->value, element)) return 0;
    narrowest = std::min<std::int64_t>(narrowest, size_of(dtype));
  }
  std::int64_t lanes = target.vector_bytes / narrowest;
  while (lanes >= fewest_lanes && vectors_of(*extent, lanes).step == 0) lanes /= 2;
  return lanes < fewest_lanes ? 0 : lanes;
}

// The loop over the elements a vector at a time.
class VectorWindow {
 public:
  VectorWindow(const Window& window, std::int64_t lanes)
      : window_(window),
        span_(window.block_stmt->span),
        lanes_(lanes),
        along_(*window.around.back().as<For>()),
        round_(along_.var.name() + "_0", along_.var.dtype()),
        axis_(iter_of(*window.block, along_)->var.name() + "_0", along_.var.dtype()) {
    for (const Buffer& buffer : window.held)
      held_.emplace_back(buffer.name() + "_held", buffer.dtype(), std::vector<Scalar>{number(lanes)},
                         "local");
    const RowVectors vectors = vectors_of(*along_.extent.as_int(), lanes);
    rounds_ = vectors.count;
    if (rounds_ > 1) first_ = vectors.step == 1 ? use(axis_) : use(axis_) * number(vectors.step);
  }

  Stmt write() const {
    std::vector<Stmt> body, joined;
    add_lanes(window_.block->init, body);
    add_lanes(window_.block->body, joined);
    Stmt updates = seq(std::move(joined), span_);
    ScalarMap by_loops;
    for (std::size_t i = window_.updates.size(); i-- > 0;) {
      For loop = *window_.updates[i].as<For>();
      by_loops.emplace(iter_of(*window_.block, loop)->var.id(), use(loop.var));
      loop.kind = LoopKind::Unrolled;
      loop.body = updates;
      updates = make_stmt(std::move(loop), window_.updates[i]->span);
    }
    BlockStmt block = *window_.block;
    block.reads = block.writes = std::nullopt;
    block.init = {};
    const ScalarVar element = iter_of(*window_.block, along_)->var;
    std::erase_if(block.iters, [&](const IterVar& iter) {
      return iter.kind == IterKind::Reduce || (iter.var == element && rounds_ == 1);
    });
    for (IterVar& iter : block.iters) {
      if (iter.var != element) continue;
      iter.var = axis_;
      iter.extent = number(rounds_);
      iter.binding = use(round_);
    }
    block.allocations = held_;
    body.push_back(substitute(updates, by_loops));
    for (std::size_t i = 0; i < held_.size(); ++i) body.push_back(stored(i));
    block.body = seq(std::move(body), span_);
    Stmt result = make_stmt(std::move(block), span_, window_.block_stmt->comments);
    for (std::size_t i = window_.around.size(); i-- > 0;) {
      For loop = *window_.around[i].as<For>();
      loop.kind = LoopKind::Serial;
      loop.body = result;
      if (i + 1 == window_.around.size()) {
        if (rounds_ == 1) continue;
        loop.var = round_;
        loop.extent = number(rounds_);
      }
      result = make_stmt(std::move(loop), window_.around[i]->span);
    }
    return result;
  }

 private:
  Scalar number(std::int64_t value) const { return int_literal(along_.var.dtype(), value); }
  Scalar element(const Scalar& lane) const { return first_.defined() ? first_ + lane : lane; }
  Stmt in_lanes(const ScalarVar& lane, Stmt body) const {
    return make_stmt(For{lane, number(0), number(lanes_), LoopKind::Vectorized, std::move(body), {}}, span_);
  }
  ScalarMap at(const ScalarVar& lane) const {
    return {{iter_of(*window_.block, along_)->var.id(), element(use(lane))},
            {along_.var.id(), element(use(lane))}};
  }
  // The stores of the statement, each for all lanes.
  void add_lanes(const Stmt& stmt, std::vector<Stmt>& into) const {
    if (const auto* sequence = stmt.as<SeqStmt>()) {
      for (const Stmt& child : sequence->body) add_lanes(child, into);
      return;
    }
    const ScalarVar lane("lane", along_.var.dtype());
    into.push_back(in_lanes(lane, substitute(in_registers(stmt, window_, held_, {use(lane)}), at(lane))));
  }
  Stmt stored(std::size_t i) const {
    const ScalarVar lane("lane", along_.var.dtype());
    const Stmt store = make_stmt(Store{window_.held[i], window_.place, load(held_[i], {use(lane)})}, span_);
    return in_lanes(lane, substitute(store, at(lane)));
  }

  const Window& window_;
  const Span span_;
  const std::int64_t lanes_;
  const For& along_;
  std::vector<Buffer> held_;
  const ScalarVar round_, axis_;  // of the vectors of a row: the loop and the block have one each
  std::int64_t rounds_ = 1;
  Scalar first_;  // element of a round; undefined: 0
};

}  // namespace

std::optional<Stmt> unroll_windows(const Stmt& stmt, RangeProver& prover, const Target& target) {
  const auto window = window_of(stmt);
  const auto steps = window ? steps_of(*window, prover) : std::nullopt;
  if (!steps) return std::nullopt;
  if (const std::int64_t lanes = lanes_of(*window, *steps, target); lanes > 0)
    return VectorWindow(*window, lanes).write();
  if (steps->told) return std::nullopt;
  const Span span = window->block_stmt->span;
  std::vector<Buffer> registers;
  for (const Buffer& buffer : window->held)
    registers.emplace_back(buffer.name() + "_held", buffer.dtype(), std::vector<Scalar>{}, "local");

  std::vector<Stmt> body;
  if (window->block->init.defined()) {
    body.push_back(in_registers(window->block->init, *window, registers));
  } else {
    for (std::size_t i = 0; i < registers.size(); ++i)
      if (loads_from(*window, window->held[i]))
        body.push_back(make_stmt(Store{registers[i], {}, load(window->held[i], window->place)}, span));
  }
  ScalarMap by_loops;
  Stmt updates = in_registers(window->block->body, *window, registers);
  for (std::size_t i = window->updates.size(); i-- > 0;) {
    For loop = *window->updates[i].as<For>();
    by_loops.emplace(iter_of(*window->block, loop)->var.id(), use(loop.var));
    loop.kind = LoopKind::Unrolled;
    loop.body = updates;
    updates = make_stmt(std::move(loop), window->updates[i]->span);
  }
  body.push_back(substitute(updates, by_loops));
  for (std::size_t i = 0; i < registers.size(); ++i)
    body.push_back(make_stmt(Store{window->held[i], window->place, load(registers[i], {})}, span));

  BlockStmt block = *window->block;
  block.reads = block.writes = std::nullopt;
  block.init = {};
  std::erase_if(block.iters, [](const IterVar& iter) { return iter.kind == IterKind::Reduce; });
  block.allocations = std::move(registers);
  block.body = seq(std::move(body), span);
  Stmt result = make_stmt(std::move(block), span, window->block_stmt->comments);
  for (std::size_t i = window->around.size(); i-- > 0;) {
    For loop = *window->around[i].as<For>();
    loop.kind = LoopKind::Serial;
    loop.body = result;
    result = make_stmt(std::move(loop), window->around[i]->span);
  }
  return result;
}

}  // namespace relish
