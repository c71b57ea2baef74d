// Calls with sums handed to them.
#include "schedule/fusion/shared_sums.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/calls/call_layout.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "schedule/fusion/equal_sums.h"
#include "schedule/fusion/function_bodies.h"
#include "schedule/fusion/given_sums.h"
#include "schedule/fusion/unused_functions.h"
#include "support/interrupt.h"

namespace relish {
namespace {

class SumSharer {
 public:
  explicit SumSharer(const Module& module) : result_(module) {}

  Module run() {
    const std::size_t count = result_.functions.size();
    for (std::size_t i = 0; i < count; ++i)
      if (const auto* function = std::get_if<FunctionPtr>(&result_.functions[i]))
        result_.functions.replace(i, Bodies(*this, *function).shared());
    drop_unused(result_, replaced_);
    return std::move(result_);
  }

 private:
  // A call whose sums are looked at.
  struct Call {
    Var result;
    Expr value;
    PrimFuncPtr callee;

    const CallTir& tir() const { return *value.as<CallTir>(); }
  };

  // The bindings of one function, in its body and all bodies inside.
  class Bodies final : public ExprMapper {
   public:
    Bodies(SumSharer& sharer, FunctionPtr function) : sharer_(sharer), function_(std::move(function)) {}

    FunctionPtr shared() {
      for_each_body(*function_, [&](const std::vector<BindingBlock>& blocks) { plan(blocks); });
      if (planned_.empty()) return function_;
      leave_out_unused();
      return map(function_);
    }

   protected:
    void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
      const auto found = planned_.find(binding.var().id());
      if (found == planned_.end()) return ExprMapper::map_binding(binding, dataflow, into);
      for (const auto& [var, value] : found->second.before) {
        Binding sum;
        sum.kind = VarBinding{var, map(value)};
        sum.span = binding.span;
        into.push_back(std::move(sum));
      }
      if (!found->second.value.defined()) return;
      Binding made = binding;
      made.kind = VarBinding{binding.var(), map(found->second.value)};
      into.push_back(std::move(made));
    }

   private:
    // What stands in the place of a call; without a value it vanishes.
    struct Planned {
      std::vector<std::pair<Var, Expr>> before;
      Expr value;
    };

    void plan(const std::vector<BindingBlock>& blocks) {
      for (const BindingBlock& block : blocks) plan(block);
    }

    // Whether at least two calls of the block sum something.
    bool has_sums(const BindingBlock& block) {
      int calls = 0;
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        const auto* plain = std::get_if<VarBinding>(&binding.kind);
        const auto* call = plain ? plain->value.as<CallTir>() : nullptr;
        const Callee* callee = call ? sharer_.callee_of(*call) : nullptr;
        if (callee && callee->sums && ++calls == 2) return true;
      }
      return false;
    }

    void plan(const BindingBlock& block) {
      if (!has_sums(block)) return;
      EqualSumFinder finder;
      std::vector<Call> calls;
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        const auto* plain = std::get_if<VarBinding>(&binding.kind);
        const auto* call = plain ? plain->value.as<CallTir>() : nullptr;
        const auto* field = plain ? plain->value.as<TupleGet>() : nullptr;
        if (has_effects(binding.value()) || (call && !call->inplace_indices.empty())) {
          finder.forget();
        } else if (const Var* all = field ? field->tuple.as_var() : nullptr) {
          finder.take(plain->var, *all, static_cast<std::size_t>(field->index));
        } else if (const Callee* callee = call ? sharer_.callee_of(*call) : nullptr) {
          finder.note(plain->var, *call, *callee->function, callee->stages, plain->value.span());
          calls.push_back({plain->var, plain->value, callee->function});
        }
      }
      const std::vector<EqualSums> equal = finder.found();
      if (equal.empty()) return;
      hand_over(equal, calls, block.dataflow);
      for (const Call& call : calls) calls_.emplace(call.result.id(), call.value);
    }

    // Each of the sums becomes the result of a call before the first that takes it.
    void hand_over(std::vector<EqualSums> equal, const std::vector<Call>& calls, bool dataflow) {
      if (names_unread_) read_names();
      // A sum is made of those that stand before it.
      std::sort(equal.begin(), equal.end(),
                [](const EqualSums& a, const EqualSums& b) { return a.places.front() < b.places.front(); });
      std::map<std::size_t, std::vector<GivenSum>> given;  // by call
      std::map<std::size_t, std::vector<Expr>> arguments;
      for (const EqualSums& sums : equal) {
        const SumPlace first = sums.places.front();
        const Call& call = calls[first.call];
        const std::optional<CalledFunction> sum = sharer_.with_given(call, given[first.call], first.stage);
        if (!sum) continue;
        const Type type(TensorType{sums.target.dtype(), sums.target.shape(), sums.target.rank()});
        const Var var(names_.fresh_name(sums.target.name()), type, dataflow, call.value.span());
        planned_[call.result.id()].before.emplace_back(
            var, sharer_.call_of(call, *sum, arguments[first.call], {type}, false));
        for (const SumPlace& place : sums.places) {
          given[place.call].push_back({place.stage, place.moves, places_of(sums.target)});
          arguments[place.call].push_back(Expr(var));
        }
      }
      for (const auto& [number, sums] : given) {
        if (sums.empty()) continue;
        const Call& call = calls[number];
        const std::optional<CalledFunction> rest = sharer_.with_given(call, sums, std::nullopt);
        planned_[call.result.id()].value =
            sharer_.call_of(call, *rest, arguments[number], call.tir().out_types, call.tir().tuple_result);
        sharer_.replaced_.insert(call.callee->name);
      }
    }

    // Calls that were there for the sums alone, like the squares that were summed.
    void leave_out_unused() {
      std::unordered_map<std::uint64_t, std::int64_t> uses;
      const auto count = [&](const Expr& value, std::int64_t by) {
        for_each_expr(value, [&](const Expr& part) {
          if (const Var* var = part.as_var()) uses[var->id()] += by;
        });
      };
      for_each_expr(*function_, [&](const Expr& part) {
        if (const Var* var = part.as_var()) ++uses[var->id()];
      });
      std::vector<Expr> left;  // what is not computed any more
      for (const auto& [id, planned] : planned_) {
        for (const auto& sum : planned.before) count(sum.second, 1);
        count(planned.value, 1);
        left.push_back(calls_.at(id));
      }
      while (!left.empty()) {
        const Expr value = left.back();
        left.pop_back();
        count(value, -1);
        for_each_expr(value, [&](const Expr& part) {
          const Var* var = part.as_var();
          const auto call = var && uses[var->id()] == 0 ? calls_.find(var->id()) : calls_.end();
          if (call == calls_.end()) return;
          Planned& planned = planned_[var->id()];
          left.push_back(planned.value.defined() ? planned.value : call->second);
          sharer_.replaced_.insert(left.back().as<CallTir>()->callee.as<GlobalRef>()->name);
          planned.value = Expr();
          calls_.erase(call);
        });
      }
    }

    void read_names() {
      names_unread_ = false;
      for (const Var& param : function_->params) names_.reserve_name(param.name());
      for_each_binding(*function_, [&](const Binding& each) { names_.reserve_name(each.var().name()); });
    }

    SumSharer& sharer_;
    const FunctionPtr function_;
    FunctionBuilder names_;
    bool names_unread_ = true;
    std::unordered_map<std::uint64_t, Expr> calls_;       // by variable, in blocks with shared sums
    std::unordered_map<std::uint64_t, Planned> planned_;  // by variable
  };

  struct Callee {
    PrimFuncPtr function;
    std::vector<Stage> stages;
    bool sums = false;  // one of the stages sums; it may be a product as long as its factors are not known
  };

  // Null where nothing is known of what the call does.
  const Callee* callee_of(const CallTir& call) {
    const auto* global = call.callee.as<GlobalRef>();
    if (!global || !call.gradient_name.empty()) return nullptr;
    const auto [known, fresh] = callees_.try_emplace(global->name);
    if (fresh) {
      const PrimFuncPtr function = result_.prim_func(global->name);
      auto stages = function ? stages_of(*function) : std::nullopt;
      // A call with checks stays as it is: its arguments tell what fails, so all of them are needed.
      if (stages && !have_checks(*stages)) {
        const bool sums = std::any_of(stages->begin(), stages->end(), [](const Stage& stage) {
          return stage.reduces() && stage.init.defined();
        });
        known->second = Callee{function, std::move(*stages), sums};
      }
    }
    return known->second ? &*known->second : nullptr;
  }

  // The callee with sums handed to it: what is left, or what gives one of its sums.
  std::optional<CalledFunction> with_given(const Call& call, const std::vector<GivenSum>& given,
                                           std::optional<std::size_t> sum) {
    const Callee& callee = *callees_.at(call.callee->name);
    std::string key = call.callee->name + key_of(given, sum);
    const auto [known, fresh] = made_.try_emplace(std::move(key));
    if (!fresh) return known->second;
    const auto layout = call_layout(*call.callee, call.tir(), call.value.span());
    auto made = with_given_sums(*call.callee, callee.stages, layout, given, sum);
    if (!made) return std::nullopt;
    auto named = std::make_shared<PrimFunc>(*made->function);
    named->name = result_.fresh_name(named->name);
    made->function = named;
    result_.functions.push_back(made->function);
    known->second = std::move(made);
    return known->second;
  }

  Expr call_of(const Call& call, const CalledFunction& function, const std::vector<Expr>& sums,
               std::vector<Type> types, bool tuple_result) const {
    std::vector<Expr> args;
    for (const std::size_t i : function.arguments) args.push_back(call.tir().args[i]);
    for (const std::size_t i : function.sums) args.push_back(sums[i]);
    return call_tir(global_ref(GlobalFunction(function.function), call.tir().callee.span()), std::move(args),
                    std::move(types), tuple_result, call.value.span());
  }

  Module result_;
  std::unordered_map<std::string, std::optional<Callee>> callees_;
  std::map<std::string, std::optional<CalledFunction>> made_;
  std::unordered_set<std::string> replaced_;
};

}  // namespace

Module with_shared_sums(const Module& module) { return SumSharer(module).run(); }

}  // namespace relish
