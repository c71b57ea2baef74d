// Dimensions, shapes and dtypes that the values of one generated function like to have.
#pragma once

#include <span>
#include <vector>

#include "ir/calls/entry.h"
#include "tests/generate/loop_generator.h"
#include "tests/generate/program.h"

namespace relish::generate {

struct GraphDims {
  const Options& options;
  Random& random;
  DType home;                           // of most of its floats
  std::vector<ScalarVar> symbols = {};  // with a value here
  std::size_t of_parameters = 0;        // the leading ones, which the parameters determine
  SymbolValues values = {};             // of the symbols in the sample call
  std::vector<std::vector<Scalar>> shapes = {};

  void add(const ScalarVar& symbol, std::int64_t value) {
    symbols.push_back(symbol);
    values.emplace(symbol.id(), value);
  }
  // Those that may stand in the type of a new parameter.
  std::span<const ScalarVar> parameter_symbols() const { return {symbols.data(), of_parameters}; }
  // A number, or an expression of a symbol.
  Scalar dimension();
  std::vector<Scalar> shape();
  DType dtype();
  // The type with every symbolic dim replaced by its value here.
  Type concrete(const Type& type) const { return concrete_type(type, values); }
};

}  // namespace relish::generate
