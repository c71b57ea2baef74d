// The commands `llvm` and `asm`: the code of a function's kernels, as LLVM has it and as the machine runs it.
#include <fmt/format.h>

#include <algorithm>

#include "jit/kernel_code.h"
#include "shell/commands/subject.h"
#include "support/render.h"
#include "support/source.h"
#include "support/suggest.h"

namespace relish::commands_kernel_code {
namespace {

constexpr Option kernel_option = {"kernel", OptionKind::Text, "all kernels",
                                  "name of the kernel that is shown"};
constexpr Option llvm_options[] = {
    kernel_option,
    {"unoptimized", OptionKind::Flag, "", "as the scheduled text gives it, before LLVM optimizes it"},
};
constexpr Option asm_options[] = {kernel_option};

constexpr Example llvm_examples[] = {
    {"relish llvm m.relish main --kernel fused_matmul_add", "llvm(M.main, kernel=\"fused_matmul_add\")"},
};
constexpr Example asm_examples[] = {
    {"relish asm m.relish main --kernel fused_matmul_add", "asm(M.main, kernel=\"fused_matmul_add\")"},
};

std::string line_of(const KernelCode& code) {
  const SourceFile* source = Sources::instance().find(code.span.file);
  return source ? fmt::format(" of line {}", source->position(code.span.begin).line) : "";
}

ScriptValue shown(Invocation& invocation, CodeForm form, std::string_view comment) {
  const std::string function = function_of(invocation);
  const std::string wanted = invocation.text("kernel");
  const std::vector<KernelCode> code = kernel_code_of(invocation.module, function, form, wanted);
  std::vector<std::string> names;
  std::string text;
  for (const KernelCode& kernel : code) {
    names.push_back(kernel.name);
    if (!wanted.empty() && kernel.name != wanted) continue;
    if (!text.empty()) text += "\n";
    text += fmt::format("{} kernel {}{}\n{}", comment, kernel.name, line_of(kernel), kernel.text);
  }
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end()) {
    std::string known = names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
    invocation.refuse_value("kernel", fmt::format("{} has no kernel '{}'{}; {}", function, printable(wanted),
                                                  did_you_mean(wanted, names), known));
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

ScriptValue run_llvm(Invocation& invocation) {
  return shown(invocation, invocation.flag("unoptimized") ? CodeForm::Generated : CodeForm::Optimized, ";");
}

ScriptValue run_asm(Invocation& invocation) { return shown(invocation, CodeForm::Machine, "#"); }

}  // namespace

extern const Command command_llvm, command_asm;
const Command command_llvm{
    .name = "llvm",
    .summary = "shows the LLVM code of a function's kernels",
    .subject = Subject::Call,
    .options = llvm_options,
    .run = run_llvm,
    .examples = llvm_examples,
    .doc =
        "Kernels are the loops that compiled code runs, as `schedule` shows them as text; `profile` tells their "
        "names and their times. Nothing is run. A prim_func is the only kernel of itself.",
};
const Command command_asm{
    .name = "asm",
    .summary = "shows the machine code of a function's kernels",
    .subject = Subject::Call,
    .options = asm_options,
    .run = run_asm,
    .examples = asm_examples,
    .doc = "Instructions of this machine, behind LLVM. Nothing is run.",
};

}  // namespace relish::commands_kernel_code
