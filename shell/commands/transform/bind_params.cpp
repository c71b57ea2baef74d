// The command `bind_params`.
#include "transform/bind_params.h"

#include <algorithm>

#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/program/program_file.h"
#include "support/choices.h"
#include "support/render.h"
#include "transform/rebuild.h"

namespace relish::commands_bind_params {
namespace {

constexpr Option options[] = {
    {"params", OptionKind::Tensors, "", "file (npz, safetensors) with values by parameter name"},
    {"set", OptionKind::Assignments, "",
     "value of one parameter: NAME=LITERAL, NAME=@FILE[:ENTRY], NAME=zeros; in the shell also of an arg() of the "
     "file, where no parameter has the name"},
    {"ignore_extra", OptionKind::Flag, "", "let the file hold names that are no parameters"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish bind-params m.relish -f main --params weights.npz",
     "N = bind_params(M.main, params={\"w0\": w})"},
};

ScriptValue run(Invocation& invocation) {
  std::string function_name = function_of(invocation);
  const FunctionPtr function = relax_function(*invocation.module, function_name);
  std::vector<std::string> names;
  for (const Var& param : function->params) names.push_back(param.name());
  auto position = [&](const std::string& name) {
    auto found = std::find(names.begin(), names.end(), name);
    return static_cast<std::size_t>(found - names.begin());
  };
  auto unknown = [&](const std::string& name) {
    fail(ErrorClass::Usage, invocation.given("params") ? invocation.span_of("params") : invocation.span,
         "bind_params.name",
         fmt::format("'{}' is no parameter of {}{}", printable(name), function_name,
                     among_choices(name, names)));
  };
  std::map<std::string, Tensor> values;
  for (auto& [name, tensor] : invocation.tensors("params")) {
    if (position(name) < names.size()) {
      values[name] = tensor;
    } else if (!invocation.flag("ignore_extra")) {
      unknown(name);
    }
  }
  const auto is_argument = [&](const std::string& name) {
    return invocation.program && invocation.program->arguments.contains(name);
  };
  for (const auto& [name, given] : invocation.assignments("set")) {
    if (is_argument(name) && position(name) < names.size()) {
      invocation.refuse_value("set", fmt::format("{} is a parameter of {} and an arg() of the file; expected "
                                                 "the parameter's value by --params, or another name",
                                                 printable(name), function_name));
    }
    if (is_argument(name)) continue;  // the file was read with it
    if (position(name) >= names.size()) unknown(name);
    Value value = parse_argument(name, function->params[position(name)].type(),
                                 with_allowed_path(invocation, "set", given),
                                 invocation.session.settings().seed, "--set");
    if (!value.is_tensor()) {
      fail(ErrorClass::Usage, invocation.span, "bind_params.name",
           fmt::format("'{}' is no tensor parameter", name));
    }
    values[name] = value.tensor();
  }
  return module_result(bind_params(*invocation.module, function_name, values));
}

}  // namespace

extern const Command command_bind_params;
const Command command_bind_params{
    .name = "bind_params",
    .summary = "turns parameters of a function into constants",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Binds the names that the file and the function share; parameters without a value stay parameters. In "
        "the shell --set gives the value of a parameter, or of an arg() of the file, which is then read with it: "
        "weights of a model of another width are bound by --params w.safetensors --set width=64.",
    .transforms = true,
};

}  // namespace relish::commands_bind_params
