// What is told of each binding on the way: by which rule it is gone back through.
#include <fmt/format.h>

#include "ir/operators/op.h"
#include "ir/rewriting/regions.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/path_account.h"

namespace relish {

namespace {

std::string rule_of(GradientJob& job, const Binding& binding, bool taped) {
  const Expr& value = binding.value();
  if (const auto written = job.written_for(value)) return written->gradient->name;
  if (const auto* call = value.as<OpCall>())
    return call->op->vjp ? fmt::format("R.{}", call->op->name) : "zero";
  if (const auto* call = value.as<FunctionCall>())
    return job.pairs->of(*call, [&](const Expr& arg) { return job.reaches(arg); }).backward;
  if (const auto* call = value.as<CallTir>()) {
    const std::string& name = call->callee.as<GlobalRef>()->name;
    if (!call->gradient_name.empty()) return call->gradient_name;
    const auto takes_part = [&](const Expr& arg) { return job.reaches(arg); };
    return fmt::format("{}: {}", name, job.prims.kept_by(*call, value.span(), takes_part));
  }
  if (value.as<If>()) return taped ? "if, by tapes" : "if, computed again";
  if (value.as<Loop>()) return "loop backwards";
  return "field by field";
}

}  // namespace

void note_path(GradientJob& job, const Binding& binding, bool active, bool in_recursion) {
  const bool taped = in_recursion && holds_recursion(job, binding.value());
  const Expr& value = binding.value();
  job.account->note(binding, active, active ? rule_of(job, binding, taped) : std::string());
  const auto* loop = active ? value.as<Loop>() : nullptr;
  for (std::size_t i = 0; loop && i < loop->body->params.size(); ++i) {
    const Var& param = loop->body->params[i];
    const Binding carried{VarBinding{param, Expr(param)}, binding.span, nullptr, false};
    job.account->note(carried, job.varied.contains(param.id()), "carried by the loop");
  }
  // What stands in branches that are computed again is gone through in a copy; the lines are those of the
  // text.
  if (!active || !value.as<If>() || taped) return;
  for_each_body(value, [&](const Body& body) {
    for (const Binding& inner : all_bindings(body.blocks)) {
      const bool varied = job.varied.contains(inner.var().id());
      note_path(job, inner, varied, in_recursion);
      if (varied) job.account->keep(inner.var(), "computed again", 0);
    }
  });
}

}  // namespace relish
