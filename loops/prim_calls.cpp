// Replacement of the calls between prim_funcs.
#include "loops/prim_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/foreign_calls.h"
#include "ir/rewriting/rewrite.h"
#include "loops/dependence.h"
#include "loops/primitives.h"
#include "support/big_stack.h"

namespace relish {
namespace {

// Calls of calls double the text with every level; what would grow beyond this is not run.
constexpr std::size_t most_statements = 100'000;
constexpr std::size_t deepest = 4000;

class Replacer {
 public:
  explicit Replacer(const Module& module) {
    for (const GlobalFunction& function : module.functions)
      if (const auto* prim = std::get_if<PrimFuncPtr>(&function)) functions_.emplace((*prim)->name, *prim);
  }

  // The function without calls of the module. Where one of them, in it or in what it calls, cannot be
  // replaced, that call is all that it does.
  PrimFuncPtr without_calls(const PrimFunc& function) {
    statements_ = 0;
    beyond_limit_ = false;
    path_ = {function.name};
    PrimFunc copy = function;
    copy.body = expanded(function.body);
    if (const auto fault = call_at_fault(function, copy.body)) {
      copy.body = make_stmt(Evaluate{*fault}, fault->span());
      if (beyond_limit_) copy.attributes = with_attribute(copy.attributes, too_many_calls, true);
    } else {
      hoist_allocations(copy);
    }
    return std::make_shared<const PrimFunc>(std::move(copy));
  }

 private:
  struct Given {
    ScalarMap scalars;
    BufferMap buffers;
    std::vector<std::pair<ScalarVar, Scalar>> values;  // of the scalar parameters
    std::vector<Stmt> checks;                          // of sizes that only a run tells
  };

  PrimFuncPtr callee_of(const ForeignCall& call) const {
    const auto found = functions_.find(call.function);
    return found == functions_.end() ? nullptr : found->second;
  }

  // With the calls replaced, and those of what comes in their place.
  Stmt expanded(const Stmt& body) {
    return rewrite(
        body, [&](const Scalar& scalar) { return value_of_call(scalar); },
        [&](const Stmt& stmt) { return statement_of_call(stmt); });
  }

  // Whether the callee may come in the place of a call: it does not reach itself, and there is room.
  bool may_enter(const PrimFunc& callee) {
    if (std::find(path_.rbegin(), path_.rend(), callee.name) != path_.rend()) return false;
    for_each_stmt(callee.body, [&](const Stmt&) { ++statements_; });
    beyond_limit_ = beyond_limit_ || statements_ > most_statements || path_.size() > deepest;
    return !beyond_limit_;
  }

  static std::optional<Scalar> first_call(const Stmt& body, bool any) {
    std::optional<Scalar> first;
    for_each_scalar(body, [&](const Scalar& scalar) {
      const auto* call = scalar.as<ForeignCall>();
      if (call && !first && (any || call->of_module)) first = scalar;
    });
    return first;
  }

  // The call that stands in the way: one that stayed, or one in a loop whose iterations are now seen to
  // depend on each other.
  static std::optional<Scalar> call_at_fault(const PrimFunc& written, const Stmt& body) {
    if (first_call(body, false)) return first_call(body, true);
    std::vector<BufferView> views;
    for_each_stmt(body, [&](const Stmt& stmt) {
      if (const auto* view = stmt.as<ViewStmt>()) views.push_back(view->view);
    });
    bool dependent = false;
    for_each_stmt(body, [&](const Stmt& stmt) {
      const auto* loop = concurrent_loop(stmt);
      dependent = dependent || (loop && iteration_dependence(*loop, views));
    });
    if (!dependent) return std::nullopt;
    std::optional<Scalar> inside;
    for_each_stmt(written.body, [&](const Stmt& stmt) {
      if (const auto* loop = concurrent_loop(stmt); loop && !inside) inside = first_call(loop->body, false);
    });
    return inside ? inside : first_call(written.body, false);
  }

  // What the calls at the level of the function made belongs to the function, as in text, where its sizes are
  // known at entry.
  static void hoist_allocations(PrimFunc& function) {
    const auto* sequence = function.body.as<SeqStmt>();
    if (!sequence) return;
    std::unordered_set<std::uint64_t> at_entry;
    for (const PrimParam& param : function.params) {
      if (param.scalar()) at_entry.insert(param.scalar()->id());
      std::vector<ScalarVar> vars;
      if (const Buffer* buffer = param.buffer())
        for (const Scalar& size : buffer->shape()) collect_vars(size, vars);
      for (const ScalarVar& var : vars) at_entry.insert(var.id());
    }
    std::vector<Stmt> body;
    for (const Stmt& child : sequence->body) {
      const auto* made = child.as<AllocateStmt>();
      std::vector<ScalarVar> vars;
      if (made)
        for (const Scalar& size : made->buffer.shape()) collect_vars(size, vars);
      const bool hoisted = made && !made->value.defined() && !made->buffer.is_pointer() &&
                           std::all_of(vars.begin(), vars.end(),
                                       [&](const ScalarVar& var) { return at_entry.contains(var.id()); });
      if (hoisted)
        function.allocations.push_back(made->buffer);
      else
        body.push_back(child);
    }
    if (body.size() != sequence->body.size()) function.body = seq(std::move(body), function.body->span);
  }

  static const For* concurrent_loop(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    const bool concurrent = loop && (loop->kind == LoopKind::Parallel || loop->kind == LoopKind::Vectorized);
    return concurrent ? loop : nullptr;
  }

  static bool has_concurrent_loop(const PrimFunc& function) {
    bool found = false;
    for_each_stmt(function.body, [&](const Stmt& stmt) { found = found || concurrent_loop(stmt); });
    return found;
  }

  // What the parameters stand for; nothing when an argument does not fit.
  static std::optional<Given> given_to(const PrimFunc& callee, const ForeignCall& call, Span span) {
    Given given;
    if (call.args.size() != callee.params.size()) return std::nullopt;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const ScalarVar* scalar = callee.params[i].scalar();
      if (!scalar) continue;
      if (call.args[i].as<DataOf>() || call.args[i].as<TextLiteral>() || is_pointer(call.args[i]))
        return std::nullopt;
      const ScalarVar own(scalar->name(), scalar->dtype(), scalar->span());
      given.values.emplace_back(own, cast(scalar->dtype(), call.args[i], call.args[i].span()));
      given.scalars.emplace(scalar->id(), use(own));
    }
    std::vector<std::uint64_t> used;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Buffer* wanted = callee.params[i].buffer();
      if (!wanted) continue;
      const auto* data = call.args[i].as<DataOf>();
      if (!data) return std::nullopt;
      const Buffer& found = *data->buffer;
      if (found.is_pointer() || wanted->is_pointer() || found.dtype() != wanted->dtype() ||
          found.rank() != wanted->rank() || !wanted->strides().empty() || wanted->elem_offset().defined())
        return std::nullopt;
      used.push_back(found.id());
      given.buffers.emplace(wanted->id(), found);
      for (std::size_t d = 0; d < wanted->shape().size(); ++d) {
        const auto size = wanted->shape()[d].as_var();
        if (!size) continue;
        const auto known = found.shape()[d].as_int();
        given.scalars.emplace(
            size->id(), known ? int_literal(size->dtype(), *known) : cast(size->dtype(), found.shape()[d]));
      }
    }
    // Iterations at one time must not meet in one buffer under two names.
    std::sort(used.begin(), used.end());
    if (std::adjacent_find(used.begin(), used.end()) != used.end() && has_concurrent_loop(callee))
      return std::nullopt;
    for (const PrimParam& param : callee.params) {
      const Buffer* wanted = param.buffer();
      for (std::size_t d = 0; wanted && d < wanted->shape().size(); ++d) {
        std::vector<ScalarVar> vars;
        collect_vars(wanted->shape()[d], vars);
        for (const ScalarVar& var : vars)
          if (!given.scalars.contains(var.id())) return std::nullopt;
        const Scalar size = canonical(substitute(wanted->shape()[d], given.scalars));
        const Scalar& found = given.buffers.at(wanted->id()).shape()[d];
        if (prove_equal(size, found)) continue;
        if (prove_different(size, found)) return std::nullopt;
        given.checks.push_back(make_stmt(
            AssertStmt{equal(size, found),
                       fmt::format("dimension {} of '{}' of {} is another", d, wanted->name(), callee.name)},
            span));
      }
    }
    return given;
  }

  std::optional<Stmt> statement_of_call(const Stmt& stmt) {
    const auto* evaluate = stmt.as<Evaluate>();
    const auto* call = evaluate ? evaluate->value.as<ForeignCall>() : nullptr;
    if (!call || !call->of_module) return std::nullopt;
    const PrimFuncPtr callee = callee_of(*call);
    if (!callee || callee->result_dtype || !callee->body.defined()) return std::nullopt;
    std::optional<Given> given = given_to(*callee, *call, stmt->span);
    if (!given || !may_enter(*callee)) return std::nullopt;
    std::vector<Stmt> body;
    // What the text gives away counts as read and written, whatever the callee does with it.
    for (const Scalar& arg : call->args)
      if (arg.as<DataOf>())
        body.push_back(make_stmt(Evaluate{data_of(*arg.as<DataOf>()->buffer, false)}, stmt->span));
    for (auto& [var, value] : given->values)
      body.push_back(make_stmt(DefineScalar{var, value, true}, stmt->span));
    body.insert(body.end(), given->checks.begin(), given->checks.end());
    for (const Buffer& buffer : callee->allocations)
      body.push_back(make_stmt(AllocateStmt{remade(buffer, given->scalars, given->buffers)}, buffer.span()));
    rename_bound(callee->body, given->scalars, given->buffers);
    path_.push_back(callee->name);
    body.push_back(expanded(substitute(callee->body, given->scalars, given->buffers)));
    path_.pop_back();
    return seq(std::move(body), stmt->span);
  }

  // A function that is one return stands for its value.
  std::optional<Scalar> value_of_call(const Scalar& scalar) {
    const auto* call = scalar.as<ForeignCall>();
    if (!call || !call->of_module) return std::nullopt;
    const PrimFuncPtr callee = callee_of(*call);
    const auto* returned = callee && callee->body.defined() ? callee->body.as<Return>() : nullptr;
    if (!returned || !callee->allocations.empty()) return std::nullopt;
    std::optional<Given> given = given_to(*callee, *call, scalar.span());
    if (!given || !given->checks.empty() || !may_enter(*callee)) return std::nullopt;
    path_.push_back(callee->name);
    Scalar value = rewrite(substitute(returned->value, given->scalars, given->buffers),
                           [&](const Scalar& inner) { return value_of_call(inner); });
    path_.pop_back();
    for (auto at = given->values.rbegin(); at != given->values.rend(); ++at)
      value = let(at->first, at->second, value, scalar.span());
    return cast(scalar.dtype(), value, scalar.span());
  }

  std::unordered_map<std::string, PrimFuncPtr> functions_;
  std::vector<std::string> path_;  // the functions around what is expanded, from the outermost
  std::size_t statements_ = 0;
  bool beyond_limit_ = false;
};

// The prim_funcs that are called from elsewhere than prim_funcs: those that no other calls, those that
// functions mention, and `wanted`. Only these need to do without calls.
std::unordered_set<std::string> entries_of(const Module& module, std::string_view wanted) {
  std::unordered_set<std::string> called, entries{std::string(wanted)};
  for (const GlobalFunction& function : module.functions) {
    if (const auto* prim = std::get_if<PrimFuncPtr>(&function)) {
      for (std::string& callee : called_prim_funcs(**prim)) called.insert(std::move(callee));
    } else {
      for (std::string& name : global_references(*std::get<FunctionPtr>(function)))
        entries.insert(std::move(name));
    }
  }
  for (const GlobalFunction& function : module.functions)
    if (!called.contains(name_of(function))) entries.insert(name_of(function));
  return entries;
}

struct Replacement {
  ModulePtr module;                                             // null: the module itself
  std::shared_ptr<const std::unordered_set<std::string>> left;  // prim_funcs that keep their calls
};

Replacement replaced(const ModulePtr& module, std::string_view wanted) {
  const std::unordered_set<std::string> entries = entries_of(*module, wanted);
  Replacer replacer(*module);
  std::unordered_set<std::string> left;
  std::optional<Module> copy;
  for (std::size_t i = 0; i < module->functions.size(); ++i) {
    const auto* prim = std::get_if<PrimFuncPtr>(&module->functions[i]);
    if (!prim || called_prim_funcs(**prim).empty()) continue;
    if (!entries.contains((*prim)->name)) {
      left.insert((*prim)->name);
      continue;
    }
    PrimFuncPtr made = replacer.without_calls(**prim);
    if (!copy) copy = *module;
    copy->functions.replace(i, std::move(made));
  }
  Replacement result{nullptr, std::make_shared<const std::unordered_set<std::string>>(std::move(left))};
  if (copy) result.module = std::make_shared<const Module>(*std::move(copy));
  return result;
}

// The last replacements, by module and the function that is wanted besides.
Replacement remembered(const ModulePtr& module, const std::string& wanted) {
  struct Known {
    const Module* address;
    std::weak_ptr<const Module> from;
    std::string wanted;
    Replacement to;
  };
  constexpr std::size_t kept = 32;
  static std::mutex mutex;
  static std::list<Known> known;
  {
    std::lock_guard lock(mutex);
    for (auto at = known.begin(); at != known.end(); ++at) {
      if (at->address != module.get() || at->wanted != wanted || at->from.expired()) continue;
      known.splice(known.begin(), known, at);
      return at->to;
    }
    std::erase_if(known, [](const Known& each) { return each.from.expired(); });
  }
  Replacement made;
  with_big_stack([&] { made = replaced(module, wanted); });
  std::lock_guard lock(mutex);
  known.push_front({module.get(), module, wanted, made});
  if (known.size() > kept) known.pop_back();
  return made;
}

}  // namespace

ModulePtr with_prim_calls_replaced(const ModulePtr& module, std::string_view function) {
  const std::string name(function);
  Replacement made = remembered(module, "");
  if (made.left->contains(name)) made = remembered(module, name);
  return made.module ? made.module : module;
}

Module prim_calls_inlined(const ModulePtr& module) {
  Module result = *with_prim_calls_replaced(module, "");
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* prim = std::get_if<PrimFuncPtr>(&result.functions[i]);
    if (prim && !called_prim_funcs(**prim).empty()) result.functions.replace(i, module->functions[i]);
  }
  return result;
}

}  // namespace relish
