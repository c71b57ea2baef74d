// The functions of a module in the order of its text, found by name in constant time however many they are.
// A copy shares with its original what neither changes: the functions, which stand in blocks, and the table
// of their names, to which each list has its own additions. So a thousand states of a large module cost
// little more than one. The table is made at the first question; several threads may ask at once.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
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
  using Block = std::vector<GlobalFunction>;
  using Blocks = std::vector<std::shared_ptr<Block>>;
  static constexpr std::size_t block_size = 32;  // functions of all blocks but the last

 public:
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = GlobalFunction;
    using difference_type = std::ptrdiff_t;
    using pointer = const GlobalFunction*;
    using reference = const GlobalFunction&;

    const_iterator() = default;
    const_iterator(const Blocks& blocks, std::size_t at) : blocks_(&blocks), at_(at) {}
    reference operator*() const { return (*(*blocks_)[at_ / block_size])[at_ % block_size]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type steps) const { return *(*this + steps); }
    const_iterator& operator+=(difference_type steps) {
      at_ += static_cast<std::size_t>(steps);
      return *this;
    }
    const_iterator& operator-=(difference_type steps) { return *this += -steps; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this += -1; }
    const_iterator operator++(int) { return std::exchange(*this, *this + 1); }
    const_iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend const_iterator operator+(const_iterator i, difference_type steps) { return i += steps; }
    friend const_iterator operator+(difference_type steps, const_iterator i) { return i += steps; }
    friend const_iterator operator-(const_iterator i, difference_type steps) { return i -= steps; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const const_iterator& a, const const_iterator& b) { return a.at_ <=> b.at_; }

   private:
    const Blocks* blocks_ = nullptr;
    std::size_t at_ = 0;
  };
  using value_type = GlobalFunction;

  FunctionList() = default;
  FunctionList(std::vector<GlobalFunction> functions) { take(std::move(functions)); }
  FunctionList(std::initializer_list<GlobalFunction> functions) { take(functions); }
  FunctionList(const FunctionList& other);
  FunctionList(FunctionList&& other) noexcept;
  FunctionList& operator=(const FunctionList& other);
  FunctionList& operator=(FunctionList&& other) noexcept;
  ~FunctionList() = default;

  const_iterator begin() const { return {blocks_, 0}; }
  const_iterator end() const { return {blocks_, size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const GlobalFunction& operator[](std::size_t i) const { return (*blocks_[i / block_size])[i % block_size]; }
  const GlobalFunction& front() const { return (*this)[0]; }
  const GlobalFunction& back() const { return (*this)[size_ - 1]; }

  void push_back(GlobalFunction function);
  // Puts `function` in the place of the i-th; its name may be another.
  void replace(std::size_t i, GlobalFunction function);
  template <typename Condition>
  void remove_if(const Condition& unwanted) {
    std::vector<GlobalFunction> left(begin(), end());
    if (std::erase_if(left, unwanted) > 0) take(std::move(left));
  }
  // Orders the functions anew, those that compare equal as they were.
  template <typename Less>
  void sort(const Less& less) {
    std::vector<GlobalFunction> ordered(begin(), end());
    std::stable_sort(ordered.begin(), ordered.end(), less);
    take(std::move(ordered));
  }

  // The first function of that name, or null; valid until the list changes.
  const GlobalFunction* find(std::string_view name) const;
  // Where it stands; `size()` when there is none.
  std::size_t position(std::string_view name) const;
  // `wanted`, or `wanted` with the least number appended that makes it free.
  std::string fresh_name(std::string_view wanted) const;

 private:
  // The positions of the first `known` functions; lists that share it all begin with functions of these
  // names.
  struct Names {
    FlatNames<std::size_t> positions;
    std::size_t known = 0;
  };
  std::size_t position_locked(std::string_view name) const;
  void know_all() const;
  // The block of the i-th function, to be changed: a copy of it where another list has it too.
  Block& block_to_change(std::size_t i);
  void take(std::vector<GlobalFunction> functions);
  void forget();

  Blocks blocks_;
  std::size_t size_ = 0;
  mutable std::mutex mutex_;  // over what follows
  mutable std::shared_ptr<Names> names_ = nullptr;
  mutable FlatNames<std::size_t> added_ = {};  // positions of the functions behind those, up to `known_`
  mutable std::size_t known_ = 0;
  mutable FlatNames<int> next_numbers_ = {};  // by name: numbers below it are taken
};

}  // namespace relish
