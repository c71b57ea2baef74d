// The module around a prim_func, which may call others of it.
#pragma once

#include <string>

#include "frontend/text/ast.h"

namespace relish {

class PrimFuncModule {
 public:
  virtual ~PrimFuncModule() = default;
  // The definition of the prim_func of that name; null when there is none.
  virtual const ast::FunctionDefinition* prim_func_definition(const std::string& name) const = 0;
  virtual const std::string& module_name() const = 0;
};

}  // namespace relish
