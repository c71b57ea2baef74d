// The names that a statement binds, whatever it means: to keep a refused statement from making them unknown,
// and to know which names the rest of a body defines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/text/ast.h"

namespace relish {

// Of a target: a name, or those of a tuple.
void for_each_target_name(const ast::Expr& target,
                          const std::function<void(const std::string&, Span)>& visit);
void for_each_bound_name(const ast::Statement& statement,
                         const std::function<void(const std::string&, Span)>& visit);

// Whether every way through the if ends in a return.
bool ends_in_returns(const ast::If& branches);

// `n = T.int64()` (also T.var("int64"), tuples of these and of I.meta_var): the names with the call that
// declares each. False otherwise.
struct DeclaredSymbol {
  std::string name;
  Span span;
  const ast::Expr* call;
  const ast::Expr* meant = nullptr;  // of I.meta_var: what the name stands for
};
bool declared_symbols(const ast::Expr& target, const ast::Expr& value, std::vector<DeclaredSymbol>& into);

}  // namespace relish
