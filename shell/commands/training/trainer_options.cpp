// What is made: by which loss, optimizer and precision.
#include "shell/commands/training/trainer_options.h"

#include <algorithm>

#include "shell/commands/training/training.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/program/literal_text.h"
#include "shell/program/program_file.h"
#include "stdlib/catalog.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

// {"b*": {"lr": 0.01}} of the command line.
ScriptValue value_of_text(const std::string& written, const std::string& option) {
  ValueText text(written, option);
  return script_value_of(text, text.value("names with options"));
}

Attribute attribute_of(const Invocation& invocation, const ScriptValue& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* real = value.as<double>()) return *real;
  invocation.misuse("groups", fmt::format("found {}; expected a number", describe(value)));
}

std::vector<ParameterGroup> groups_option(const Invocation& invocation) {
  std::vector<ParameterGroup> groups;
  const ScriptValue* given = invocation.find("groups");
  if (!given) return groups;
  const ScriptValue value = given->string() ? value_of_text(*given->string(), "groups") : *given;
  const ScriptDict* patterns = value.dictionary();
  if (!patterns) {
    invocation.misuse(
        "groups", fmt::format("found {}; expected a dict of name patterns with options", describe(value)));
  }
  for (const auto& [pattern, options] : patterns->items) {
    if (!pattern.string())
      invocation.misuse("groups", fmt::format("found {}; expected a pattern of names", describe(pattern)));
    ParameterGroup group{*pattern.string(), {}};
    const ScriptDict* items = options.dictionary();
    if (!items) {
      invocation.misuse("groups",
                        fmt::format("found {}; expected a dict of lr and weight_decay", describe(options)));
    }
    if (items->items.empty()) {
      invocation.refuse_value("groups", fmt::format("'{}' has no option; expected lr or weight_decay, as "
                                                    "{{\"{}\": {{\"lr\": 0.01}}}}",
                                                    printable(group.pattern), printable(group.pattern)));
    }
    for (const auto& [name, number] : items->items) {
      if (!name.string()) invocation.misuse("groups", "found an option that is no name");
      group.options.emplace_back(*name.string(), attribute_of(invocation, number));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// "M.my_update(lr=0.1)": the name of a function, and the options in brackets.
void read_optimizer_text(const Invocation& invocation, const std::string& text, OptimizerOptions& into) {
  const std::string name = text.substr(0, text.find('('));
  const bool is_library = find_optimizer(name) != nullptr;
  const UserFunction own = is_library ? UserFunction{} : find_user_function(invocation, name);
  if (!own.function) {
    into.spec = spec_in_option(invocation, "optimizer", text);
    return;
  }
  into.update = own.function;
  into.module = own.module;
  into.spec = spec_in_option(invocation, "optimizer", own.function->name + text.substr(name.size()));
}

}  // namespace

UserFunction find_user_function(const Invocation& invocation, const std::string& text) {
  UserFunction found;
  const std::size_t dot = text.find('.');
  if (text.find('(') != std::string::npos) return found;
  if (dot == std::string::npos) {
    found.function = invocation.module->function(text);
    found.module = invocation.module;
    return found;
  }
  if (invocation.module->name == text.substr(0, dot)) {
    found.function = invocation.module->function(text.substr(dot + 1));
    found.module = invocation.module;
    if (found.function) return found;
  }
  if (!invocation.program) return found;
  for (const ModulePtr& module : invocation.program->modules()) {
    if (module->name != text.substr(0, dot)) continue;
    found.function = module->function(text.substr(dot + 1));
    found.module = module;
  }
  return found;
}

UserFunction user_function(const Invocation& invocation, std::string_view option, const ScriptValue& value) {
  if (const auto* reference = value.as<FunctionReference>()) {
    UserFunction found{reference->module->function(reference->name), reference->module};
    if (!found.function) invocation.misuse(option, fmt::format("'{}' is no Relax function", reference->name));
    return found;
  }
  if (!value.string())
    invocation.misuse(
        option, fmt::format("found {}; expected a function of yours, such as M.{}", describe(value), option));
  UserFunction found = find_user_function(invocation, *value.string());
  if (!found.function)
    invocation.refuse_value(option, fmt::format("there is no function '{}'", printable(*value.string())));
  return found;
}

std::vector<ScriptValue> values_of_option(const Invocation& invocation, std::string_view option) {
  const ScriptValue* value = invocation.find(option);
  if (!value) return {};
  if (value->as<FunctionReference>()) return {*value};
  // In the shell a list is one text, `mse,r2`.
  const ScriptList* list = invocation.surface == Surface::Shell ? nullptr : value->sequence();
  if (list) return {list->items.begin(), list->items.end()};
  std::vector<ScriptValue> values;
  for (std::string& text : invocation.names(option)) values.emplace_back(std::move(text));
  return values;
}

OptimizerOptions optimizer_options(const Invocation& invocation) {
  OptimizerOptions result;
  const ScriptValue* value = invocation.find("optimizer");
  if (!value) invocation.refuse_value("optimizer", "an optimizer is missing");
  if (value->as<FunctionReference>()) {
    const UserFunction own = user_function(invocation, "optimizer", *value);
    result.update = own.function;
    result.module = own.module;
    result.spec.name = own.function->name;
  } else {
    read_optimizer_text(invocation, invocation.text("optimizer"), result);
  }
  if (result.update) result.init = find_optimizer_init(*result.module, result.update->name);
  for (const char* option : {"lr", "clip_norm", "clip_value"}) {
    if (!invocation.given(option)) continue;
    if (find_attribute(result.spec.options, option))
      invocation.refuse_value(option, "the optimizer has it in brackets too; give it once");
    result.spec.options.emplace_back(option, invocation.real(option, 0));
  }
  result.groups = groups_option(invocation);
  return result;
}

std::optional<DType> precision_option(const Invocation& invocation) {
  const std::string text = invocation.text("precision", "float32");
  if (text == "float32") return std::nullopt;
  if (text == "bf16") return DType::BFloat16;
  if (text == "fp16") return DType::Float16;
  invocation.refuse_value("precision",
                          fmt::format("found '{}'; expected float32, bf16 or fp16", printable(text)));
}

std::string prefix_option(const Invocation& invocation) {
  std::string prefix = invocation.text("prefix");
  if (!prefix.empty() && !is_plain_name(prefix + "x")) {
    invocation.refuse_value(
        "prefix",
        fmt::format("found '{}'; expected what a name may begin with, such as d_", printable(prefix)));
  }
  return prefix;
}

SetupTrainerOptions trainer_options(const Invocation& invocation) {
  SetupTrainerOptions result;
  if (invocation.given("loss")) result.loss = loss_options(invocation);
  result.optimizer = optimizer_options(invocation);
  result.schedule = spec_option(invocation, "schedule");
  result.wrt = invocation.names("wrt");
  if (invocation.given("wrt") && result.wrt.empty())
    invocation.refuse_value("wrt", "found no name; expected parameters to train, or leave it out");
  result.frozen = invocation.names("frozen");
  result.average = average_option(invocation);
  result.gradient_norm = invocation.flag("grad_norm");
  result.half = precision_option(invocation);
  return result;
}

}  // namespace relish
