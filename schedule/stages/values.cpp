// Putting the value of a stage into the stages that read it.
#include "schedule/stages/values.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/reduction.h"
#include "schedule/plain_indices.h"
#include "schedule/stages/buffer_reads.h"
#include "schedule/stages/value_cost.h"

namespace relish {
namespace {

// More values than registers hold would go through memory all the same.
constexpr std::size_t most_values = 96;
// Nodes of an expression that may be written more than once.
constexpr int most_repeated_nodes = 24;

using Indices = std::vector<Scalar>;

Scalar iterations_of(const Stage& stage) {
  std::vector<Scalar> extents;
  for (const StageAxis& axis : stage.axes) extents.push_back(axis.extent);
  return product(extents);
}

bool at_most(const Scalar& a, const Scalar& b) {
  const auto x = a.as_int(), y = b.as_int();
  return x && y ? *x <= *y : prove_equal(a, b);
}

class ReaderInliner {
 public:
  ReaderInliner(std::vector<Stage>& stages, const BufferIds& temporaries)
      : stages_(stages), temporaries_(temporaries) {}

  void run() {
    for (std::size_t i = 0; i < stages_.size(); ++i) note(i);
    // Readers first, so that what is put into them reads from stages that still stand apart.
    std::vector<bool> gone(stages_.size());
    for (std::size_t i = stages_.size(); i-- > 0;) gone[i] = vanishes(i);
    std::size_t i = 0;
    std::erase_if(stages_, [&](const Stage&) { return gone[i++]; });
  }

 private:
  // By buffer, the stages that access it, in order.
  using Positions = std::unordered_map<std::uint64_t, std::set<std::size_t>>;

  void note(std::size_t position) {
    for_each_access(stages_[position], [&](const Buffer& buffer, const Indices&, bool store) {
      (store ? writers_ : readers_)[buffer.id()].insert(position);
    });
  }

  bool vanishes(std::size_t position) {
    const Stage& writer = stages_[position];
    if (!writer.maps() || writer.values.size() != 1) return false;
    const Buffer& target = writer.values.front().target;
    if (!temporaries_.contains(target.id()) || writers_[target.id()].size() != 1 || !covers(writer))
      return false;
    const std::set<std::size_t>& readers = readers_[target.id()];
    if (readers.empty() || *readers.begin() <= position) return false;
    if (!inputs_stay(position, *readers.rbegin()) || !pays(writer, readers)) return false;
    const Stage copy = writer;
    for (const std::size_t reader : readers) put_into(copy, stages_[reader]);
    std::vector<std::uint64_t> inputs;
    for_each_access(copy, [&](const Buffer& buffer, const Indices&, bool) { inputs.push_back(buffer.id()); });
    for (const std::uint64_t input : inputs) {
      if (input == target.id()) continue;
      readers_[input].erase(position);
      readers_[input].insert(readers.begin(), readers.end());
    }
    writers_.erase(target.id());
    return true;
  }

  // Whether the stage computes, element by element, with what a contraction stores.
  bool follows_contraction(const Stage& stage, std::set<std::size_t>& seen) const {
    bool found = false;
    for_each_access(stage, [&](const Buffer& buffer, const Indices&, bool store) {
      const auto writers = store || found ? writers_.end() : writers_.find(buffer.id());
      if (writers == writers_.end()) return;
      for (const std::size_t writer : writers->second) {
        if (found || !seen.insert(writer).second) continue;
        const Stage& made = stages_[writer];
        found = is_contraction(made) || (made.maps() && follows_contraction(made, seen));
      }
    });
    return found;
  }

  static bool covers(const Stage& writer) {
    const StageValue& value = writer.values.front();
    for (std::size_t d = 0; d < value.indices.size(); ++d) {
      const auto var = value.indices[d].as_var();
      const Scalar& dim = value.target.shape()[d];
      if (!var) {
        if (dim.as_int() != 1) return false;
        continue;
      }
      for (const StageAxis& axis : writer.axes)
        if (axis.var == *var && !prove_equal(axis.extent, dim)) return false;
    }
    return true;
  }

  // Whether nothing that the stage loads is written between it and its last reader.
  bool inputs_stay(std::size_t position, std::size_t last) {
    bool stay = true;
    for_each_access(stages_[position], [&](const Buffer& buffer, const Indices&, bool store) {
      if (store) return;
      const std::set<std::size_t>& writers = writers_[buffer.id()];
      const auto next = writers.upper_bound(position);
      stay = stay && (next == writers.end() || *next > last);
    });
    return stay;
  }

  bool pays(const Stage& writer, const std::set<std::size_t>& readers) const {
    const Scalar& value = writer.values.front().value;
    const Buffer& target = writer.values.front().target;
    const ValueCost cost = value_cost_of(value);
    if (cost.names || !has_affine_loads(value)) return false;
    // It is done where the contraction has its elements ready, before a pool takes windows of them.
    std::set<std::size_t> seen;
    if (follows_contraction(writer, seen) && std::any_of(readers.begin(), readers.end(), [&](std::size_t i) {
          return reads_windows(stages_[i], target) && !is_contraction(stages_[i]);
        }))
      return false;
    bool once = readers.size() == 1;
    for (const std::size_t i : readers) {
      const Stage& reader = stages_[i];
      const BufferReads reads = reads_of(reader, target);
      for (const Indices& indices : reads.all)
        if (!std::all_of(indices.begin(), indices.end(), is_affine)) return false;
      if (reader.values.size() + reads.all.size() > most_values) return false;
      const bool apart = reads.all.size() == 1 && (tells_iterations_apart(reads.all[0], reader) ||
                                                   at_most(iterations_of(reader), product(target.shape())));
      once = once && apart;
      // Panels of a contraction are copied more than once.
      if (is_contraction(reader) && !cost.moves()) return false;
      // Where an expression cannot be named it is written at each load.
      if (reads.always.size() < reads.all.size() && cost.nodes > most_repeated_nodes) return false;
    }
    return once || cost.moves() || cost.cheap() || cost.cheap_beside(moving_loads(writer, value));
  }

  // Indices are in the range of every dtype that counts them.
  static Scalar counted_in(DType dtype, const Scalar& index) {
    const auto* converted = index.as<Cast>();
    return converted && converted->a.dtype() == dtype ? converted->a : cast(dtype, index);
  }

  // The value of the element at `indices`.
  static Scalar value_at(const Stage& writer, const Indices& indices) {
    const StageValue& made = writer.values.front();
    ScalarMap axes;
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (const auto var = made.indices[d].as_var())
        axes.emplace(var->id(), counted_in(var->dtype(), indices[d]));
    return substitute(made.value, axes);
  }

  static Scalar replaced(const Scalar& value, const Stage& writer, const std::vector<Indices>& named,
                         const std::vector<ScalarVar>& names) {
    const Buffer& target = writer.values.front().target;
    return rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
      const auto* loaded = part.as<Load>();
      if (!loaded || !(*loaded->buffer == target)) return std::nullopt;
      for (std::size_t i = 0; i < named.size(); ++i)
        if (same_indices(named[i], loaded->indices)) return use(names[i], part.span());
      return value_at(writer, loaded->indices);
    });
  }

  static void put_into(const Stage& writer, Stage& reader) {
    const StageValue& made = writer.values.front();
    if (reader.reduces() || !reader.distinct || reader.init.defined()) return put_into_update(writer, reader);
    BufferReads reads = reads_of(reader, made.target);
    std::vector<ScalarVar> names;
    // What is just loaded, or a number, needs no name.
    if (made.value.as<Load>() || value_cost_of(made.value).nodes == 1) reads.always.clear();
    for (std::size_t i = 0; i < reads.always.size(); ++i)
      names.emplace_back(made.target.name(), made.target.dtype(), made.span);
    // In the order of the stages: in front of all that the reader does, unless an index uses one of its
    // names.
    std::vector<StageValue> values;
    std::vector<bool> named(names.size());
    const auto name_ready = [&](const Scalar& user, bool last) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Indices& at = reads.always[i];
        if (named[i] || (!last && uses_names(at, reader)) || (last && !loads_at(user, made.target, at)))
          continue;
        named[i] = true;
        values.push_back({names[i], {}, {}, value_at(writer, at), made.span, made.comments});
      }
    };
    name_ready({}, false);
    for (StageValue value : reader.values) {
      name_ready(value.value, true);
      value.value = replaced(value.value, writer, reads.always, names);
      for (Scalar& index : value.indices) index = replaced(index, writer, reads.always, names);
      values.push_back(std::move(value));
    }
    reader.values = std::move(values);
    simplify(reader);
  }

  static bool uses_names(const Indices& indices, const Stage& stage) {
    return std::any_of(stage.values.begin(), stage.values.end(), [&](const StageValue& value) {
      return value.name.defined() && std::any_of(indices.begin(), indices.end(), [&](const Scalar& index) {
               return uses_var(index, value.name);
             });
    });
  }

  static bool loads_at(const Scalar& value, const Buffer& buffer, const Indices& indices) {
    BufferReads reads;
    collect_reads(value, buffer, true, reads);
    return is_among(indices, reads.all);
  }

  // Into a stage that must stay one store: what it uses more than once is named inside of the expression.
  static void put_into_update(const Stage& writer, Stage& reader) {
    const StageValue& made = writer.values.front();
    StageValue& value = reader.values.front();
    Store store{value.target, value.indices, value.value};
    const auto update = as_update(store);
    Scalar inner = update ? update->addend : value.value;
    BufferReads reads;
    collect_reads(inner, made.target, true, reads);
    std::vector<Indices> named;
    std::vector<ScalarVar> names;
    if (reads.always.size() == 1 && count_loads(inner, made.target) > 1 &&
        value_cost_of(made.value).nodes > 1) {
      named = reads.always;
      names.emplace_back(made.target.name(), made.target.dtype(), made.span);
    }
    inner = replaced(inner, writer, named, names);
    if (!names.empty()) inner = let(names[0], value_at(writer, named[0]), inner, made.span);
    value.value = update ? binary(update->op, update->loaded, inner, value.value.span()) : inner;
    for (Scalar& index : value.indices) index = replaced(index, writer, {}, {});
    if (reader.init.defined()) reader.init = replaced(reader.init, writer, {}, {});
    simplify(reader);
  }

  static void simplify(Stage& stage) {
    RangeProver prover;
    for (const StageAxis& axis : stage.axes) {
      std::vector<ScalarVar> vars;
      collect_vars(axis.extent, vars);
      for (const ScalarVar& var : vars) prover.assume_dimension(var);
    }
    enter(stage, prover);
    for (StageValue& value : stage.values) value.value = with_plain_indices(value.value, prover);
    leave(stage, prover);
  }

  std::vector<Stage>& stages_;
  const BufferIds& temporaries_;
  Positions readers_, writers_;
};

}  // namespace

void compute_in_readers(std::vector<Stage>& stages, const BufferIds& temporaries) {
  ReaderInliner(stages, temporaries).run();
}

}  // namespace relish
