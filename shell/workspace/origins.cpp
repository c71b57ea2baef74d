// Origins stand in the functions themselves.
#include "shell/workspace/origins.h"

#include <map>
#include <set>
#include <unordered_map>

#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "shell/program/program_file.h"

namespace relish {
namespace {

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

// Says of the functions of a transform's result where they come from, of each behind that of what it was made
// from: origins name the very functions of the module.
class OriginsOfCall {
 public:
  OriginsOfCall(const TransformCall& call, std::size_t input)
      : call_(call), input_(input), had_(*call.before), has_(*call.after) {}

  ModulePtr module() {
    Module result = *call_.after;
    bool changed = false;
    for (const GlobalFunction& function : call_.after->functions) {
      const GlobalFunction& told = settled(function);
      if (told == function) continue;
      result.set(told);
      changed = true;
    }
    return changed ? std::make_shared<const Module>(std::move(result)) : call_.after;
  }

 private:
  const GlobalFunction& settled(const GlobalFunction& function) {
    // As it is for those that it was made from, should they be made from it.
    const auto [at, fresh] = settled_.try_emplace(name_of(function), function);
    if (fresh) at->second = with_origin(function, origin_now(function));
    return at->second;
  }

  OriginPtr origin_now(const GlobalFunction& function) {
    const std::string& name = name_of(function);
    const GlobalFunction* before = had_.find(name);
    const bool made = !before || (*before != function && !call_.keeps_meaning);
    const GlobalFunction* source = call_.whole_module ? nullptr : has_.find(call_.function);
    if (source && made && name != call_.function)
      return std::make_shared<const FunctionOrigin>(
          FunctionOrigin{call_.command, call_.options, call_.function, settled(*source), input_});
    OriginPtr known = before ? origin_of(*before) : nullptr;
    if (!known || !call_.keeps_meaning) return known;
    // What stood for the source stands for it in its new form.
    const GlobalFunction* source_before = had_.find(known->source);
    const GlobalFunction* source_after = has_.find(known->source);
    if (!source_before || !source_after || !is_same_function(*source_before, known->source_function))
      return known;
    const GlobalFunction& now = settled(*source_after);
    if (now == known->source_function) return known;
    FunctionOrigin other = *known;
    other.source_function = now;
    return std::make_shared<const FunctionOrigin>(std::move(other));
  }

  const TransformCall& call_;
  std::size_t input_;
  ByName had_, has_;
  std::map<std::string, GlobalFunction> settled_;
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

OriginPtr origin_of(const GlobalFunction& function) {
  return std::visit(
      []<class Held>(const std::shared_ptr<const Held>& held) -> OriginPtr {
        if constexpr (requires { held->origin; }) return held->origin;
        return nullptr;
      },
      function);
}

GlobalFunction with_origin(const GlobalFunction& function, OriginPtr origin) {
  return std::visit(
      [&]<class Held>(const std::shared_ptr<const Held>& held) -> GlobalFunction {
        if constexpr (requires { held->origin; }) {
          if (held->origin == origin) return held;
          auto other = std::make_shared<Held>(*held);
          other->origin = std::move(origin);
          return std::shared_ptr<const Held>(std::move(other));
        } else {
          return held;
        }
      },
      function);
}

ModulePtr with_origins(const TransformCall& call, std::size_t input) {
  return OriginsOfCall(call, input).module();
}

std::vector<GlobalFunction> stale_functions(const Module& module) {
  std::set<std::string> names;
  const ByName functions(module);
  // A function may stand before the one that it was made from.
  for (bool more = true; more;) {
    more = false;
    for (const GlobalFunction& function : module.functions) {
      const OriginPtr origin = origin_of(function);
      if (!origin || names.contains(name_of(function))) continue;
      const GlobalFunction* source = functions.find(origin->source);
      if (!source) continue;
      if (!names.contains(origin->source) && is_same_function(*source, origin->source_function)) continue;
      names.insert(name_of(function));
      more = true;
    }
  }
  std::vector<GlobalFunction> result;
  for (const GlobalFunction& function : module.functions)
    if (names.contains(name_of(function))) result.push_back(function);
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
