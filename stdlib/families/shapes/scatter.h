// Scattering: elements of `updates` go to places of a copy of `data` that indices tell. What the operators
// have in common is here: how an update joins what is there, and the gradients of every such way.
//
//   update  the last update in row-major order stays
//   add, mul, max, min  of what was there and all updates
//   mean    the mean of what was there and all updates
#pragma once

#include <functional>

#include "stdlib/families/shapes/movement.h"

namespace relish::scatter {

enum class Reduction { Update, Add, Mul, Mean, Max, Min };

// Rejects by "reduction" what is none of the reductions.
Reduction reduction_of(const CallView& call, bool with_mean);

// The class of agreement of a scatter: updates are moved, chosen, or joined with rounding.
Agreement agreement(Reduction reduction);
// What an element is made of at most, where argument 2 is the updates: what was there and each of them.
std::int64_t terms(const CallView& call, const Type& result);

// One place: the position in `data` of the update at a position in `updates`, in row-major order.
using Place = std::function<std::int64_t(const Shape& update)>;
Tensor evaluate(const Tensor& data, const Tensor& updates, Reduction reduction, const Place& place);

// The loop nest: for every index of `around` (dims of the updates whose results lie apart) one update after
// the other over `along`. `at(around, along)` gives the index of the update and that of its place.
struct Step {
  Dims update, place;
};
using LoweredPlace = std::function<Step(const Dims& around, const Dims& along)>;
void lower(Lowering& lowering, const Buffer& data, const Buffer& updates, const Buffer& result,
           Reduction reduction, const Dims& around, const Dims& along, const LoweredPlace& at);

// Gradients. `put(into, updates, reduction)` scatters to the same places, `get(x)` gathers from them, and
// `order(updates)` numbers the updates in the order in which they are made, as int64 of their shape.
struct Operations {
  std::function<GraphValue(const GraphValue& into, const GraphValue& updates, std::string_view reduction)>
      put;
  std::function<GraphValue(const GraphValue& x)> get;
  std::function<GraphValue()> order;
};
struct DataAndUpdates {
  GraphValue data, updates;
};
DataAndUpdates gradients(Reduction reduction, const Operations& operations, const GraphValue& g,
                         const GraphValue& data, const GraphValue& updates, const GraphValue& result);

}  // namespace relish::scatter
