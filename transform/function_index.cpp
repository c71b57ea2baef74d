// The index follows the module: what was appended since the last question is taken in first.
#include "transform/function_index.h"

#include <utility>

namespace relish {

const GlobalFunction* FunctionIndex::find(std::string_view name) {
  for (; known_ < module_.functions.size(); ++known_)
    positions_.emplace(name_of(module_.functions[known_]), known_);
  const auto found = positions_.find(std::string(name));
  return found == positions_.end() ? nullptr : &module_.functions[found->second];
}

FunctionPtr FunctionIndex::function(std::string_view name) {
  const GlobalFunction* found = find(name);
  const auto* function = found ? std::get_if<FunctionPtr>(found) : nullptr;
  return function ? *function : nullptr;
}

PrimFuncPtr FunctionIndex::prim_func(std::string_view name) {
  const GlobalFunction* found = find(name);
  const auto* function = found ? std::get_if<PrimFuncPtr>(found) : nullptr;
  return function ? *function : nullptr;
}

void FunctionIndex::set(GlobalFunction function) {
  if (find(name_of(function)))
    module_.functions[positions_.at(name_of(function))] = std::move(function);
  else
    module_.functions.push_back(std::move(function));
}

std::string FunctionIndex::fresh_name(const std::string& wanted) {
  if (!find(wanted)) return wanted;
  int& number = next_numbers_.try_emplace(wanted, 1).first->second;
  std::string name = wanted + std::to_string(number);
  while (find(name)) name = wanted + std::to_string(++number);
  return name;
}

}  // namespace relish
