// The functions of a module in the order of its text, found by name in constant time however many they are.
// Functions are added, replaced and removed here alone, so the table of names cannot disagree with the list.
// It is made at the first question; several threads may ask at once. Copies of a list start without.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/nodes/expr.h"
#include "ir/nodes/stmt.h"
#include "support/flat_names.h"

namespace relish {

struct ExternFunction;
using ExternFunctionPtr = std::shared_ptr<const ExternFunction>;
using GlobalFunction = std::variant<FunctionPtr, PrimFuncPtr, ExternFunctionPtr>;

const std::string& name_of(const GlobalFunction& function);

class FunctionList {
 public:
  using value_type = GlobalFunction;
  using const_iterator = std::vector<GlobalFunction>::const_iterator;

  FunctionList() = default;
  FunctionList(std::vector<GlobalFunction> functions) : functions_(std::move(functions)) {}
  FunctionList(std::initializer_list<GlobalFunction> functions) : functions_(functions) {}
  FunctionList(const FunctionList& other) : functions_(other.functions_) {}
  FunctionList(FunctionList&& other) noexcept : functions_(std::move(other.functions_)) { other.forget(); }
  FunctionList& operator=(const FunctionList& other);
  FunctionList& operator=(FunctionList&& other) noexcept;
  ~FunctionList() = default;

  const_iterator begin() const { return functions_.begin(); }
  const_iterator end() const { return functions_.end(); }
  std::size_t size() const { return functions_.size(); }
  bool empty() const { return functions_.empty(); }
  const GlobalFunction& operator[](std::size_t i) const { return functions_[i]; }
  const GlobalFunction& front() const { return functions_.front(); }
  const GlobalFunction& back() const { return functions_.back(); }

  void push_back(GlobalFunction function) { functions_.push_back(std::move(function)); }
  // Puts `function` in the place of the i-th; its name may be another.
  void replace(std::size_t i, GlobalFunction function);
  template <typename Condition>
  void remove_if(const Condition& unwanted) {
    if (std::erase_if(functions_, unwanted) > 0) forget();
  }
  // Orders the functions anew, those that compare equal as they were.
  template <typename Less>
  void sort(const Less& less) {
    std::stable_sort(functions_.begin(), functions_.end(), less);
    forget();
  }

  // The first function of that name, or null; valid until the list changes.
  const GlobalFunction* find(std::string_view name) const;
  // `wanted`, or `wanted` with the least number appended that makes it free.
  std::string fresh_name(std::string_view wanted) const;

 private:
  const GlobalFunction* find_locked(std::string_view name) const;
  void forget() {
    positions_.clear();
    next_numbers_.clear();
    known_ = 0;
  }

  std::vector<GlobalFunction> functions_;
  mutable std::mutex mutex_;                       // over what follows
  mutable FlatNames<std::size_t> positions_ = {};  // of the first `known_` functions
  mutable FlatNames<int> next_numbers_ = {};       // by name: numbers below it are taken
  mutable std::size_t known_ = 0;
};

}  // namespace relish
