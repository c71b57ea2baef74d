// The command `compare_tiers`: a function in the interpreter and compiled, binding by binding.
#include <fmt/format.h>

#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/source.h"
#include "transform/compare_evaluators.h"

namespace relish::commands_compare_tiers {
namespace {

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and({});
  return options;
}

constexpr Example examples[] = {
    {"relish compare-tiers m.relish main --arg \"x=rand(seed=1)\" --params w.npz",
     "compare_tiers(M.main, arg={\"x\": x, \"w\": w})"},
};

std::string_view words_of_class(int agreement_class) {
  switch (agreement_class) {
    case 4:
      return "an elementary function may differ by a few units in the last place";
    case 5:
      return "a sum may differ by what another order of its terms gives";
    case 6:
      return "what is joined of sums and functions may differ by little";
    case 8:
      return "a whole function may differ by little";
    default:
      return "this may not differ at all";
  }
}

// With its line and a caret, as diagnostics have it.
std::string told(const ValueDifference& found) {
  const std::string name = found.binding.empty() ? fmt::format("the result of {}", found.function)
                                                 : fmt::format("{} in {}", found.binding, found.function);
  const std::string apart =
      found.distance < 0 ? "" : fmt::format(" ({} in the last place apart)", counted(found.distance, "unit"));
  Diagnostic difference;
  difference.severity = Severity::Note;
  difference.span = found.span;
  difference.message = fmt::format("{} differs{}: interpreted {}, compiled {}{}; {}", name,
                                   found.place.empty() ? "" : " at " + found.place, found.wanted, found.found,
                                   apart, words_of_class(found.agreement_class));
  std::string text = render({&difference, 1}, Sources::instance(), {});
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string report(const EvaluatorComparison& found) {
  if (found.first) return told(*found.first);
  if (found.whole_only)
    return "the result agrees; bindings were not computed one by one, as one may write to the value of another";
  std::string text = fmt::format("{} and the result agree", counted(found.bindings, "binding"));
  if (found.largest_distance == 0) return text + ", to the bit";
  return text + fmt::format("; the largest distance is {} in the last place, of {}",
                            counted(found.largest_distance, "unit"), found.largest_binding);
}

ScriptValue run(Invocation& invocation) {
  const std::string function = function_of(invocation);
  const std::vector<Value> arguments = call_arguments(invocation, function);
  const EvaluatorComparison found =
      compare_evaluators(invocation.module, function, arguments, invocation.session.evaluator("interp"),
                         invocation.session.evaluator("jit"));
  if (invocation.surface == Surface::Shell) {
    if (found.first) invocation.exit_code = 1;
    return report(found);
  }
  if (found.first) write_error_text(report(found) + "\n");
  return !found.first.has_value();
}

}  // namespace

extern const Command command_compare_tiers;
const Command command_compare_tiers{
    .name = "compare_tiers",
    .summary = "compares what the interpreter and compiled code compute, binding by binding",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "Both tiers compute every binding from the values that the interpreter has before it, and then the whole "
        "function. Told is the first binding that differs by more than its operator's class of agreement allows "
        "(relish doc NAME tells it), or the largest distance of what agrees, in units in the last place. A call "
        "that differs is entered. What is left of terms that cancel is held against those terms, where a sum is one, and "
        "in a result of several bindings against the elements beside it. Of a function whose calls may write to their arguments the result alone is compared. A difference exits 1; in a script the result is True or False and a difference "
        "is told on standard error.",
};

}  // namespace relish::commands_compare_tiers
