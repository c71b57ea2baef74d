// The commands `:hist` and `:heat`: tensors as pictures in characters.
#include <fmt/ranges.h>

#include "shell/commands/subject.h"
#include "shell/program/text_pictures.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish::commands_pictures {
namespace {

// The tensor that the words mean; a list of numbers is one too.
Tensor tensor_of_words(Invocation& invocation) {
  const std::string name = shell_name(invocation.command.name);
  if (invocation.files.empty())
    fail(ErrorClass::Usage, {}, "command.subject", fmt::format("{} takes a tensor", name));
  Workspace& workspace = *invocation.workspace;
  const ScriptValue value = workspace.script().evaluate(
      Sources::instance().add(fmt::format("<in {}>", workspace.next_input() - 1),
                              fmt::format("{}", fmt::join(invocation.files, " "))));
  if (value.tensor()) return *value.tensor();
  std::vector<double> numbers;
  if (const ScriptList* list = value.sequence()) {
    for (const ScriptValue& item : list->items)
      if (const auto number = real_of(item)) numbers.push_back(*number);
    if (numbers.size() == list->items.size() && !numbers.empty())
      return Tensor::from<double>({static_cast<std::int64_t>(numbers.size())}, numbers);
  }
  fail(ErrorClass::Type, {}, "command.subject",
       fmt::format("{}: found {}; expected a tensor or a list of numbers", name, describe(value)));
}

int count_of(const Invocation& invocation, std::string_view option, int fallback) {
  constexpr std::int64_t most = 200;
  const std::int64_t count = invocation.integer(option, fallback);
  if (count < 1 || count > most)
    invocation.refuse_value(option, fmt::format("found {}; expected 1 to {}", count, most));
  return static_cast<int>(count);
}

ScriptValue run_hist(Invocation& invocation) {
  const int bins = count_of(invocation, "bins", 12);
  return histogram_of(tensor_of_words(invocation), bins);
}

ScriptValue run_heat(Invocation& invocation) {
  const int rows = count_of(invocation, "rows", 24), columns = count_of(invocation, "columns", 72);
  return heat_map_of(tensor_of_words(invocation), rows, columns);
}

constexpr Option hist_options[] = {
    {"bins", OptionKind::Integer, "12", "how many ranges of values", 0, in_session},
};
constexpr Option heat_options[] = {
    {"rows", OptionKind::Integer, "24", "lines at most", 0, in_session},
    {"columns", OptionKind::Integer, "72", "characters of a line at most", 0, in_session},
};

constexpr Example hist_examples[] = {{"", ":hist p[\"w\"]"}};
constexpr Example heat_examples[] = {{"", ":heat p[\"w\"]"}};

}  // namespace

extern const Command command_hist;
const Command command_hist{
    .name = "hist",
    .summary = "shows how often the values of a tensor are, as bars",
    .options = hist_options,
    .run = run_hist,
    .examples = hist_examples,
    .doc = "Elements that are not finite are counted apart.",
    .surfaces = in_session,
    .arguments = "X",
};

extern const Command command_heat;
const Command command_heat{
    .name = "heat",
    .summary = "shows where a tensor is large, darker for larger elements",
    .options = heat_options,
    .run = run_heat,
    .examples = heat_examples,
    .doc =
        "Of a tensor of more than two dimensions the first matrix. One that is larger than the picture is shown "
        "by the means of its blocks; '!' stands for what is not finite.",
    .surfaces = in_session,
    .arguments = "X",
};

}  // namespace relish::commands_pictures
