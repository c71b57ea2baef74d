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
#include "transform/dead_code.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::size_t most_bindings = 100000;  // of a function
constexpr std::size_t most_written = 300000;   // over all, as every function of a chain of calls grows

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
    if (bindings_ + more > most_bindings || written_ + more > most_written) return nullptr;
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
  explicit ModuleInliner(const Module& module) : result_(module), inliner_(result_) {
    CallGraph calls;
    for (const GlobalFunction& global : result_.functions) {
      const auto* function = std::get_if<FunctionPtr>(&global);
      if (!function) continue;
      order_from((*function)->name);
      calls[(*function)->name] = global_references(**function);
    }
    kept_ = on_cycles(calls);
    for (const auto& [name, gradient] : user_gradients(result_)) kept_.insert(name);
  }

  Module run() {
    bool changed = false;
    for (const std::string& name : order_) {
      const FunctionPtr function = result_.function(name);
      const FunctionPtr made = Inlining(result_, inliner_, callees_, *function, written_).map(function);
      changed = changed || made != function;
      if (made != function) result_.set(made);
      if (!kept_.contains(name)) callees_.emplace(name, measured(*made));
    }
    return changed ? eliminate_dead_code(result_) : result_;
  }

 private:
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
  std::vector<std::string> order_;
  Inlining::Known callees_;
  std::size_t written_ = 0;
};

}  // namespace

Module inline_calls(const Module& module) {
  Module result = ModuleInliner(module).run();
  verify_after(result, "inline");
  return result;
}

}  // namespace relish
