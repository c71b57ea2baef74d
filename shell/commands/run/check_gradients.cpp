// The command `check_gradients`: a function's gradient against differences of the function.
#include "transform/check_gradients.h"

#include <cmath>

#include "runtime/format.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"

namespace relish::commands_check_gradients {
namespace {

constexpr Option own_options[] = {
    {"wrt", OptionKind::Names, "all floating tensor parameters", "names of the parameters to check"},
    {"full", OptionKind::Flag, "", "every element of every parameter, however large"},
};

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and(own_options);
  return options;
}

constexpr Example examples[] = {
    {"relish check-gradients m.relish main --arg \"x=rand(seed=1)\" --wrt x",
     "check_gradients(M.main, x, wrt=[\"x\"])"},
};

// A NaN has no sign that anybody asks for.
std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value); }

// What is to be done where no difference can be right.
std::string words_of(const GradientDifference& difference) {
  const std::string numbers = fmt::format("gradient {}, differences {}", number_text(difference.analytic),
                                          number_text(difference.numeric));
  return std::isfinite(difference.numeric)
             ? numbers
             : numbers + " (the function is not finite near this point: check it elsewhere)";
}

std::string report(const GradientCheck& check) {
  std::string text = fmt::format("differences in {}", name_of(check.dtype));
  for (const CheckedParameter& parameter : check.parameters) {
    text += fmt::format("\n{} ({}): {} {}, ", parameter.name, fmt::join(parameter.shape, ", "),
                        parameter.quotients, parameter.jacobian ? "elements" : "directions");
    if (parameter.wrong.empty()) {
      text += fmt::format("largest difference {:.1e}", parameter.largest_error);
    } else {
      const GradientDifference& first = parameter.wrong.front();
      text += fmt::format("{} wrong; first {}: {}", parameter.wrong.size(), first.place, words_of(first));
    }
    if (parameter.at_kinks > 0) text += fmt::format(", {} at kinks", parameter.at_kinks);
  }
  return text;
}

ScriptValue run(Invocation& invocation) {
  const std::string function = function_of(invocation);
  GradientCheckOptions options;
  options.wrt = invocation.names("wrt");
  if (invocation.flag("full")) options.most_elements_for_jacobian = std::numeric_limits<std::int64_t>::max();
  std::vector<Value> arguments = call_arguments(invocation, function);
  const GradientCheck check = check_gradients(*invocation.module, function, std::move(arguments), options,
                                              invocation.session.evaluator());
  if (invocation.surface == Surface::Shell) {
    if (!check.good()) invocation.exit_code = 1;
    return report(check);
  }
  if (!check.good()) write_error_text(report(check) + "\n");
  return check.good();
}

}  // namespace

extern const Command command_check_gradients;
const Command command_check_gradients{
    .name = "check_gradients",
    .summary = "compares a function's gradient with differences of the function",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "Of a function or a prim_func. Five-point differences at the given arguments, in float64 where the "
        "function can be computed so; all elements of parameters up to 64, four directions of larger ones. Where the slopes on the two sides "
        "of a point differ (a kink) the gradient must lie between them. A difference exits 1; in a script "
        "the "
        "result is True or False and a difference is told on standard error.",
};

}  // namespace relish::commands_check_gradients
