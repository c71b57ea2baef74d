// Each element has its iteration: the loops that a store and a read share must be known from the element
// alone, and those of the store must not come later.
#include "transform/gradient/final_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "loops/accesses.h"
#include "loops/primitives.h"
#include "loops/range_prover.h"

namespace relish {
namespace {

// A read of an element: where it stands.
struct Reading {
  const Assignment* in;
  std::vector<Scalar> indices;
  std::size_t order, loops;  // evaluated behind so many stores, in so many loops of `in`
};

// The indices of a store, and what its conditions set equal: they tell the iteration too.
struct Place {
  std::vector<Scalar> indices, extents;
  std::vector<ScalarVar> targets;
  ScalarMap fixed;  // targets of conditions are known
};

Place place_of(const Assignment& store) {
  Place place;
  place.indices = store.indices;
  place.extents = store.buffer.shape();
  for (const Scalar& index : place.indices) place.targets.emplace_back("t", index.dtype());
  for (const Guard& guard : store.guards) {
    const auto* sides = guard.condition.as<Compare>();
    if (!sides || sides->op != CompareOp::Eq || !is_int(sides->a.dtype())) continue;
    for (const auto& [moving, fixed] : {std::pair{sides->a, sides->b}, std::pair{sides->b, sides->a}}) {
      if (!fixed.as_int() || !moving.as_var()) continue;
      place.indices.push_back(moving);
      place.extents.push_back(int_literal(moving.dtype(), *fixed.as_int() + 1));
      place.targets.emplace_back("t", moving.dtype());
      place.fixed.emplace(place.targets.back().id(), fixed);
    }
  }
  return place;
}

// How many loops of the text two places share.
std::size_t shared_loops(const std::vector<const For*>& a, std::size_t loops_of_a,
                         const std::vector<const For*>& b, std::size_t loops_of_b) {
  std::size_t shared = 0;
  while (shared < std::min(loops_of_a, loops_of_b) && a[shared] == b[shared]) ++shared;
  return shared;
}

class FinalValues {
 public:
  explicit FinalValues(Assignments& assignments) : all_(assignments) {
    for (const Assignment& each : all_.list) {
      writers_[each.buffer.id()].push_back(&each);
      collect_readings(each);
    }
  }

  std::vector<Buffer> run() {
    for (const Assignment& each : all_.list) check_writer(each);
    for (const auto& [buffer, readings] : readings_) {
      const auto writers = writers_.find(buffer);
      if (writers == writers_.end()) continue;
      for (const Reading& reading : readings)
        for (const Assignment* writer : writers->second) check_reading(*writer, reading);
    }
    return ordered();
  }

 private:
  void collect_readings(const Assignment& each) {
    const auto take = [&](const Scalar& value, std::size_t order, std::size_t loops) {
      std::vector<Access> loads;
      collect_loads(value, loads);
      for (const Access& load : loads)
        readings_[load.buffer->id()].push_back({&each, *load.indices, order, loops});
    };
    take(each.value, each.order, each.loops.size());
    for (const Scalar& index : each.indices) take(index, each.order, each.loops.size());
    for (const Guard& guard : each.guards)
      take(guard.condition, guard.order, std::min(guard.loops, each.loops.size()));
  }

  void obstacle(const Assignment& at, std::string what) {
    if (told_.insert(&at).second) all_.obstacles.push_back({at.span, std::move(what)});
  }

  // The loops shared with a place elsewhere, in terms of the targets; none when some hangs on more.
  static std::optional<std::vector<Scalar>> iteration_of(const Assignment& store, const Place& place,
                                                         std::size_t shared) {
    const auto inversion = invert(place.indices, place.targets, place.extents, store.loops);
    if (!inversion) return std::nullopt;
    std::vector<Scalar> result;
    for (std::size_t i = 0; i < shared; ++i) {
      const DomainAxis& loop = store.loops[i];
      if (loop.extent.as_int() == 1) {
        result.push_back(loop.begin);
        continue;
      }
      const auto found = inversion->at.find(loop.var.id());
      if (found == inversion->at.end()) return std::nullopt;
      std::vector<ScalarVar> vars;
      collect_vars(found->second, vars);
      const bool open = std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
        return std::any_of(inversion->free.begin(), inversion->free.end(),
                           [&](const DomainAxis& axis) { return axis.var == var; });
      });
      if (open) return std::nullopt;
      result.push_back(substitute(found->second, place.fixed));
    }
    return result;
  }

  // Whether all that the store does to the elements read is done when they are read.
  static bool settled(const Assignment& store, const Reading& reading) {
    const bool own_init = store.init && !reading.in->init && store.block == reading.in->block;
    if (store.order >= reading.order && !own_init) return false;
    const std::size_t shared =
        shared_loops(store.nodes, store.nodes.size(), reading.in->nodes, reading.loops);
    if (shared == 0) return true;
    const Place place = place_of(store);
    const auto iteration = iteration_of(store, place, shared);
    if (!iteration) return false;
    ScalarMap element;
    for (std::size_t i = 0; i < reading.indices.size(); ++i)
      element.emplace(place.targets[i].id(), reading.indices[i]);
    RangeProver prover;
    for (const Scalar& extent : store.buffer.shape()) {
      std::vector<ScalarVar> dims;
      collect_vars(extent, dims);
      for (const ScalarVar& dim : dims) prover.assume_dimension(dim);
    }
    for (const DomainAxis& axis : reading.in->loops) prover.enter_loop(axis.var, axis.begin, axis.extent);
    for (std::size_t i = 0; i < shared; ++i) {
      const Scalar then = canonical(substitute((*iteration)[i], element));
      if (!prover.nonnegative(canonical(use(reading.in->loops[i].var) - then))) return false;
    }
    return true;
  }

  void check_reading(const Assignment& writer, const Reading& reading) {
    if (settled(writer, reading)) return;
    obstacle(*reading.in,
             fmt::format("'{}' may be read here before its last change, which a gradient cannot undo",
                         writer.buffer.name()));
  }

  // No element is set twice, none is set after it was added to, and it is changed in one way.
  void check_writer(const Assignment& each) {
    const std::string& name = each.buffer.name();
    if (each.update == Update::Set) {
      const Place place = place_of(each);
      if (!injective(place.indices, place.extents, each.loops))
        obstacle(each, fmt::format("an element of '{}' may be set here more than once, and a gradient cannot "
                                   "bring back what it held before",
                                   name));
    }
    for (const Assignment* other : writers_.at(each.buffer.id())) {
      if (other->order >= each.order) break;
      if (each.update == Update::Set && !apart(*other, each))
        obstacle(each, fmt::format("an element of '{}' that was written before may be set again here, and a "
                                   "gradient cannot bring back what it held before",
                                   name));
      if (each.update == Update::Set) continue;
      const Reading own{&each, each.indices, each.order, each.loops.size()};
      if (other->update == Update::Set ? !settled(*other, own) && !apart(*other, each)
                                       : other->update != each.update)
        obstacle(each, fmt::format("'{}' is changed in several ways, of which a gradient cannot tell the "
                                   "values between",
                                   name));
    }
  }

  // Whether the two never write one element.
  static bool apart(const Assignment& a, const Assignment& b) {
    for (const IfSide& one : a.sides)
      for (const IfSide& other : b.sides)
        if (one.branch == other.branch && one.taken != other.taken && same_iteration(a, b)) return true;
    RangeProver prover;
    for (const Scalar& extent : a.buffer.shape()) {
      std::vector<ScalarVar> dims;
      collect_vars(extent, dims);
      for (const ScalarVar& dim : dims) prover.assume_dimension(dim);
    }
    const auto entered = [&](const Assignment& each) {
      ScalarMap own;
      for (const DomainAxis& axis : each.loops) {
        const ScalarVar var(axis.var.name(), axis.var.dtype());
        prover.enter_loop(var, substitute(axis.begin, own), substitute(axis.extent, own));
        own.insert_or_assign(axis.var.id(), use(var));
      }
      return own;
    };
    const ScalarMap of_a = entered(a), of_b = entered(b);
    for (std::size_t i = 0; i < a.indices.size(); ++i) {
      const Scalar difference = canonical(substitute(a.indices[i], of_a) - substitute(b.indices[i], of_b));
      const Scalar one = int_literal(difference.dtype(), 1), none = int_literal(difference.dtype(), 0);
      if (prover.nonnegative(canonical(difference - one)) ||
          prover.nonnegative(canonical(none - difference - one)))
        return true;
    }
    return false;
  }

  // Whether an element that both write is of the same iteration of the loops around both.
  static bool same_iteration(const Assignment& a, const Assignment& b) {
    const std::size_t shared = shared_loops(a.nodes, a.nodes.size(), b.nodes, b.nodes.size());
    if (shared == 0) return true;
    const Place of_a = place_of(a), of_b = place_of(b);
    const auto first = iteration_of(a, of_a, shared), second = iteration_of(b, of_b, shared);
    if (!first || !second) return false;
    ScalarMap renamed;
    for (std::size_t i = 0; i < b.indices.size(); ++i)
      renamed.emplace(of_b.targets[i].id(), use(of_a.targets[i]));
    for (std::size_t i = 0; i < shared; ++i)
      if (!prove_equal((*first)[i], substitute((*second)[i], renamed))) return false;
    return true;
  }

  // By how many of those that a buffer is computed from are not yet placed.
  std::vector<Buffer> ordered() {
    std::vector<Buffer> written;
    std::unordered_map<std::uint64_t, std::unordered_set<std::uint64_t>> sources;
    for (const Assignment& each : all_.list) {
      const auto [place, fresh] = sources.try_emplace(each.buffer.id());
      if (fresh) written.push_back(each.buffer);
    }
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> users;
    for (const auto& [buffer, readings] : readings_) {
      if (!writers_.contains(buffer)) continue;
      for (const Reading& reading : readings)
        if (sources[reading.in->buffer.id()].insert(buffer).second)
          users[buffer].push_back(reading.in->buffer.id());
    }
    std::unordered_map<std::uint64_t, std::size_t> position;
    for (std::size_t i = 0; i < written.size(); ++i) position.emplace(written[i].id(), i);
    std::vector<Buffer> result;
    std::map<std::size_t, bool> ready;  // in the order of the text
    for (std::size_t i = 0; i < written.size(); ++i)
      if (sources[written[i].id()].empty()) ready.emplace(i, true);
    while (!ready.empty()) {
      const std::size_t next = ready.begin()->first;
      ready.erase(ready.begin());
      result.push_back(written[next]);
      for (const std::uint64_t user : users[written[next].id()]) {
        sources[user].erase(written[next].id());
        if (sources[user].empty()) ready.emplace(position.at(user), true);
      }
    }
    if (result.size() < written.size() && all_.obstacles.empty()) {
      for (const Assignment& each : all_.list) {
        if (sources[each.buffer.id()].empty()) continue;
        obstacle(each, fmt::format("elements of '{}' are computed one from another", each.buffer.name()));
        break;
      }
    }
    return result;
  }

  Assignments& all_;
  std::unordered_map<std::uint64_t, std::vector<const Assignment*>> writers_;
  std::map<std::uint64_t, std::vector<Reading>> readings_;
  std::unordered_set<const Assignment*> told_;
};

}  // namespace

std::vector<Buffer> order_of_final_values(Assignments& assignments) { return FinalValues(assignments).run(); }

}  // namespace relish
