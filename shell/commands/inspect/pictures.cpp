// The commands `:hist` and `:heat`: tensors as pictures in characters.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/ranges.h>

#include "shell/commands/inspect/pictures.h"
#include "shell/commands/subject.h"
#include "shell/program/terminal_pictures.h"
#include "shell/program/text_pictures.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/value_text.h"
#include "train/report/chart.h"

namespace relish::commands_pictures {
namespace {

ScriptValue value_of_words(Invocation& invocation) {
  const std::string name = shell_name(invocation.command.name);
  if (invocation.files.empty())
    fail(ErrorClass::Usage, {}, "command.subject", fmt::format("{} takes a tensor", name));
  Workspace& workspace = *invocation.workspace;
  return workspace.script().evaluate(
      Sources::instance().add(fmt::format("<in {}>", workspace.next_input() - 1),
                              fmt::format("{}", fmt::join(invocation.files, " "))));
}

// What stands in the place of something to draw: an empty list is a list of numbers, but there are none.
std::string describe_undrawn(const ScriptValue& value) {
  const bool empty = (value.sequence() && value.sequence()->items.empty()) ||
                     (value.dictionary() && value.dictionary()->items.empty());
  if (empty) return fmt::format("an empty {}", kind_name(value));
  if (value.tensor()) return fmt::format("{} without elements", describe(value));
  if (const ScriptList* list = value.sequence()) {
    const auto other = std::find_if(list->items.begin(), list->items.end(),
                                    [](const ScriptValue& item) { return !real_of(item); });
    if (other != list->items.end()) return fmt::format("{} with {}", describe(value), describe(*other));
  }
  return describe(value);
}

// A list of numbers is a tensor too; nothing for other values.
std::optional<Tensor> tensor_of_value(const ScriptValue& value) {
  if (value.tensor()) return *value.tensor();
  std::vector<double> numbers;
  if (const ScriptList* list = value.sequence()) {
    for (const ScriptValue& item : list->items)
      if (const auto number = real_of(item)) numbers.push_back(*number);
    if (numbers.size() == list->items.size() && !numbers.empty())
      return Tensor::from<double>({static_cast<std::int64_t>(numbers.size())}, numbers);
  }
  return std::nullopt;
}

// The tensor that the words mean.
Tensor tensor_of_words(Invocation& invocation) {
  const ScriptValue value = value_of_words(invocation);
  if (auto tensor = tensor_of_value(value)) return std::move(*tensor);
  const std::string name = shell_name(invocation.command.name);
  fail(ErrorClass::Type, {}, "command.subject",
       fmt::format("{}: found {}; expected a tensor or a list of numbers", name, describe_undrawn(value)));
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
  const Tensor tensor = tensor_of_words(invocation);
  const PictureForm form = picture_form_of_terminal();
  const bool in_characters =
      form == PictureForm::None || invocation.given("rows") || invocation.given("columns");
  if (in_characters || tensor.size() == 0) return heat_map_of(tensor, rows, columns);
  // What the colours stand for is told below.
  const HeatCells cells = heat_cells_of(tensor, 1 << 20, 1 << 20);
  return fmt::format("{}\n{:.5g} (dark) to {:.5g} (bright); {} x {} elements",
                     picture_text(heat_pixels(tensor), form), cells.least, cells.most, cells.height,
                     cells.width);
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

// More curves than that cannot be told apart.
constexpr std::int64_t most_curves = 6;

// The columns of a matrix; anything else is one curve.
void add_curves(Chart& chart, const std::string& label, const Tensor& tensor) {
  const auto& shape = tensor.shape();
  const std::int64_t columns = shape.size() == 2 ? shape[1] : 1;
  const std::int64_t rows = columns == 0 ? 0 : tensor.size() / columns;
  for (std::int64_t column = 0; column < std::min(columns, most_curves); ++column) {
    ChartCurve curve;
    curve.label = columns == 1 ? label : fmt::format("{}[:, {}]", label, column);
    for (std::int64_t row = 0; row < rows; ++row) {
      poll_interrupt();
      curve.points.push_back({static_cast<double>(row), tensor.get_double(row * columns + column)});
    }
    chart.curves.push_back(std::move(curve));
  }
}

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

namespace relish {

ScriptValue plot_of_values(Invocation& invocation) {
  using namespace commands_pictures;
  const ScriptValue value = value_of_words(invocation);
  Chart chart;
  chart.title = fmt::format("{}", fmt::join(invocation.files, " "));
  if (const auto tensor = tensor_of_value(value)) {
    add_curves(chart, chart.title, *tensor);
  } else if (const ScriptDict* dict = value.dictionary()) {
    for (const auto& [key, item] : dict->items)
      if (const auto each = tensor_of_value(item)) add_curves(chart, text_of(key), *each);
  }
  if (chart.curves.size() > most_curves) chart.curves.resize(most_curves);
  const auto has_points = [](const ChartCurve& curve) { return !curve.points.empty(); };
  if (std::none_of(chart.curves.begin(), chart.curves.end(), has_points)) {
    fail(ErrorClass::Type, {}, "command.subject",
         fmt::format("plot: found {}; expected a tensor or a list of numbers, or a dict of these",
                     describe_undrawn(value)));
  }
  const bool any_finite = std::any_of(chart.curves.begin(), chart.curves.end(), [](const ChartCurve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(),
                       [](const auto& point) { return std::isfinite(point.value); });
  });
  if (!any_finite)
    fail(ErrorClass::Type, {}, "command.subject", "plot: nothing to draw, since no value is finite");
  if (const PictureForm form = picture_form_of_terminal(); form != PictureForm::None) {
    const Axis steps = axis_of_steps(chart), values = axis_of_values(chart);
    std::string labels;
    for (const ChartCurve& curve : chart.curves) labels += (labels.empty() ? "" : ", ") + curve.label;
    return fmt::format("{}\n{}: {:.5g} to {:.5g}{}, over {:.5g} to {:.5g}",
                       picture_text(chart_pixels(chart), form), labels, values.low, values.high,
                       values.logarithmic ? " (logarithmic)" : "", steps.low, steps.high);
  }
  // With the numbers at the side it fits 80 columns.
  std::string text = braille_chart(chart, {.columns = 64});
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace relish
