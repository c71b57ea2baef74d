// Arguments of a function from what the user gave (`--arg`, `--params`, `--dim`, or a script's values), and
// its results under the names that files give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/files.h"
#include "shell/command.h"

namespace relish {

struct CallInputs {
  // By parameter name, or "t.0" for a field of a tuple: text as on the command line, or a script's value.
  std::vector<std::pair<std::string, ScriptValue>> arguments;
  std::vector<ScriptValue> by_place;  // of the first parameters
  NamedTensors params;
  std::vector<std::pair<std::string, Value>> known = {};  // whole parameters, which nothing else is given for
  std::vector<std::pair<std::string, std::int64_t>> dims;
  bool ignore_extra = false;
  bool zeros_for_missing = false;  // tensors that are not given have zeros
  std::uint64_t seed = 0;
};

// The parameter of "t.0".
inline std::string head_of_path(const std::string& path) { return path.substr(0, path.find('.')); }
// The value of an assignment; of "@FILE" with the path as it may be opened. PolicyError.
ScriptValue with_allowed_path(const Invocation& invocation, std::string_view option,
                              const ScriptValue& value);
// Sizes of symbolic dimensions, of the option dim: n=8,m=4. UsageError for what is no size.
std::vector<std::pair<std::string, std::int64_t>> given_dims(const Invocation& invocation);
// The inputs of a command that has the options arg, params, dim and ignore_extra, or arguments of its own.
CallInputs call_inputs(const Invocation& invocation);

// One value per parameter. UsageError: a missing or surplus argument, an unknown dimension; DataError: a
// value that does not fit its parameter.
std::vector<Value> make_arguments(const Module& module, const std::string& function,
                                  const CallInputs& inputs);

// The arguments of the function that a command calls: of its options, and in a session where these give none
// those of the function's last call there.
enum class MissingTensors { Refused, Zeros };
std::vector<Value> call_arguments(const Invocation& invocation, const std::string& function,
                                  MissingTensors missing = MissingTensors::Refused);

// One value for a parameter or field `name` of that type: a literal, a file (`@…`), rand, zeros or ones for a
// type without unknown dimensions, or a script's value. `flag` begins the messages.
Value parse_argument(const std::string& name, const Type& type, const ScriptValue& given,
                     std::uint64_t seed = 0, std::string_view flag = "--arg");

// The tensors of a result: "out", or "out.0", "out.1.0", ... Scalars are 0-d, shapes 1-d int64 arrays; void
// is absent.
NamedTensors flatten_result(const Value& value, const std::string& name = "out");

// A file that such results cannot be written to is refused before they are computed: one of an ending that no
// file of tensors has, an .npy of several, a .csv or .tsv of what is no vector or matrix. What only the run
// knows of them is refused behind it.
void check_results_path(const std::string& path, const Module& module, const std::string& function,
                        Span place = {});

// The options of commands that call a function.
std::span<const Option> call_options();
// These, and behind them a command's own.
std::vector<Option> call_options_and(std::span<const Option> own);

}  // namespace relish
