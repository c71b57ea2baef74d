// Interfaces to what lies below the IR: an Evaluator runs functions (interpreter, JIT), a BodyLoader reads
// the texts of the standard library. Passes use these and so do not see engines or the parser.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "runtime/value.h"

namespace relish {

class GivingEvaluator;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual std::string_view name() const = 0;  // "interp" or "jit"
  // Calls a Relax function or prim_func of the module. Relax: one value per parameter; a prim_func: values of
  // the parameters that it reads, in order; its written parameters are the results (a tuple when several).
  // Arguments that do not fit: DataError. Faults of the program: RuntimeError at the line.
  virtual Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) = 0;
  // Does beforehand what the first such call would do once (compiles the function); nothing in a tier that
  // does not compile. Lets `time` tell compiling from running.
  virtual void prepare(const ModulePtr& module, std::string_view function, std::span<const Value> args) {
    static_cast<void>(module), static_cast<void>(function), static_cast<void>(args);
  }
  // Itself, where it makes use of what callers give up (ir/operators/giving.h).
  virtual GivingEvaluator* giving() { return nullptr; }
};

class BodyLoader {
 public:
  virtual ~BodyLoader() = default;
  // The module of an embedded text such as "losses/cross_entropy.relish", read once and kept.
  virtual ModulePtr load(std::string_view path) = 0;
};

// The loader of this process; installed at start by the front end.
void install_body_loader(BodyLoader& loader);
BodyLoader& body_loader();

}  // namespace relish
