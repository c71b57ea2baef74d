// The compiled tier as an Evaluator: finds or makes the code, checks and flattens arguments, calls, and turns
// a bad status into the same Failure that the interpreter throws.
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <span>

#include "ir/buffer_layout.h"
#include "ir/direct_calls.h"
#include "ir/entry.h"
#include "ir/fault.h"
#include "ir/foreign_calls.h"
#include "ir/printer.h"
#include "ir/rewrite.h"
#include "ir/verify.h"
#include "jit/compile.h"
#include "jit/jit.h"
#include "jit/kernel_symbols.h"
#include "jit/marshal.h"
#include "loops/prim_calls.h"
#include "support/big_stack.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/suggest.h"

namespace relish {
namespace {

using namespace jit;

// Processors that this process may use: its affinity, and the quota of its cgroup.
int usable_processors() {
  int count = std::max(1, tbb::info::default_concurrency());
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    const double share = std::strtod(quota.c_str(), nullptr) / period;
    if (share >= 1)
      count = std::min(count, static_cast<int>(share));
    else if (share > 0)
      count = 1;
  }
  return count;
}

const void* identity_of(const GlobalFunction& function) {
  return std::visit([](const auto& pointer) -> const void* { return pointer.get(); }, function);
}

std::weak_ptr<const void> weak_of(const GlobalFunction& function) {
  return std::visit(
      [](const auto& pointer) -> std::weak_ptr<const void> { return std::shared_ptr<const void>(pointer); },
      function);
}

// Whether the value is best left in its box: code knows no more of a function, a text or nothing by its type.
bool stays_boxed(const Value& value) {
  if (value.is_tuple()) return std::any_of(value.fields().begin(), value.fields().end(), stays_boxed);
  return !value.is_tensor() && !value.is_shape() && !value.is_scalar();
}

bool has_box(const Type& type) {
  if (const TupleType* tuple = type.tuple())
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_box);
  return jit::is_boxed(type);
}

class Jit final : public Evaluator {
 public:
  explicit Jit(const JitOptions& options)
      : threads_(options.threads > 0 ? options.threads : usable_processors()) {}

  std::string_view name() const override { return "jit"; }

  Value call(const ModulePtr& module, std::string_view name, std::vector<Value> args) override {
    return call_on(threads_, module, name, std::move(args));
  }

  Value call_on(int threads, const ModulePtr& given, std::string_view name, std::vector<Value> args) {
    const ModulePtr module = with_prim_calls_replaced(given);
    const GlobalFunction* function = module->find(name);
    if (!function) {
      fail(ErrorClass::Usage, {}, "function.unknown",
           fmt::format("no function '{}' in module {}{}", name, module->name,
                       did_you_mean(name, module->names())));
    }
    // A prim_func's arguments are checked by what it declares, a Relax function's by its types, before
    // compilation.
    if (const auto* prim = std::get_if<PrimFuncPtr>(function))
      return call_prim_func(threads, module, *prim, std::move(args));
    const FunctionPtr& graph = std::get<FunctionPtr>(*function);
    const std::shared_ptr<const Compiled> code = code_for(module, graph, args);
    std::vector<std::int64_t> in;
    std::vector<Value> leaves;
    CallState state(pool_, threads);
    if (code->direct) args = own_copies(std::move(args));
    for (std::size_t i = 0; i < args.size(); ++i)
      append_slots(args[i], code->values->params.at(i), state, in, leaves);
    std::vector<std::int64_t> out(slot_count(code->values->result));
    run(code, state, in, out, graph->span);
    std::size_t position = 0;
    return value_of_slots(code->values->result, *code->values, leaves, state, out.data(), position);
  }

  void prepare(const ModulePtr& given, std::string_view name, std::span<const Value> args) override {
    const ModulePtr module = with_prim_calls_replaced(given);
    const GlobalFunction* function = module->find(name);
    if (!function) return;
    if (const auto* graph = std::get_if<FunctionPtr>(function))
      code_for(module, *graph, {args.begin(), args.end()});
    else
      compiled(module, name);
  }

 private:
  // The code for such arguments, which are checked first.
  std::shared_ptr<const Compiled> code_for(const ModulePtr& module, const FunctionPtr& graph,
                                           const std::vector<Value>& args) {
    bind_arguments(graph->name, graph->params, args);
    const bool known = std::all_of(graph->params.begin(), graph->params.end(),
                                   [](const Var& param) { return fully_known(param.type()); });
    bool open = false;  // what is boxed has a type of its own here, and code for that is better
    for (std::size_t i = 0; i < args.size(); ++i)
      open = open || (has_box(graph->params[i].type()) && !stays_boxed(args[i]));
    if (known) return compiled(module, graph->name);
    std::shared_ptr<const Compiled> code;
    if (!open && !has_variants(graph)) {
      try {
        code = compiled(module, graph->name, UnknownShapes::Refused);  // unknown dims alone may do no harm
      } catch (const Failure& failure) {
        if (failure.error_class() != ErrorClass::Type) throw;
      }
    }
    return code ? code : for_arguments(module, graph, args);
  }

  struct Entry {
    std::vector<const void*> functions;            // identities of what the code was made from
    std::vector<std::weak_ptr<const void>> alive;  // the same, to know when they are gone
    std::shared_ptr<const Compiled> code;
  };
  // The entry of a module's function, so that a repeated call need not look at the functions again.
  struct Recent {
    const Module* module;
    std::weak_ptr<const Module> alive;
    std::string name;
    std::shared_ptr<const Compiled> code;
  };
  // Code for arguments of certain types, of a function whose parameters leave them open.
  struct Variant {
    std::weak_ptr<const Function> function;
    std::string types;
    ModulePtr module;  // holds the specialised function
  };
  static constexpr std::size_t kept = 256;
  static constexpr std::size_t kept_recent = 16;
  static constexpr std::size_t kept_variants = 64;

  std::shared_ptr<const Compiled> compiled(const ModulePtr& module, std::string_view name,
                                           UnknownShapes unknown = UnknownShapes::Kept) {
    std::lock_guard lock(mutex_);
    for (auto it = recent_.begin(); it != recent_.end();) {
      if (it->alive.expired()) {
        it = recent_.erase(it);
        continue;
      }
      if (it->module == module.get() && it->name == name) return it->code;
      ++it;
    }
    std::shared_ptr<const Compiled> code = find_or_compile(module, name, unknown);
    if (recent_.size() == kept_recent) recent_.erase(recent_.begin());
    recent_.push_back({module.get(), module, std::string(name), code});
    return code;
  }

  bool has_variants(const FunctionPtr& function) {
    std::lock_guard lock(mutex_);
    return std::any_of(variants_.begin(), variants_.end(),
                       [&](const Variant& variant) { return variant.function.lock() == function; });
  }

  // Code of the function for the arguments. What their types show to be wrong may be on a way that the run
  // does not take, or behind effects; then it is the function as it stands that tells.
  std::shared_ptr<const Compiled> for_arguments(const ModulePtr& module, const FunctionPtr& function,
                                                const std::vector<Value>& args) {
    try {
      return compiled(specialised(module, function, args), function->name);
    } catch (Failure& failure) {
      if (failure.error_class() != ErrorClass::Type) throw;
      try {
        return compiled(module, function->name);
      } catch (const Failure& open) {
        if (open.error_class() != ErrorClass::Type) throw;
      }
      for (Diagnostic& diagnostic : failure.diagnostics())
        if (diagnostic.error_class == ErrorClass::Type) diagnostic.error_class = ErrorClass::Runtime;
      throw;
    }
  }

  // A module with a copy of the function for the types that the arguments really have; TypeError where it is
  // not well formed for them.
  ModulePtr specialised(const ModulePtr& module, const FunctionPtr& function,
                        const std::vector<Value>& args) {
    std::string types;
    for (const Value& arg : args) types += (stays_boxed(arg) ? "object" : print(type_of(arg))) + "|";
    std::lock_guard lock(mutex_);
    for (auto it = variants_.begin(); it != variants_.end();) {
      const FunctionPtr alive = it->function.lock();
      if (!alive) {
        it = variants_.erase(it);
        continue;
      }
      if (alive == function && it->types == types) return it->module;
      ++it;
    }
    Module copy = *module;
    auto concrete = std::make_shared<Function>();
    concrete->name = function->name;
    concrete->span = function->span;
    concrete->attributes = function->attributes;
    concrete->pure = function->pure;
    FunctionBuilder builder;
    builder.set_origin(function->span);
    std::vector<Expr> params;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Var& param = function->params[i];
      builder.reserve_name(param.name());
      concrete->params.emplace_back(param.name(), stays_boxed(args[i]) ? param.type() : type_of(args[i]),
                                    false, param.span());
      params.emplace_back(concrete->params.back());
    }
    builder.begin_block(false);
    concrete->result = inline_call(builder, copy, *module, *function, params);
    builder.end_block();
    concrete->blocks = builder.take_blocks();
    concrete->result_type = concrete->result.type();
    copy.set(FunctionPtr(std::move(concrete)));
    verify_reached(copy, function->name);
    auto made = std::make_shared<const Module>(std::move(copy));
    if (variants_.size() == kept_variants) variants_.erase(variants_.begin());
    variants_.push_back({function, std::move(types), made});
    return made;
  }

  static void verify_reached(const Module& module, std::string_view name) {
    Module part;
    part.functions = reachable_functions(module, name);
    Diagnostics diagnostics;
    verify(part, diagnostics);
    if (!diagnostics.has_errors()) return;
    const Diagnostic& first = diagnostics.all().front();
    fail(ErrorClass::Type, first.span, first.id, first.message);
  }

  std::shared_ptr<const Compiled> find_or_compile(const ModulePtr& module, std::string_view name,
                                                  UnknownShapes unknown) {
    const std::vector<GlobalFunction> functions = reachable_functions(*module, name);
    std::vector<const void*> key;
    for (const GlobalFunction& function : functions) key.push_back(identity_of(function));
    for (auto it = entries_.begin(); it != entries_.end();) {
      const bool gone =
          std::any_of(it->alive.begin(), it->alive.end(), [](const auto& w) { return w.expired(); });
      if (gone) {
        it = entries_.erase(it);
        continue;
      }
      if (it->functions == key) {
        entries_.splice(entries_.begin(), entries_, it);
        return entries_.front().code;
      }
      ++it;
    }
    std::shared_ptr<const Compiled> code;
    with_big_stack([&] {
      if (!engine_) engine_ = std::make_unique<Engine>();
      code = compile(*engine_, *module, functions, unknown);
    });
    std::vector<std::weak_ptr<const void>> alive;
    for (const GlobalFunction& function : functions) alive.push_back(weak_of(function));
    entries_.push_front({std::move(key), std::move(alive), code});
    if (entries_.size() > kept) entries_.pop_back();
    return code;
  }

  void run(const std::shared_ptr<const Compiled>& held, CallState& state, const std::vector<std::int64_t>& in,
           std::vector<std::int64_t>& out, Span entry) {
    const Compiled& code = *held;
    std::unique_ptr<Scratch> scratch = pool_.take();
    static_assert(sizeof(interrupt_flag) == sizeof(std::int32_t));
    RtContext context{reinterpret_cast<const std::int32_t*>(&interrupt_flag), &state, scratch.get(), {}};
    std::int32_t status = status_ok;
    state.running = {&code.host_calls, held, [&code](const RtError& error, const CallState& at) {
                       fail_at_site(code.sites[error.site], error, at);
                     }};
    const auto enter = [&] { status = code.entry(&context, in.data(), out.data()); };
    const auto execute = [&] {
      if (code.recursive)
        with_big_stack(enter);
      else
        enter();
    };
    if (state.threads == 1)
      execute();
    else
      arena(state.threads).execute(execute);
    pool_.give_back(std::move(scratch));
    switch (status) {
      case status_ok:
        return;
      case status_interrupted:
        fail_fault({FaultKind::Interrupted}, entry);
      case status_exception:
        try {
          std::rethrow_exception(state.failure);
        } catch (Failure& failure) {
          failure.at(entry);  // of what has no place yet: memory that was refused
          throw;
        }
      default:
        fail_at_site(code.sites[context.error.site], context.error, state);
    }
  }

  [[noreturn]] static void fail_at_site(const Site& site, const RtError& error, const CallState& state) {
    if (site.kind == FaultKind::ShapeMismatch) {
      // The same check as the interpreter's, on a value of the shape that was found.
      if (!site.wanted.as<ShapeType>()) try {
          element_count(
              std::span(state.fault_values.data(), state.fault_values.size() - site.symbols.size()));
        } catch (Failure& failure) {
          failure.at(site.span);
          throw;
        }
      const std::size_t symbols_at = state.fault_values.size() - site.symbols.size();
      SymbolValues symbols;
      for (std::size_t i = 0; i < site.symbols.size(); ++i)
        symbols[site.symbols[i].id()] = state.fault_values[symbols_at + i];
      Shape dims(state.fault_values.begin(),
                 state.fault_values.begin() + static_cast<std::ptrdiff_t>(symbols_at));
      Value found = site.wanted.as<ShapeType>() ? Value(ShapeValue{std::move(dims)})
                                                : Value(Tensor::empty(site.dtype, std::move(dims)));
      match_value(found, site.wanted, symbols, ErrorClass::Runtime, site.span, site.subject);
      RELISH_CHECK(false, "a shape that compiled code refused fits");
    }
    fail_fault(
        {site.kind, site.subject, {error.values[0], error.values[1], error.values[2], error.values[3]}},
        site.span);
  }

  // As the interpreter: values of the parameters that are read, in order; written parameters are the results.
  Value call_prim_func(int threads, const ModulePtr& module, const PrimFuncPtr& function,
                       std::vector<Value> args) {
    require_runnable(*function);
    const std::vector<ParamAccess> accesses = param_accesses(*function);
    std::vector<Value> all;
    std::vector<std::size_t> results;
    std::size_t next = 0;
    for (std::size_t i = 0; i < function->params.size(); ++i) {
      const PrimParam& param = function->params[i];
      if (param.buffer() && accesses[i].written) results.push_back(i);
      if (param.buffer() && accesses[i].written && !accesses[i].read) {
        all.emplace_back();
        continue;
      }
      if (next >= args.size()) {
        fail(ErrorClass::Usage, function->span, "call.arity",
             fmt::format("{}: missing argument '{}'", function->name, param.name()));
      }
      Value value = std::move(args[next++]);
      if (param.buffer() && accesses[i].written && value.is_tensor()) value = value.tensor().copy();
      all.push_back(std::move(value));
    }
    if (next != args.size()) {
      fail(
          ErrorClass::Usage, function->span, "call.arity",
          fmt::format("{} is given {}; it takes {}", function->name, counted(args.size(), "argument"), next));
    }
    const SymbolValues symbols = bind_prim_func(*function, all, results);
    const std::shared_ptr<const Compiled> code = compiled(module, function->name);
    std::vector<std::int64_t> in, out;
    for (const Value& value : all) {
      if (value.is_scalar())
        in.push_back(slot_of(value.scalar()));
      else
        in.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value.tensor().data())));
    }
    for (const ScalarVar& var : kernel_symbols(*function)) {
      const auto found = symbols.find(var.id());
      if (found == symbols.end()) {
        fail(ErrorClass::Data, function->span, "symbol.unknown",
             fmt::format("{}: no argument tells the size {}", function->name, var.name()));
      }
      in.push_back(found->second);
    }
    if (function->result_dtype) out.push_back(0);
    CallState state(pool_, threads);
    run(code, state, in, out, function->span);
    if (function->result_dtype) return scalar_of_slot(out[0], *function->result_dtype);
    if (results.size() == 1) return all[results[0]];
    std::vector<Value> fields;
    for (const std::size_t i : results) fields.push_back(all[i]);
    return Value::tuple(std::move(fields));
  }

  // Solves the symbolic dims, makes the results that were not given, and checks every value.
  static SymbolValues bind_prim_func(const PrimFunc& function, std::vector<Value>& all,
                                     const std::vector<std::size_t>& results) {
    SymbolValues symbols;
    const auto what = [&](std::size_t i) {
      return fmt::format("{}: {}", function.name, function.params[i].name());
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ScalarVar* scalar = function.params[i].scalar();
      if (!scalar) continue;
      match_value(all[i], ScalarType{scalar->dtype()}, symbols, ErrorClass::Data, function.span, what(i));
      if (!is_float(scalar->dtype())) symbols[scalar->id()] = all[i].scalar().integer;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Buffer* buffer = function.params[i].buffer();
      if (!buffer || !all[i].is_tensor()) continue;
      const Shape& shape = all[i].tensor().shape();
      for (std::size_t d = 0; d < buffer->shape().size() && d < shape.size(); ++d)
        if (const auto var = buffer->shape()[d].as_var()) symbols.emplace(var->id(), shape[d]);
      bind_layout(*buffer, shape, symbols);
    }
    for (const std::size_t i : results) {
      if (!all[i].is_void()) continue;
      const Buffer& buffer = *function.params[i].buffer();
      const Type type = concrete_type(tensor_type(buffer.shape(), buffer.dtype()), symbols);
      all[i] = Tensor::zeros(buffer.dtype(), concrete_shape(*type.tensor()));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Buffer* buffer = function.params[i].buffer();
      if (!buffer) continue;
      match_value(all[i], tensor_type(buffer->shape(), buffer->dtype()), symbols, ErrorClass::Data,
                  function.span, what(i));
      check_layout(*buffer, all[i].tensor().shape(), symbols, ErrorClass::Data, function.span, what(i));
    }
    return symbols;
  }

  tbb::task_arena& arena(int threads) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<tbb::task_arena>& arena = arenas_[threads];
    if (!arena) {
      if (threads > tbb::info::default_concurrency()) {
        more_workers_.emplace_back(tbb::global_control::max_allowed_parallelism,
                                   static_cast<std::size_t>(threads));
      }
      arena = std::make_unique<tbb::task_arena>(threads);
    }
    return *arena;
  }

  const int threads_;
  std::mutex mutex_;  // guards compilation and what is kept
  std::unique_ptr<Engine> engine_;
  std::list<Entry> entries_;
  std::vector<Recent> recent_;
  std::vector<Variant> variants_;
  ScratchPool pool_;
  std::list<tbb::global_control> more_workers_;
  std::map<int, std::unique_ptr<tbb::task_arena>> arenas_;  // by number of threads
};

class OnThreads final : public Evaluator {
 public:
  OnThreads(Jit& jit, int threads) : jit_(jit), threads_(threads) {}

  std::string_view name() const override { return jit_.name(); }
  Value call(const ModulePtr& module, std::string_view name, std::vector<Value> args) override {
    return jit_.call_on(threads_, module, name, std::move(args));
  }
  void prepare(const ModulePtr& module, std::string_view name, std::span<const Value> args) override {
    jit_.prepare(module, name, args);
  }

 private:
  Jit& jit_;
  int threads_;
};

}  // namespace

std::unique_ptr<Evaluator> make_jit(const JitOptions& options) { return std::make_unique<Jit>(options); }

std::unique_ptr<Evaluator> on_threads(Evaluator& jit, int threads) {
  auto* owner = dynamic_cast<Jit*>(&jit);
  RELISH_CHECK(owner != nullptr && threads > 0, "code is shared with an evaluator that make_jit made");
  return std::make_unique<OnThreads>(*owner, threads);
}

}  // namespace relish
