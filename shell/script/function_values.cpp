// Functions as values, by small modules of their own: one returns the function, one calls what it is given.
#include "shell/script/function_values.h"

#include <algorithm>

#include "frontend/reader.h"
#include "ir/nodes/module.h"
#include "support/failure.h"

namespace relish {
namespace {

constexpr std::size_t most_givers = 256;

// `module` with a function that returns its function `name`; the new function's name comes with it.
ModulePtr giver_of(const Module& module, const std::string& name) {
  Function giver;
  giver.name = module.fresh_name("value_of_" + name);
  giver.result = global_ref(*module.find(name));
  giver.result_type = giver.result.type();
  auto result = std::make_shared<Module>(module);
  result->set(GlobalFunction(std::make_shared<const Function>(std::move(giver))));
  return result;
}

}  // namespace

ScriptValue FunctionValues::as_values(const ScriptValue& value, Evaluator& evaluator, Span span) {
  const ScriptList* list = value.sequence();
  if (list && std::any_of(list->items.begin(), list->items.end(),
                          [](const ScriptValue& item) { return item.as<FunctionReference>() != nullptr; })) {
    std::vector<ScriptValue> items;
    for (const ScriptValue& item : list->items)
      items.push_back(item.sequence() ? item : as_values(item, evaluator, span));
    return ScriptValue::tuple(std::move(items));
  }
  const auto* reference = value.as<FunctionReference>();
  if (!reference) return value;
  if (!reference->module->function(reference->name)) {
    fail(ErrorClass::Type, span, "call.function",
         "'" + reference->name +
             "' is a prim_func, which is no value; write an R.function that calls it by R.call_tir");
  }
  if (givers_.size() >= most_givers) {
    std::erase_if(givers_, [](const auto& entry) { return entry.second.of.expired(); });
    if (givers_.size() >= most_givers) givers_.clear();
  }
  Giver& giver = givers_[{reference->module.get(), reference->name}];
  if (giver.of.lock() != reference->module)
    giver = {reference->module, giver_of(*reference->module, reference->name)};
  const Value made = evaluator.call(giver.module, giver.module->names().back(), {});
  return from_runtime(made);
}

std::pair<ModulePtr, std::string> FunctionValues::caller(std::size_t count) {
  ModulePtr& module = callers_[count];
  if (!module) {
    std::string parameters, arguments;
    for (std::size_t i = 0; i < count; ++i) {
      parameters += ", a" + std::to_string(i) + ": R.Any";
      arguments += "a" + std::to_string(i) + ", ";
    }
    module = read_module("<call>",
                         "@I.ir_module\nclass Call:\n    @R.function(pure=False)\n    def call(f: R.Any" +
                             parameters + ") -> R.Any:\n        return R.invoke_closure(f, (" + arguments +
                             "), ty_args=(R.Any,))\n");
  }
  return {module, "call"};
}

}  // namespace relish
