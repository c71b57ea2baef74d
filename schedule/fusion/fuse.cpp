// Fusion of a module: groups of calls in every body, then the nests of every prim_func.
#include "schedule/fusion/fuse.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/rewriting/scalar_arguments.h"
#include "ir/verify/verify.h"
#include "loops/explicit_wraps.h"
#include "schedule/fusion/groups.h"
#include "schedule/fusion/shared_sums.h"
#include "schedule/fusion/taken_results.h"
#include "schedule/fusion/unused_functions.h"

namespace relish {
namespace {

// Names of fused functions tell so many of what they do.
constexpr std::size_t most_named = 4;

class ModuleFuser {
 public:
  ModuleFuser(const Module& module, FusionNotes* notes, CheckingCalls* checking)
      : result_(module), notes_(notes), checking_(checking) {
    for (const GlobalFunction& each : result_.functions) {
      if (const auto* function = std::get_if<PrimFuncPtr>(&each))
        prim_funcs_.emplace(name_of(each), *function);
    }
  }

  Module run() {
    const std::size_t count = result_.functions.size();
    for (std::size_t i = 0; i < count; ++i)
      if (const auto* function = std::get_if<FunctionPtr>(&result_.functions[i]))
        result_.functions.replace(i, Bodies(*this, *function).fused());
    drop_unused(result_, replaced_);
    for (std::size_t i = 0; i < result_.functions.size(); ++i)
      if (const auto* function = std::get_if<PrimFuncPtr>(&result_.functions[i]))
        result_.functions.replace(i, fuse(*function));
    return std::move(result_);
  }

 private:
  // The bindings of one function, in its body and all bodies inside.
  class Bodies final : public ExprMapper {
   public:
    Bodies(ModuleFuser& fuser, FunctionPtr function) : fuser_(fuser), function_(std::move(function)) {}

    FunctionPtr fused() {
      plan(function_->blocks, {function_->result});
      for_each_expr(*function_, [&](const Expr& expr) {
        if (const auto* branch = expr.as<If>()) {
          plan(branch->then_region->blocks, branch->then_region->results);
          plan(branch->else_region->blocks, branch->else_region->results);
        } else if (const auto* loop = expr.as<Loop>()) {
          plan(loop->body->blocks, loop->body->results);
          if (loop->condition) plan(loop->condition->blocks, loop->condition->results);
        } else if (const auto* nested = expr.as<FunctionExpr>()) {
          plan(nested->function->blocks, {nested->function->result});
        }
      });
      if (replaced_.empty()) return function_;
      for (const Var& param : function_->params) names_.reserve_name(param.name());
      for_each_binding(*function_, [&](const Binding& each) { names_.reserve_name(each.var().name()); });
      return map(function_);
    }

   protected:
    void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
      const auto found = replaced_.find(binding.var().id());
      if (found == replaced_.end()) return ExprMapper::map_binding(binding, dataflow, into);
      if (found->second) call(*found->second, binding, dataflow, into);
    }

   private:
    void plan(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results) {
      const auto callee_of = [&](const Expr& value) { return fuser_.callee_of(value); };
      for (FusedGroup& group : fusible_groups(blocks, results, callee_of, fuser_.calls_)) {
        if (group.vanishes) {
          replace(group);
          continue;
        }
        if (!group.made) {
          fuser_.note(group.calls.front().callee->function->name, group.apart);
          continue;
        }
        groups_.push_back(std::make_shared<FusedGroup>(std::move(group)));
        replace(*groups_.back());
        replaced_[groups_.back()->calls.back().result.id()] = groups_.back();
      }
    }

    // The calls of the group vanish from where they stand.
    void replace(const FusedGroup& group) {
      for (const FusibleCall& each : group.calls) {
        if (!each.lent) replaced_.emplace(each.result.id(), nullptr);
        fuser_.replaced_.insert(each.callee->function->name);
      }
    }

    // The one call, and its results taken apart.
    void call(const FusedGroup& group, const Binding& last, bool dataflow, std::vector<Binding>& into) {
      std::vector<const FusibleCall*> calls;
      std::vector<Var> results;
      for (std::size_t i = 0; i < group.calls.size(); ++i) {
        calls.push_back(&group.calls[i]);
        if (group.kept[i]) results.push_back(group.calls[i].result);
      }
      std::vector<Type> types;
      for (const Var& result : results) types.push_back(result.type());
      const Span span = last.value().span();
      const PrimFuncPtr function = fuser_.function_of(group, calls);
      fuser_.note(function->name, group.apart);
      const Expr callee = global_ref(GlobalFunction(function), span);
      const Expr value = with_scalar_parameters(
          call_tir(callee, CallFuser::arguments(calls, group.kept), types, results.size() > 1, span),
          scalars_);
      for (const FusibleCall& each : group.calls)
        if (each.callee->checks && fuser_.checking_) fuser_.checking_->emplace(&value.node(), each.value);
      Binding made = last;
      if (results.size() == 1) {
        made.kind = VarBinding{results.front(), value};
        into.push_back(std::move(made));
        return;
      }
      const Var all(names_.fresh_name(dataflow ? "lv" : "gv"), value.type(), dataflow, span);
      made.kind = VarBinding{all, value};
      made.annotated = false;
      into.push_back(std::move(made));
      for (std::size_t i = 0; i < results.size(); ++i) {
        Binding field;
        field.kind = VarBinding{results[i], tuple_get(Expr(all), static_cast<int>(i), results[i].span())};
        field.span = results[i].span();
        into.push_back(std::move(field));
      }
    }

    ModuleFuser& fuser_;
    const FunctionPtr function_;
    const ScalarParameters scalars_{*function_};
    FunctionBuilder names_;
    std::vector<std::shared_ptr<const FusedGroup>> groups_;
    // By variable: null where the call vanishes, else the group whose call stands here.
    std::unordered_map<std::uint64_t, std::shared_ptr<const FusedGroup>> replaced_;
  };

  void note(const std::string& name, const std::vector<FusionNote>& apart) {
    if (!notes_) return;
    std::vector<FusionNote>& known = (*notes_)[name];
    known.insert(known.end(), apart.begin(), apart.end());
  }

  const FusibleCallee* callee_of(const Expr& value) {
    const auto* call = value.as<CallTir>();
    if (!call) return nullptr;
    const auto* global = call->callee.as<GlobalRef>();
    const FusibleCallee* callee = global ? callee_of(*call, *global) : nullptr;
    if (global && !callee) note(global->name, {{value.span(), why_alone(*call)}});
    return callee;
  }
  const FusibleCallee* callee_of(const CallTir& call, const GlobalRef& global) {
    if (call.tuple_result || !call.inplace_indices.empty() || !call.gradient_name.empty()) return nullptr;
    const auto found = prim_funcs_.find(global.name);
    if (found == prim_funcs_.end()) return nullptr;
    const auto [known, fresh] = callees_.try_emplace(global.name);
    if (fresh) {
      if (auto stages = stages_of(*found->second)) {
        const std::size_t loops =
            fuse_stages(*stages, found->second->allocations, found->second->span, contractions_).loops;
        const bool checks = have_checks(*stages);
        known->second = FusibleCallee{found->second, std::move(*stages), loops, checks};
      }
    }
    return known->second ? &*known->second : nullptr;
  }

  // The function of a group, in the module under a name that tells what it does.
  PrimFuncPtr function_of(const FusedGroup& group, const std::vector<const FusibleCall*>& calls) {
    const std::shared_ptr<FusedCalls> made = calls_.with_function(calls, group.kept);
    PrimFuncPtr& known = named_[made.get()];
    if (known) return known;
    std::string wanted = "fused";
    for (std::size_t i = 0; i < group.calls.size() && i < most_named; ++i)
      wanted += "_" + group.calls[i].callee->function->name;
    auto function = std::make_shared<PrimFunc>(*made->function);
    function->name = result_.fresh_name(wanted);
    known = std::move(function);
    result_.functions.push_back(known);
    return known;
  }

  Module result_;
  FusionNotes* const notes_;
  CheckingCalls* const checking_;
  ReadyContractions contractions_;
  CallFuser calls_{contractions_};
  std::unordered_set<std::string> replaced_;
  std::unordered_map<std::string, PrimFuncPtr> prim_funcs_;
  std::unordered_map<std::string, std::optional<FusibleCallee>> callees_;
  std::unordered_map<const FusedCalls*, PrimFuncPtr> named_;
};

}  // namespace

PrimFuncPtr fuse(const PrimFuncPtr& function) {
  auto stages = stages_of(*function);
  if (!stages || stages->size() < 2) return function;
  ReadyContractions contractions;
  FusedBody fused =
      fuse_stages(std::move(*stages), function->allocations, function->body->span, contractions);
  if (!fused.changed) return function;
  auto made = std::make_shared<PrimFunc>(*function);
  made->allocations = std::move(fused.allocations);
  made->body = fused.body;
  return made;
}

Module fuse(const Module& module, FusionNotes* notes, CheckingCalls* checking) {
  Module result =
      ModuleFuser(with_shared_sums(with_taken_results(with_explicit_wraps(module))), notes, checking).run();
  verify_after(result, "fuse");
  return result;
}

}  // namespace relish
