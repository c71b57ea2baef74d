// The nest of a sum by one remainder, and what reads it by all of them.
#include "schedule/remainders/spread_sums.h"

#include <algorithm>
#include <functional>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/primitives.h"
#include "loops/work.h"
#include "schedule/remainders/parts.h"

namespace relish {
namespace {

// Of fewer terms a sum costs no more than to store it apart.
constexpr std::int64_t least_spread_terms = 16;

// Loops that compute each element of their domain by itself, and what they do there.
struct ElementNest {
  struct Loop {
    ScalarVar loop, var;
    Scalar extent;
  };
  std::string name;
  std::vector<Loop> loops;
  Stmt body;
  Span span;
};

// A dimension in which the sum reaches one remainder only.
struct SpreadDimension {
  std::size_t dimension;
  std::int64_t divisor, remainder, extent;

  std::int64_t count(std::int64_t of_remainder) const {
    return (extent - of_remainder + divisor - 1) / divisor;
  }
};

// A sum, and the same for the elements that it reaches.
struct SpreadSum {
  Buffer target, reached;
  std::vector<SpreadDimension> dimensions;
  Scalar first;  // what all others hold
  Stmt sum;
};

bool does_only_stores(const Stmt& body) {
  if (const auto* sequence = body.as<SeqStmt>())
    return std::all_of(sequence->body.begin(), sequence->body.end(), does_only_stores);
  return body.as<Store>() || body.as<DefineScalar>();
}

std::optional<ElementNest> element_nest(const Stmt& stmt) {
  ElementNest nest;
  nest.span = stmt->span;
  Stmt body = stmt;
  while (const auto* loop = body.as<For>()) {
    if (loop->kind != LoopKind::Serial || !loop->annotations.empty() || loop->begin.as_int() != 0 ||
        loop->step.defined())
      return std::nullopt;
    nest.loops.push_back({loop->var, {}, loop->extent});
    body = loop->body;
  }
  const auto* block = body.as<BlockStmt>();
  if (!block || block->iters.size() != nest.loops.size() || block->predicate.defined() ||
      !block->allocations.empty() || block->init.defined() || !block->attributes.empty() ||
      !block->views.empty() || !does_only_stores(block->body))
    return std::nullopt;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const IterVar& iter = block->iters[i];
    if (iter.kind != IterKind::Spatial || iter.binding.as_var() != nest.loops[i].loop ||
        !prove_equal(iter.extent, nest.loops[i].extent) || iter.begin.as_int() != 0)
      return std::nullopt;
    nest.loops[i].var = iter.var;
  }
  nest.name = block->name;
  nest.body = block->body;
  return nest;
}

std::optional<SpreadSum> spread_sum(const Stmt& stmt, RangeProver& prover) {
  auto nest = perfect_nest(stmt);
  if (!nest || !find_stored_axes(*nest)) return std::nullopt;
  const auto guarded = guarded_sum(*nest, CongruenceKind::OfStored);
  if (!guarded) return std::nullopt;
  std::int64_t terms = 1;
  for (const Axis& axis : nest->axes)
    if (!axis.stored)
      terms *= std::min(axis.loop->extent.as_int().value_or(least_spread_terms), least_spread_terms);
  if (terms < least_spread_terms) return std::nullopt;
  SpreadSum result;
  result.target = nest->store->buffer;
  result.first = guarded->init->value;
  std::vector<Scalar> shape;
  std::vector<std::int64_t> remainders(guarded->congruences.size());
  for (std::size_t d = 0; d < nest->store->indices.size(); ++d) {
    const Scalar& index = nest->store->indices[d];
    const auto axis = std::find_if(nest->axes.begin(), nest->axes.end(),
                                   [&](const Axis& each) { return index.as_var() == each.var; });
    const Scalar& dim = result.target.shape()[d];
    if (axis == nest->axes.end() ? dim.as_int() != 1 : !prove_equal(axis->loop->extent, dim))
      return std::nullopt;
    shape.push_back(dim);
    for (std::size_t i = 0; i < guarded->congruences.size(); ++i) {
      const Congruence& each = guarded->congruences[i];
      if (axis == nest->axes.end() || each.stored != &*axis) continue;
      remainders[i] = each.stored_remainder();
      result.dimensions.push_back({d, each.divisor, remainders[i], *dim.as_int()});
      shape.back() = Scalar(result.dimensions.back().count(remainders[i]));
    }
  }
  result.reached = Buffer(result.target.name() + "_reached", result.target.dtype(), std::move(shape),
                          "global", result.target.span());
  const RemainderPart part = remainder_part(*nest, *guarded, prover, remainders, result.reached);
  if (!part.body.defined() || !part.sums || !free_of_faults(part, *nest, prover)) return std::nullopt;
  result.sum = nest_of(part, *nest);
  return result;
}

// Which of its loops counts each dimension of the sum, where the nest reads that at its own place; none when
// it reads it otherwise, or stores to it.
std::optional<std::vector<std::size_t>> loops_of_dimensions(const ElementNest& nest, const SpreadSum& sum) {
  std::optional<std::vector<std::size_t>> result;
  for (const Access& access : accesses_in(nest.body)) {
    if (!(*access.buffer == sum.target)) continue;
    std::vector<std::size_t> loops;
    for (std::size_t d = 0; d < access.indices->size(); ++d) {
      const Scalar& index = (*access.indices)[d];
      const auto loop =
          std::find_if(nest.loops.begin(), nest.loops.end(),
                       [&](const ElementNest::Loop& each) { return index.as_var() == each.var; });
      const Scalar& dim = sum.target.shape()[d];
      if (loop == nest.loops.end() ? dim.as_int() != 1 : !prove_equal(loop->extent, dim)) return std::nullopt;
      loops.push_back(static_cast<std::size_t>(loop - nest.loops.begin()));
    }
    if (access.store || (result && *result != loops)) return std::nullopt;
    result = loops;
  }
  return result;
}

// The nest by remainders of the dimensions in which the sum is spread.
class RemainderWriter {
 public:
  // `loops`: by dimension of the sum; that of one place has none.
  RemainderWriter(const ElementNest& nest, const SpreadSum& sum, const std::vector<std::size_t>& loops)
      : nest_(nest), sum_(sum), loops_(loops), places_(nest.loops.size()) {}

  Stmt write() { return from_loop(0, true); }

 private:
  // Where an axis stands: it is divisor * loop + remainder.
  struct Place {
    ScalarVar loop;
    Scalar extent;
    std::int64_t divisor = 1, remainder = 0;
  };

  const SpreadDimension* spread_of(std::size_t loop) const {
    const auto found =
        std::find_if(sum_.dimensions.begin(), sum_.dimensions.end(),
                     [&](const SpreadDimension& each) { return loops_[each.dimension] == loop; });
    return found == sum_.dimensions.end() ? nullptr : &*found;
  }

  // The loops from `k` on. `reached`: of the remainders outside, the sum reaches all.
  Stmt from_loop(std::size_t k, bool reached) {
    if (k == nest_.loops.size()) return element(reached);
    const SpreadDimension* spread = reached ? spread_of(k) : nullptr;
    if (!spread)
      return in_loop(k, nest_.loops[k].extent, [&] {
        places_[k].divisor = 1;
        places_[k].remainder = 0;
        return from_loop(k + 1, reached);
      });
    // Remainders of as many iterations are one loop.
    std::vector<Stmt> parts;
    for (std::int64_t r = 0; r < spread->divisor;) {
      const std::int64_t count = spread->count(r), first = r;
      while (r < spread->divisor && spread->count(r) == count) ++r;
      if (count <= 0) continue;
      const Scalar extent = int_literal(nest_.loops[k].loop.dtype(), count);
      parts.push_back(in_loop(k, extent, [&, last = r] {
        std::vector<Stmt> bodies;
        for (std::int64_t each = first; each < last; ++each) {
          places_[k].divisor = spread->divisor;
          places_[k].remainder = each;
          bodies.push_back(from_loop(k + 1, each == spread->remainder));
        }
        return seq(std::move(bodies), nest_.span);
      }));
    }
    return seq(std::move(parts), nest_.span);
  }

  Stmt in_loop(std::size_t k, const Scalar& extent, const std::function<Stmt()>& body) {
    const ScalarVar& loop = nest_.loops[k].loop;
    places_[k].loop = ScalarVar(loop.name(), loop.dtype(), loop.span());
    places_[k].extent = extent;
    const ScalarVar var = places_[k].loop;
    const Stmt inside = body();
    return make_stmt(For{var, int_literal(var.dtype(), 0), extent, LoopKind::Serial, inside, {}}, nest_.span);
  }

  Stmt element(bool reached) const {
    BlockStmt block;
    block.name = nest_.name;
    ScalarMap axes;
    std::vector<ScalarVar> vars;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const ScalarVar& axis = nest_.loops[k].var;
      const Place& place = places_[k];
      vars.emplace_back(axis.name(), axis.dtype(), axis.span());
      block.iters.push_back(
          {vars.back(), IterKind::Spatial, int_literal(axis.dtype(), 0), place.extent, use(place.loop)});
      const Scalar scaled =
          place.divisor == 1 ? use(vars.back()) : use(vars.back()) * int_literal(axis.dtype(), place.divisor);
      axes.emplace(axis.id(),
                   place.remainder == 0 ? scaled : scaled + int_literal(axis.dtype(), place.remainder));
    }
    const auto in_place = [&](const Scalar& part) -> std::optional<Scalar> {
      const auto* loaded = part.as<Load>();
      if (!loaded || !(*loaded->buffer == sum_.target)) return std::nullopt;
      if (!reached) return sum_.first;
      std::vector<Scalar> at;
      for (const std::size_t loop : loops_) at.push_back(loop < vars.size() ? use(vars[loop]) : Scalar(0));
      return load(sum_.reached, std::move(at), part.span());
    };
    const Stmt body = rewrite(nest_.body, in_place, [](const Stmt&) { return std::optional<Stmt>(); });
    block.body = fresh_copy(body, axes);
    return make_stmt(std::move(block), nest_.span);
  }

  const ElementNest& nest_;
  const SpreadSum& sum_;
  const std::vector<std::size_t>& loops_;
  std::vector<Place> places_;  // by loop
};

// Stores each element of the sum's target; by `RemainderWriter` in terms of what is reached.
ElementNest copy_of(const SpreadSum& sum, Span span, std::vector<std::size_t>& loops) {
  ElementNest nest;
  nest.name = "spread";
  nest.span = span;
  std::vector<Scalar> at;
  for (const Scalar& dim : sum.target.shape()) {
    loops.push_back(dim.as_int() == 1 ? sum.target.shape().size() : nest.loops.size());
    at.push_back(Scalar(0));
    if (dim.as_int() == 1) continue;
    const std::string name = "i" + std::to_string(nest.loops.size());
    nest.loops.push_back(
        {{name, DType::Int64, span}, {"v_" + name, DType::Int64, span}, cast(DType::Int64, dim)});
    at.back() = use(nest.loops.back().var);
  }
  nest.body = make_stmt(Store{sum.target, at, load(sum.target, at)}, span);
  return nest;
}

class SumSpreader {
 public:
  explicit SumSpreader(const PrimFunc& function) : function_(function) {
    assume_sizes(function, prover_);
    const auto* sequence = function.body.as<SeqStmt>();
    body_ = sequence ? sequence->body : std::vector<Stmt>{function.body};
  }

  // Null when there is nothing to do.
  PrimFuncPtr run() {
    for (std::size_t i = 0; i < body_.size(); ++i)
      if (const auto sum = spread_sum(body_[i], prover_)) replace(i, *sum);
    if (made_.empty()) return nullptr;
    auto result = std::make_shared<PrimFunc>(function_);
    std::erase_if(result->allocations, [&](const Buffer& buffer) {
      return std::find(unused_.begin(), unused_.end(), buffer) != unused_.end();
    });
    result->allocations.insert(result->allocations.end(), made_.begin(), made_.end());
    result->body = seq(std::move(body_), function_.body->span);
    return result;
  }

 private:
  void replace(std::size_t position, const SpreadSum& sum) {
    made_.push_back(sum.reached);
    if (const auto reader = only_reader(position, sum.target)) {
      const auto nest = element_nest(body_[*reader]);
      const auto loops = nest ? loops_of_dimensions(*nest, sum) : std::nullopt;
      if (loops) {
        body_[position] = sum.sum;
        body_[*reader] = RemainderWriter(*nest, sum, *loops).write();
        unused_.push_back(sum.target);
        return;
      }
    }
    std::vector<std::size_t> loops;
    const ElementNest nest = copy_of(sum, body_[position]->span, loops);
    body_[position] = seq({sum.sum, RemainderWriter(nest, sum, loops).write()}, body_[position]->span);
  }

  // The statement that alone uses the buffer, which nobody outside sees, behind the one that sums to it.
  std::optional<std::size_t> only_reader(std::size_t position, const Buffer& buffer) const {
    const auto& own = function_.allocations;
    if (std::find(own.begin(), own.end(), buffer) == own.end()) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      const std::vector<Access> accesses = accesses_in(body_[i]);
      const bool uses = std::any_of(accesses.begin(), accesses.end(),
                                    [&](const Access& access) { return *access.buffer == buffer; });
      if (!uses || i == position) continue;
      if (found || i < position) return std::nullopt;
      found = i;
    }
    return found;
  }

  const PrimFunc& function_;
  RangeProver prover_;
  std::vector<Stmt> body_;
  std::vector<Buffer> made_, unused_;
};

}  // namespace

PrimFuncPtr with_spread_sums(const PrimFuncPtr& function) {
  if (!function->body.defined() || declares_views(*function)) return function;
  const PrimFuncPtr made = SumSpreader(*function).run();
  return made ? made : function;
}

}  // namespace relish
