// Following values forwards from what is wanted, and backwards from what the way back reads.
#include "transform/gradient/reverse_needs.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"

namespace relish {
namespace {

std::vector<Access> loads_in(const Scalar& scalar) {
  std::vector<Access> loads;
  if (scalar.defined()) collect_loads(scalar, loads);
  return loads;
}

class NeedsReader {
 public:
  explicit NeedsReader(const PlainStatements& plain) : plain_(plain) {}

  ReverseNeeds run(const std::vector<Buffer>& wrt) {
    for (const Buffer& buffer : wrt) made_.active.insert(buffer.id());
    for_each_stmt(plain_.body, [&](const Stmt& stmt) {
      if (const auto* store = stmt.as<Store>()) made_.written.insert(store->buffer.id());
    });
    for (bool grows = true; grows;) {
      grows = false;
      for_each_stmt(plain_.body, [&](const Stmt& stmt) {
        const auto* store = stmt.as<Store>();
        if (!store || !is_float(store->buffer.dtype()) || !depends_on_active(store->value, made_.active))
          return;
        grows = made_.active.insert(store->buffer.id()).second || grows;
      });
    }
    // What is restored is gone through backwards itself, at places that must be known: until nothing is
    // added.
    for (bool grows = true; grows;) {
      const std::size_t before = made_.restored.size();
      read_back(plain_.body);
      grows = made_.restored.size() > before;
    }
    made_.recomputed = made_.restored;
    for (bool grows = true; grows;) {
      const std::size_t before = made_.recomputed.size();
      compute(plain_.body);
      grows = made_.recomputed.size() > before;
    }
    return std::move(made_);
  }

 private:
  void need(const Scalar& scalar, std::unordered_set<std::uint64_t>& into) const {
    for (const Access& load : loads_in(scalar))
      if (made_.written.contains(load.buffer->id())) into.insert(load.buffer->id());
  }

  // The values that the way back through the statement reads.
  void read_back(const Stmt& stmt) {
    if (!made_.matters(stmt)) return;
    if (const auto* node = stmt.as<SeqStmt>()) {
      for (const Stmt& each : node->body) read_back(each);
    } else if (const auto* node = stmt.as<For>()) {
      read_back(node->body);
    } else if (const auto* node = stmt.as<While>()) {
      read_back(node->body);
    } else if (const auto* node = stmt.as<IfStmt>()) {
      read_back(node->then_body);
      read_back(node->else_body);
    } else if (const auto* node = stmt.as<Store>()) {
      for (const Scalar& index : node->indices)
        if (!reads(index, node->buffer)) need(index, made_.restored);
      if (made_.active.contains(node->buffer.id())) read_partials(*node);
    }
  }

  void read_partials(const Store& store) {
    const ScalarVar cotangent("ct", store.value.dtype());
    const ScalarPartials partials = scalar_partials(store.value, use(cotangent), made_.active);
    for (const Scalar& refused : partials.refused)
      if (told_.insert(&refused.node()).second)
        made_.obstacles.push_back({refused.span(), "this operation of a prim_func has no derivative"});
    for (const LoadPartial& partial : partials.loads) {
      need(partial.value, made_.restored);
      for (const Scalar& condition : partial.conditions) need(condition, made_.restored);
      for (const Scalar& index : partial.load.as<Load>()->indices) need(index, made_.restored);
    }
  }

  // What computing the statement again reads. Gives whether it is.
  bool compute(const Stmt& stmt) {
    auto& into = made_.recomputed;
    if (const auto* node = stmt.as<SeqStmt>()) {
      bool any = false;
      for (const Stmt& each : node->body) any = compute(each) || any;
      return any;
    }
    // Bounds that were computed are put on a tape.
    if (const auto* node = stmt.as<For>()) {
      const bool any = compute(node->body) || (made_.matters(stmt) && made_.computes_bounds(*node));
      if (any)
        for (const Scalar& bound : {node->begin, node->extent, node->step}) need(bound, into);
      return any;
    }
    // How often a while ran, and which side an if took, is found by going there again.
    if (const auto* node = stmt.as<While>()) {
      const bool any = compute(node->body) || made_.matters(node->body);
      if (any) need(node->condition, into);
      return any;
    }
    if (const auto* node = stmt.as<IfStmt>()) {
      const bool first = compute(node->then_body), second = compute(node->else_body);
      const bool any = first || second || made_.matters(stmt);
      if (any) need(node->condition, into);
      return any;
    }
    const auto* store = stmt.as<Store>();
    if (!store || !into.contains(store->buffer.id())) return false;
    for (const Scalar& index : store->indices) need(index, into);
    need(store->value, into);
    return true;
  }

  const PlainStatements& plain_;
  ReverseNeeds made_;
  std::unordered_set<const ScalarNode*> told_;
};

}  // namespace

bool ReverseNeeds::reads_written(const Scalar& scalar) const {
  const std::vector<Access> loads = loads_in(scalar);
  return std::any_of(loads.begin(), loads.end(),
                     [&](const Access& load) { return written.contains(load.buffer->id()); });
}

bool reads(const Scalar& index, const Buffer& buffer) {
  const std::vector<Access> loads = loads_in(index);
  return std::any_of(loads.begin(), loads.end(), [&](const Access& load) { return *load.buffer == buffer; });
}

bool ReverseNeeds::computes_bounds(const For& loop) const {
  return reads_written(loop.begin) || reads_written(loop.extent) || reads_written(loop.step);
}

bool ReverseNeeds::matters(const Stmt& stmt) const {
  bool any = false;
  if (!stmt.defined()) return any;
  for_each_stmt(stmt, [&](const Stmt& each) {
    const auto* store = each.as<Store>();
    any = any || (store && (active.contains(store->buffer.id()) || restored.contains(store->buffer.id())));
  });
  return any;
}

ReverseNeeds reverse_needs(const PlainStatements& plain, const std::vector<Buffer>& wrt) {
  return NeedsReader(plain).run(wrt);
}

}  // namespace relish
