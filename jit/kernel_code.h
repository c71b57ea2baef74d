// The kernels of a function as code that people read: LLVM's, before and after it is optimized, and that of
// the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

enum class CodeForm {
  Generated,  // LLVM, as the scheduled text gives it
  Optimized,  // LLVM, as it is translated
  Machine,    // instructions of this machine
};

struct KernelCode {
  std::string name;
  Span span;         // of what calls it
  std::string text;  // empty where it was not asked for
};

// The kernels that compiled code of the function runs, each once, in the order in which it first names them;
// of a prim_func itself. `kernel`: the text of that one alone; empty: of all. Nothing runs. It fails as
// compiling does.
std::vector<KernelCode> kernel_code_of(const ModulePtr& module, std::string_view function, CodeForm form,
                                       std::string_view kernel = "");

}  // namespace relish
