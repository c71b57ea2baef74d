// Gradients of call_tir: which prim_func is the adjoint of a call, and its call.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"
#include "support/diagnostic.h"
#include "transform/gradient/prim_adjoint.h"

namespace relish {

// The prim_func of that name, with the calls of others replaced by what these do; null when there is none.
PrimFuncPtr whole_prim_func(const Module& module, const std::string& name);

// Adjoints of the prim_funcs of a module, made once for each set of arguments and results that take part.
class PrimAdjoints {
 public:
  explicit PrimAdjoints(Module& module) : module_(module) {}

  using TakesPart = std::function<bool(const Expr&)>;
  // Reports what stands in the way of a gradient for the arguments that take part.
  void check(const CallTir& call, Span span, const TakesPart& takes_part, Diagnostics& diagnostics);
  // Where the adjoint of the call has its values from: "buffers", "recompute" or "tape".
  std::string_view kept_by(const CallTir& call, Span span, const TakesPart& takes_part);
  // What each argument gets; undefined: nothing. `cotangents` by result, undefined where none arrived;
  // `values` gives a result of the call.
  std::vector<Expr> partials(const CallTir& call, const TakesPart& takes_part,
                             const std::vector<Expr>& cotangents,
                             const std::function<Expr(std::size_t)>& values, FunctionBuilder& builder);

 private:
  struct Made {
    std::optional<PrimAdjoint> adjoint;
    std::vector<Obstacle> obstacles;
    std::string name, counter;  // in the module; empty: not yet there
  };
  // The parameters of the callee that take part.
  struct Parts {
    PrimFuncPtr function;
    std::vector<std::size_t> wrt, outputs;            // parameters
    std::vector<std::size_t> inputs, results;         // all buffers that are given, and that come out
    std::vector<std::size_t> arguments;               // of wrt, by position among the call's
    std::vector<std::size_t> argument_of, result_of;  // by parameter
  };
  Parts parts_of(const CallTir& call, const TakesPart& takes_part, const std::vector<bool>& given, Span span);
  Made& adjoint_of(const Parts& parts, std::size_t results);
  void add_sizes(const Made& made, const Parts& parts, const CallTir& call, FunctionBuilder& builder,
                 std::vector<Expr>& args);

  Module& module_;
  std::map<std::string, Made> made_;
};

}  // namespace relish
