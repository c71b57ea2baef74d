// Making the loops and blocks of a store.
#include "transform/gradient/nests.h"

#include <algorithm>
#include <unordered_set>

#include "support/failure.h"

namespace relish {
namespace {

bool names_axis(const Scalar& scalar, const std::vector<DomainAxis>& axes) {
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    return std::any_of(axes.begin(), axes.end(), [&](const DomainAxis& axis) { return axis.var == var; });
  });
}

class NestWriter {
 public:
  explicit NestWriter(const NestStore& store) : store_(store), axes_(store.spatial) {
    axes_.insert(axes_.end(), store.reduce.begin(), store.reduce.end());
  }

  Stmt write() {
    const bool rectangular = std::none_of(axes_.begin(), axes_.end(), [&](const DomainAxis& axis) {
      return names_axis(axis.begin, axes_) || names_axis(axis.extent, axes_);
    });
    const bool apart = injective(store_.indices, store_.buffer.shape(), store_.spatial) &&
                       std::none_of(store_.indices.begin(), store_.indices.end(),
                                    [&](const Scalar& index) { return names_axis(index, store_.reduce); });
    return rectangular && apart && !axes_.empty() ? block() : loops();
  }

 private:
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  Stmt made(const Scalar& value, const ScalarMap& axes) const {
    std::vector<Scalar> indices;
    for (const Scalar& index : store_.indices) indices.push_back(substitute(index, axes));
    return make_stmt(Store{store_.buffer, std::move(indices), substitute(value, axes)}, store_.span);
  }

  Stmt guarded(Stmt body, const ScalarMap& axes) const {
    if (store_.conditions.empty()) return body;
    Scalar all = store_.conditions.front();
    for (std::size_t i = 1; i < store_.conditions.size(); ++i)
      all = logical(LogicalOp::And, all, store_.conditions[i]);
    return make_stmt(IfStmt{substitute(all, axes), std::move(body), {}}, store_.span);
  }

  Stmt around(Stmt body, const std::vector<ScalarVar>& vars, const ScalarMap& known) const {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      const DType dtype = vars[i].dtype();
      body = make_stmt(For{vars[i],
                           sized(dtype, substitute(axes_[i].begin, known)),
                           sized(dtype, substitute(axes_[i].extent, known)),
                           LoopKind::Serial,
                           std::move(body),
                           {}},
                       store_.span);
    }
    return body;
  }

  Stmt block() {
    BlockStmt computation;
    computation.name = store_.name;
    ScalarMap axes;
    std::vector<ScalarVar> loops;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::string name = fresh(axes_[i].var.name());
      const DType dtype = axes_[i].var.dtype();
      const ScalarVar loop(name, dtype, store_.span), iter("v_" + name, dtype, store_.span);
      const IterKind kind = i < store_.spatial.size() ? IterKind::Spatial : IterKind::Reduce;
      computation.iters.push_back(
          {iter, kind, sized(dtype, axes_[i].begin), sized(dtype, axes_[i].extent), use(loop, store_.span)});
      loops.push_back(loop);
      axes.emplace(axes_[i].var.id(), use(iter, store_.span));
    }
    if (store_.start.defined()) computation.init = made(store_.start, axes);
    computation.body = guarded(made(store_.value, axes), axes);
    return around(make_stmt(std::move(computation), store_.span), loops, {});
  }

  // Each axis behind those that its bounds name.
  void order_axes() {
    std::vector<DomainAxis> left = std::move(axes_);
    axes_.clear();
    while (!left.empty()) {
      auto next = std::find_if(left.begin(), left.end(), [&](const DomainAxis& axis) {
        return !names_axis(axis.begin, left) && !names_axis(axis.extent, left);
      });
      RELISH_CHECK(next != left.end(), "axes whose bounds name each other");
      axes_.push_back(*next);
      left.erase(next);
    }
  }

  Stmt loops() {
    order_axes();
    ScalarMap axes;
    std::vector<ScalarVar> loops;
    for (const DomainAxis& axis : axes_) {
      loops.emplace_back(fresh(axis.var.name()), axis.var.dtype(), store_.span);
      axes.emplace(axis.var.id(), use(loops.back(), store_.span));
    }
    const Stmt update = around(guarded(made(store_.value, axes), axes), loops, axes);
    if (!store_.start.defined()) return update;
    NestStore start = store_;
    start.reduce.clear();
    start.conditions.clear();
    start.value = store_.start;
    start.start = Scalar();
    return seq({nest_of(start), update}, store_.span);
  }

  const NestStore& store_;
  std::vector<DomainAxis> axes_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Scalar sized(DType dtype, const Scalar& size) {
  if (const auto literal = size.as_int()) return int_literal(dtype, *literal, size.span());
  return cast(dtype, size, size.span());
}

Stmt nest_of(const NestStore& store) { return NestWriter(store).write(); }

}  // namespace relish
