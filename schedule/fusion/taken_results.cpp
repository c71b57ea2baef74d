// Finding the one result that is taken, and the statements that compute it.
#include "schedule/fusion/taken_results.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/call_layout.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "schedule/fusion/function_bodies.h"
#include "schedule/fusion/unused_functions.h"
#include "schedule/plain_indices.h"
#include "schedule/stages/stages.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// Whether each result is a copy of elements of an argument, as the parts of a split are: computed by
// themselves they cost no more than together.
bool copies_elements(const PrimFunc& function) {
  const auto stages = stages_of(function);
  return stages && std::all_of(stages->begin(), stages->end(), [](const Stage& stage) {
           return stage.copies_elements() && has_affine_loads(stage.values.front().value);
         });
}

bool tells(const PrimParam& param, const ScalarVar& var) {
  if (param.scalar()) return *param.scalar() == var;
  const auto& shape = param.buffer()->shape();
  return std::any_of(shape.begin(), shape.end(),
                     [&](const Scalar& dim) { return dim.as_var() == std::optional(var); });
}

// The function without the statements that nothing but other results needs. None when they need each other.
PrimFuncPtr computing_one(const PrimFunc& function, const CallTir& call, std::size_t taken, Span span) {
  const auto* sequence = function.body.as<SeqStmt>();
  if (!sequence || sequence->body.size() > most_stages) return nullptr;
  // A check is needed whatever is taken.
  const auto stages = stages_of(function);
  if (!stages || have_checks(*stages)) return nullptr;
  auto made = std::make_shared<PrimFunc>(function);
  made->params.clear();
  std::vector<Buffer> others;
  std::unordered_set<std::uint64_t> needed;
  const std::vector<ParamSource> layout = call_layout(function, call, span);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const bool result = layout[i].kind == ParamSource::Result;
    if (result && layout[i].index != taken) {
      others.push_back(*function.params[i].buffer());
      continue;
    }
    if (result) needed.insert(function.params[i].buffer()->id());
    made->params.push_back(function.params[i]);
  }
  std::vector<Stmt> kept;
  std::unordered_set<std::uint64_t> touched;
  for (std::size_t i = sequence->body.size(); i-- > 0;) {
    RangeProver prover;
    BodyAccesses body{prover};
    body.visit(sequence->body[i]);
    const bool needs = std::any_of(body.accesses.begin(), body.accesses.end(), [&](const Access& access) {
      return access.store && needed.contains(access.buffer->id());
    });
    if (!needs) continue;
    kept.insert(kept.begin(), sequence->body[i]);
    for (const Access& access : body.accesses) {
      touched.insert(access.buffer->id());
      if (!access.store) needed.insert(access.buffer->id());
    }
  }
  for (const Buffer& other : others) {
    if (touched.contains(other.id())) return nullptr;
    std::vector<ScalarVar> symbols;
    for (const Scalar& dim : other.shape()) collect_vars(dim, symbols);
    for (const ScalarVar& symbol : symbols)
      if (std::none_of(made->params.begin(), made->params.end(),
                       [&](const PrimParam& param) { return tells(param, symbol); }))
        return nullptr;
  }
  std::erase_if(made->allocations, [&](const Buffer& buffer) { return !touched.contains(buffer.id()); });
  made->body = seq(std::move(kept), function.body->span);
  made->is_private = true;
  return made;
}

class ResultTaker {
 public:
  explicit ResultTaker(const Module& module) : result_(module) {}

  Module run() {
    const std::size_t count = result_.functions.size();
    for (std::size_t i = 0; i < count; ++i)
      if (const auto* function = std::get_if<FunctionPtr>(&result_.functions[i]))
        result_.functions.replace(i, Bodies(*this, *function).taken());
    drop_unused(result_, replaced_);
    return std::move(result_);
  }

 private:
  // The bindings of one function, in its body and all bodies inside.
  class Bodies final : public ExprMapper {
   public:
    Bodies(ResultTaker& taker, FunctionPtr function) : taker_(taker), function_(std::move(function)) {}

    FunctionPtr taken() {
      for_each_expr(*function_, [&](const Expr& expr) {
        if (const Var* var = expr.as_var()) ++uses_[var->id()];
      });
      for_each_body(*function_, [&](const std::vector<BindingBlock>& blocks) { plan(blocks); });
      return replaced_.empty() ? function_ : map(function_);
    }

   protected:
    void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
      const auto found = replaced_.find(binding.var().id());
      if (found == replaced_.end()) return ExprMapper::map_binding(binding, dataflow, into);
      if (!found->second.var.defined()) return;
      Binding made = binding;
      made.kind = VarBinding{found->second.var, map(found->second.value)};
      made.annotated = false;
      into.push_back(std::move(made));
    }

   private:
    // What is bound in the place of a call; the binding that takes its result vanishes.
    struct Taken {
      Var var;
      Expr value;
    };

    // A call whose results are all taken in its own block, and the bindings that take them.
    struct Parts {
      Var all;
      Expr value;
      std::vector<std::pair<Var, std::size_t>> fields;
    };

    void plan(const std::vector<BindingBlock>& blocks) {
      struct Call {
        Expr value;
        const BindingBlock* block;
      };
      std::unordered_map<std::uint64_t, Call> calls;  // by the variable of all results
      for (const BindingBlock& block : blocks) {
        std::vector<Parts> copies;
        std::unordered_map<std::uint64_t, std::size_t> copy_of;  // by the variable of all results
        for (const Binding& binding : block.bindings) {
          poll_interrupt(binding.span);
          const auto* plain = std::get_if<VarBinding>(&binding.kind);
          if (!plain) continue;
          const auto* call = plain->value.as<CallTir>();
          const auto* field = plain->value.as<TupleGet>();
          if (call && call->tuple_result && call->out_types.size() > 1 && call->inplace_indices.empty() &&
              call->gradient_name.empty()) {
            if (uses_[plain->var.id()] == 1)
              calls.emplace(plain->var.id(), Call{plain->value, &block});
            else if (taker_.copies(*call)) {
              copy_of.emplace(plain->var.id(), copies.size());
              copies.push_back({plain->var, plain->value, {}});
            }
          }
          const Var* all = field ? field->tuple.as_var() : nullptr;
          if (!all) continue;
          if (const auto copy = copy_of.find(all->id()); copy != copy_of.end())
            copies[copy->second].fields.emplace_back(plain->var, static_cast<std::size_t>(field->index));
          const auto found = calls.find(all->id());
          if (found == calls.end()) continue;
          // A variable of a dataflow block is not seen outside of it.
          if (plain->var.dataflow() && found->second.block != &block) continue;
          const Expr value = taker_.one_of(found->second.value, static_cast<std::size_t>(field->index));
          if (!value.defined()) continue;
          replaced_.emplace(all->id(), Taken{plain->var, value});
          replaced_.emplace(plain->var.id(), Taken{});
        }
        for (const Parts& parts : copies) take_apart(parts);
      }
    }

    // A call for each result instead of one for all, where nothing but these takes them.
    void take_apart(const Parts& parts) {
      std::set<std::size_t> taken;
      std::vector<Taken> calls;
      for (const auto& [var, index] : parts.fields) {
        const Expr value = taken.insert(index).second ? taker_.one_of(parts.value, index) : Expr();
        if (!value.defined()) return;
        calls.push_back({var, value});
      }
      if (calls.size() != static_cast<std::size_t>(uses_[parts.all.id()])) return;
      replaced_.emplace(parts.all.id(), Taken{});
      for (const Taken& call : calls) replaced_.emplace(call.var.id(), call);
    }

    ResultTaker& taker_;
    const FunctionPtr function_;
    std::unordered_map<std::uint64_t, int> uses_;
    std::unordered_map<std::uint64_t, Taken> replaced_;  // by variable
  };

  // Whether the call only copies, so that nothing is gained by all its results at once.
  bool copies(const CallTir& call) {
    const auto* global = call.callee.as<GlobalRef>();
    const PrimFuncPtr function = global ? result_.prim_func(global->name) : nullptr;
    if (!function) return false;
    const auto [known, fresh] = copies_.try_emplace(global->name);
    if (fresh) known->second = copies_elements(*function);
    return known->second;
  }

  // The call of a function that computes that result alone; undefined when there is none.
  Expr one_of(const Expr& value, std::size_t taken) {
    const CallTir& call = *value.as<CallTir>();
    const auto* global = call.callee.as<GlobalRef>();
    const PrimFuncPtr function = global ? result_.prim_func(global->name) : nullptr;
    if (!function) return {};
    const auto [known, fresh] = made_.try_emplace({global->name, taken});
    if (fresh) {
      if (const PrimFuncPtr one = computing_one(*function, call, taken, value.span())) {
        auto named = std::make_shared<PrimFunc>(*one);
        named->name = result_.fresh_name(function->name);
        known->second = named;
        result_.functions.push_back(known->second);
      }
    }
    if (!known->second) return {};
    replaced_.insert(function->name);
    return call_tir(global_ref(GlobalFunction(known->second), call.callee.span()), call.args,
                    {call.out_types[taken]}, false, value.span());
  }

  Module result_;
  std::map<std::pair<std::string, std::size_t>, PrimFuncPtr> made_;
  std::unordered_map<std::string, bool> copies_;  // by name
  std::unordered_set<std::string> replaced_;
};

}  // namespace

Module with_taken_results(const Module& module) { return ResultTaker(module).run(); }

}  // namespace relish
