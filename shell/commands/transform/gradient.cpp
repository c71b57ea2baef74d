// The command `gradient`.
#include "transform/gradient.h"

#include "shell/commands/subject.h"

namespace relish::commands_gradient {
namespace {

constexpr Option options[] = {
    {"wrt", OptionKind::Names, "all floating tensor parameters",
     "names to differentiate by: parameters or intermediates"},
    {"target", OptionKind::Path, "the result, or field 0 of a tuple",
     "index path of the differentiated value in the result"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish gradient m.relish -f main_loss --wrt w0,b0", "dM = gradient(M.main_loss, wrt=[\"w0\", \"b0\"])"},
};

ScriptValue run(Invocation& invocation) {
  GradientOptions wanted;
  wanted.wrt = invocation.names("wrt");
  wanted.target = invocation.path("target");
  return module_result(gradient(*invocation.module, function_of(invocation), wanted));
}

}  // namespace

extern const Command command_gradient;
const Command command_gradient{
    .name = "gradient",
    .summary = "adds <f>_adjoint, the reverse-mode gradient of a function",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Adds `<f>_adjoint(params…) -> (outputs, (gradients…))` to the module. The differentiated value is a "
        "scalar; "
        "give a loss by append_loss first.",
    .transforms = true,
};

}  // namespace relish::commands_gradient
