// A count stays a count as long as the inputs still stand first and nothing new stands behind the trained
// ones; otherwise the names say it.
#include "transform/parameter_marks.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/user_gradient.h"
#include "support/failure.h"
#include "support/suggest.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

std::vector<std::string> parameter_names(const std::vector<Var>& params) {
  std::vector<std::string> names;
  for (const Var& param : params) names.push_back(param.name());
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The parameters that an attribute lists by name.
std::optional<std::vector<std::string>> listed_parameters(const Function& function,
                                                          std::string_view attribute) {
  const Attribute* marked = find_attribute(function.attributes, attribute);
  if (!marked) return std::nullopt;
  const auto refuse = [&](std::string message) {
    fail(ErrorClass::Type, function.span, "attribute.params",
         fmt::format("{}: {} {}; expected a list of names of parameters", function.name, attribute, message));
  };
  const auto* list = marked->as<AttributeList>();
  if (!list) refuse("is no list");
  const std::vector<std::string> known = parameter_names(function.params);
  std::vector<std::string> names;
  for (const Attribute& item : *list) {
    const std::string* name = item.as<std::string>();
    if (!name) refuse("holds what is no name");
    if (!holds(known, *name)) refuse(fmt::format("names '{}'{}", *name, did_you_mean(*name, known)));
    if (holds(names, *name)) refuse(fmt::format("names '{}' twice", *name));
    names.push_back(*name);
  }
  return names;
}

std::optional<std::size_t> counted_inputs(const Function& function) {
  const Attribute* count = find_attribute(function.attributes, input_count_attribute);
  if (!count) return std::nullopt;
  const std::int64_t* value = count->as<std::int64_t>();
  if (!value || *value < 0 || static_cast<std::size_t>(*value) > function.params.size()) {
    fail(ErrorClass::Type, function.span, "attribute.num_input",
         fmt::format("{}: {} is {}; expected an int from 0 to {}, the number of parameters", function.name,
                     input_count_attribute, value ? fmt::to_string(*value) : "no int",
                     function.params.size()));
  }
  return static_cast<std::size_t>(*value);
}

// The mark that says of the parameters `after` what source's marks say of its own.
std::optional<std::pair<std::string, Attribute>> mark_for(const Function& source,
                                                          const std::vector<std::string>& after) {
  const std::optional<std::vector<std::string>> marked = marked_parameters(source);
  if (!marked) return std::nullopt;
  std::vector<std::string> trained;
  for (const std::string& parameter : *marked)
    if (holds(after, parameter)) trained.push_back(parameter);
  const bool counted = !find_attribute(source.attributes, trained_attribute);
  const bool all_behind =
      trained.size() <= after.size() && std::equal(trained.rbegin(), trained.rend(), after.rbegin());
  if (counted && all_behind)
    return {{std::string(input_count_attribute), static_cast<std::int64_t>(after.size() - trained.size())}};
  return {{std::string(trained_attribute), AttributeList(trained.begin(), trained.end())}};
}

// Those of the names that are still there.
Attribute surviving(const Attribute& names, const std::vector<std::string>& after) {
  AttributeList kept;
  if (const auto* list = names.as<AttributeList>())
    for (const Attribute& name : *list)
      if (name.as<std::string>() && holds(after, *name.as<std::string>())) kept.push_back(name);
  return kept;
}

// The roles of source's parameters for those of them that are left; none when others came.
std::optional<Attribute> role_for(const Function& source, const std::vector<std::string>& after) {
  std::optional<RoleSignature> roles = roles_of(source);
  if (!roles || roles->params.size() != source.params.size()) return std::nullopt;
  const std::vector<std::string> before = parameter_names(source.params);
  std::vector<RoleSlot> kept;
  for (const std::string& name : after) {
    const auto found = std::find(before.begin(), before.end(), name);
    if (found == before.end()) return std::nullopt;
    kept.push_back(roles->params[static_cast<std::size_t>(found - before.begin())]);
  }
  // What a trainer's own value was bound to is no trainer's function any more.
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Role role = roles->params[i].role;
    if (!holds(after, before[i]) && role != Role::Input && role != Role::Target) return std::nullopt;
  }
  roles->params = std::move(kept);
  return Attribute(print(*roles));
}

}  // namespace

bool may_be_trained(const Type& type) {
  const TensorType* tensor = type.tensor();
  if (tensor == nullptr) return type.tuple() != nullptr;
  return !tensor->dtype || is_float(*tensor->dtype);
}

std::optional<std::vector<std::string>> marked_parameters(const Function& function) {
  if (auto listed = listed_parameters(function, trained_attribute)) return listed;
  const std::optional<std::size_t> inputs = counted_inputs(function);
  if (!inputs) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = *inputs; i < function.params.size(); ++i)
    if (may_be_trained(function.params[i].type())) names.push_back(function.params[i].name());
  return names;
}

Attributes attributes_of_derived(const Function& source, std::string_view name,
                                 const std::vector<Var>& params) {
  const std::vector<std::string> after = parameter_names(params);
  const bool changed = parameter_names(source.params) != after;
  std::optional<std::pair<std::string, Attribute>> mark = changed ? mark_for(source, after) : std::nullopt;
  Attributes result;
  for (const auto& [key, value] : source.attributes) {
    if (name != source.name && (key == gradient_attribute || key == role_attribute || key == "global_symbol"))
      continue;
    const bool marks = key == trained_attribute || key == input_count_attribute;
    if (changed && key == role_attribute) {
      if (auto role = role_for(source, after)) result.emplace_back(key, std::move(*role));
    } else if (changed && key == buffers_attribute) {
      result.emplace_back(key, surviving(value, after));
    } else if (!marks || !changed) {
      result.emplace_back(key, value);
    } else if (mark) {
      result.push_back(std::move(*mark));
      mark.reset();
    }
  }
  return result;
}

std::vector<std::string> marked_buffers(const Function& function) {
  return listed_parameters(function, buffers_attribute).value_or(std::vector<std::string>{});
}

void set_role(Module& module, Function&& function, const RoleSignature& roles) {
  if (module.find(function.name)) {
    const FunctionPtr before = module.function(function.name);
    if (!before || !has_role(*before, roles.kind)) {
      fail(
          ErrorClass::Usage, {}, "setup_trainer.name",
          fmt::format("module {} has a function '{}' already; rename it, since the trainer makes one of that "
                      "name",
                      module.name, function.name));
    }
    check_replaces(module, function);
  }
  function.attributes = with_attribute(std::move(function.attributes), role_attribute, print(roles));
  module.set(std::make_shared<const Function>(std::move(function)));
}

void remove_made(Module& module, std::string_view name, std::string_view kind) {
  const FunctionPtr made = module.function(name);
  if (!made || !has_role(*made, kind)) return;
  const bool called =
      std::any_of(module.functions.begin(), module.functions.end(), [&](const GlobalFunction& global) {
        const auto* function = std::get_if<FunctionPtr>(&global);
        if (!function || find_attribute((*function)->attributes, role_attribute)) return false;
        const std::vector<std::string> names = global_references(**function);
        return std::find(names.begin(), names.end(), name) != names.end();
      });
  if (!called) module.remove(name);
}

void remove_made_callers(Module& module, std::string_view name) {
  std::vector<std::string> removed = {std::string(name)};
  for (std::size_t i = 0; i < removed.size(); ++i) {
    std::vector<std::string> callers;
    for (const GlobalFunction& global : module.functions) {
      const auto* function = std::get_if<FunctionPtr>(&global);
      if (function && find_attribute((*function)->attributes, role_attribute) &&
          holds(global_references(**function), removed[i]) && !holds(removed, (*function)->name))
        callers.push_back((*function)->name);
    }
    for (std::string& caller : callers) {
      module.remove(caller);
      removed.push_back(std::move(caller));
    }
  }
}

}  // namespace relish
