// Modules: lookup and replacement of functions by name.
#include "ir/nodes/module.h"

namespace relish {

const GlobalFunction* Module::find(std::string_view wanted) const { return functions.find(wanted); }

FunctionPtr Module::function(std::string_view wanted) const {
  const GlobalFunction* found = find(wanted);
  const auto* function = found ? std::get_if<FunctionPtr>(found) : nullptr;
  return function ? *function : nullptr;
}

PrimFuncPtr Module::prim_func(std::string_view wanted) const {
  const GlobalFunction* found = find(wanted);
  const auto* function = found ? std::get_if<PrimFuncPtr>(found) : nullptr;
  return function ? *function : nullptr;
}

ExternFunctionPtr Module::extern_function(std::string_view wanted) const {
  const GlobalFunction* found = find(wanted);
  const auto* function = found ? std::get_if<ExternFunctionPtr>(found) : nullptr;
  return function ? *function : nullptr;
}

void Module::set(GlobalFunction function) {
  if (const std::size_t at = functions.position(name_of(function)); at < functions.size())
    functions.replace(at, std::move(function));
  else
    functions.push_back(std::move(function));
}

void Module::remove(std::string_view unwanted) {
  const std::size_t unwanted_at = functions.position(unwanted);
  std::size_t at = 0;
  if (unwanted_at < functions.size())
    functions.remove_if([&](const GlobalFunction&) { return at++ == unwanted_at; });
}

std::vector<std::string> Module::names() const {
  std::vector<std::string> result;
  result.reserve(functions.size());
  for (const GlobalFunction& function : functions) result.push_back(name_of(function));
  return result;
}

std::string Module::fresh_name(std::string_view wanted) const { return functions.fresh_name(wanted); }

Expr global_ref(const GlobalFunction& function, Span span) {
  if (const auto* graph = std::get_if<FunctionPtr>(&function))
    return global_ref(name_of(function), Type(function_type_of(**graph)), span);
  FunctionType type{.params = {}, .result = Type(), .pure = false, .opaque = true};
  if (const auto* external = std::get_if<ExternFunctionPtr>(&function)) {
    if ((*external)->type) return global_ref(name_of(function), *(*external)->type, span);
  } else {
    const PrimFunc& prim = *std::get<PrimFuncPtr>(function);
    type.result = prim.result_dtype ? Type(ScalarType{*prim.result_dtype}) : void_type();
  }
  return global_ref(name_of(function), Type(std::move(type)), span);
}

}  // namespace relish
