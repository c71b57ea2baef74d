// What of a gradient's path cannot be differentiated: found before any work, all at once.
#pragma once

#include <set>
#include <string>

#include "support/diagnostic.h"
#include "transform/gradient/job.h"

namespace relish {

class RuleCheck {
 public:
  RuleCheck(GradientJob& job, Diagnostics& diagnostics, Way way = Way::Back)
      : job_(job), diagnostics_(diagnostics), way_(way) {}

  // The bindings of a function or region; `targets` are the leaves that are differentiated.
  void check(const std::vector<Binding>& bindings, const std::vector<Expr>& targets);

 private:
  void check(const Binding& binding);
  void check_call(const FunctionCall& call, Span span);
  void check_loop(const Loop& loop, Span span);
  bool moves(const Expr& value) const;
  // Refuses what passes into or out of a region or callee and may hold floats that its type does not tell of.
  void check_passed(const std::string& name, const Type& type, Span span);

  GradientJob& job_;
  Diagnostics& diagnostics_;
  const Way way_;
  std::set<std::string> called_;  // functions and which arguments take part
};

}  // namespace relish
