// Stages: what a prim_func does, as a list of loop nests that each give values to elements of one domain, or
// check some. The form in which nests are fused; prim_funcs that do something else have none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

struct StageAxis {
  ScalarVar var;
  Scalar extent;  // the axis runs over [0, extent)
  bool reduces = false;
};

// A value of one iteration: has a name, by which values behind it use it, or is stored, or both. Or it is a
// check: a condition that has to hold, else the run ends with the message.
struct StageValue {
  ScalarVar name;               // undefined: none
  Buffer target;                // undefined: it is not stored
  std::vector<Scalar> indices;  // of the target
  Scalar value;
  Span span;
  CommentsPtr comments;
  std::optional<std::string> message = {};  // of a check
};

struct Stage {
  std::string name;
  Span span;
  std::vector<StageAxis> axes;     // as the loops lie, outermost first
  std::vector<StageValue> values;  // computed in this order
  Scalar init;           // what the elements hold before the first update; undefined: what they held
  bool distinct = true;  // each index of a target is an axis, or the place of a dimension of one

  bool reduces() const;
  // It stores nothing: for each element of the domain it checks what other stages stored. What is told of a
  // run is the first of its checks that does not hold, so stages that check stay by themselves, in their
  // order.
  bool checks() const;
  // Each element of the domain is computed once, from what other stages stored.
  bool maps() const { return distinct && !reduces() && !init.defined() && !checks(); }
  // It maps, and all it does is to load the one value that it stores.
  bool copies_elements() const {
    return maps() && values.size() == 1 && values.front().target.defined() && values.front().value.as<Load>();
  }
};

// A function of more stages stays as it is: what is asked of pairs of them takes the square of their number.
inline constexpr std::size_t most_stages = 128;

// The stages of the function, none of which may fail but by its checks; nothing when it does something else.
// Axes of one iteration are left out.
std::optional<std::vector<Stage>> stages_of(const PrimFunc& function);
bool have_checks(const std::vector<Stage>& stages);

// A copy with axes and names of its own, in terms of what stands for scalars and buffers.
Stage fresh_stage(const Stage& stage, const ScalarMap& scalars, const BufferMap& buffers);
void replace_in(Stage& stage, const ScalarMap& scalars, const BufferMap& buffers);

using BufferIds = std::unordered_set<std::uint64_t>;

using VisitAccess = std::function<void(const Buffer&, const std::vector<Scalar>& indices, bool store)>;
void for_each_access(const Stage& stage, const VisitAccess& visit);
bool loads_from(const Stage& stage, const Buffer& buffer);
bool stores_to(const Stage& stage, const Buffer& buffer);
// Whether the stage reduces windows of the buffer, as pools do: an index moves with an axis of its result and
// with one that it reduces.
bool reads_windows(const Stage& stage, const Buffer& buffer);

// A sum of products of two factors, each with an axis of its own among those that are stored.
bool is_contraction(const Stage& stage);

// Inside of the loops of the stage.
void enter(const Stage& stage, RangeProver& prover);
void leave(const Stage& stage, RangeProver& prover);

bool uses_var(const Scalar& value, const ScalarVar& var);

}  // namespace relish
