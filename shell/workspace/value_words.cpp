// Short texts of values.
#include "shell/workspace/value_words.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shell/script/unread_value.h"
#include "support/counted.h"

namespace relish {
namespace {

constexpr std::size_t most_items_in_words = 4;
constexpr std::size_t most_characters = 60;

bool is_wide(const ScriptValue& value) {
  return value.tensor() || value.dictionary() || value.sequence() || value.as<ModulePtr>();
}

// "[float32 (2, 3), float32 (2,)]": items whose own texts have several lines by what they are.
std::optional<std::string> words_of_items(const ScriptList& list) {
  std::string text;
  for (const ScriptValue& item : list.items) text += (text.empty() ? "" : ", ") + overview_of(item);
  if (text.size() > most_characters) return std::nullopt;
  if (!list.tuple) return "[" + text + "]";
  return "(" + text + (list.items.size() == 1 ? ",)" : ")");
}

// "main(x, w)": how the function is called.
std::string signature_words(const FunctionReference& reference) {
  std::vector<std::string> names;
  if (const GlobalFunction* function = reference.module->find(reference.name)) {
    if (const auto* graph = std::get_if<FunctionPtr>(function))
      for (const Var& param : (*graph)->params) names.push_back(param.name());
    if (const auto* loops = std::get_if<PrimFuncPtr>(function))
      for (const PrimParam& param : (*loops)->params) names.push_back(param.name());
  }
  if (names.size() > most_items_in_words) {
    names.resize(most_items_in_words);
    names.emplace_back("…");
  }
  return fmt::format("{}({})", reference.name, fmt::join(names, ", "));
}

}  // namespace

std::string overview_of(const ScriptValue& held) {
  const ScriptValue& value = known_value(held);
  if (const auto* unread = value.as<UnreadValuePtr>()) return (*unread)->overview();
  if (value.tensor()) return describe(value).substr(std::string_view("a tensor ").size());
  if (const auto* module = value.as<ModulePtr>())
    return "module of " + counted((*module)->functions.size(), "function");
  if (const auto* function = value.as<FunctionReference>()) return signature_words(*function);
  if (const ScriptDict* dict = value.dictionary())
    return "dict of " + counted(dict->items.size(), "entry", "entries");
  if (const ScriptList* list = value.sequence()) {
    const bool any_wide = std::any_of(list->items.begin(), list->items.end(), is_wide);
    if (!any_wide && list->items.size() <= most_items_in_words) return brief_text(value);
    if (list->items.size() <= most_items_in_words)
      if (auto words = words_of_items(*list)) return std::move(*words);
    return std::string(kind_name(value)) + " of " + counted(list->items.size(), "item");
  }
  return brief_text(value);
}

std::string entries_text(const ScriptDict& dict) {
  std::size_t width = 0;
  for (const auto& [key, value] : dict.items) width = std::max(width, text_of(key).size());
  std::string text;
  for (const auto& [key, value] : dict.items) {
    std::string words;
    const ScriptDict* inner = value.dictionary();
    if (inner && !inner->items.empty() && inner->items.size() <= most_items_in_words) {
      for (const auto& [name, part] : inner->items)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", text_of(name), overview_of(part));
    } else {
      words = overview_of(value);
    }
    text += fmt::format("{}{:<{}}  {}", text.empty() ? "" : "\n", text_of(key), width, words);
  }
  return text;
}

}  // namespace relish
