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

#include "ir/foreign_calls.h"
#include "ir/rewrite.h"
#include "loops/dependence.h"
#include "loops/primitives.h"

namespace relish {
namespace {

// Calls of calls double the text with every level; what would grow beyond this is not run.
constexpr std::size_t most_statements = 100'000;
constexpr int deepest = 200;

class Replacer {
 public:
  explicit Replacer(const Module& module) : module_(module) {}

  // The function without calls of the module; null when it keeps one.
  PrimFuncPtr without_calls(const std::string& name, int depth = 0) {
    if (const auto known = done_.find(name); known != done_.end()) return known->second;
    const PrimFuncPtr function = module_.prim_func(name);
    if (!function || called_prim_funcs(*function).empty()) return done_[name] = function;
    done_.emplace(name, nullptr);  // one that reaches itself keeps its calls
    if (depth > deepest) return nullptr;
    for (const std::string& callee : called_prim_funcs(*function))
      if (!without_calls(callee, depth + 1)) return nullptr;
    PrimFunc copy = *function;
    statements_ = 0;
    copy.body = rewrite(
        function->body, [&](const Scalar& scalar) { return value_of_call(scalar); },
        [&](const Stmt& stmt) { return statement_of_call(stmt); });
    if (statements_ > most_statements || !called_prim_funcs(copy).empty()) return nullptr;
    // Loops that called may have iterations that depend on each other, which only now can be seen.
    bool dependent = false;
    for_each_stmt(copy.body, [&](const Stmt& stmt) {
      const auto* loop = stmt.as<For>();
      const bool concurrent =
          loop && (loop->kind == LoopKind::Parallel || loop->kind == LoopKind::Vectorized);
      dependent = dependent || (concurrent && iteration_dependence(*loop));
    });
    if (dependent) return nullptr;
    hoist_allocations(copy);
    return done_[name] = std::make_shared<const PrimFunc>(std::move(copy));
  }

 private:
  struct Given {
    ScalarMap scalars;
    BufferMap buffers;
    std::vector<std::pair<ScalarVar, Scalar>> values;  // of the scalar parameters
    std::vector<Stmt> checks;                          // of sizes that only a run tells
  };

  const PrimFuncPtr& callee_of(const ForeignCall& call) const { return done_.at(call.function); }

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

  static bool has_concurrent_loop(const PrimFunc& function) {
    bool found = false;
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      const auto* loop = stmt.as<For>();
      found = found || (loop && (loop->kind == LoopKind::Parallel || loop->kind == LoopKind::Vectorized));
    });
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
    const PrimFuncPtr& callee = callee_of(*call);
    if (!callee || callee->result_dtype || !callee->body.defined()) return std::nullopt;
    for_each_stmt(callee->body, [&](const Stmt&) { ++statements_; });
    if (statements_ > most_statements) return std::nullopt;
    std::optional<Given> given = given_to(*callee, *call, stmt->span);
    if (!given) return std::nullopt;
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
    body.push_back(substitute(callee->body, given->scalars, given->buffers));
    return seq(std::move(body), stmt->span);
  }

  // A function that is one return stands for its value.
  std::optional<Scalar> value_of_call(const Scalar& scalar) {
    const auto* call = scalar.as<ForeignCall>();
    if (!call || !call->of_module) return std::nullopt;
    const PrimFuncPtr& callee = callee_of(*call);
    const auto* returned = callee && callee->body.defined() ? callee->body.as<Return>() : nullptr;
    if (!returned || !callee->allocations.empty()) return std::nullopt;
    std::optional<Given> given = given_to(*callee, *call, scalar.span());
    if (!given || !given->checks.empty()) return std::nullopt;
    Scalar value = substitute(returned->value, given->scalars, given->buffers);
    for (auto at = given->values.rbegin(); at != given->values.rend(); ++at)
      value = let(at->first, at->second, value, scalar.span());
    return cast(scalar.dtype(), value, scalar.span());
  }

  const Module& module_;
  std::unordered_map<std::string, PrimFuncPtr> done_;
  std::size_t statements_ = 0;
};

ModulePtr replaced(const ModulePtr& module) {
  Replacer replacer(*module);
  std::optional<Module> copy;
  for (std::size_t i = 0; i < module->functions.size(); ++i) {
    const auto* prim = std::get_if<PrimFuncPtr>(&module->functions[i]);
    if (!prim || called_prim_funcs(**prim).empty()) continue;
    PrimFuncPtr made = replacer.without_calls((*prim)->name);
    if (!made) continue;
    if (!copy) copy = *module;
    copy->functions[i] = std::move(made);
  }
  return copy ? std::make_shared<const Module>(*std::move(copy)) : module;
}

}  // namespace

ModulePtr with_prim_calls_replaced(const ModulePtr& module) {
  struct Known {
    const Module* address;
    std::weak_ptr<const Module> from;
    ModulePtr to;  // null: the module itself
  };
  constexpr std::size_t kept = 32;
  static std::mutex mutex;
  static std::list<Known> known;
  {
    std::lock_guard lock(mutex);
    for (auto at = known.begin(); at != known.end(); ++at) {
      if (at->address != module.get() || at->from.expired()) continue;
      known.splice(known.begin(), known, at);
      return at->to ? at->to : module;
    }
    std::erase_if(known, [](const Known& each) { return each.from.expired(); });
  }
  ModulePtr made = replaced(module);
  std::lock_guard lock(mutex);
  known.push_front({module.get(), module, made == module ? nullptr : made});
  if (known.size() > kept) known.pop_back();
  return made;
}

}  // namespace relish
