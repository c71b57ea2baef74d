// Proofs that iterations of a loop depend on each other. Four shapes are shown: an element that every
// iteration stores a value of its own to; an element that one iteration stores and another loads or stores;
// one that two of them store by other turns of a loop inside; a local from outside the loop that the
// iterations assign. Where strides or several views let elements have several indices, places in memory are
// compared. Places that are functions of the loop variable alone, but no polynomials, are counted out.
// Statements under conditions, and behind a break or continue, count in the iterations that may reach them;
// of a loop inside that may end early its first turn counts. Accesses whose indices are not polynomials of
// the loop variable prove nothing.
#include "loops/dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/short_circuit.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "loops/counted_places.h"
#include "loops/reached_iterations.h"

namespace relish {
namespace {

struct ResolvedAccess {
  Buffer buffer;
  std::vector<Scalar> indices;  // block variables replaced by what is bound to them
  Scalar value;                 // of a store
  bool store;
  Surroundings around = {};
  std::uint64_t memory = 0;         // the buffer that has the elements
  std::vector<Scalar> places = {};  // what is compared: the indices, or the one place in memory
};

// Every store is compared with every access; a body of more is not looked into.
constexpr std::size_t most_accesses = 128;

Scalar either(const Scalar& a, const Scalar& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return logical(LogicalOp::Or, a, b);
}

// When the statement ends a turn of the loop around it before what stands behind: undefined where it never
// does. Conditions as they are at the statement.
Scalar leaves_when(const Stmt& stmt) {
  if (!stmt.defined()) return {};
  if (stmt.as<Break>() || stmt.as<Continue>() || stmt.as<Return>()) return bool_literal(true);
  const auto under = [](const Scalar& condition, const Scalar& inside) {
    return inside.defined() ? logical(LogicalOp::And, condition, inside) : Scalar();
  };
  if (const auto* branches = stmt.as<IfStmt>())
    return either(under(branches->condition, leaves_when(branches->then_body)),
                  under(logical_not(branches->condition), leaves_when(branches->else_body)));
  if (const auto* block = stmt.as<BlockStmt>()) {
    const Scalar inside = leaves_when(block->body);
    return block->predicate.defined() ? under(block->predicate, inside) : inside;
  }
  Scalar any;
  if (const auto* sequence = stmt.as<SeqStmt>())
    for (const Stmt& child : sequence->body) any = either(any, leaves_when(child));
  return any;
}

// Whether a turn of the loop with this body may end the loop.
bool ends_early(const Stmt& body) {
  if (!body.defined()) return false;
  if (body.as<Break>() || body.as<Return>()) return true;
  if (const auto* branches = body.as<IfStmt>())
    return ends_early(branches->then_body) || ends_early(branches->else_body);
  if (const auto* block = body.as<BlockStmt>()) return ends_early(block->body);
  const auto* sequence = body.as<SeqStmt>();
  return sequence && std::any_of(sequence->body.begin(), sequence->body.end(), ends_early);
}

class Iterations {
 public:
  Iterations(const For& loop, std::span<const BufferView> views)
      : loop_(loop),
        reached_(
            loop, [this](const Scalar& value) { return is_same(value); },
            [this](const ScalarVar& var) {
              return moving_.contains(var.id()) || own_.contains(var.id()) || counted_.contains(var.id());
            }) {
    for (const BufferView& view : views) note_view(view);
  }

  std::optional<std::string> dependence() {
    if (const auto extent = loop_.extent.as_int(); extent && *extent <= 1) return std::nullopt;
    note_writes();
    if (returns_ || ends_early(loop_.body)) return "one may end those behind it";
    moving_.insert(loop_.var.id());
    visit(loop_.body);
    for (const Assigned& each : assigned_) {
      if (own_.contains(each.var.id()) || is_same(each.value)) continue;
      if (each.around.guards.empty() || reached_.several(each.around))
        return fmt::format("each assigns {}, which lives outside the loop", each.var.name());
    }
    for (const ResolvedAccess& access : accesses_) {
      if (!access.store || own_.contains(access.memory)) continue;
      if (auto found = meets_itself(access)) return found;
      if (auto found = meets_by_other_turns(access)) return found;
      if (accesses_.size() > most_accesses) continue;
      for (const ResolvedAccess& other : accesses_)
        if (auto found = meets(access, other)) return found;
      if (auto found = meets_when_counted(access)) return found;
    }
    return std::nullopt;
  }

 private:
  // What the body writes and makes, and whether it can leave the function.
  void note_writes() {
    for_each_stmt(loop_.body, [&](const Stmt& stmt) {
      if (const auto* view = stmt.as<ViewStmt>()) note_view(view->view);
      if (const auto* block = stmt.as<BlockStmt>())
        for (const BufferView& view : block->views) note_view(view);
    });
    for_each_stmt(loop_.body, [&](const Stmt& stmt) {
      if (const auto* store = stmt.as<Store>()) written_.insert(memory_of(store->buffer));
      if (const auto* assign = stmt.as<AssignScalar>()) moving_.insert(assign->var.id());
      if (const auto* made = stmt.as<AllocateStmt>()) own_.insert(made->buffer.id());
      if (const auto* view = stmt.as<ViewStmt>()) note_own(view->view);
      if (const auto* defined = stmt.as<DefineScalar>()) own_.insert(defined->var.id());
      if (const auto* block = stmt.as<BlockStmt>()) {
        for (const Buffer& buffer : block->allocations) own_.insert(buffer.id());
        for (const BufferView& view : block->views) note_own(view);
      }
      returns_ = returns_ || stmt.as<Return>();
    });
  }

  // Whether the value is the same in every iteration.
  bool is_same(const Scalar& value) const {
    bool same = true;
    for_each_scalar(value, [&](const Scalar& inner) {
      if (const auto var = inner.as_var()) same = same && !moving_.contains(var->id());
      if (const auto* load = inner.as<Load>()) same = same && !written_.contains(memory_of(*load->buffer));
      if (inner.as<Let>()) same = false;
    });
    return same;
  }

  void visit(const Stmt& stmt) {
    if (!stmt.defined()) return;
    if (const auto* inner = stmt.as<For>()) {
      if (inner->extent.as_int().value_or(1) <= 0) return;
      if (ends_early(inner->body)) {
        bound_.insert_or_assign(inner->var.id(), resolved(inner->begin));
        return visit(inner->body);
      }
      if (const auto extent = inner->extent.as_int(); extent && !inner->step.defined())
        turns_.emplace_back(inner->var, *extent);
      if (!is_same(resolved(inner->begin)) || !is_same(resolved(inner->extent)) ||
          (inner->step.defined() && !is_same(resolved(inner->step))))
        moving_.insert(inner->var.id());
      counted_.insert(inner->var.id());
      inner_.push_back(inner);
      visit(inner->body);
      inner_.pop_back();
    } else if (const auto* block = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : block->iters) bound_.insert_or_assign(iter.var.id(), resolved(iter.binding));
      if (block->predicate.defined())
        visit_under(block->predicate, true, [&] { visit(block->body); });
      else
        visit(block->body);
    } else if (const auto* branches = stmt.as<IfStmt>()) {
      note_loads(resolved(branches->condition));
      visit_under(branches->condition, true, [&] { visit(branches->then_body); });
      visit_under(branches->condition, false, [&] { visit(branches->else_body); });
    } else if (const auto* sequence = stmt.as<SeqStmt>()) {
      const std::size_t around = guards_.size();
      for (const Stmt& child : sequence->body) {
        visit(child);
        const Scalar left = leaves_when(child);
        if (left.defined()) guards_.push_back({substitute(resolved(left), locals_), false});
      }
      guards_.resize(around);
    } else if (const auto* store = stmt.as<Store>()) {
      const Scalar value = resolved(store->value);
      for (const Scalar& index : store->indices) note_loads(resolved(index));
      note_loads(value);
      add_access({store->buffer, resolved(store->indices), value, true});
    } else if (const auto* defined = stmt.as<DefineScalar>()) {
      if (!defined->value.defined()) return;
      note_loads(resolved(defined->value));
      const Scalar value = resolved(defined->value);
      if (!moving_.contains(defined->var.id()))
        locals_.insert_or_assign(defined->var.id(), substitute(value, locals_));
      if (!is_same(value)) moving_.insert(defined->var.id());
    } else if (const auto* assign = stmt.as<AssignScalar>()) {
      const Scalar value = resolved(assign->value);
      note_loads(value);
      assigned_.push_back({assign->var, value, surroundings()});
    }
  }

  // What `visit` sees happens only where the condition holds, or only where it does not.
  template <class Visit>
  void visit_under(const Scalar& condition, bool holds, const Visit& visit) {
    guards_.push_back({substitute(resolved(condition), locals_), holds});
    visit();
    guards_.pop_back();
  }

  Surroundings surroundings() const {
    Surroundings result{guards_, {}};
    std::vector<ScalarVar> vars;
    for (const Guard& guard : guards_) collect_vars(guard.condition, vars);
    for (const For* loop : inner_)
      if (std::find(vars.begin(), vars.end(), loop->var) != vars.end()) result.loops.push_back(loop);
    return result;
  }

  // A view of all of a buffer, whose elements are that buffer's.
  void note_view(const BufferView& view) {
    if (view.region || sources_.contains(view.source.id())) return;  // of a view of a view nothing is said
    if (!place_in_memory(view.buffer, {})) return;
    sources_.emplace(view.buffer.id(), view.source.id());
    shared_.insert(view.source.id());
  }

  void note_own(const BufferView& view) {
    if (!sources_.contains(view.buffer.id())) own_.insert(view.buffer.id());
  }

  std::uint64_t memory_of(const Buffer& buffer) const {
    const auto source = sources_.find(buffer.id());
    return source == sources_.end() ? buffer.id() : source->second;
  }

  void add_access(ResolvedAccess access) {
    const Buffer& buffer = access.buffer;
    access.memory = memory_of(buffer);
    access.around = surroundings();
    access.places = access.indices;
    if (access.memory != buffer.id() || shared_.contains(buffer.id()) || !buffer.strides().empty()) {
      if (const auto place = place_in_memory(buffer, access.indices)) access.places = {*place};
    }
    accesses_.push_back(std::move(access));
  }

  // Where an element lies, counted in elements, when strides and offset are literals; without indices only
  // whether they are.
  static std::optional<Scalar> place_in_memory(const Buffer& buffer, const std::vector<Scalar>& indices) {
    const Scalar& offset = buffer.elem_offset();
    if (buffer.is_pointer() || (offset.defined() && !offset.as_int())) return std::nullopt;
    std::int64_t compact = 1;
    const DType dtype = indices.empty() ? DType::Int64 : indices[0].dtype();
    Scalar place = int_literal(dtype, offset.defined() ? *offset.as_int() : 0);
    for (std::size_t d = buffer.shape().size(); d-- > 0;) {
      const auto extent = buffer.shape()[d].as_int();
      const auto stride = buffer.strides().empty() ? std::optional(compact) : buffer.strides()[d].as_int();
      if (!stride || !extent) return std::nullopt;
      if (__builtin_mul_overflow(compact, *extent, &compact)) return std::nullopt;
      if (indices.empty()) continue;
      if (indices[d].dtype() != dtype) return std::nullopt;
      place = place + indices[d] * int_literal(dtype, *stride);
    }
    return canonical(place);
  }

  Scalar resolved(const Scalar& scalar) const { return substitute(scalar, bound_); }
  std::vector<Scalar> resolved(const std::vector<Scalar>& scalars) const {
    std::vector<Scalar> result;
    for (const Scalar& each : scalars) result.push_back(resolved(each));
    return result;
  }

  // Loads, those of one side of a choice below its condition.
  void note_loads(const Scalar& value) {
    if (const auto* load = value.as<Load>()) {
      add_access({*load->buffer, load->indices, {}, false});
      for (const Scalar& index : load->indices) note_loads(index);
    } else if (const auto* n = value.as<Binary>()) {
      note_loads(n->a);
      note_loads(n->b);
    } else if (const auto* n = value.as<Compare>()) {
      note_loads(n->a);
      note_loads(n->b);
    } else if (const auto* n = value.as<Logical>()) {
      note_loads(n->a);
      visit_under(n->a, n->op == LogicalOp::And, [&] { note_loads(n->b); });
    } else if (const auto* n = value.as<Select>()) {
      note_loads(n->condition);
      if (is_one_sided(*n, value.dtype())) {
        visit_under(n->condition, true, [&] { note_loads(n->a); });
        visit_under(n->condition, false, [&] { note_loads(n->b); });
        return;
      }
      note_loads(n->a);
      note_loads(n->b);
    } else if (const auto* n = value.as<Cast>()) {
      note_loads(n->a);
    } else if (const auto* n = value.as<IntrinsicCall>()) {
      for (const Scalar& arg : n->args) note_loads(arg);
    }
  }

  // `value` with `at` for the loop variable.
  Scalar at(const Scalar& value, const Scalar& at) const {
    return substitute(value, ScalarMap{{loop_.var.id(), at}});
  }

  // An index as coefficient * loop variable + rest, where the rest is the same in every iteration.
  struct Affine {
    std::int64_t coefficient;
    Scalar rest;
  };
  std::optional<Affine> affine(const Scalar& index) const {
    const DType dtype = loop_.var.dtype();
    const Scalar next = binary(BinaryOp::Add, use(loop_.var), int_literal(dtype, 1));
    const auto step = canonical(binary(BinaryOp::Sub, at(index, next), index)).as_int();
    const Scalar rest = canonical(at(index, int_literal(dtype, 0)));
    if (!step || !is_same(rest)) return std::nullopt;
    return Affine{*step, rest};
  }

  // Every iteration stores to the same elements, and not the same value.
  std::optional<std::string> meets_itself(const ResolvedAccess& store) const {
    for (const Scalar& index : store.places) {
      const auto found = affine(index);
      if (!found || found->coefficient != 0) return std::nullopt;
    }
    if (is_same(store.value)) return std::nullopt;
    if (store.around.guards.empty()) return fmt::format("each stores to {}", text(store));
    if (!reached_.several(store.around)) return std::nullopt;
    return fmt::format("two store to {}", text(store));
  }

  // Two iterations store to one place, each in another turn of one loop inside.
  std::optional<std::string> meets_by_other_turns(const ResolvedAccess& store) const {
    constexpr std::int64_t most_tried = 64;
    const auto extent = loop_.extent.as_int();
    const bool plain = store.places.size() == 1 && extent && !loop_.step.defined();
    const auto outer = plain ? affine(store.places[0]) : std::nullopt;
    if (!outer || outer->coefficient == 0) return std::nullopt;
    for (const auto& [var, turns] : turns_) {
      if (moving_.contains(var.id())) continue;
      const Scalar& place = store.places[0];
      const auto moved = [&](const Scalar& scalar, const ScalarVar& by, std::int64_t distance) {
        const Scalar next = binary(BinaryOp::Add, use(by), int_literal(by.dtype(), distance));
        return substitute(scalar, ScalarMap{{by.id(), next}});
      };
      const auto step = canonical(binary(BinaryOp::Sub, moved(place, var, 1), place)).as_int();
      if (!step || *step == 0) continue;
      for (std::int64_t d = 1; d < std::min(*extent, most_tried); ++d) {
        if (outer->coefficient > INT32_MAX || outer->coefficient < INT32_MIN) break;
        const std::int64_t away = outer->coefficient * d;
        if (away % *step != 0 || std::abs(away / *step) >= turns) continue;
        const Scalar other = moved(moved(store.value, loop_.var, d), var, -(away / *step));
        if (is_constant(store.value) || prove_equal(other, store.value)) continue;
        if (!store.around.guards.empty() && !reached_.apart(store.around, d, var, -(away / *step))) continue;
        return fmt::format("two store to one place by {}", text(store));
      }
    }
    return std::nullopt;
  }

  static bool is_constant(const Scalar& value) { return value.as<IntLiteral>() || value.as<FloatLiteral>(); }

  // One iteration stores the element that another accesses.
  std::optional<std::string> meets(const ResolvedAccess& store, const ResolvedAccess& other) const {
    if (store.memory != other.memory || store.places.size() != other.places.size()) return std::nullopt;
    std::optional<std::int64_t> distance, place;  // of the two iterations; the one that stores
    for (std::size_t d = 0; d < store.places.size(); ++d) {
      const auto here = affine(store.places[d]), there = affine(other.places[d]);
      if (!here || !there) return std::nullopt;
      const auto apart = canonical(binary(BinaryOp::Sub, there->rest, here->rest)).as_int();
      if (!apart) return std::nullopt;
      if (here->coefficient == 0 && there->coefficient == 0) {
        if (*apart != 0) return std::nullopt;
        continue;
      }
      if (here->coefficient == 0 || *apart % here->coefficient != 0) return std::nullopt;
      std::optional<std::int64_t>& solved = there->coefficient == 0 ? place : distance;
      if (there->coefficient != 0 && there->coefficient != here->coefficient) return std::nullopt;
      const std::int64_t solution = *apart / here->coefficient;
      if (solved.value_or(solution) != solution) return std::nullopt;
      solved = solution;
    }
    if (distance.has_value() == place.has_value()) return std::nullopt;
    const auto begin = loop_.begin.as_int(), extent = loop_.extent.as_int();
    const std::int64_t step = loop_.step.defined() ? loop_.step.as_int().value_or(0) : 1;
    if (step <= 0) return std::nullopt;
    if (distance && (*distance == 0 || *distance % step != 0 || (extent && std::abs(*distance) >= *extent)))
      return std::nullopt;
    if (place &&
        (!begin || *place < *begin || *place - *begin >= extent.value_or(1) || (*place - *begin) % step != 0))
      return std::nullopt;
    const bool guarded = !store.around.guards.empty() || !other.around.guards.empty();
    const bool reached = !guarded || (distance ? reached_.apart(store.around, other.around, -*distance)
                                               : reached_.beside(store.around, *place, other.around));
    if (!reached) return std::nullopt;
    return fmt::format("one stores {}, which another {}", text(store), other.store ? "stores" : "loads");
  }

  // As far as single iterations tell, where an index is no polynomial.
  std::optional<std::string> meets_when_counted(const ResolvedAccess& store) const {
    const auto begin = loop_.begin.as_int(), extent = loop_.extent.as_int();
    const auto step = loop_.step.defined() ? loop_.step.as_int() : std::optional<std::int64_t>(1);
    if (!begin || !extent || !step || *step <= 0 || !store.around.guards.empty()) return std::nullopt;
    const CountedLoop counted{loop_.var, *begin, *step, (*extent - 1) / *step + 1};
    const auto polynomial = [&](const ResolvedAccess& access) {
      return std::all_of(access.places.begin(), access.places.end(),
                         [&](const Scalar& place) { return affine(place).has_value(); });
    };
    const bool plain = polynomial(store);
    std::optional<CountedPlaces> here;
    for (const ResolvedAccess& other : accesses_) {
      const bool itself = &other == &store;
      if (other.memory != store.memory || other.places.size() != store.places.size()) continue;
      if (!other.around.guards.empty() || (plain && (itself || polynomial(other)))) continue;
      if (!here) here = counted_places(store.places, counted);
      const auto there = here ? counted_places(other.places, counted) : std::nullopt;
      const auto found = there ? meeting(*here, *there) : std::nullopt;
      if (!found) continue;
      const auto in = [&](std::int64_t iteration) {
        return at(store.value, int_literal(loop_.var.dtype(), *begin + iteration * *step));
      };
      if (!itself)
        return fmt::format("one stores {}, which another {}", text(store), other.store ? "stores" : "loads");
      if (is_same(store.value) || prove_equal(in(found->first), in(found->second))) continue;
      return fmt::format("two store to {}", text(store));
    }
    return std::nullopt;
  }

  static std::string text(const ResolvedAccess& access) {
    return print(load(access.buffer, access.indices), {.for_messages = true});
  }

  struct Assigned {
    ScalarVar var;
    Scalar value;
    Surroundings around;
  };

  const For& loop_;
  ReachedIterations reached_;
  std::vector<Guard> guards_;      // around what is visited
  std::vector<const For*> inner_;  // likewise
  bool returns_ = false;
  std::unordered_set<std::uint64_t> moving_;   // variables that may differ from one iteration to the next
  std::unordered_set<std::uint64_t> written_;  // buffers
  std::unordered_set<std::uint64_t> own_;      // buffers and locals of one iteration
  std::unordered_set<std::uint64_t> counted_;  // variables of loops inside
  std::unordered_map<std::uint64_t, std::uint64_t> sources_;  // of views, by buffer
  std::unordered_set<std::uint64_t> shared_;                  // buffers that have views
  std::vector<std::pair<ScalarVar, std::int64_t>> turns_;     // loops inside with their extents
  ScalarMap bound_;
  ScalarMap locals_;  // that are never assigned, as what they were made of
  std::vector<ResolvedAccess> accesses_;
  std::vector<Assigned> assigned_;
};

}  // namespace

std::optional<std::string> iteration_dependence(const For& loop, std::span<const BufferView> views) {
  return Iterations(loop, views).dependence();
}

}  // namespace relish
