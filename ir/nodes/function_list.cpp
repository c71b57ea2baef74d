// The table of names follows the list: what was appended since the last question is taken in first.
#include "ir/nodes/function_list.h"

#include "ir/nodes/module.h"

namespace relish {
namespace {

// A shorter list is faster looked through.
constexpr std::size_t least_in_table = 16;

}  // namespace

const std::string& name_of(const GlobalFunction& function) {
  return std::visit([](const auto& held) -> const std::string& { return held->name; }, function);
}

FunctionList& FunctionList::operator=(const FunctionList& other) {
  if (this == &other) return *this;
  functions_ = other.functions_;
  forget();
  return *this;
}

FunctionList& FunctionList::operator=(FunctionList&& other) noexcept {
  if (this == &other) return *this;
  functions_ = std::move(other.functions_);
  forget();
  other.forget();
  return *this;
}

void FunctionList::replace(std::size_t i, GlobalFunction function) {
  if (name_of(functions_[i]) != name_of(function)) forget();
  functions_[i] = std::move(function);
}

const GlobalFunction* FunctionList::find_locked(std::string_view name) const {
  if (functions_.size() < least_in_table) {
    const auto found = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const GlobalFunction& each) { return name_of(each) == name; });
    return found == functions_.end() ? nullptr : &*found;
  }
  for (; known_ < functions_.size(); ++known_) positions_.try_emplace(name_of(functions_[known_]), known_);
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : &functions_[found->second];
}

const GlobalFunction* FunctionList::find(std::string_view name) const {
  if (functions_.size() < least_in_table) return find_locked(name);
  const std::lock_guard lock(mutex_);
  return find_locked(name);
}

std::string FunctionList::fresh_name(std::string_view wanted) const {
  const std::lock_guard lock(mutex_);
  std::string name(wanted);
  if (!find_locked(name)) return name;
  int number = 1;
  if (const auto known = next_numbers_.find(wanted); known != next_numbers_.end()) number = known->second;
  name += std::to_string(number);
  while (find_locked(name)) name = std::string(wanted) + std::to_string(++number);
  next_numbers_[std::string(wanted)] = number;
  return name;
}

}  // namespace relish
