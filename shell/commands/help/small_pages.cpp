// The pages, made from the declarations.
#include "shell/commands/help/small_pages.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "runtime/dtype.h"
#include "shell/command.h"
#include "shell/script/methods.h"

namespace relish {
namespace {

struct MethodTable {
  std::string_view kind;
  std::span<const ValueMethod> methods;
};

std::array<MethodTable, 5> method_tables() {
  return {{{"str", text_methods()},
           {"list", list_methods()},
           {"tuple", tuple_methods()},
           {"dict", dict_methods()},
           {"tensor", tensor_methods()}}};
}

}  // namespace

std::optional<std::string> option_page(std::string_view name) {
  if (name.starts_with("--")) name.remove_prefix(2);
  const std::string wanted = script_name(name);
  std::string text, commands;
  std::string_view last;
  // Commands that say the same of it share a line.
  const auto finish = [&] {
    if (!commands.empty()) text += fmt::format("\n  of {}: {}", commands, last);
    commands.clear();
  };
  for (const Command* command : all_commands()) {
    for (const Option& option : command->options) {
      if (option.name != wanted) continue;
      if (option.doc != last) finish();
      last = option.doc;
      commands += (commands.empty() ? "" : ", ") + std::string(command->name);
      if (!option.fallback.empty()) commands += fmt::format(" (default {})", option.fallback);
    }
  }
  finish();
  if (text.empty()) return std::nullopt;
  return fmt::format("{}= in scripts, --{} elsewhere: an option{}", wanted, shell_name(wanted), text);
}

std::optional<std::string> method_page(std::string_view name) {
  std::string text;
  for (const MethodTable& table : method_tables()) {
    for (const ValueMethod& method : table.methods) {
      if (method.name != name) continue;
      const bool none = !method.instead.empty();
      text += fmt::format("{}{}{}{}", text.empty() ? "" : "\n", none ? "" : method.synopsis,
                          none ? fmt::format("a {} has no '{}'; write {}", table.kind, name, method.instead)
                               : fmt::format(": a method of a {}", table.kind),
                          method.change ? ", which changes what the name holds" : "");
    }
  }
  if (text.empty()) return std::nullopt;
  return text + "\n  manual: docs/language.md, Methods";
}

std::optional<std::string> dtype_page(std::string_view name) {
  const auto dtype = dtype_from_name(std::string(name));
  if (!dtype || name_of(*dtype) != name) return std::nullopt;
  return fmt::format(
      "\"{}\": a dtype, of {} {}\n  x.astype(\"{}\"), tensor([1, 2], \"{}\"), R.Tensor((n,), \"{}\").\n"
      "  manual: docs/language.md, Numbers and tensors",
      name, size_of(*dtype), size_of(*dtype) == 1 ? "byte" : "bytes", name, name, name);
}

std::vector<std::string> option_and_method_names() {
  std::set<std::string> names;
  for (const Command* command : all_commands())
    for (const Option& option : command->options) names.emplace(option.name);
  for (const MethodTable& table : method_tables())
    for (const ValueMethod& method : table.methods) names.emplace(method.name);
  return {names.begin(), names.end()};
}

}  // namespace relish
