// What the decorators of a function say.
#pragma once

#include "frontend/context.h"
#include "ir/nodes/attribute.h"

namespace relish {

struct FunctionOptions {
  bool prim_func = false;
  bool is_private = false;
  bool pure = true;
  bool check_well_formed = true;
  Attributes attributes;
};

// "function" for @R.function, "gradient" for @R.gradient, "prim_func" for @T.prim_func, "module" for
// @I.ir_module, empty for others.
std::string_view decorator_kind(const Namespaces& namespaces, const ast::Expr& decorator);

// Throws SyntaxError for a decorator that needs Python.
void refuse_python(const ReadContext& context, const ast::Expr& decorator);

// Throws SyntaxError for a function without decorators and for features of TVM that need Python, TypeError
// for an unknown decorator or argument.
FunctionOptions read_decorators(const ReadContext& context, const ast::FunctionDefinition& definition);

}  // namespace relish
