// The size of code.
#include "jit/kernel/code_size.h"

#include "ir/rewriting/rewrite.h"
#include "loops/work.h"

namespace relish::jit {
namespace {

std::int64_t nodes_of(const Scalar& value) {
  std::int64_t nodes = 0;
  if (value.defined()) for_each_scalar(value, [&](const Scalar&) { ++nodes; });
  return nodes;
}

std::int64_t nodes_of(const std::vector<Scalar>& values) {
  std::int64_t nodes = 0;
  for (const Scalar& value : values) nodes += nodes_of(value);
  return nodes;
}

// Counter, comparison, jump.
constexpr std::int64_t of_loop = 4;

std::int64_t size_of_code(const Stmt& stmt) {
  if (!stmt.defined()) return 0;
  return std::visit(
      [](const auto& node) -> std::int64_t {
        using Kind = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<Kind, For>) {
          const std::int64_t body = size_of_code(node.body);
          return unrolls(node) ? *node.extent.as_int() * body
                               : of_loop + nodes_of(node.begin) + nodes_of(node.extent) + body;
        } else if constexpr (std::is_same_v<Kind, While>) {
          return of_loop + nodes_of(node.condition) + size_of_code(node.body);
        } else if constexpr (std::is_same_v<Kind, BlockStmt>) {
          std::int64_t size = nodes_of(node.predicate) + size_of_code(node.init) + size_of_code(node.body);
          for (const IterVar& iter : node.iters) size += nodes_of(iter.binding);
          return size;
        } else if constexpr (std::is_same_v<Kind, Store>) {
          return 1 + nodes_of(node.indices) + nodes_of(node.value);
        } else if constexpr (std::is_same_v<Kind, IfStmt>) {
          return 1 + nodes_of(node.condition) + size_of_code(node.then_body) + size_of_code(node.else_body);
        } else if constexpr (std::is_same_v<Kind, AssertStmt>) {
          return 1 + nodes_of(node.condition);
        } else if constexpr (std::is_same_v<Kind, SeqStmt>) {
          std::int64_t size = 0;
          for (const Stmt& each : node.body) size += size_of_code(each);
          return size;
        } else if constexpr (requires { node.value; }) {
          return 1 + nodes_of(node.value);
        } else {
          return 1;
        }
      },
      stmt->kind);
}

}  // namespace

std::int64_t code_size(const PrimFunc& function) { return size_of_code(function.body); }

}  // namespace relish::jit
