// The walk over the accesses of a pair, in the order of the text.
#include "loops/write_over.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/range_prover.h"

namespace relish {
namespace {

class PairWalk {
 public:
  PairWalk(const Buffer& argument, const Buffer& result) : argument_(argument), result_(result) {}

  bool holds(const Stmt& body) {
    visit(body);
    return good_ && written_ && moves_with_every_loop();
  }

 private:
  // An index as loops know it: block variables stand for what they are bound to.
  Scalar resolved(const Scalar& index) const {
    const auto var = index.as_var();
    const auto known = var ? bound_.find(var->id()) : bound_.end();
    return known == bound_.end() ? index : known->second;
  }

  void access(const Buffer& buffer, const std::vector<Scalar>& indices, bool store) {
    const bool reads = buffer.id() == argument_.id(), writes = buffer.id() == result_.id();
    if (!reads && !writes) return;
    // The argument is only read, the result only written, and no element is read behind its write.
    good_ = good_ && reads != store && !(reads && written_);
    std::vector<Scalar> found;
    for (const Scalar& index : indices) found.push_back(resolved(index));
    if (!loops_seen_) {
      loops_seen_ = loops_;
      indices_ = std::move(found);
    } else {
      good_ = good_ && *loops_seen_ == loops_ && same_indices(indices_, found);
    }
    written_ = written_ || writes;
  }

  void scalar(const Scalar& value) {
    if (!value.defined()) return;
    for_each_operand(value, [&](const Scalar& operand) { scalar(operand); });
    if (const auto* load = value.as<Load>()) access(*load->buffer, load->indices, false);
    if (value.as<DataOf>() || value.as<ForeignCall>()) good_ = false;
  }

  void visit(const Stmt& stmt) {
    if (!stmt.defined() || !good_) return;
    if (const auto* n = stmt.as<For>()) {
      scalar(n->begin);
      scalar(n->extent);
      scalar(n->step);
      loops_.push_back(n);
      visit(n->body);
      loops_.pop_back();
    } else if (const auto* n = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : n->iters) {
        scalar(iter.binding);
        bound_[iter.var.id()] = resolved(iter.binding);
      }
      scalar(n->predicate);
      good_ = good_ && n->views.empty();
      visit(n->init);
      visit(n->body);
    } else if (const auto* n = stmt.as<Store>()) {
      for (const Scalar& index : n->indices) scalar(index);
      scalar(n->value);
      access(n->buffer, n->indices, true);
    } else if (const auto* n = stmt.as<DefineScalar>()) {
      scalar(n->value);
    } else if (const auto* n = stmt.as<AssignScalar>()) {
      scalar(n->value);
    } else if (const auto* n = stmt.as<SeqStmt>()) {
      for (const Stmt& child : n->body) visit(child);
    } else if (!stmt.as<AllocateStmt>()) {
      good_ = false;  // control that may leave elements as they are
    }
  }

  // Indices are loops or numbers, and each loop around the accesses gives one of its own: no two iterations
  // meet at an element.
  bool moves_with_every_loop() const {
    const auto of_loop = [&](const Scalar& index) {
      const auto var = index.as_var();
      return index.as_int() || (var && std::any_of(loops_seen_->begin(), loops_seen_->end(),
                                                   [&](const For* loop) { return loop->var == *var; }));
    };
    return std::all_of(indices_.begin(), indices_.end(), of_loop) &&
           std::all_of(loops_seen_->begin(), loops_seen_->end(), [&](const For* loop) {
             return loop->extent.as_int() == 1 ||
                    std::any_of(indices_.begin(), indices_.end(), [&](const Scalar& index) {
                      const auto var = index.as_var();
                      return var && *var == loop->var;
                    });
           });
  }

  const Buffer &argument_, &result_;
  std::vector<const For*> loops_;
  std::unordered_map<std::uint64_t, Scalar> bound_;
  std::optional<std::vector<const For*>> loops_seen_;  // around the accesses
  std::vector<Scalar> indices_;                        // of all of them
  bool good_ = true, written_ = false;
};

bool same_layout(const Buffer& a, const Buffer& b) {
  return a.dtype() == b.dtype() && !a.is_pointer() && !b.is_pointer() && a.strides().empty() &&
         b.strides().empty() && !a.elem_offset().defined() && !b.elem_offset().defined() &&
         same_indices(a.shape(), b.shape());
}

class FaultWalk {
 public:
  explicit FaultWalk(const PrimFunc& function) {
    assume_sizes(function, prover_);
    visit(function.body);
  }
  bool found() const { return found_; }

 private:
  void scalar(const Scalar& value) { found_ = found_ || (value.defined() && may_fault(value, prover_)); }

  void visit(const Stmt& stmt) {
    if (!stmt.defined() || found_) return;
    if (const auto* n = stmt.as<For>()) {
      scalar(n->begin);
      scalar(n->extent);
      prover_.enter_loop(n->var, n->begin, n->extent);
      visit(n->body);
      prover_.leave_loop();
    } else if (const auto* n = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : n->iters) prover_.bind(iter.var, iter.binding);
      scalar(n->predicate);
      visit(n->init);
      visit(n->body);
    } else if (const auto* n = stmt.as<Store>()) {
      scalar(n->value);
      for (std::size_t d = 0; d < n->indices.size(); ++d)
        found_ = found_ || !prover_.in_range(n->indices[d], n->buffer.shape()[d]);
    } else if (const auto* n = stmt.as<DefineScalar>()) {
      scalar(n->value);
    } else if (const auto* n = stmt.as<AssignScalar>()) {
      scalar(n->value);
    } else if (const auto* n = stmt.as<SeqStmt>()) {
      for (const Stmt& child : n->body) visit(child);
    } else {
      found_ = true;
    }
  }

  RangeProver prover_;
  bool found_ = false;
};

}  // namespace

bool may_write_over(const PrimFunc& function, const WrittenOver& pair) {
  const Buffer *argument = function.params[pair.argument].buffer(),
               *result = function.params[pair.result].buffer();
  if (!argument || !result || argument->id() == result->id() || !same_layout(*argument, *result))
    return false;
  return PairWalk(*argument, *result).holds(function.body);
}

PrimFuncPtr written_over(const PrimFunc& function, const std::vector<WrittenOver>& pairs, std::string name) {
  auto made = std::make_shared<PrimFunc>(function);
  made->name = std::move(name);
  made->is_private = true;
  BufferMap joined;
  std::vector<std::size_t> gone;
  for (const WrittenOver& pair : pairs) {
    joined.emplace(function.params[pair.argument].buffer()->id(), *function.params[pair.result].buffer());
    made->params[pair.argument] = function.params[pair.result];
    gone.push_back(pair.result);
  }
  made->body = substitute(function.body, {}, joined);
  std::sort(gone.rbegin(), gone.rend());
  for (const std::size_t param : gone)
    made->params.erase(made->params.begin() + static_cast<std::ptrdiff_t>(param));
  return made;
}

bool never_faults(const PrimFunc& function) { return FaultWalk(function).found() == false; }

}  // namespace relish
