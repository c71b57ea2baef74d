// Faults at sites.
#include "jit/engine/site_faults.h"

#include <span>

#include "ir/calls/entry.h"
#include "support/failure.h"

namespace relish::jit {

void fail_at_site(const Site& site, const RtError& error, const CallState& state) {
  if (site.kind == FaultKind::ShapeMismatch) {
    // The same check as the interpreter's, on a value of the shape that was found.
    if (!site.wanted.as<ShapeType>()) try {
        element_count(std::span(state.fault_values.data(), state.fault_values.size() - site.symbols.size()));
      } catch (Failure& failure) {
        failure.at(site.span);
        throw;
      }
    const std::size_t symbols_at = state.fault_values.size() - site.symbols.size();
    SymbolValues symbols;
    for (std::size_t i = 0; i < site.symbols.size(); ++i)
      symbols[site.symbols[i].id()] = state.fault_values[symbols_at + i];
    Shape dims(state.fault_values.begin(),
               state.fault_values.begin() + static_cast<std::ptrdiff_t>(symbols_at));
    Value found = site.wanted.as<ShapeType>() ? Value(ShapeValue{std::move(dims)})
                                              : Value(Tensor::empty(site.dtype, std::move(dims)));
    match_value(found, site.wanted, symbols, ErrorClass::Runtime, site.span, site.subject);
    RELISH_CHECK(false, "a shape that compiled code refused fits");
  }
  const bool unsigned_index = site.kind == FaultKind::IndexOutOfRange && site.dtype == DType::UInt64;
  fail_fault({site.kind,
              site.subject,
              {error.values[0], error.values[1], error.values[2], unsigned_index ? 1 : error.values[3]}},
             site.span);
}

}  // namespace relish::jit
