// Access to the arguments of a command's call.
#include <algorithm>
#include <filesystem>

#include "runtime/files.h"
#include "shell/command.h"
#include "shell/option_text.h"
#include "shell/script/script.h"
#include "support/render.h"
#include "support/value_text.h"
#include "train/run_weights.h"

namespace relish {

std::string option_text(Surface surface, std::string_view name) {
  return surface == Surface::Shell ? "--" + shell_name(name) : std::string(name);
}

namespace {

// "a, b" of one text or a list of texts.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> result;
  for (const std::string_view part : split_at_commas(text)) result.push_back(without_quotes(part));
  return result;
}

// Of what `train` returned the weights that stand in it; of another dict that one.
const ScriptDict& weights_of_job(const ScriptDict& given) {
  const ScriptDict* weights = nullptr;
  bool is_result = false;
  for (const auto& [key, item] : given.items) {
    if (!key.string()) continue;
    if (*key.string() == "params") weights = item.dictionary();
    is_result = is_result || *key.string() == "run_dir";
  }
  return weights && is_result ? *weights : given;
}

// What an option takes as a str: any, or what its declaration has an example of.
std::string what_is_spelt(const Command& command, std::string_view option) {
  const auto declared = std::find_if(command.options.begin(), command.options.end(),
                                     [&](const Option& each) { return each.name == option; });
  if (declared == command.options.end() || declared->example.empty()) return "a str";
  return fmt::format("a str such as {}", declared->example);
}

}  // namespace

void Invocation::set(std::string_view option, ScriptValue value, Span at) {
  options_[std::string(option)] = Given{std::move(value), at.known() ? at : span};
}

const ScriptValue* Invocation::find(std::string_view option) const {
  auto found = options_.find(option);
  return found == options_.end() || found->second.value.is_none() ? nullptr : &found->second.value;
}

bool Invocation::is_none(std::string_view option) const {
  const auto found = options_.find(option);
  return found != options_.end() && found->second.value.is_none();
}

Span Invocation::span_of(std::string_view option) const {
  auto found = options_.find(option);
  return found == options_.end() ? span : found->second.span;
}

void Invocation::misuse(std::string_view option, std::string message) const {
  if (surface == Surface::Shell) refuse_value(option, std::move(message));
  fail(ErrorClass::Type, span_of(option), "command.option",
       fmt::format("{}: {}: {}", command.name, option_text(surface, option), message));
}

void Invocation::refuse_value(std::string_view option, std::string message) const {
  fail(ErrorClass::Usage, span_of(option), "command.option",
       fmt::format("{}: {}: {}",
                   surface == Surface::Shell ? shell_name(command.name) : std::string(command.name),
                   option_text(surface, option), message));
}

bool Invocation::flag(std::string_view option) const {
  const ScriptValue* value = find(option);
  if (!value) return false;
  if (const auto* flag = value->as<bool>()) return *flag;
  misuse(option, fmt::format("found {}; expected True or False", describe(*value)));
}

std::string Invocation::text(std::string_view option, std::string_view fallback) const {
  const ScriptValue* value = find(option);
  if (!value) return std::string(fallback);
  if (value->string()) return *value->string();
  misuse(option, fmt::format("found {}; expected {}", describe(*value), what_is_spelt(command, option)));
}

std::int64_t Invocation::integer(std::string_view option, std::int64_t fallback) const {
  const ScriptValue* value = find(option);
  if (!value) return fallback;
  if (const auto* integer = value->as<std::int64_t>()) return *integer;
  if (const std::string* text = value->string(); text && surface != Surface::Script) {
    if (const auto result = whole_number<std::int64_t>(*text)) return *result;
    misuse(option, fmt::format("found '{}'; expected an int", printable(*text)));
  }
  const std::string* text = value->string();
  misuse(option, fmt::format("found {}; expected an int",
                             text ? fmt::format("'{}', a str", printable(*text)) : describe(*value)));
}

double Invocation::real(std::string_view option, double fallback) const {
  const ScriptValue* value = find(option);
  if (!value) return fallback;
  if (auto real = real_of(*value)) return *real;
  if (const std::string* text = value->string(); text && surface != Surface::Script) {
    if (const auto result = real_number(*text)) return *result;
    misuse(option, fmt::format("found '{}'; expected a number", printable(*text)));
  }
  const std::string* text = value->string();
  misuse(option, fmt::format("found {}; expected a number",
                             text ? fmt::format("'{}', a str", printable(*text)) : describe(*value)));
}

std::vector<std::string> Invocation::names(std::string_view option) const {
  const ScriptValue* value = find(option);
  if (!value) return {};
  if (value->string()) return split_names(*value->string());
  std::vector<std::string> result;
  if (const ScriptList* list = value->sequence()) {
    for (const ScriptValue& item : list->items) {
      if (!item.string())
        misuse(option, fmt::format("found {} among the names; expected str", describe(item)));
      // Repeated flags of the shell append, each with its own commas; a script's list holds single names.
      std::vector<std::string> more =
          surface == Surface::Shell ? split_names(*item.string()) : std::vector<std::string>{*item.string()};
      result.insert(result.end(), more.begin(), more.end());
    }
    return result;
  }
  misuse(option, fmt::format("found {}; expected a list of names", describe(*value)));
}

std::vector<int> Invocation::path(std::string_view option) const {
  const ScriptValue* value = find(option);
  if (!value) return {};
  auto index = [&](std::int64_t i) {
    if (i < 0 || i > 1'000'000)
      refuse_value(option, fmt::format("found the index {}; expected at least 0", i));
    return static_cast<int>(i);
  };
  if (const auto* single = value->as<std::int64_t>()) return {index(*single)};
  if (const ScriptList* list = value->sequence()) {
    std::vector<int> result;
    for (const ScriptValue& item : list->items) {
      if (!item.as<std::int64_t>()) misuse(option, fmt::format("found {}; expected ints", describe(item)));
      result.push_back(index(*item.as<std::int64_t>()));
    }
    return result;
  }
  if (const std::string* text = value->string()) {
    std::vector<int> result;
    for (std::size_t begin = 0; begin <= text->size();) {
      const std::size_t dot = std::min(text->find('.', begin), text->size());
      const auto i = whole_number<std::int64_t>(std::string_view(*text).substr(begin, dot - begin));
      if (!i)
        refuse_value(option, fmt::format("found '{}'; expected an index path such as 1.0", printable(*text)));
      result.push_back(index(*i));
      begin = dot + 1;
    }
    return result;
  }
  misuse(option, fmt::format("found {}; expected an index path such as 1.0", describe(*value)));
}

std::vector<std::pair<std::string, ScriptValue>> Invocation::assignments(std::string_view option) const {
  const ScriptValue* value = find(option);
  if (!value) return {};
  std::vector<std::pair<std::string, ScriptValue>> result;
  auto add_text = [&](const std::string& text) {
    std::size_t mark = text.find('=');
    if (mark == std::string::npos || mark == 0) {
      refuse_value(option, fmt::format("found '{}'; expected NAME=VALUE", printable(text)));
    }
    result.emplace_back(text.substr(0, mark), ScriptValue(text.substr(mark + 1)));
  };
  if (const ScriptDict* dict = value->dictionary()) {
    for (const auto& [key, item] : dict->items) {
      if (!key.string()) misuse(option, fmt::format("found the key {}; expected names", brief_text(key)));
      result.emplace_back(*key.string(), item);
    }
  } else if (value->string()) {
    add_text(*value->string());
  } else if (const ScriptList* list = value->sequence()) {
    for (const ScriptValue& item : list->items) {
      if (!item.string()) misuse(option, fmt::format("found {}; expected \"NAME=VALUE\"", describe(item)));
      add_text(*item.string());
    }
  } else {
    misuse(option, fmt::format("found {}; expected a dict or \"NAME=VALUE\"", describe(*value)));
  }
  return result;
}

std::vector<std::pair<std::string, Tensor>> Invocation::tensors(std::string_view option) const {
  const ScriptValue* value = find(option);
  if (!value) return {};
  if (value->string()) {
    const std::string path = input_path(option);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return weights_of_run(path);
    std::vector<std::pair<std::string, Tensor>> read = read_tensors(path);
    // Parameters are found by their names; a result that is expected may be the only one.
    if (option == "params" && read.size() == 1 && read.front().first.empty())
      misuse(option,
             fmt::format("{} holds one tensor, which has no name; expected named tensors, as of .npz and "
                         ".safetensors",
                         printable(path)));
    return read;
  }
  std::vector<std::pair<std::string, Tensor>> result;
  if (const ScriptDict* dict = value->dictionary()) {
    for (const auto& [key, item] : weights_of_job(*dict).items) {
      if (!key.string() || !item.tensor()) {
        misuse(option,
               fmt::format("found {}: {}; expected names with tensors", brief_text(key), describe(item)));
      }
      result.emplace_back(*key.string(), *item.tensor());
    }
    return result;
  }
  misuse(option, fmt::format("found {}; expected a file of tensors or a dict", describe(*value)));
}

std::string Invocation::allowed_path(std::string_view option, const std::string& path) const {
  return script ? script->resolve_path(path, span_of(option)) : path;
}

std::string shell_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

std::string script_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

const Command* find_command(std::string_view name) {
  std::string wanted = script_name(name);
  for (const Command* command : all_commands()) {
    if (command->name == wanted) return command;
    for (std::string_view alias : command->aliases) {
      if (script_name(alias) == wanted) return command;
    }
  }
  return nullptr;
}

}  // namespace relish
