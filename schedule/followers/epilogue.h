// What follows a contraction on its own result, element by element: bias, activation, residual. It is done
// where the contraction has an element ready, while the tile is in the cache.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"
#include "schedule/nests/arrange.h"
#include "schedule/target.h"

namespace relish {

// The blocks of the contraction `nest` with the statements of `next` behind each element that is ready, when
// `next` is a nest over all elements of the contraction's result. `kept`: others read the result too, so that
// it is stored as well. Few rows, where only the run knows how many, are contracted first; `accumulators`
// receives what their sums are made of.
std::optional<Stmt> contract_with_epilogue(const Stmt& nest, const Stmt& next, bool kept, RangeProver& prover,
                                           const Target& target, Accumulators& accumulators);

// Whether contractions have their elements ready for what follows, by their text: the blocks of one are
// written to find that out, and the same one is asked about with each call that may follow it.
using ReadyContractions = std::unordered_map<std::string, bool>;
// The text of a nest, in which buffers have their places for names: those of calls of one prim_func read
// alike.
std::string text_by_places(const Stmt& nest);

// Whether contract_with_epilogue gives blocks, on a processor that is no particular one. `known` belongs to
// whoever asks again and again.
bool takes_epilogue(const Stmt& nest, const Stmt& next, RangeProver& prover, ReadyContractions& known);

}  // namespace relish
