// What prim_funcs may say and no tier runs: calls of native code, those of other prim_funcs that cannot be
// put in their place (loops/prim_calls.h), and pointers to memory that no argument gives. Such a function is
// read, checked, printed and transformed around; calling it fails at the place of what cannot be run, alike
// in both tiers and before anything is computed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

// The attribute of a prim_func that is nothing but a call which is not replaced, for lack of room.
inline constexpr std::string_view too_many_calls = "relish.too_many_calls";

// Failure at the first construct of the function that no tier runs: PolicyError for native code, TypeError
// for all else.
void require_runnable(const PrimFunc& function);
// The same for all that the function named reaches.
void require_runnable(const Module& module, std::string_view name);

// The prim_funcs of the module that the function calls, each once.
std::vector<std::string> called_prim_funcs(const PrimFunc& function);

[[noreturn]] void refuse_foreign_call(const ForeignCall& call, Span span);

}  // namespace relish
