// Tangents of call_tir: which prim_func gives them, and its call.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/module.h"
#include "support/diagnostic.h"
#include "transform/forward/prim_tangent.h"

namespace relish {

// Gives the results of the original call, then the tangents of those in `outputs`.
struct PrimTangentCall {
  Expr call;
  std::vector<std::size_t> outputs;  // results
};

// Tangents of the prim_funcs of a module, made once for each set of arguments that take part.
class PrimTangents {
 public:
  explicit PrimTangents(Module& module) : module_(module) {}

  using TakesPart = std::function<bool(const Expr&)>;
  // Reports what stands in the way.
  void check(const CallTir& call, Span span, const TakesPart& takes_part, Diagnostics& diagnostics);
  // Nothing when no result has a tangent. `tangent_of` gives that of an argument, zeros too.
  std::optional<PrimTangentCall> call_with_tangents(const CallTir& call, const TakesPart& takes_part,
                                                    const std::function<Expr(const Expr&)>& tangent_of,
                                                    Span span);

 private:
  struct Made {
    std::optional<PrimTangent> tangent;
    std::vector<Obstacle> obstacles;
    std::string name;  // in the module; empty: not yet there
  };
  struct Layout {
    PrimFuncPtr function;
    std::vector<std::size_t> wrt;                     // parameters
    std::vector<std::size_t> argument_of, result_of;  // by parameter
    std::size_t argument_count = 0;                   // stands for none
  };
  Layout layout_of(const CallTir& call, const TakesPart& takes_part, Span span) const;
  Made& tangent_of(const Layout& layout);

  Module& module_;
  std::map<std::string, Made> made_;
};

}  // namespace relish
