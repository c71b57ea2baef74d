// The commands `vjp`, `jvp`, `hvp` and `jacobian`.
#include "transform/derivatives.h"

#include "shell/commands/subject.h"

namespace relish::commands_derivatives {
namespace {

constexpr Option wrt_option = {"wrt", OptionKind::Names, "all floating tensor parameters",
                               "names of the parameters to differentiate by"};
constexpr Option target_option = {"target", OptionKind::Path, "the result, or field 0 of a tuple",
                                  "index path of the differentiated value in the result"};

constexpr Option vjp_options[] = {
    {"wrt", OptionKind::Names, "all floating tensor parameters",
     "names to differentiate by: parameters or intermediates"},
    output_option,
    dialect_option,
};
constexpr Option jvp_options[] = {wrt_option, output_option, dialect_option};
constexpr Option target_options[] = {wrt_option, target_option, output_option, dialect_option};

constexpr Example vjp_examples[] = {
    {"relish vjp m.relish -f main --wrt w0", "dM = vjp(M.main, wrt=[\"w0\"])"},
};
constexpr Example jvp_examples[] = {
    {"relish jvp m.relish -f main --wrt x", "dM = jvp(M.main, wrt=[\"x\"])"},
};
constexpr Example hvp_examples[] = {
    {"relish hvp m.relish -f main_loss --wrt w0", "H = hvp(M.main_loss, wrt=[\"w0\"])"},
};
constexpr Example jacobian_examples[] = {
    {"relish jacobian m.relish -f main --wrt x", "J = jacobian(M.main, wrt=[\"x\"])"},
};

using Derive = Module (*)(const Module&, std::string_view, const DerivativeOptions&);

template <Derive derive>
ScriptValue run(Invocation& invocation) {
  DerivativeOptions wanted;
  wanted.wrt = invocation.names("wrt");
  return module_result(derive(*invocation.module, function_of(invocation), wanted));
}

template <Derive derive>
ScriptValue run_with_target(Invocation& invocation) {
  DerivativeOptions wanted;
  wanted.wrt = invocation.names("wrt");
  wanted.target = invocation.path("target");
  return module_result(derive(*invocation.module, function_of(invocation), wanted));
}

}  // namespace

extern const Command command_vjp;
const Command command_vjp{
    .name = "vjp",
    .summary = "adds <f>_vjp, gradients for a given cotangent of the result",
    .subject = Subject::Function,
    .options = vjp_options,
    .run = run<vjp>,
    .examples = vjp_examples,
    .doc =
        "Adds `<f>_vjp(params…, ct) -> (outputs, (gradients…))` to the module. `ct` has the type of the "
        "result, a tuple for a tuple; what it says of integers is not looked at.",
    .transforms = true,
};

extern const Command command_jvp;
const Command command_jvp{
    .name = "jvp",
    .summary = "adds <f>_jvp, the derivative of a function in a given direction",
    .subject = Subject::Function,
    .options = jvp_options,
    .run = run<jvp>,
    .examples = jvp_examples,
    .doc =
        "Adds `<f>_jvp(params…, <p>_dot…) -> (outputs, tangents)` to the module, by forward mode: one "
        "`<p>_dot` of the parameter's type for each parameter that is differentiated by; the tangents have "
        "the type of the result, zeros for integers.",
    .transforms = true,
};

extern const Command command_hvp;
const Command command_hvp{
    .name = "hvp",
    .summary = "adds <f>_hvp, the product of the second derivative with a given direction",
    .subject = Subject::Function,
    .options = target_options,
    .run = run_with_target<hvp>,
    .examples = hvp_examples,
    .doc =
        "Adds `<f>_hvp(params…, <p>_dot…) -> (outputs, (products…))` to the module: the derivative of the "
        "gradient of a scalar in the direction of all dots, one product for each parameter.",
    .transforms = true,
};

extern const Command command_jacobian;
const Command command_jacobian{
    .name = "jacobian",
    .summary = "adds <f>_jacobian, all partial derivatives of a tensor",
    .subject = Subject::Function,
    .options = target_options,
    .run = run_with_target<jacobian>,
    .examples = jacobian_examples,
    .doc =
        "Adds `<f>_jacobian(params…) -> (outputs, (jacobians…))` to the module; each has the shape of the "
        "result, then that of its parameter. A loop makes it row by row backwards where the result has "
        "fewer elements than the parameters, else column by column forwards.",
    .transforms = true,
};

}  // namespace relish::commands_derivatives
