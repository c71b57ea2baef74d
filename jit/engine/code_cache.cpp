// Finding and making code.
#include "jit/engine/code_cache.h"

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "support/big_stack.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

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

void verify_reached(const Module& module, std::string_view name) {
  Module part;
  part.functions = reachable_functions(module, name);
  part.check_well_formed = module.check_well_formed;
  Diagnostics diagnostics;
  verify(part, diagnostics);
  if (!diagnostics.has_errors()) return;
  const Diagnostic& first = diagnostics.all().front();
  fail(ErrorClass::Type, first.span, first.id, first.message);
}

}  // namespace

std::shared_ptr<const Compiled> CodeCache::code_for(const ModulePtr& module, const FunctionPtr& graph,
                                                    const std::vector<Value>& args,
                                                    const GivenParams& given) {
  bind_arguments(graph->name, graph->params, args);
  const bool known = std::all_of(graph->params.begin(), graph->params.end(),
                                 [](const Var& param) { return fully_known(param.type()); });
  bool open = false;  // what is boxed has a type of its own here, and code for that is better
  for (std::size_t i = 0; i < args.size(); ++i)
    open = open || (has_box(graph->params[i].type()) && !stays_boxed(args[i]));
  if (known) return compiled(module, graph->name, given);
  if (!open && !has_variants(graph)) {
    try {
      // unknown dims alone may do no harm
      return compiled(module, graph->name, given, UnknownShapes::Refused);
    } catch (const Failure& failure) {
      if (failure.error_class() != ErrorClass::Type) throw;
    }
  }
  return for_arguments(module, graph, args, given);
}

std::shared_ptr<const Compiled> CodeCache::compiled(const ModulePtr& module, std::string_view name,
                                                    const GivenParams& given, UnknownShapes unknown) {
  std::lock_guard lock(mutex_);
  if (const Recent* known = recent(module, name, given)) return known->code;
  std::shared_ptr<const Compiled> code = find_or_compile(module, name, given, unknown);
  if (recent_.size() == kept_recent) recent_.erase(recent_.begin());
  recent_.push_back({module.get(), module, std::string(name), given, code});
  return code;
}

// Called with the mutex held.
CodeCache::Recent* CodeCache::recent(const ModulePtr& module, std::string_view name,
                                     const GivenParams& given) {
  for (auto it = recent_.begin(); it != recent_.end();) {
    if (it->alive.expired()) {
      it = recent_.erase(it);
      continue;
    }
    if (it->module == module.get() && it->name == name && it->given == given) return &*it;
    ++it;
  }
  return nullptr;
}

bool CodeCache::has_variants(const FunctionPtr& function) {
  std::lock_guard lock(mutex_);
  return std::any_of(variants_.begin(), variants_.end(),
                     [&](const Variant& variant) { return variant.function.lock() == function; });
}

// Code of the function for the arguments. What their types show to be wrong may be on a way that the run
// does not take, or behind effects; then it is the function as it stands that tells.
std::shared_ptr<const Compiled> CodeCache::for_arguments(const ModulePtr& module, const FunctionPtr& function,
                                                         const std::vector<Value>& args,
                                                         const GivenParams& given) {
  try {
    return compiled(specialised(module, function, args), function->name, given);
  } catch (Failure& failure) {
    if (failure.error_class() != ErrorClass::Type) throw;
    try {
      return compiled(module, function->name, given);
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
ModulePtr CodeCache::specialised(const ModulePtr& module, const FunctionPtr& function,
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
    concrete->params.emplace_back(param.name(), stays_boxed(args[i]) ? param.type() : type_of(args[i]), false,
                                  param.span());
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

std::shared_ptr<const Compiled> CodeCache::find_or_compile(const ModulePtr& module, std::string_view name,
                                                           const GivenParams& given, UnknownShapes unknown) {
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
    if (it->functions == key && it->given == given) {
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().code;
    }
    ++it;
  }
  std::shared_ptr<const Compiled> code;
  with_big_stack([&] {
    if (!engine_) engine_ = std::make_unique<Engine>(target_, store_);
    code = purpose_ == Purpose::Plan
               ? plan(engine_->target(), *module, functions, unknown, given)
               : compile(*engine_, *module, functions, unknown, given, purpose_ == Purpose::Watch);
  });
  std::vector<std::weak_ptr<const void>> alive;
  for (const GlobalFunction& function : functions) alive.push_back(weak_of(function));
  entries_.push_front({std::move(key), given, std::move(alive), code});
  if (entries_.size() > kept) entries_.pop_back();
  return code;
}

}  // namespace relish::jit
