// A generated program: a module that is well formed by construction, values for its function `main`, and what
// of the language it covers. The same options give the same program.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/operators/evaluator.h"
#include "runtime/value.h"

namespace relish::generate {

struct Options {
  std::uint64_t seed = 0;
  // Every binding is run on the program's inputs as it is made; one whose value is not finite, faults, or
  // jumps when its operands move a little is drawn anew.
  bool evaluated = false;
  // Types that say less than is known, values that only the interpreter has: for programs that are not
  // compiled.
  bool loose = false;
  bool comments = true;
  // float64 only, operators that have gradient rules, a result that is a sum: for checks of gradients.
  bool differentiable = false;
  // Inputs are NaN, infinities, zeros of both signs, subnormal and extreme numbers.
  bool special_values = false;
  // The program is generated as text (surface.h).
  bool surface = false;
  // An operator that `main` calls in its middle, with its results in what `main` gives.
  std::string target = {};
};

struct Program {
  Options options;
  std::string text;  // of a surface program, as it was written; else empty
  ModulePtr module;
  std::vector<Value> inputs;  // of `main`
  // Operators called, pairs in which the second takes the first's result, and language constructs by name.
  std::set<std::string> operators;
  std::set<std::pair<std::string, std::string>> pairs;
  std::set<std::string> constructs;
  // The loosest agreement class among what the program computes: 2 when every step rounds once as written.
  int agreement = 2;
};

Program generate_program(const Options& options);

// The interpreter that judges bindings.
Evaluator& reference();

}  // namespace relish::generate
