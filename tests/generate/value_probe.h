// Computes what a binding would hold in the sample call of a generated function, and judges whether that
// suits an evaluated program.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/calls/entry.h"
#include "ir/nodes/expr.h"
#include "tests/generate/graph_dims.h"

namespace relish::generate {

// A variable in scope.
struct KnownValue {
  Var var;
  std::optional<Value> value;  // in evaluated programs
  std::string maker;           // operator that gave it
};

// Whether values of the type are small enough to be worked on many times.
bool is_small(const Type& concrete);

class ValueProbe {
 public:
  ValueProbe(const Module& module, Random& random, const GraphDims& dims)
      : module_(module), random_(random), dims_(dims) {}

  // The value, with every operand a little moved when `move`; nothing when it faults.
  std::optional<Value> run(const Expr& value, const std::vector<KnownValue>& known, bool move) const;
  // The value when it is moderate, small, and steady: near operands give a near one.
  std::optional<Value> judged(const Expr& value, const std::vector<KnownValue>& known) const;

  std::vector<std::pair<Var, Value>> anchors;  // parameters and casts: they determine the symbols

 private:
  const Module& module_;
  Random& random_;
  const GraphDims& dims_;
};

}  // namespace relish::generate
