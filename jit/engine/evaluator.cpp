// The compiled tier as an Evaluator: finds or makes the code, checks and flattens arguments, calls, and turns
// a bad status into the same Failure that the interpreter throws.
#include <fmt/format.h>

#include <map>
#include <span>

#include "ir/calls/direct_calls.h"
#include "ir/calls/fault.h"
#include "ir/calls/foreign_calls.h"
#include "ir/calls/prim_arguments.h"
#include "jit/engine/code_cache.h"
#include "jit/engine/machine.h"
#include "jit/engine/site_faults.h"
#include "jit/engine/teams.h"
#include "jit/jit.h"
#include "jit/kernel/kernel_signature.h"
#include "jit/runtime/marshal.h"
#include "loops/operations.h"
#include "loops/prim_calls.h"
#include "support/big_stack.h"
#include "support/interrupt.h"
#include "support/suggest.h"

namespace relish {
namespace {

using namespace jit;

class Jit final : public GivingEvaluator {
 public:
  explicit Jit(const JitOptions& options)
      : threads_(options.threads > 0 ? options.threads : usable_processors()),
        cache_(options.target, options.objects, options.log ? Purpose::Watch : Purpose::Run),
        log_(options.log) {}

  std::string_view name() const override { return "jit"; }

  Value call(const ModulePtr& module, std::string_view name, std::vector<Value> args) override {
    return call_on(threads_, module, name, args);
  }

  Value call_giving(const ModulePtr& module, std::string_view name, std::vector<Value>& args,
                    const GivenParams& given, OnFailure on_failure) override {
    return call_on(threads_, module, name, args, given, on_failure);
  }

  // `donated`: parameters whose tensors the caller gives up.
  Value call_on(int threads, const ModulePtr& given, std::string_view name, std::vector<Value>& args,
                const GivenParams& donated = {}, OnFailure on_failure = OnFailure::Lost) {
    CallState state(memory_, threads);
    if (const CallCode* known = state.known.find(given, name, args, donated))
      return call_code(*known, state, args, on_failure);
    const ModulePtr module = with_prim_calls_replaced(given, name);
    const GlobalFunction* function = module->find(name);
    if (!function) {
      fail(ErrorClass::Usage, {}, "function.unknown",
           fmt::format("no function '{}' in module {}{}", name, module->name,
                       did_you_mean(name, module->names())));
    }
    // A prim_func's arguments are checked by what it declares, a Relax function's by its types, before
    // compilation.
    if (const auto* prim = std::get_if<PrimFuncPtr>(function)) {
      Value result = call_prim_func(state, module, *prim, args);
      args.clear();
      return result;
    }
    const FunctionPtr& graph = std::get<FunctionPtr>(*function);
    const CallCode code = code_of(cache_.code_for(module, graph, args, donated), graph->span);
    state.known.note(given, name, args, donated, code);
    return call_code(code, state, args, on_failure);
  }

  void prepare(const ModulePtr& given, std::string_view name, std::span<const Value> args) override {
    prepare_giving(given, name, args, {});
  }

  void prepare_giving(const ModulePtr& given, std::string_view name, std::span<const Value> args,
                      const GivenParams& donated) override {
    const ModulePtr module = with_prim_calls_replaced(given, name);
    const GlobalFunction* function = module->find(name);
    if (!function) return;
    if (const auto* graph = std::get_if<FunctionPtr>(function))
      cache_.code_for(module, *graph, {args.begin(), args.end()}, donated);
    else
      cache_.compiled(module, name);
  }

 private:
  static CallCode code_of(const std::shared_ptr<const Compiled>& made, Span entry) {
    const Compiled& code = *made;
    const auto fail = [&code](const RtError& error, const CallState& at) {
      fail_at_site(code.sites[error.site], error, at);
    };
    return {made, {&code.host_calls, made, fail}, entry};
  }

  // Of a Relax function.
  Value call_code(const CallCode& code, CallState& state, std::vector<Value>& args, OnFailure on_failure) {
    std::vector<Value> copies;
    if (code.code->direct) copies = own_copies(args);
    std::vector<Value>& taken = code.code->direct ? copies : args;
    const FunctionLayout& layout = *code.code->layout;
    slots_of_arguments(taken, layout, state);
    const bool back = on_failure == OnFailure::Back;
    give_up(layout, state, back);
    try {
      run(code, state);
    } catch (...) {
      if (back && !state.lost)
        give_back(layout, state);
      else
        args.clear();
      throw;
    }
    Value result = result_of_call(taken, layout, state);
    args.clear();
    return result;
  }

  void run(const CallCode& call, CallState& state) {
    const Compiled& code = *call.code;
    static_assert(sizeof(interrupt_flag) == sizeof(std::int32_t));
    RtContext context{reinterpret_cast<const std::int32_t*>(&interrupt_flag),
                      state.rows_ahead.of(0),
                      &state,
                      &state.scratch,
                      {}};
    state.context = &context;
    state.running = &call.running;
    std::int32_t status = status_ok;
    const auto enter = [&] { status = code.entry(&context, state.slots.in.data(), state.slots.out.data()); };
    const auto execute = [&] {
      if (code.recursive)
        with_big_stack(enter);
      else
        enter();
    };
    const TeamOfCall team(teams_, state.threads);
    state.team = team.get();
    execute();
    state.team = nullptr;
    if (log_) note_runs(call.code, state.kernel_runs);
    switch (status) {
      case status_ok:
        return;
      case status_interrupted:
        fail_fault({FaultKind::Interrupted}, call.entry);
      case status_exception:
        try {
          std::rethrow_exception(state.failure);
        } catch (Failure& failure) {
          // Of what has no place yet: memory that was refused.
          failure.at(state.failure_site >= 0 ? code.sites[state.failure_site].span : call.entry);
          throw;
        }
      default:
        fail_at_site(code.sites[context.error.site], context.error, state);
    }
  }

  // What the kernels of a call did, in the log.
  void note_runs(const std::shared_ptr<const Compiled>& code, const std::vector<KernelRun>& runs) {
    auto [known, added] = logged_.try_emplace(code, log_->kernels.size());
    if (added)
      for (const WatchedKernel& kernel : code->watched)
        log_->kernels.push_back({kernel.function, kernel.span, kernel.apart});
    for (const KernelRun& run : runs) {
      if (run.end_ns == 0) continue;
      const PrimFunc& function = *code->watched[static_cast<std::size_t>(run.kernel)].function;
      const std::vector<ScalarVar> symbols = kernel_symbols(function);
      const auto size_of = [&](const ScalarVar& var) -> std::optional<std::int64_t> {
        for (std::size_t i = 0; i < symbols.size() && i < run.sizes.size(); ++i)
          if (symbols[i] == var) return run.sizes[i];
        return std::nullopt;
      };
      log_->runs.push_back({known->second + static_cast<std::size_t>(run.kernel), run.begin_ns, run.end_ns,
                            operations_of(function, size_of), bytes_of(function, size_of)});
    }
  }

  Value call_prim_func(CallState& state, const ModulePtr& module, const PrimFuncPtr& function,
                       const std::vector<Value>& args) {
    require_runnable(*function);
    PrimArguments bound = bind_prim_func(*function, args, false);
    const std::shared_ptr<const Compiled> code = cache_.compiled(module, function->name);
    for (const std::size_t i : bound.made)
      if (!code->written_first[i]) bound.all[i].tensor().clear();
    std::vector<std::int64_t>&in = state.slots.in, &out = state.slots.out;
    for (const Value& value : bound.all) {
      if (value.is_scalar())
        in.push_back(slot_of(value.scalar()));
      else
        in.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value.tensor().data())));
    }
    for (const ScalarVar& var : kernel_symbols(*function)) {
      const auto found = bound.symbols.find(var.id());
      if (found == bound.symbols.end()) {
        fail(ErrorClass::Data, function->span, "symbol.unknown",
             fmt::format("{}: no argument tells the size {}", function->name, var.name()));
      }
      in.push_back(found->second);
    }
    if (function->result_dtype) out.push_back(0);
    run(code_of(code, function->span), state);
    return function->result_dtype ? scalar_of_slot(out[0], *function->result_dtype) : bound.result();
  }

  const int threads_;
  CodeCache cache_;
  KernelLog* const log_;
  std::map<std::shared_ptr<const Compiled>, std::size_t>
      logged_;  // where the kernels of code begin in the log
  CallMemory memory_;
  Teams teams_;
};

class OnThreads final : public GivingEvaluator {
 public:
  OnThreads(Jit& jit, int threads) : jit_(jit), threads_(threads) {}

  std::string_view name() const override { return jit_.name(); }
  Value call(const ModulePtr& module, std::string_view name, std::vector<Value> args) override {
    return jit_.call_on(threads_, module, name, args);
  }
  void prepare(const ModulePtr& module, std::string_view name, std::span<const Value> args) override {
    jit_.prepare(module, name, args);
  }
  Value call_giving(const ModulePtr& module, std::string_view name, std::vector<Value>& args,
                    const GivenParams& given, OnFailure on_failure) override {
    return jit_.call_on(threads_, module, name, args, given, on_failure);
  }
  void prepare_giving(const ModulePtr& module, std::string_view name, std::span<const Value> args,
                      const GivenParams& given) override {
    jit_.prepare_giving(module, name, args, given);
  }

 private:
  Jit& jit_;
  int threads_;
};

}  // namespace

std::unique_ptr<Evaluator> make_jit(const JitOptions& options) { return std::make_unique<Jit>(options); }

Target this_machine() { return Machine().scheduled_for(); }

MachineDescription describe_machine() {
  const Machine machine;
  return {machine.processor(), machine.traits().fma, machine.scheduled_for(), usable_processors()};
}

std::unique_ptr<Evaluator> on_threads(Evaluator& jit, int threads) {
  auto* owner = dynamic_cast<Jit*>(&jit);
  RELISH_CHECK(owner != nullptr && threads > 0, "code is shared with an evaluator that make_jit made");
  return std::make_unique<OnThreads>(*owner, threads);
}

}  // namespace relish
