// Code generation of symbolic sizes and scalar arguments: their values, and the checks of shapes against
// types.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/graph/function_code.h"

namespace relish::jit {

class SizeEmitter {
 public:
  using Symbols = std::unordered_map<std::uint64_t, llvm::Value*>;  // int64 values, by id of the variable

  explicit SizeEmitter(FunctionCode& code) : code_(code) {}

  // Of a float, the bits of its double.
  void bind(const ScalarVar& symbol, llvm::Value* value) { symbols_[symbol.id()] = value; }
  void bind_scalar(const ScalarVar& symbol, llvm::Value* value);
  void forget(const ScalarVar& symbol) { symbols_.erase(symbol.id()); }
  llvm::Value* value_of(const ScalarVar& symbol) const;  // null when it has none
  // Runs `emit` with other symbols alone.
  template <class F>
  void with_symbols(Symbols symbols, F&& emit) {
    std::swap(symbols_, symbols);
    auto dims = std::exchange(dims_, {});
    auto order = std::exchange(order_, {});
    emit();
    symbols_ = std::move(symbols);
    dims_ = std::move(dims);
    order_ = std::move(order);
  }
  // Runs `emit`, whose code is not always run: what it computes is not seen behind it.
  template <class F>
  void apart(F&& emit) {
    const std::size_t sizes = order_.size(), bytes = byte_order_.size();
    emit();
    forget_behind(sizes, bytes);
  }

  // Runs `emit`, which allocates a tensor: a division by zero in one of its sizes is told by `tell`.
  template <class F>
  void telling(const std::function<void(llvm::Value* status)>& tell, F&& emit) {
    const auto* outside = std::exchange(tell_, tell ? &tell : nullptr);
    emit();
    tell_ = outside;
  }

  llvm::Value* dim(const Scalar& scalar);
  // A scalar argument, of its dtype's register type.
  llvm::Value* scalar(const Scalar& scalar);
  // Bytes of a tensor in whole lines. Sizes beyond all limits end the call.
  llvm::Value* bytes(DType dtype, const std::vector<Scalar>& dims, Span span);
  // The same of a tensor that is made later: where a size is divided by zero, which is a fault there,
  // anything.
  llvm::Value* planned_bytes(DType dtype, const std::vector<Scalar>& dims, Span span);
  // One check of all dims against `dims` and `rank` (-1: any). `site` makes the site, where code needs one.
  void check(const std::vector<llvm::Value*>& found, const std::optional<std::vector<Scalar>>& dims, int rank,
             const std::function<Site()>& site);

 private:
  llvm::Value* computed(const Scalar& scalar);
  llvm::Value* binary(const Binary& node, const Scalar& scalar);
  llvm::Value* shift(const Binary& node, llvm::Value* a, llvm::Value* b, const Scalar& scalar);
  llvm::Value* quotient(const Binary& node, llvm::Value* a, llvm::Value* b, const Scalar& scalar);
  llvm::Value* of_side(const Scalar& condition, const Scalar& a, const Scalar& b);
  llvm::Value* wrapped(llvm::Value* value, DType dtype);
  llvm::Value* float_binary(const Binary& node, const Scalar& scalar);
  void fault_where(llvm::Value* condition, Site site, llvm::Value* a, llvm::Value* b);
  void fault_of_shape(Site site, const std::vector<llvm::Value*>& found);
  void forget_behind(std::size_t sizes, std::size_t bytes);

  struct Computed {
    Scalar form;  // canonical
    llvm::Value* value;
  };
  using Bytes = std::map<std::pair<DType, std::vector<llvm::Value*>>, llvm::Value*>;

  FunctionCode& code_;
  const std::function<void(llvm::Value* status)>* tell_ = nullptr;
  bool plans_ = false;
  Symbols symbols_;
  std::unordered_map<std::uint64_t, std::vector<Computed>> dims_;  // by hash of the form
  std::vector<std::uint64_t> order_;                               // hashes, as they were computed
  Bytes bytes_;
  std::vector<Bytes::iterator> byte_order_;
};

}  // namespace relish::jit
