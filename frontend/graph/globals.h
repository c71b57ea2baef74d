// What a Relax function that is being read sees of its module and of other modules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/module.h"
#include "runtime/tensor.h"

namespace relish {

// A function of the module as its callers see it.
struct GlobalMeaning {
  Expr reference;  // a GlobalRef with the function's type; the error type when its declaration is wrong
  PrimFuncPtr prim_func;  // null for Relax functions, and for prim_funcs that are wrong
  bool is_prim_func = false;
  bool is_extern = false;
};

class Globals {
 public:
  virtual ~Globals() = default;
  virtual std::optional<GlobalMeaning> find_global(const std::string& name, Span use) = 0;
  // Whether `name` is the module that is being read (`cls = name`, `name.f`).
  virtual bool is_module(const std::string& name) const = 0;
  virtual const std::string& module_name() const = 0;  // empty for functions outside a class
  // Whether `name` is another module of the text or session.
  virtual bool is_other_module(const std::string& name) const = 0;
  // The name under which a function of a loaded module is linked into this one; nothing when `module` is none
  // of those that the text loads.
  virtual std::optional<std::string> linked_function(const std::string& module, const std::string& function,
                                                     Span use) = 0;
  virtual std::vector<std::string> global_names() const = 0;
  // A tensor of the section of large constants; null when it has no such entry.
  virtual const Tensor* find_constant(const std::string& name) = 0;
};

}  // namespace relish
