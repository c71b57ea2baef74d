// Origins by handles of functions; handles change when functions do.
#include "shell/workspace/origins.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "shell/program/program_file.h"

namespace relish {
namespace {

const void* handle_key(const GlobalFunction& function) {
  return std::visit([](const auto& held) -> const void* { return held.get(); }, function);
}

// Functions by name, so that all of a module cost no more than the module.
class ByName {
 public:
  explicit ByName(const Module& module) {
    for (const GlobalFunction& function : module.functions) functions_[name_of(function)] = &function;
  }
  const GlobalFunction* find(std::string_view name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const GlobalFunction*> functions_;
};

}  // namespace

bool is_same_function(const GlobalFunction& a, const GlobalFunction& b) {
  if (a == b) return true;
  if (a.index() != b.index()) return false;
  if (const auto* graph = std::get_if<FunctionPtr>(&a))
    return equal_modulo_names(**graph, *std::get<FunctionPtr>(b));
  if (const auto* loops = std::get_if<PrimFuncPtr>(&a))
    return equal_modulo_names(**loops, *std::get<PrimFuncPtr>(b));
  return std::get<ExternFunctionPtr>(a)->symbol == std::get<ExternFunctionPtr>(b)->symbol;
}

OriginPtr Origins::of(const GlobalFunction& function) const {
  const auto found = of_.find(handle_key(function));
  if (found != of_.end()) return found->second;
  return restored_ ? restored_->of(function) : nullptr;
}

void Origins::add(Origin origin) {
  const void* key = handle_key(origin.function);
  of_[key] = std::make_shared<const Origin>(std::move(origin));
}

Origins Origins::with(const TransformCall& call, std::size_t input) const {
  Origins result = *this;
  const ByName had(*call.before), has(*call.after);
  const GlobalFunction* source = call.whole_module ? nullptr : has.find(call.function);
  for (const GlobalFunction& function : call.after->functions) {
    const std::string& name = name_of(function);
    const GlobalFunction* before = had.find(name);
    const OriginPtr known = before ? of(*before) : nullptr;
    const bool made = !before || (*before != function && !call.keeps_meaning);
    if (source && made && name != call.function) {
      result.add({function, call.command, call.options, call.function, *source, input});
      continue;
    }
    if (!known) continue;
    Origin origin = *known;
    origin.function = function;
    // What stood for the source stands for it in its new form.
    const GlobalFunction* source_before = had.find(origin.source);
    const GlobalFunction* source_after = has.find(origin.source);
    const bool was_fresh = source_before && *source_before == origin.source_function;
    if (call.keeps_meaning && was_fresh && source_after) origin.source_function = *source_after;
    result.add(std::move(origin));
  }
  return result;
}

std::vector<OriginPtr> Origins::stale(const Module& module) const {
  std::set<std::string> names;
  std::vector<OriginPtr> result;
  const ByName functions(module);
  // A function may stand before the one that it was made from.
  for (bool more = true; more;) {
    more = false;
    for (const GlobalFunction& function : module.functions) {
      const OriginPtr origin = of(function);
      if (!origin || names.contains(name_of(function))) continue;
      const GlobalFunction* source = functions.find(origin->source);
      if (!source) continue;
      if (!names.contains(origin->source) && is_same_function(*source, origin->source_function)) continue;
      names.insert(name_of(function));
      more = true;
    }
  }
  for (const GlobalFunction& function : module.functions)
    if (names.contains(name_of(function))) result.push_back(of(function));
  return result;
}

ModuleChanges changes_between(const Module& before, const Module& after) {
  ModuleChanges changes;
  std::map<std::string_view, const GlobalFunction*> had;
  for (const GlobalFunction& function : before.functions) had[name_of(function)] = &function;
  for (const GlobalFunction& function : after.functions) {
    const auto found = had.find(name_of(function));
    if (found == had.end()) {
      changes.added.push_back(name_of(function));
      continue;
    }
    if (!is_same_function(*found->second, function)) changes.replaced.push_back(name_of(function));
    had.erase(found);
  }
  for (const GlobalFunction& function : before.functions)
    if (had.contains(name_of(function))) changes.removed.push_back(name_of(function));
  return changes;
}

std::string parameters_of(const GlobalFunction& function) {
  std::string text = name_of(function) + "(";
  const auto list = [&](const auto& params) {
    for (std::size_t i = 0; i < params.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::string(params[i].name());
  };
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) list((*graph)->params);
  if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) list((*loops)->params);
  return text + ")";
}

}  // namespace relish
