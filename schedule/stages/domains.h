// Stages over the same domain: one loop for what several stages compute of the same element.
#pragma once

#include <vector>

#include "schedule/stages/stages.h"

namespace relish {

// Stages over the same domain that touch one buffer, or have a reader in common, become one, whose later
// values use the earlier ones by name. Temporaries that nobody reads any more are not stored.
void join_domains(std::vector<Stage>& stages, const BufferIds& temporaries);

// Whether the axes of both run over the same, pairwise, the first `count` of them.
bool same_axes(const Stage& a, const Stage& b, std::size_t count);

}  // namespace relish
