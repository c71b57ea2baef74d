// The command `call`: one function of a file with given arguments.
#include <algorithm>

#include "ir/calls/entry.h"
#include "runtime/format.h"
#include "shell/commands/run/batch_call.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/program/told_table.h"
#include "shell/script/script.h"
#include "support/atomic_file.h"

namespace relish::commands_call {
namespace {

constexpr Option own_options[] = {
    {"out", OptionKind::OutputFile, "", "file for the results: .npz, .safetensors, or .npy for one tensor"},
    {"expect", OptionKind::Tensors, "", "file of expected results; a difference exits 1"},
    {"rtol", OptionKind::Real, "1e-05", "relative tolerance of --expect"},
    {"atol", OptionKind::Real, "1e-08", "absolute tolerance of --expect"},
    {"full", OptionKind::Flag, "", "print all elements, exactly"},
    {"batch", OptionKind::InputFile, "",
     "file of calls, in place of FILE; a JSON object a line with file, and, as they are needed, function, arg (an "
     "object of names), params, dim (an object), out, expect, rtol, atol; for each a line is printed with ok, exit, and "
     "results or error",
     0, in_shell},
};

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and(own_options);
  return options;
}

constexpr Example examples[] = {
    {"relish call m.relish main --arg \"x=rand(seed=1)\" --dim n=2 --params weights.npz --out y.npz",
     "y = call(M.main, arg={\"x\": x}, params=\"weights.npz\")"},
};

ScriptValue run(Invocation& invocation) {
  if (invocation.given("batch")) return run_batch_calls(invocation);
  std::string function = function_of(invocation);
  if (invocation.surface == Surface::Script && invocation.flag("full") && !person_asks()) {
    fail(ErrorClass::Usage, invocation.span_of("full"), "command.option",
         fmt::format("call: full is how a result is shown; write print(call({}, …), full=True)", function));
  }
  std::vector<Value> arguments = call_arguments(invocation, function);
  const std::string path = invocation.given("out") ? invocation.output_path("out") : "";
  if (!path.empty()) {  // before much is computed for it
    check_results_path(path, *invocation.module, function, invocation.span_of("out"));
    check_can_be_written(path);
  }
  Value result = invocation.session.evaluator().call(invocation.module, function, std::move(arguments));
  NamedTensors named = flatten_result(result);
  if (!path.empty()) write_tensors(path, named);
  if (invocation.given("expect")) {
    Closeness closeness;
    closeness.rtol = invocation.real("rtol", closeness.rtol);
    closeness.atol = invocation.real("atol", closeness.atol);
    if (auto difference = compare_results(named, invocation.tensors("expect"), closeness)) {
      write_error_text(fmt::format("{}: {}\n", function, *difference));
      invocation.exit_code = 1;
    }
  }
  FormatOptions format;
  format.full = invocation.flag("full");
  if (invocation.surface == Surface::Script) {
    ScriptValue value = from_runtime(result);
    if (format.full) tell_table([&] { return quoted_text_of(value, true); });
    return value;
  }
  if (invocation.given("out") || invocation.given("expect")) return {};
  if (named.empty() && !result.is_void()) return format_value(result, format);
  std::string text;
  for (const auto& [name, tensor] : named) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name, format_tensor(tensor, format));
  }
  return text.empty() ? ScriptValue() : ScriptValue(text);
}

}  // namespace

extern const Command command_call;
const Command command_call{
    .name = "call",
    .summary = "calls a function of a file and prints, saves or compares its results",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "A tensor result is named `out`, the fields of a tuple `out.0`, `out.1.0`, …. Parameters of a "
        "prim_func that it "
        "only writes are results and take no argument.",
};

}  // namespace relish::commands_call
