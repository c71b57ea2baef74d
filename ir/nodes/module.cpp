// Modules: lookup and replacement of functions by name.
#include "ir/nodes/module.h"

namespace relish {
const std::string& name_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) -> const std::string& { return held->name; }, function);
}

const GlobalFunction* Module::find(std::string_view wanted) const {
  auto name_at = [&](std::size_t i) -> const std::string& { return name_of(functions[i]); };
  const std::optional<std::size_t> found = positions.find(wanted, functions.size(), name_at);
  return found ? &functions[*found] : nullptr;
}

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
  if (const GlobalFunction* found = find(name_of(function)))
    functions[static_cast<std::size_t>(found - functions.data())] = std::move(function);
  else
    functions.push_back(std::move(function));
}

void Module::remove(std::string_view unwanted) {
  if (const GlobalFunction* found = find(unwanted))
    functions.erase(functions.begin() + (found - functions.data()));
}

std::vector<std::string> Module::names() const {
  std::vector<std::string> result;
  result.reserve(functions.size());
  for (const GlobalFunction& function : functions) result.push_back(name_of(function));
  return result;
}

std::string Module::fresh_name(std::string_view wanted) const {
  std::string candidate(wanted);
  for (int suffix = 1; find(candidate); ++suffix) candidate = std::string(wanted) + std::to_string(suffix);
  return candidate;
}

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
