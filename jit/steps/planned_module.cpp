// From steps back to the text that they were made of.
#include "jit/steps/planned_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "ir/calls/call_layout.h"
#include "ir/calls/direct_calls.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"

namespace relish::jit {
namespace {

using Replaced = std::unordered_map<const ExprNode*, Expr>;

class CallReplacer final : public ExprMapper {
 public:
  explicit CallReplacer(const Replaced& replaced) : replaced_(replaced) {}

 protected:
  Expr leave(const Expr& mapped) override {
    const auto found = replaced_.find(&mapped.node());
    return found == replaced_.end() ? mapped : found->second;
  }

 private:
  const Replaced& replaced_;
};

class PlanWriter {
 public:
  explicit PlanWriter(const LoweredProgram& program)
      : program_(program), steps_(program), made_(program.lifted.module) {}

  Module write(const std::vector<std::string>& written, const std::map<std::string, GivenParams>& given) {
    std::vector<std::string> entries = written;
    const Module& module = program_.lifted.module;
    for (const GlobalFunction& each : module.functions)
      if (const auto* graph = std::get_if<FunctionPtr>(&each)) made_.set(rewritten(*graph, {}));
    for (const auto& [name, params] : given) {
      const FunctionPtr function = module.function(name);
      if (!function || calls_directly(module, name)) continue;
      if (step::Donated donated = donated_leaves(*function, params); !donated.empty())
        entries.push_back(variant(function, donated).as<GlobalRef>()->name);
    }
    // Those that were found on the way; each may ask for more.
    for (; !wanted_.empty(); wanted_.pop_front()) {
      const Wanted& next = wanted_.front();
      Function made = copy_with_fresh_vars(*rewritten(next.function, next.donated));
      made.name = next.name;
      made.is_private = true;
      made_.set(std::make_shared<const Function>(std::move(made)));
    }
    leave_out_unreached(std::move(entries));
    return std::move(made_);
  }

 private:
  void leave_out_unreached(std::vector<std::string> reached) {
    std::unordered_set<std::string> known(reached.begin(), reached.end());
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const FunctionPtr function = made_.function(reached[i]);
      if (!function) continue;
      for (const std::string& callee : global_references(*function))
        if (known.insert(callee).second) reached.push_back(callee);
    }
    made_.functions.remove_if(
        [&](const GlobalFunction& function) { return !known.contains(name_of(function)); });
  }

  struct Wanted {
    FunctionPtr function;
    step::Donated donated;
    std::string name;
  };

  // The function for callers that give this up, under a name of its own.
  Expr variant(const FunctionPtr& function, const step::Donated& donated) {
    const auto [known, fresh] = variants_.try_emplace({function.get(), donated});
    if (fresh) {
      const std::string name = made_.fresh_name(function->name + "_given");
      auto named = std::make_shared<Function>(*function);
      named->name = name;
      named->is_private = true;
      made_.set(FunctionPtr(named));  // its body comes later
      known->second = global_ref(GlobalFunction(FunctionPtr(named)), function->span);
      wanted_.push_back({function, donated, name});
    }
    return known->second;
  }

  FunctionPtr rewritten(const FunctionPtr& function, const step::Donated& donated) {
    Replaced replaced;
    for_each_step(steps_.of(*function, donated).steps, [&](const Step& step) {
      if (const auto* kernel = std::get_if<step::CallKernel>(&step.kind)) {
        if (kernel->origin && steps_.joined_in(*kernel->callee)) in_place(*kernel, step.span, replaced);
      } else if (const auto* call = std::get_if<Apart<step::CallFunction>>(&step.kind)) {
        if (!(**call).donated.empty()) giving(**call, replaced);
      }
    });
    return replaced.empty() ? function : CallReplacer(replaced).map(function);
  }

  void in_place(const step::CallKernel& kernel, Span span, Replaced& replaced) {
    const Expr whole(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), kernel.origin));
    const auto* call = whole.as<CallTir>();
    const PrimFuncPtr before =
        call ? program_.lifted.module.prim_func(call->callee.as<GlobalRef>()->name) : nullptr;
    if (!before) return;
    const std::vector<ParamSource> layout = call_layout(*before, *call, span);
    CallTir made = *call;
    if (made.inplace_indices.empty()) made.inplace_indices.assign(made.out_types.size(), -1);
    for (const WrittenOver& pair : *steps_.joined_in(*kernel.callee)) {
      const std::size_t argument = layout.at(pair.argument).index, result = layout.at(pair.result).index;
      // A result has the type of what it takes the place of.
      if (!same_type(made.args.at(argument).type(), made.out_types.at(result))) return;
      made.inplace_indices.at(result) = static_cast<std::int64_t>(argument);
    }
    made.callee = global_ref(GlobalFunction(kernel.callee), made.callee.span());
    made_.set(kernel.callee);
    replaced.emplace(kernel.origin, call_tir(std::move(made), whole.span()));
  }

  void giving(const step::CallFunction& step, Replaced& replaced) {
    const Expr whole(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), step.origin));
    const auto* call = step.origin ? whole.as<FunctionCall>() : nullptr;
    if (!call) return;
    replaced.emplace(step.origin,
                     function_call(variant(step.callee, step.donated), call->args, whole.span()));
  }

  const LoweredProgram& program_;
  ProgramSteps steps_;
  Module made_;
  std::map<std::pair<const Function*, step::Donated>, Expr> variants_;
  std::deque<Wanted> wanted_;
};

}  // namespace

step::Donated donated_leaves(const Function& function, const GivenParams& given) {
  step::Donated donated;
  if (given.empty()) return donated;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const bool gives = std::find(given.begin(), given.end(), i) != given.end();
    const ValueTree tree =
        tree_of(function.params[i].type(), [](const ValueTree&) { return std::size_t{0}; });
    for_each_leaf(tree, [&](const ValueTree& leaf) {
      if (leaf.has_storage()) donated.push_back(gives && leaf.kind == ValueTree::TensorLeaf);
    });
  }
  return donated;
}

Module planned_module(const LoweredProgram& program, const std::vector<std::string>& written,
                      const std::map<std::string, GivenParams>& given) {
  Module made = PlanWriter(program).write(written, given);
  verify_after(made, "plan");
  return made;
}

}  // namespace relish::jit
