// Entry of a call of a prim_func, the same way for both tiers: what of its parameters the caller gives,
// which tensors are made for the results, the symbolic dims that the arguments solve, and the check of every
// value against its parameter.
#pragma once

#include <span>
#include <vector>

#include "ir/calls/entry.h"
#include "ir/nodes/stmt.h"

namespace relish {

// One value per parameter, and which of them are results.
struct PrimArguments {
  std::vector<Value> all;
  std::vector<std::size_t> results;
  std::vector<std::size_t> made;  // results of which the caller gave nothing
  SymbolValues symbols;

  // What the call gives: the one result, or a tuple of them.
  Value result() const;
};

// `given`: values of the parameters that are read, in order. Those that are written are results: a tensor
// that is read and written is copied, one that is only written is made, of zeros. UsageError for a wrong
// number of values, DataError for one that does not fit. `cleared`: else those that are made hold anything.
PrimArguments bind_prim_func(const PrimFunc& function, std::vector<Value> given, bool cleared = true);

// The same of values for all parameters, as a call_tir has them; fails with `error_class` at `call`.
SymbolValues bind_prim_func(const PrimFunc& function, std::span<const Value> all, ErrorClass error_class,
                            Span call);

}  // namespace relish
