// The commands `:vars`, `:shape` and `:stats`: what is there, and what tensors hold.
#include <algorithm>
#include <functional>
#include <map>

#include <fmt/ranges.h>

#include "shell/commands/subject.h"
#include "shell/program/text_pictures.h"
#include "shell/workspace/held_bytes.h"
#include "shell/workspace/makers.h"
#include "shell/workspace/value_words.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_looking {
namespace {

ScriptValue value_of_words(Invocation& invocation, std::string_view what) {
  if (invocation.files.empty()) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("{} takes {}", shell_name(invocation.command.name), what));
  }
  Workspace& workspace = *invocation.workspace;
  return workspace.script().evaluate(
      Sources::instance().add(fmt::format("<in {}>", workspace.next_input() - 1),
                              fmt::format("{}", fmt::join(invocation.files, " "))));
}

// Each tensor in the value with the way to it.
void for_each_tensor(const ScriptValue& value, const std::string& name,
                     const std::function<void(const std::string&, const Tensor&)>& visit) {
  if (value.tensor()) return visit(name, *value.tensor());
  if (const ScriptDict* dict = value.dictionary()) {
    for (const auto& [key, item] : dict->items)
      for_each_tensor(item, name + "[" + quoted_text_of(key) + "]", visit);
  }
  if (const ScriptList* list = value.sequence()) {
    for (std::size_t i = 0; i < list->items.size(); ++i)
      for_each_tensor(list->items[i], fmt::format("{}[{}]", name, i), visit);
  }
}

std::string for_tensors(Invocation& invocation, const std::function<std::string(const Tensor&)>& text_of) {
  const ScriptValue value = value_of_words(invocation, "a tensor, or a list or dict of tensors");
  if (value.tensor()) return text_of(*value.tensor());
  std::string text;
  for_each_tensor(value, "", [&](const std::string& name, const Tensor& tensor) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name, text_of(tensor));
  });
  if (text.empty()) {
    fail(ErrorClass::Type, {}, "command.subject",
         fmt::format("{}: found {}; expected a tensor, or a list or dict of tensors",
                     shell_name(invocation.command.name), describe(value)));
  }
  return text;
}

ScriptValue run_shape(Invocation& invocation) {
  return for_tensors(invocation,
                     [](const Tensor& tensor) { return text_of(ScriptValue(ShapeValue{tensor.shape()})); });
}

std::string stats_of(const Tensor& tensor) {
  const std::string statistics = tensor.size() == 0 ? "no elements" : statistics_of(tensor);
  return describe(ScriptValue(tensor)).substr(std::string_view("a tensor ").size()) +
         (statistics.empty() ? "" : "  " + statistics);
}

ScriptValue run_stats(Invocation& invocation) { return for_tensors(invocation, stats_of); }

ScriptValue run_vars(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  if (invocation.files.size() > 1)
    fail(ErrorClass::Usage, {}, "command.subject", "vars takes one kind at most, such as tensor or module");
  const std::string* kind = invocation.files.empty() ? nullptr : &invocation.files.front();
  struct Row {
    std::string name, kind, text, made;
  };
  std::vector<Row> rows;
  std::vector<std::string> kinds;
  std::size_t width = 0, text_width = 0;
  const std::map<std::string, std::size_t> makers = makers_of(workspace);
  workspace.state().names.for_each([&](const std::string& name, const ScriptValue& value) {
    kinds.emplace_back(kind_name(value));
    if (kind && kinds.back() != *kind) return;
    const auto maker = makers.find(name);
    rows.push_back(
        {name, kinds.back(), overview_of(value),
         maker == makers.end() ? "" : fmt::format("[{}]", workspace.log().node(maker->second).input)});
    width = std::max(width, name.size());
    text_width = std::max(text_width, rows.back().text.size());
  });
  if (rows.empty()) {
    if (!kind) return "nothing is bound";
    return fmt::format("nothing of kind '{}' is bound{}", printable(*kind), did_you_mean(*kind, kinds));
  }
  std::string text;
  for (const Row& row : rows) {
    text +=
        fmt::format("{:<{}}  {:<8}  {:<{}}  {}\n", row.name, width, row.kind, row.text, text_width, row.made);
    while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  }
  text.pop_back();
  return text;
}

constexpr Example vars_examples[] = {{"", ":vars"}, {"", ":vars module"}};
constexpr Example shape_examples[] = {{"", ":shape x"}};
constexpr Example stats_examples[] = {{"", ":stats p[\"w\"]"}};

}  // namespace

extern const Command command_vars;
const Command command_vars{
    .name = "vars",
    .summary = "lists what is bound, with the input that made it",
    .run = run_vars,
    .examples = vars_examples,
    .surfaces = in_session,
    .arguments = "[KIND]",
};

extern const Command command_shape;
const Command command_shape{
    .name = "shape",
    .summary = "shows the shape of a tensor, or of those in a list or dict",
    .run = run_shape,
    .examples = shape_examples,
    .surfaces = in_session,
    .arguments = "X",
};

extern const Command command_stats;
const Command command_stats{
    .name = "stats",
    .summary = "shows mean, deviation and range of a tensor, or of those in a list or dict",
    .run = run_stats,
    .examples = stats_examples,
    .doc =
        "Elements that are not finite are counted apart; the standard deviation is that of all elements (n).",
    .surfaces = in_session,
    .arguments = "X",
};

}  // namespace relish::commands_looking
