// The words of the notes.
#include "schedule/fusion/notes.h"

#include <fmt/format.h>

#include "ir/operators/op.h"

namespace relish {

std::string why_alone(const CallTir& call) {
  if (call.tuple_result) return "it has several results";
  if (!call.inplace_indices.empty()) return "it works in place";
  if (!call.gradient_name.empty()) return "it has a gradient of its own";
  return "it is more than loop nests around stores, or can fail otherwise than by a check";
}

std::string why_not_into(const Expr& reader) {
  if (const auto* call = reader.as<CallTir>()) {
    const auto* callee = call->callee.as<GlobalRef>();
    return fmt::format("{} stays by itself: {}", callee ? callee->name : "the kernel", why_alone(*call));
  }
  if (const auto* call = reader.as<OpCall>()) return fmt::format("R.{} is no loop nest", call->op->name);
  if (reader.as<FunctionCall>()) return "a function is called with it";
  if (reader.as<If>()) return "a branch reads it";
  if (reader.as<Loop>()) return "a loop reads it";
  return "it is handed on as a value";
}

}  // namespace relish
