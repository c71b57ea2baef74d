// First writes.
#include "loops/written_first.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "loops/accesses.h"

namespace relish {
namespace {

// A longer sequence below a loop is not looked into.
constexpr std::size_t most_children = 64;

// Whether all loads of a buffer in a statement are of places below so many along some dimensions.
class LoadsBelow {
 public:
  LoadsBelow(const Buffer& buffer, const std::vector<Scalar>& ends, RangeProver& prover)
      : buffer_(buffer), ends_(ends), prover_(prover) {}

  bool hold(const Stmt& stmt) {
    if (!stmt.defined()) return true;
    if (const auto* loop = stmt.as<For>()) {
      if (!of(loop->begin) || !of(loop->extent) || !of(loop->step)) return false;
      prover_.enter_loop(loop->var, loop->begin, loop->extent);
      const bool inside = hold(loop->body);
      prover_.leave_loop();
      return inside;
    }
    if (const auto* block = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : block->iters) {
        if (!of(iter.binding)) return false;
        prover_.bind(iter.var, iter.binding);
      }
      return of(block->predicate) && block->views.empty() && hold(block->init) && hold(block->body);
    }
    if (const auto* sequence = stmt.as<SeqStmt>())
      return std::all_of(sequence->body.begin(), sequence->body.end(),
                         [&](const Stmt& child) { return hold(child); });
    if (const auto* branch = stmt.as<IfStmt>())
      return of(branch->condition) && hold(branch->then_body) && hold(branch->else_body);
    if (const auto* named = stmt.as<DefineScalar>()) return of(named->value);
    if (const auto* evaluated = stmt.as<Evaluate>()) {
      const auto* asked = evaluated->value.as<Load>();  // and not read
      return asked ? std::all_of(asked->indices.begin(), asked->indices.end(),
                                 [&](const Scalar& at) { return of(at); })
                   : of(evaluated->value);
    }
    const auto* store = stmt.as<Store>();
    return store && of(store->value) &&
           std::all_of(store->indices.begin(), store->indices.end(),
                       [&](const Scalar& at) { return of(at); });
  }

 private:
  bool of(const Scalar& value) {
    if (!value.defined()) return true;
    std::vector<Access> loads;
    collect_loads(value, loads);
    return std::all_of(loads.begin(), loads.end(), [&](const Access& load) {
      if (!(*load.buffer == buffer_)) return true;
      for (std::size_t d = 0; d < ends_.size(); ++d)
        if (ends_[d].defined() && !prover_.in_range((*load.indices)[d], ends_[d])) return false;
      return true;
    });
  }

  const Buffer& buffer_;
  const std::vector<Scalar>& ends_;  // by dimension; undefined: all of it
  RangeProver& prover_;
};

// Follows a buffer down to the store that a body begins with, through loops, blocks and the first of each
// sequence that touches it.
class FirstStore {
 public:
  // `behind`: what runs behind the statement; null where others may see the buffer.
  FirstStore(const Buffer& buffer, RangeProver& prover, const std::vector<Stmt>* behind)
      : buffer_(buffer), prover_(prover), hidden_(behind) {
    if (behind)
      for (const Stmt& stmt : *behind) later_.push_back({stmt, 0});
  }

  bool writes_all(const Stmt& stmt) {
    if (const auto* branch = stmt.as<IfStmt>()) return each_branch(*branch);
    return descend(stmt) && covers() && nothing_read_before();
  }

 private:
  struct Later {
    Stmt stmt;
    std::size_t outside;  // loops around it that are around the store too
  };

  // Whichever branch is taken.
  bool each_branch(const IfStmt& branch) {
    std::vector<Access> loads;
    collect_loads(branch.condition, loads);
    const bool reads =
        std::any_of(loads.begin(), loads.end(), [&](const Access& load) { return *load.buffer == buffer_; });
    return !reads && branch.else_body.defined() &&
           FirstStore(buffer_, prover_, hidden_).writes_all(branch.then_body) &&
           FirstStore(buffer_, prover_, hidden_).writes_all(branch.else_body);
  }

  bool descend(const Stmt& stmt) {
    if (const auto* loop = stmt.as<For>()) {
      if (loop->begin.as_int() != 0 || loop->step.defined()) return false;
      loops_.push_back(loop);
      return descend(loop->body);
    }
    if (const auto* block = stmt.as<BlockStmt>()) {
      if (block->predicate.defined() || !block->views.empty()) return false;
      for (const IterVar& iter : block->iters) {
        if (iter.begin.as_int() != 0) return false;
        prover_.bind(iter.var, iter.binding);
      }
      if (!block->init.defined()) return descend(block->body);
      const bool found = descend(block->init);
      later_.push_back({block->body, loops_.size()});
      return found;
    }
    if (const auto* sequence = stmt.as<SeqStmt>()) return descend(*sequence);
    store_ = stmt.as<Store>();
    return store_ && store_->buffer == buffer_;
  }

  bool descend(const SeqStmt& sequence) {
    if (sequence.body.size() > most_children) return false;
    const std::size_t outside = loops_.size();
    for (std::size_t i = 0; i < sequence.body.size(); ++i) {
      BodyAccesses touched{prover_};
      touched.visit(sequence.body[i]);
      if (touched.has_views || touched.has_jumps) return false;
      const bool here = std::any_of(touched.accesses.begin(), touched.accesses.end(),
                                    [&](const Access& access) { return *access.buffer == buffer_; });
      if (!here) continue;
      if (!descend(sequence.body[i])) return false;
      for (std::size_t k = i + 1; k < sequence.body.size(); ++k)
        later_.push_back({sequence.body[k], outside});
      return true;
    }
    return false;
  }

  // A loop that ends early in the last round of one around it: over min(part, all - part * round), whose
  // rounds reach `all`. Both together count to `all`.
  struct CutLoop {
    std::size_t round;
    std::int64_t part;
    Polynomial all;
  };
  std::optional<CutLoop> cut_by_rounds(const For& loop) {
    const auto* least = loop.extent.as<Binary>();
    if (!least || least->op != BinaryOp::Min) return std::nullopt;
    const bool first = least->a.as_int().has_value();
    const auto part = first ? least->a.as_int() : least->b.as_int();
    if (!part || *part <= 0) return std::nullopt;
    const Polynomial left = prover_.polynomial(first ? least->b : least->a);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const auto split = left.split(loops_[i]->var.id());
      if (split && (split->quotient + Polynomial(*part)).is_zero() &&
          reach(loops_[i]->extent, *part, split->rest))
        return CutLoop{i, *part, split->rest};
    }
    return std::nullopt;
  }
  // Whether so many rounds of that part are `all` or more, and none lies behind it.
  bool reach(const Scalar& rounds, std::int64_t part, const Polynomial& all) {
    const auto known = rounds.as_int(), end = all.constant();
    if (known && end) return *end > 0 && *known == (*end - 1) / part + 1;
    const auto* quotient = rounds.as<Binary>();
    return quotient && quotient->op == BinaryOp::FloorDiv && quotient->b.as_int() == part &&
           (prover_.polynomial(quotient->a) - all - Polynomial(part - 1)).is_zero();
  }

  // The loops that the index counts, the fastest first: it is the sum of their variables, each times the
  // extents of those before it, so that they run over every place of a dimension of their product.
  // Of a hidden buffer also over a part of them from the first on, whose length is the end of that dimension.
  std::optional<std::vector<std::size_t>> loops_of(const Scalar& index, const Scalar& dim, Scalar& end) {
    Polynomial rest = prover_.polynomial(index);
    for (const For* loop : loops_)  // a loop of one round adds nothing
      if (loop->extent.as_int() == 1)
        if (const auto split = rest.split(loop->var.id())) rest = split->rest;
    std::vector<std::size_t> found;
    Polynomial size(1);
    int open = 0;  // loops without a number: the product of two negative extents is positive
    bool cut = false;
    Scalar all;  // the product of the extents, of loops that are not cut
    while (!rest.is_zero()) {
      std::size_t next = loops_.size();
      for (std::size_t i = 0; i < loops_.size() && next == loops_.size(); ++i) {
        const auto split = rest.split(loops_[i]->var.id());
        if (split && (split->quotient - size).is_zero()) next = i;
      }
      // A loop that never runs makes the size 0, and then every loop that is not in the rest counts by it.
      if (next == loops_.size() || std::find(found.begin(), found.end(), next) != found.end())
        return std::nullopt;
      found.push_back(next);
      rest = rest - size * Polynomial::of(loops_[next]->var.id());
      const auto chunks = cut_by_rounds(*loops_[next]);
      if (chunks && rest.contains(loops_[chunks->round]->var.id())) {
        cut = true;
        found.push_back(chunks->round);
        rest = rest - size * Polynomial(chunks->part) * Polynomial::of(loops_[chunks->round]->var.id());
        size = size * chunks->all;
        continue;
      }
      const Scalar& extent = loops_[next]->extent;
      open += extent.as_int().value_or(0) > 0 ? 0 : 1;
      all = all.defined() ? extent * all : extent;
      size = size * prover_.polynomial(extent);
    }
    if (open > 1) return std::nullopt;
    if (!(size - prover_.polynomial(dim)).is_zero()) {
      const auto literal = size.constant();
      if (!hidden_ || (!literal && (cut || !all.defined()))) return std::nullopt;
      end = literal ? int_literal(dim.dtype(), *literal) : all;
    }
    return found;
  }

  // Each index counts loops over the whole dimension, or is the one place of a dimension of one; the other
  // loops run, or only what stands in them, too, reads the buffer, which is hidden.
  bool covers() {
    std::vector<bool> used(loops_.size());
    for (std::size_t d = 0; d < store_->indices.size(); ++d) {
      const Scalar& index = store_->indices[d];
      const Scalar& dim = buffer_.shape()[d];
      loops_of_dimension_.emplace_back();
      ends_.emplace_back();
      if (index.as_int()) {
        if (index.as_int() != 0 || dim.as_int() != 1) return false;
        continue;
      }
      const auto loops = loops_of(index, dim, ends_.back());
      if (!loops) return false;
      for (const std::size_t loop : *loops) {
        if (used[loop]) return false;
        used[loop] = true;
      }
      loops_of_dimension_.back() = *loops;
    }
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (used[i] || loops_[i]->extent.as_int().value_or(0) > 0) continue;
      if (!hidden_) return false;
      may_not_run_ = std::max(may_not_run_, i + 1);
    }
    std::vector<Access> loads;
    collect_loads(store_->value, loads);
    return std::none_of(loads.begin(), loads.end(),
                        [&](const Access& load) { return *load.buffer == buffer_; });
  }

  // What runs behind the store in one iteration of the loops around both may read what that iteration has
  // written, and nothing of the iterations to come.
  bool nothing_read_before() {
    const bool partly =
        std::any_of(ends_.begin(), ends_.end(), [](const Scalar& end) { return end.defined(); });
    for (const Later& later : later_) {
      // A dimension that is written in part is so before what reads it.
      for (std::size_t d = 0; partly && d < ends_.size(); ++d)
        for (const std::size_t loop : loops_of_dimension_[d])
          if (ends_[d].defined() && loop < later.outside) return false;
      if (partly && !LoadsBelow(buffer_, ends_, prover_).hold(later.stmt)) return false;
      BodyAccesses touched{prover_};
      touched.visit(later.stmt);
      if (touched.has_views) return false;
      for (const Access& access : touched.accesses) {
        if (access.store || !(*access.buffer == buffer_)) continue;
        if (later.outside < may_not_run_) return false;
        for (std::size_t d = 0; d < loops_of_dimension_.size(); ++d) {
          const auto& loops = loops_of_dimension_[d];
          const bool around =
              std::any_of(loops.begin(), loops.end(), [&](std::size_t loop) { return loop < later.outside; });
          if (around && !prover_.same((*access.indices)[d], store_->indices[d])) return false;
        }
      }
    }
    return true;
  }

  const Buffer& buffer_;
  RangeProver& prover_;
  std::vector<const For*> loops_;  // around the store, outermost first
  std::vector<Later> later_;
  const Store* store_ = nullptr;
  std::vector<std::vector<std::size_t>> loops_of_dimension_;
  std::vector<Scalar> ends_;  // by dimension that is written in part
  // So many loops around the store, to the last one that counts no index and may run not once: what is not
  // inside of them all may find nothing written.
  std::size_t may_not_run_ = 0;
  const std::vector<Stmt>* const hidden_;
};

// `behind`: what runs behind the body; null where others may see the buffers.
std::unordered_set<std::uint64_t> first_written(const Stmt& body, const std::vector<Buffer>& buffers,
                                                RangeProver& prover, const std::vector<Stmt>* behind) {
  std::unordered_set<std::uint64_t> written;
  if (!body.defined() || buffers.empty()) return written;
  const auto* sequence = body.as<SeqStmt>();
  if (!sequence) {
    for (const Buffer& buffer : buffers)
      if (FirstStore(buffer, prover, behind).writes_all(body)) written.insert(buffer.id());
    return written;
  }
  // Each buffer is looked for in the first statement that touches it.
  std::unordered_map<std::uint64_t, const Buffer*> waiting;
  for (const Buffer& buffer : buffers) waiting.emplace(buffer.id(), &buffer);
  for (std::size_t i = 0; i < sequence->body.size(); ++i) {
    const Stmt& child = sequence->body[i];
    if (waiting.empty()) break;
    BodyAccesses touched{prover};
    touched.visit(child);
    if (touched.has_views || touched.has_jumps) break;
    std::vector<Buffer> here;
    for (const Access& access : touched.accesses) {
      const auto found = waiting.find(access.buffer->id());
      if (found == waiting.end()) continue;
      here.push_back(*found->second);
      waiting.erase(found);
    }
    if (!behind) {
      written.merge(first_written(child, here, prover, nullptr));
      continue;
    }
    std::vector<Stmt> rest = *behind;
    if (!here.empty())
      rest.insert(rest.end(), sequence->body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  sequence->body.end());
    written.merge(first_written(child, here, prover, &rest));
  }
  return written;
}

}  // namespace

std::unordered_set<std::uint64_t> written_first(const Stmt& body, const std::vector<Buffer>& buffers,
                                                RangeProver& prover) {
  return first_written(body, buffers, prover, nullptr);
}

std::unordered_set<std::uint64_t> written_before_reads(const Stmt& body, const std::vector<Buffer>& buffers,
                                                       RangeProver& prover) {
  const std::vector<Stmt> nothing;
  return first_written(body, buffers, prover, &nothing);
}

std::vector<bool> parameters_written_first(const PrimFunc& function) {
  RangeProver prover;
  assume_sizes(function, prover);
  const std::vector<ParamAccess> accesses = param_accesses(function);
  std::vector<Buffer> results;
  for (std::size_t i = 0; i < function.params.size(); ++i)
    if (function.params[i].buffer() && accesses[i].written) results.push_back(*function.params[i].buffer());
  const auto written = written_first(function.body, results, prover);
  std::vector<bool> seen;
  for (const PrimParam& param : function.params)
    seen.push_back(param.buffer() && written.contains(param.buffer()->id()));
  return seen;
}

}  // namespace relish
