// A function that is about to be differentiated: a copy of its body, the variables and results that are
// meant, what stands in the way, and the function that comes out. What reverse and forward mode share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/nodes/builder.h"
#include "transform/gradient/body_copy.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/job.h"
#include "transform/gradient/rule_check.h"

namespace relish {

class DifferentiatedFunction {
 public:
  DifferentiatedFunction(const Module& module, const Function& function, Way way = Way::Back);

  // The variables with these names, of parameters alone where `only_params`; none: all floating tensor
  // parameters. Everything that hangs on them is entered into the job.
  void choose(const std::vector<std::string>& names, bool only_params);
  // The floating tensor that the index path means; empty: the result itself, or field 0 of a tuple.
  Expr target(const std::vector<int>& path) const;
  // The same, which must be a scalar.
  Expr scalar_target(const std::vector<int>& path) const;
  // TypeError when nothing of the result is floating, or when its type hides what is.
  void require_floating_result() const;
  // Everything on the way to the targets that cannot be differentiated is reported, all at once, before any
  // work.
  void require_rules(const std::vector<Expr>& targets, Way way);

  // The module with the function `name` of these parameters, bindings and result.
  Module with(const std::string& name, std::vector<Var> params, std::vector<Binding> bindings,
              const Expr& result);

  Span result_span() const { return source.result_span.known() ? source.result_span : source.span; }

  const Function& source;
  GradientJob job;
  FunctionBuilder builder;
  BodyCopy body;
  std::vector<Var> wrt;

 private:
  std::string proposal(const std::string& name, bool only_params) const;
  Expr field_at(const std::vector<int>& path) const;
  const Expr* tuple_field(const Expr& expr, int index) const;
  const Binding* binding_of(const Var& var) const;

  CallPairs pairs_;
  std::unordered_map<std::string, Expr> by_name_, params_by_name_;
};

}  // namespace relish
