// The functions of a module by name, while a pass adds to it: Module looks each name up from the front, which
// for a pass over all functions costs the square of their number. Functions may be replaced and appended, by
// anybody, but not removed.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

class FunctionIndex {
 public:
  explicit FunctionIndex(Module& module) : module_(module) {}

  // As those of Module.
  const GlobalFunction* find(std::string_view name);
  FunctionPtr function(std::string_view name);
  PrimFuncPtr prim_func(std::string_view name);
  void set(GlobalFunction function);
  std::string fresh_name(const std::string& wanted);

 private:
  Module& module_;
  std::size_t known_ = 0;  // so many functions are in the index
  std::unordered_map<std::string, std::size_t> positions_;
  std::unordered_map<std::string, int> next_numbers_;  // by name: those below it are taken
};

}  // namespace relish
