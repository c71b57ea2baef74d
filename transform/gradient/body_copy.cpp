// Copying the bindings of a function.
#include "transform/gradient/body_copy.h"

#include "ir/rewriting/regions.h"
#include "ir/scalars/symbols.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/checkpoints.h"
#include "transform/gradient/hidden_calls.h"
#include "transform/gradient/known_results.h"
#include "transform/parameter_symbols.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class BodyCopier {
 public:
  BodyCopier(GradientJob& job, FunctionBuilder& builder) : job_(job), builder_(builder) {}

  BodyCopy run(const Function& function) {
    for (const Var& param : function.params) builder_.reserve_name(param.name());
    reserve(function.blocks);
    std::unordered_map<std::string, ScalarVar> symbols;
    for_each_symbol(function, [&](const ScalarVar& symbol) { symbols.try_emplace(symbol.name(), symbol); });
    for (const Var& param : function.params) {
      const Var fresh(param.name(), param.type(), false, param.span());
      made_.params.push_back(fresh);
      if (const auto* scalar = fresh.type().as<ScalarType>(); scalar && scalar->dtype == DType::Int64) {
        const auto known = symbols.try_emplace(param.name(), ScalarVar(param.name(), DType::Int64)).first;
        job_.scalar_params.emplace(fresh.id(), known->second);
      }
      made_.vars.emplace(param.id(), Expr(fresh));
    }
    builder_.begin_block(false);
    for (const Binding& binding : all_bindings(function)) {
      poll_interrupt(binding.span);
      const auto* call = binding.value().as<FunctionCall>();
      const FunctionPtr inlined = call ? to_inline(*call) : nullptr;
      if (inlined) {
        inlined_ = true;
        builder_.set_origin(binding.value().span());
        const Expr value = substitute(binding.value(), made_.vars);
        made_.vars.insert_or_assign(
            binding.var().id(),
            inline_call(builder_, job_.module, job_.module, *inlined, value.as<FunctionCall>()->args));
        continue;
      }
      builder_.append(copy_binding(binding, made_.vars));
    }
    made_.result = substitute(function.result, made_.vars);
    builder_.end_block();
    made_.bindings = builder_.take_bindings();
    inline_in_regions();
    tell_results();
    if (inlined_) join_symbols();
    read_marks();
    return std::move(made_);
  }

 private:
  void inline_in_regions() {
    const auto hidden = [&](const FunctionCall& call) {
      const FunctionPtr function = to_inline(call);
      inlined_ = inlined_ || (function && hides_types(*function));
      return function && hides_types(*function) ? function : nullptr;
    };
    VarMap vars;
    made_.bindings = with_hidden_calls_inlined(made_.bindings, job_.module, hidden, builder_, vars);
    if (vars.empty()) return;
    made_.result = substitute(made_.result, vars);
    for (auto& [id, now] : made_.vars) now = substitute(now, vars);
  }

  void tell_results() {
    const auto with_gradient = [&](const FunctionCall& call) {
      return job_.user_gradient_of(call) ? job_.module.function(call.callee.as<GlobalRef>()->name) : nullptr;
    };
    VarMap vars;
    made_.bindings = with_known_results(made_.bindings, job_.module, with_gradient, builder_, vars);
    if (vars.empty()) return;
    made_.result = substitute(made_.result, vars);
    for (auto& [id, now] : made_.vars) now = substitute(now, vars);
  }

  // The numbers that inlined calls take are those of this function.
  void join_symbols() {
    Function whole;
    whole.params = made_.params;
    whole.blocks = {{.bindings = made_.bindings}};
    whole.result = made_.result;
    const ScalarMap joined = joined_parameter_symbols(whole, job_.scalar_params);
    if (joined.empty()) return;
    VarMap vars;
    std::vector<Binding> bindings;
    for (const Binding& binding : made_.bindings) bindings.push_back(copy_binding(binding, vars, joined));
    made_.bindings = std::move(bindings);
    made_.result = substitute(made_.result, vars, joined);
    for (auto& [id, now] : made_.vars) now = substitute(now, vars, joined);
  }

  // What the marks say goes into the job; the body is differentiated without them.
  void read_marks() {
    job_.again.merge(values_between_marks(made_.bindings));
    VarMap renamed;
    std::vector<Binding> plain = without_marks(made_.bindings, renamed);
    if (renamed.empty()) return;
    made_.bindings = std::move(plain);
    made_.result = substitute(made_.result, renamed);
    for (auto& [id, now] : made_.vars) now = substitute(now, renamed);
  }

  // The names that are bound, in branches and loops too; a nested function has its own.
  void reserve(const std::vector<BindingBlock>& blocks) {
    for (const Binding& binding : all_bindings(blocks)) {
      builder_.reserve_name(binding.var().name());
      if (binding.value().as<FunctionExpr>()) continue;
      for_each_body(binding.value(), [&](const Body& body) {
        for (const Var& param : body.params) builder_.reserve_name(param.name());
        reserve(body.blocks);
      });
    }
  }

  FunctionPtr to_inline(const FunctionCall& call) {
    if (job_.user_gradient_of(call)) return nullptr;
    if (const auto* global = call.callee.as<GlobalRef>()) {
      const FunctionPtr function = job_.module.function(global->name);
      return function && job_.pairs->is_inlined(*function) ? job_.body_of(*function) : nullptr;
    }
    return nullptr;
  }

  GradientJob& job_;
  FunctionBuilder& builder_;
  BodyCopy made_;
  bool inlined_ = false;  // a call was
};

}  // namespace

BodyCopy copy_body(GradientJob& job, const Function& function, FunctionBuilder& builder) {
  return BodyCopier(job, builder).run(*job.body_of(function));
}

}  // namespace relish
