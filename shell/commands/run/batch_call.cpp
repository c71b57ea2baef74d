// Batches of calls from JSON lines.
#include "shell/commands/run/batch_call.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/format.h"
#include "shell/program/call_values.h"
#include "shell/program/program_file.h"
#include "support/atomic_file.h"
#include "support/choices.h"
#include "support/limits.h"
#include "support/render.h"
#include "train/run_weights.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void bad_line(const std::string& message) { fail(ErrorClass::Data, {}, "batch.line", message); }

std::string text_field(const Json& line, const char* name) {
  if (!line.contains(name)) return {};
  if (!line[name].is_string()) bad_line(fmt::format("field '{}' is no string", name));
  return line[name].get<std::string>();
}

double real_field(const Json& line, const char* name, double fallback) {
  if (!line.contains(name)) return fallback;
  if (!line[name].is_number()) bad_line(fmt::format("field '{}' is no number", name));
  return line[name].get<double>();
}

ScriptValue value_of_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    std::vector<ScriptValue> items;
    for (const Json& item : json) items.push_back(value_of_json(item));
    return ScriptValue::list(std::move(items));
  }
  bad_line("an argument is neither a number, a string nor a list");
}

Json json_of_results(const NamedTensors& results) {
  Json json = Json::object();
  for (const auto& [name, tensor] : results) {
    json[name] = {{"dtype", std::string(name_of(tensor.dtype()))}, {"shape", tensor.shape()}};
  }
  return json;
}

// The files read so far; a batch names the same few again and again.
using Programs = std::map<std::string, ProgramFile>;

Json run_line(Session& session, const std::string& text, Programs& programs) {
  Json line = Json::parse(text, nullptr, false);
  if (line.is_discarded() || !line.is_object()) bad_line("the line is no JSON object");
  for (const auto& [key, value] : line.items()) {
    static const std::vector<std::string> known = {"file", "function", "arg",  "params", "dim",
                                                   "out",  "expect",   "rtol", "atol"};
    if (std::find(known.begin(), known.end(), key) == known.end())
      bad_line(fmt::format("unknown field '{}'{}", printable(key), among_choices(key, known)));
  }
  std::string path = text_field(line, "file");
  if (path.empty()) bad_line("field 'file' is missing");
  auto program = programs.find(path);
  if (program == programs.end()) {
    program = programs.emplace(path, read_program(path, path_rules_beside(session, path))).first;
  }
  FunctionReference function = find_function(program->second, text_field(line, "function"));

  CallInputs inputs;
  inputs.seed = session.settings().seed;
  if (line.contains("arg")) {
    if (!line["arg"].is_object()) bad_line("field 'arg' is no object");
    for (const auto& [name, value] : line["arg"].items())
      inputs.arguments.emplace_back(name, value_of_json(value));
  }
  if (line.contains("dim")) {
    if (!line["dim"].is_object()) bad_line("field 'dim' is no object");
    for (const auto& [name, value] : line["dim"].items()) {
      if (!value.is_number_integer()) bad_line(fmt::format("dimension '{}' is no int", printable(name)));
      inputs.dims.emplace_back(name, value.get<std::int64_t>());
    }
  }
  if (std::string params = text_field(line, "params"); !params.empty()) {
    std::error_code error;
    inputs.params =
        std::filesystem::is_directory(params, error) ? weights_of_run(params) : read_tensors(params);
  }

  const std::string out = text_field(line, "out");
  if (!out.empty()) check_results_path(out, *function.module, function.name);
  std::vector<Value> arguments = make_arguments(*function.module, function.name, inputs);
  NamedTensors results =
      flatten_result(session.evaluator().call(function.module, function.name, std::move(arguments)));
  if (!out.empty()) write_tensors(out, results);
  Json answer = {{"ok", true}, {"exit", 0}, {"results", json_of_results(results)}};
  if (std::string expect = text_field(line, "expect"); !expect.empty()) {
    Closeness closeness;
    closeness.rtol = real_field(line, "rtol", closeness.rtol);
    closeness.atol = real_field(line, "atol", closeness.atol);
    if (auto difference = compare_results(results, read_tensors(expect), closeness)) {
      answer["ok"] = false;
      answer["exit"] = 1;
      answer["error"] = *difference;
    }
  }
  return answer;
}

}  // namespace

std::optional<std::string> compare_results(const NamedTensors& results, const NamedTensors& expected,
                                           Closeness closeness) {
  closeness.equal_nan = true;
  for (const auto& [name, wanted] : expected) {
    // A lone array is the expected value of the only result.
    auto same_name = [&, &wanted_name = name](const auto& entry) { return entry.first == wanted_name; };
    auto found = std::find_if(results.begin(), results.end(), same_name);
    if (found == results.end() && name.empty() && results.size() == 1) found = results.begin();
    if (found == results.end()) return fmt::format("there is no result '{}'", printable(name));
    const Tensor& tensor = found->second;
    if (tensor.shape() != wanted.shape()) {
      return fmt::format("{}: found shape {}, expected {}", found->first, format_shape(tensor.shape()),
                         format_shape(wanted.shape()));
    }
    if (auto difference = first_difference(tensor, wanted, closeness)) {
      return fmt::format("{}{}: found {}, expected {} (difference {})", found->first,
                         index_text(tensor.shape(), difference->index), difference->found,
                         difference->expected, format_double(difference->error));
    }
  }
  for (const auto& [name, tensor] : results) {
    auto same_name = [&, &result_name = name](const auto& entry) {
      return entry.first == result_name || entry.first.empty();
    };
    if (std::none_of(expected.begin(), expected.end(), same_name))
      return fmt::format("nothing is expected for '{}'", name);
  }
  return std::nullopt;
}

ScriptValue run_batch_calls(Invocation& invocation) {
  for (const Option& option : invocation.command.options)
    if (option.name != "batch" && invocation.given(option.name))
      invocation.refuse_value(option.name, "--batch takes it from each line; leave one of the two out");
  std::string contents = read_file(invocation.text("batch"), limits().max_source_bytes, "--max-source-size");
  Programs programs;
  std::size_t begin = 0;
  while (begin < contents.size()) {
    std::size_t end = std::min(contents.find('\n', begin), contents.size());
    std::string text = contents.substr(begin, end - begin);
    begin = end + 1;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json answer;
    try {
      answer = run_line(invocation.session, text, programs);
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
      const std::string& place = failure.diagnostics().front().place;
      const std::string message = (place.empty() ? "" : place + ": ") + failure.what();
      answer = {{"ok", false}, {"exit", failure.exit_code()}, {"error", message}};
    }
    if (invocation.exit_code == 0) invocation.exit_code = answer["exit"].get<int>();
    invocation.session.print(answer.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return {};
}

}  // namespace relish
