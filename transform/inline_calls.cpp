// Callees first, so that what is spliced in has no calls of its own left that could be inlined.
#include "transform/inline_calls.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/operators/user_gradient.h"
#include "ir/rewriting/call_inliner.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "transform/binding_replacer.h"
#include "transform/call_cycles.h"
#include "transform/canonicalize.h"
#include "transform/dead_code.h"
#include "transform/parameter_symbols.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::size_t most_inlined = 100000;  // of a function
constexpr std::size_t most_written = 300000;  // over all, as every function of a chain of calls grows

// What a caller must know of a function.
struct Callee {
  std::size_t bindings = 0;
  bool has_control = false;
};

Callee measured(const Function& function) {
  Callee callee;
  for_each_binding(function, [&](const Binding& binding) {
    ++callee.bindings;
    const Expr& value = binding.value();
    callee.has_control = callee.has_control || value.as<If>() || value.as<Loop>();
  });
  return callee;
}

// A function that is declared pure whatever it does: its callers may not do that themselves.
bool keeps_effects(const Function& function) {
  if (!find_attribute(function.attributes, "relax.force_pure")) return false;
  bool found = false;
  for_each_binding(function, [&](const Binding& binding) { found = found || has_effects(binding.value()); });
  return found;
}

class Inlining : public BindingReplacer {
 public:
  using Known = std::unordered_map<std::string, Callee>;

  // `callees`: the functions that may be inlined.
  // `written`: bindings that were written so far.
  Inlining(const Module& module, CallInliner& inliner, const Known& callees, const Function& function,
           std::size_t& written)
      : module_(module),
        inliner_(inliner),
        callees_(callees),
        bindings_(measured(function).bindings),
        written_(written) {
    reserve_names(function, builder_);
  }

 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* plain = std::get_if<VarBinding>(&mapped.kind);
    const FunctionPtr callee = plain ? to_inline(plain->value, dataflow) : nullptr;
    if (!callee) return keep(std::move(mapped), into);
    builder_.set_origin(mapped.value().span());
    builder_.begin_block(dataflow);
    const Expr result = inliner_.inline_call(builder_, *callee, mapped.value().as<FunctionCall>()->args);
    for (Binding& each : builder_.take_bindings()) keep(std::move(each), into);
    take_over(std::move(mapped), dataflow, result, into);
  }

 private:
  FunctionPtr to_inline(const Expr& value, bool dataflow) {
    const auto* call = value.as<FunctionCall>();
    const auto* global = call ? call->callee.as<GlobalRef>() : nullptr;
    const auto known = global ? callees_.find(global->name) : callees_.end();
    if (known == callees_.end() || (dataflow && known->second.has_control)) return nullptr;
    const std::size_t more = known->second.bindings;
    if (bindings_ + more > most_inlined || written_ + more > most_written) return nullptr;
    bindings_ += more;
    written_ += more;
    return module_.function(global->name);
  }

  const Module& module_;
  CallInliner& inliner_;
  const Known& callees_;
  std::size_t bindings_;
  std::size_t& written_;
  FunctionBuilder builder_;  // for names, and for the bindings of one call
};

class ModuleInliner {
 public:
  // `only`: those of the functions may be inlined; null: all.
  // `into`: the one function that calls are inlined into, with those that it reaches; empty: all functions.
  explicit ModuleInliner(const Module& module, const std::unordered_set<std::string>* only = nullptr,
                         const std::string& into = {})
      : result_(module), inliner_(result_), only_(only) {
    CallGraph calls;
    for (const GlobalFunction& global : result_.functions)
      if (into.empty() && std::get_if<FunctionPtr>(&global)) order_from(name_of(global));
    if (!into.empty()) order_from(into);
    for (const std::string& name : order_) calls[name] = global_references(*result_.function(name));
    kept_ = on_cycles(calls);
    for (const auto& [name, gradient] : user_gradients(result_)) kept_.insert(name);
    for (const std::string& name : order_)
      if (keeps_effects(*result_.function(name))) kept_.insert(name);
  }

  Module run() { return inlined() ? eliminate_dead_code(result_) : result_; }

  // With functions that nothing reaches any more.
  Module run_alone() {
    inlined();
    return std::move(result_);
  }

  // With bindings that nobody uses.
  Module run_for_compilation() {
    inlined();
    for (const std::string& name : changed_) result_.set(with_tuples_taken_apart(result_.function(name)));
    if (changed_.empty()) return result_;
    std::unordered_set<std::string> mentioned;
    for (const GlobalFunction& global : result_.functions)
      if (const auto* function = std::get_if<FunctionPtr>(&global))
        for (std::string& callee : global_references(**function)) mentioned.insert(std::move(callee));
    result_.functions.remove_if([&](const GlobalFunction& global) {
      const auto* function = std::get_if<FunctionPtr>(&global);
      return function && (*function)->is_private && callees_.contains((*function)->name) &&
             !mentioned.contains((*function)->name);
    });
    return result_;
  }

 private:
  // Whether a function has changed.
  bool inlined() {
    for (const std::string& name : order_) {
      const FunctionPtr function = result_.function(name);
      FunctionPtr made = Inlining(result_, inliner_, callees_, *function, written_).map(function);
      if (made != function) {
        made = with_parameter_symbols_joined(made);
        result_.set(made);
        changed_.push_back(name);
      }
      if (!kept_.contains(name) && (!only_ || only_->contains(name))) callees_.emplace(name, measured(*made));
    }
    return !changed_.empty();
  }

  // Enters the functions that this one reaches, then itself. By a list of its own: chains of calls are long.
  void order_from(const std::string& first) {
    struct Open {
      std::string name;
      std::vector<std::string> callees;
      std::size_t next = 0;
    };
    std::vector<Open> open;
    const auto enter = [&](const std::string& name) {
      const FunctionPtr function = result_.function(name);
      if (function && entered_.insert(name).second) open.push_back({name, global_references(*function)});
    };
    enter(first);
    while (!open.empty()) {
      Open& last = open.back();
      if (last.next < last.callees.size()) {
        const std::string callee = last.callees[last.next++];
        enter(callee);
      } else {
        order_.push_back(last.name);
        open.pop_back();
      }
    }
  }

  Module result_;
  CallInliner inliner_;
  std::unordered_set<std::string> entered_, kept_;
  std::vector<std::string> order_, changed_;
  const std::unordered_set<std::string>* const only_;
  Inlining::Known callees_;
  std::size_t written_ = 0;
};

// Functions that one call alone mentions, outside of branches and loops, with arguments of just the types
// that it has, all of whose sizes are numbers.
std::unordered_set<std::string> called_once(const Module& module) {
  std::unordered_map<std::string, int> mentions;
  std::unordered_set<std::string> fit;
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function) continue;
    for_each_expr(**function, [&](const Expr& expr) {
      if (const auto* named = expr.as<GlobalRef>()) ++mentions[named->name];
    });
    for (const BindingBlock& block : (*function)->blocks)
      for (const Binding& binding : block.bindings) {
        const auto* call = binding.value().as<FunctionCall>();
        const auto* named = call ? call->callee.as<GlobalRef>() : nullptr;
        const FunctionPtr callee = named ? module.function(named->name) : nullptr;
        if (!callee || callee->params.size() != call->args.size()) continue;
        bool same = true;
        for (std::size_t i = 0; i < call->args.size(); ++i)
          same = same && fully_known(callee->params[i].type()) &&
                 same_type(call->args[i].type(), callee->params[i].type());
        if (same) fit.insert(named->name);
      }
  }
  std::erase_if(fit, [&](const std::string& name) { return mentions[name] != 1; });
  return fit;
}

}  // namespace

Module with_single_calls_inlined(const Module& module) {
  const std::unordered_set<std::string> once = called_once(module);
  if (once.empty()) return module;
  Module result = ModuleInliner(module, &once).run_for_compilation();
  verify_after(result, "inline");
  return result;
}

Module with_function_values_inlined(const Module& module) {
  std::unordered_set<std::string> taking;
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function) continue;
    bool takes = (*function)->result_type.function() != nullptr;
    for (const Var& param : (*function)->params) takes = takes || param.type().function();
    if (takes) taking.insert((*function)->name);
  }
  return taking.empty() ? module : ModuleInliner(module, &taking).run_alone();
}

FunctionPtr with_calls_inlined(const Module& module, const std::string& function) {
  return ModuleInliner(module, nullptr, function).run_alone().function(function);
}

Module inline_calls(const Module& module) {
  Module result = ModuleInliner(module).run();
  verify_after(result, "inline");
  return result;
}

}  // namespace relish
