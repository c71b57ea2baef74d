// Where the way back begins to take values from the way there: which of them are kept, and which are computed
// again from those, since that costs less than to load them, or since memory is short.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/nodes/expr.h"
#include "ir/scalars/symbols.h"

namespace relish {

struct Cut {
  std::vector<Var> kept;       // parameters first, then in the order in which they are made
  std::vector<Binding> again;  // in order; they use what is kept, and what stands around both ways
};

// What is kept: all that is dear, or as little as can be: the parameters, and what cannot be repeated.
enum class Keeping : std::uint8_t { Dear, Little };

// `ahead` are the bindings of the way there, with the parameters of their body; `back` is the way back, which
// uses variables of both.
Cut cut_between(const std::vector<Var>& params, const std::vector<Binding>& ahead, const Region& back,
                Keeping keeping = Keeping::Dear);
// Variables of the bindings, each of a cast that names sizes which are mentioned and which nothing else
// tells.
std::vector<Var> size_tellers(const std::vector<Binding>& ahead, const SymbolList& mentioned,
                              const SymbolList& told);
// Adds the symbols that the expressions of the bindings mention.
void add_mentioned_in(const std::vector<Binding>& bindings, SymbolList& into);
// Those that can be computed again where as little as can be is kept.
bool can_repeat(const Binding& binding);

// The bytes of a value of the type; nothing where a size is open.
std::optional<std::int64_t> bytes_of(const Type& type);

}  // namespace relish
