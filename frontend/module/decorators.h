// What the decorators of a function say.
#pragma once

#include <span>

#include "frontend/context.h"
#include "frontend/text/scanner.h"
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

// The decorator of those that need Python, as @T.macro; empty for others.
std::string python_decorator(const Namespaces& namespaces, const ast::Expr& decorator);

// Keeps the names that a skipped statement of a Python file binds, with its decorators in front.
void keep_python_names(ReadContext& context, std::span<const Line> lines);
// Those of a declaration, where a decorator needs Python.
void keep_python_function(ReadContext& context, const ast::FunctionDefinition& definition);

// Throws for the use of a name that only Python has: SyntaxError, or silently where it was refused.
void refuse_python_name(const ReadContext& context, const std::string& name, Span at);

// Throws SyntaxError for a function without decorators and for features of TVM that need Python, TypeError
// for an unknown decorator or argument.
FunctionOptions read_decorators(const ReadContext& context, const ast::FunctionDefinition& definition);

}  // namespace relish
