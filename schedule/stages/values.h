// Values instead of buffers: what one stage stores for others is computed where it is used.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

using BufferIds = std::unordered_set<std::uint64_t>;

// Stages that store to one of the `temporaries`, which nobody sees outside, vanish where their readers can
// compute the element themselves: each is needed once, or it costs next to nothing.
void compute_in_readers(std::vector<Stage>& stages, const BufferIds& temporaries);

// Stages over the same domain become one, whose later values use the earlier ones by name. Temporaries that
// nobody reads any more are not stored.
void join_domains(std::vector<Stage>& stages, const BufferIds& temporaries);

// A sum of products of two factors, each with an axis of its own among those that are stored.
bool is_contraction(const Stage& stage);

// Whether the axes of both run over the same, pairwise, the first `count` of them.
bool same_axes(const Stage& a, const Stage& b, std::size_t count);

}  // namespace relish
