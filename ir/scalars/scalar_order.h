// A total order of scalar expressions by structure, and integer arithmetic as prim_funcs do it: what the
// analyses of this folder share.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "ir/nodes/scalar.h"

namespace relish {

// Negative, zero or positive; zero when structurally equal. Variables are ordered by their making.
int compare_structure(const Scalar& a, const Scalar& b);

// Calls `visit` for the direct operands, left to right.
template <class F>
void for_each_operand(const Scalar& scalar, F&& visit) {
  std::visit(
      [&](const auto& node) {
        using K = std::decay_t<decltype(node)>;
        if constexpr (requires { node.op; }) {
          visit(node.a);
          visit(node.b);
        } else if constexpr (std::is_same_v<K, Select>) {
          visit(node.condition);
          visit(node.a);
          visit(node.b);
        } else if constexpr (std::is_same_v<K, Not> || std::is_same_v<K, Cast> ||
                             std::is_same_v<K, Reinterpret>) {
          visit(node.a);
        } else if constexpr (std::is_same_v<K, Let>) {
          visit(node.value);
          visit(node.body);
        } else if constexpr (std::is_same_v<K, Load>) {
          for (const Scalar& index : node.indices) visit(index);
        } else if constexpr (std::is_same_v<K, IntrinsicCall> || std::is_same_v<K, ForeignCall>) {
          for (const Scalar& arg : node.args) visit(arg);
        }
      },
      scalar->kind);
}

// "+", "//", "min": as messages write it.
std::string_view symbol_of(BinaryOp op);

// The value modulo the width of an integer dtype.
std::int64_t wrap_to(DType dtype, std::int64_t value);
// One integer operation; nullopt for a division by zero or a negative shift.
std::optional<std::int64_t> fold_binary(BinaryOp op, DType dtype, std::int64_t a, std::int64_t b);
// As fold_binary, but absent too where sums, products and quotients of int64, the dtype of sizes, would wrap.
std::optional<std::int64_t> fold_exactly(BinaryOp op, DType dtype, std::int64_t a, std::int64_t b);
bool fold_compare(CompareOp op, DType dtype, std::int64_t a, std::int64_t b);

}  // namespace relish
