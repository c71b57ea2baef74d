// Which place each name of a text has while its statements run: among the names of the script, in a slot of
// the function that runs, or in a cell that it shares with the functions inside it. Found once, before
// anything runs.
#pragma once

#include <memory>

#include "frontend/text/ast.h"
#include "shell/script/environment.h"

namespace relish {

// Fills in the places of names and the scopes of functions, lambdas and comprehensions. The result is the
// frame of the statements themselves, which holds what their comprehensions bind.
std::shared_ptr<const ast::Scope> find_places(const ast::Block& statements, Environment& environment);
std::shared_ptr<const ast::Scope> find_places(const ast::Expr& expr, Environment& environment);

}  // namespace relish
