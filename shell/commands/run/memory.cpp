// The command `memory`: what a call of a compiled function holds, before it runs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jit/jit.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/program/told_table.h"
#include "shell/script/convert.h"
#include "support/render.h"
#include "support/source.h"
#include "train/step_function.h"

namespace relish::commands_memory {
namespace {

constexpr std::int64_t most_rows = 10'000;

constexpr Option own_options[] = {
    {"donate", OptionKind::Names, "of a trainer's function what `train` gives up",
     "parameters whose tensors the caller gives up, as `time` does with --carry; an empty list: none"},
    {"top", OptionKind::Integer, "10", "number of tensors that are shown, the largest first"},
    {"json", OptionKind::Flag, "", "one JSON object", 0, in_shell},
};

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and(own_options);
  return options;
}

constexpr Example examples[] = {
    {"relish memory m.relish main --arg x=rand --params w.npz",
     "m = memory(M.main, arg={\"x\": x, \"w\": w})"},
};

std::string_view word_of(Footprint::Kind kind) {
  switch (kind) {
    case Footprint::Kind::Argument:
      return "argument";
    case Footprint::Kind::Donated:
      return "donated";
    case Footprint::Kind::Constant:
      return "constant";
    case Footprint::Kind::Result:
      return "result";
    case Footprint::Kind::Value:
      return "value";
    case Footprint::Kind::Temporary:
      return "temporary";
    case Footprint::Kind::Buffer:
      return "buffer";
  }
  return "";
}

std::int64_t line_of(const Footprint::Part& part) {
  const SourceFile* source = Sources::instance().find(part.span.file);
  return source ? static_cast<std::int64_t>(source->position(part.span.begin).line) : 0;
}

std::string shape_of(const Footprint::Part& part) {
  return fmt::format("{} ({}{})", name_of(part.dtype), fmt::join(part.shape, ", "),
                     part.shape.size() == 1 ? "," : "");
}

std::string table(const Footprint& found, std::size_t rows, const std::string& function) {
  std::string text =
      fmt::format("{}: {}{} bytes at most\n", function, found.complete ? "" : "at least ", found.peak);
  text += fmt::format("arguments {}, constants {}, results {}, arena {}, buffers of a kernel {}",
                      found.arguments, found.constants, found.results, found.arena, found.buffers);
  if (found.donated > 0) text += fmt::format(", results in place of arguments {}", found.donated);
  if (rows > 0)
    text += fmt::format("\n{:>14}  {:<10} {:>5}  {:<28} {}", "bytes", "what", "line", "tensor", "in");
  for (std::size_t i = 0; i < rows; ++i) {
    const Footprint::Part& part = found.parts[i];
    const std::int64_t line = line_of(part);
    text += fmt::format("\n{:>14}  {:<10} {:>5}  {:<28} {}", part.bytes, word_of(part.kind),
                        line > 0 ? std::to_string(line) : "-", shape_of(part),
                        part.name.empty() ? part.function : fmt::format("{}: {}", part.function, part.name));
  }
  return text;
}

nlohmann::ordered_json json_of(const Footprint& found, std::size_t rows, const std::string& function) {
  nlohmann::ordered_json json, top = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows; ++i) {
    const Footprint::Part& part = found.parts[i];
    nlohmann::ordered_json row;
    row["bytes"] = part.bytes;
    row["kind"] = word_of(part.kind);
    row["dtype"] = name_of(part.dtype);
    row["shape"] = part.shape;
    row["line"] = line_of(part);
    row["function"] = part.function;
    if (!part.name.empty()) row["name"] = part.name;
    top.push_back(std::move(row));
  }
  json["function"] = function;
  json["peak_bytes"] = found.peak;
  json["complete"] = found.complete;
  json["arguments"] = found.arguments;
  json["donated"] = found.donated;
  json["constants"] = found.constants;
  json["results"] = found.results;
  json["arena"] = found.arena;
  json["buffers"] = found.buffers;
  json["top"] = std::move(top);
  return json;
}

ScriptValue dict_of(const Footprint& found, std::size_t rows) {
  std::vector<ScriptValue> top;
  for (std::size_t i = 0; i < rows; ++i) {
    const Footprint::Part& part = found.parts[i];
    std::vector<ScriptValue> shape(part.shape.begin(), part.shape.end());
    top.push_back(ScriptValue::dict({{"bytes", part.bytes},
                                     {"kind", std::string(word_of(part.kind))},
                                     {"dtype", std::string(name_of(part.dtype))},
                                     {"shape", ScriptValue::list(std::move(shape))},
                                     {"line", line_of(part)},
                                     {"function", part.function},
                                     {"name", part.name}}));
  }
  return ScriptValue::dict({{"peak_bytes", found.peak},
                            {"complete", found.complete},
                            {"arguments", found.arguments},
                            {"donated", found.donated},
                            {"constants", found.constants},
                            {"results", found.results},
                            {"arena", found.arena},
                            {"buffers", found.buffers},
                            {"top", ScriptValue::list(std::move(top))}});
}

// By number.
std::vector<std::size_t> donated_parameters(const Invocation& invocation, const std::string& function) {
  std::vector<std::size_t> found;
  if (!invocation.given("donate")) {
    const FunctionPtr step = invocation.module->function(function);
    return step ? given_in_training(*step) : found;
  }
  const std::vector<CallParameter> parameters = call_parameters(*invocation.module, function);
  for (const std::string& name : invocation.names("donate")) {
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const CallParameter& parameter) { return parameter.name == name; });
    if (known == parameters.end())
      invocation.refuse_value("donate", fmt::format("'{}' is no parameter of {}", printable(name), function));
    found.push_back(static_cast<std::size_t>(known - parameters.begin()));
  }
  return found;
}

ScriptValue run(Invocation& invocation) {
  const Settings& settings = invocation.session.settings();
  if (settings.tier != "jit") {
    fail(ErrorClass::Usage, invocation.span, "memory.tier",
         fmt::format("memory shows the plan of compiled code: found tier {}; expected jit", settings.tier));
  }
  const std::int64_t top = invocation.integer("top", 10);
  if (top < 0 || top > most_rows)
    invocation.refuse_value("top", fmt::format("found {}; expected an int from 0 to {}", top, most_rows));
  const std::string function = function_of(invocation);
  const std::vector<Value> arguments =
      call_arguments(invocation, function, MissingTensors::Zeros);  // sizes decide, not numbers
  const Footprint found = footprint_of(invocation.module, function, arguments, settings.threads,
                                       donated_parameters(invocation, function));
  const std::size_t rows = std::min(found.parts.size(), static_cast<std::size_t>(top));
  tell_table([&] { return table(found, rows, function); });
  if (invocation.surface == Surface::Script) return dict_of(found, rows);
  if (invocation.flag("json")) return json_of(found, rows, function).dump();
  return table(found, rows, function);
}

}  // namespace

extern const Command command_memory;
const Command command_memory{
    .name = "memory",
    .summary = "shows what a call of a compiled function holds in memory, before it runs",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "The most that is held at one time, with the arguments, and the largest tensors with their lines: "
        "arguments, constants, results, values with memory of their own, temporaries, which share the arena of "
        "their function, and buffers of kernels, of which each thread has its own. A donated argument ends where "
        "it has its last use, or a result takes its place; what a trainer's function says of itself tells "
        "what `train` gives up. A tensor without a value is one of zeros. Nothing is compiled or run. "
        "`at least` stands where some sizes are known only when it runs.",
};

}  // namespace relish::commands_memory
