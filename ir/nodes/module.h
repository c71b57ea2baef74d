// A module: named global functions in order. A value: transforms take one and return another; functions are
// shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/nodes/expr.h"
#include "ir/nodes/function_list.h"
#include "ir/nodes/stmt.h"

namespace relish {

// `name = R.ExternFunc("symbol")` of a class, perhaps with a type.
struct ExternFunction {
  std::string name;
  std::string symbol;
  std::optional<Type> type;
  Span span;
  CommentsPtr comments;
};

struct Module {
  std::string name = "Module";
  FunctionList functions;
  Attributes attributes;  // I.module_attrs
  // I.module_global_infos: lists by name; an entry such as I.vdevice("llvm", 0) is a dictionary of its call's
  // name ("form") and arguments ("args"). Kept and printed, otherwise ignored.
  Attributes global_infos = {};
  bool check_well_formed = true;
  Span span;
  CommentsPtr comments;

  const GlobalFunction* find(std::string_view name) const;
  FunctionPtr function(std::string_view name) const;               // null when absent or a prim_func
  PrimFuncPtr prim_func(std::string_view name) const;              // null when absent or something else
  ExternFunctionPtr extern_function(std::string_view name) const;  // likewise
  // Replaces the function of that name in place, or appends.
  void set(GlobalFunction function);
  void remove(std::string_view name);
  std::vector<std::string> names() const;
  // `wanted`, or `wanted` with the least number appended that makes it free.
  std::string fresh_name(std::string_view wanted) const;
};
using ModulePtr = std::shared_ptr<const Module>;

// A GlobalRef with the function's type: of a prim_func an opaque impure one whose result is what a direct
// call gives (void, or the scalar that it returns); of an extern function its type, else an opaque impure
// one.
Expr global_ref(const GlobalFunction& function, Span span = {});

}  // namespace relish
