// Operators that give their tensor back and say something to passes: which values a gradient computes again,
// and that a value is to be taken for another than it is.
#pragma once

#include "ir/nodes/expr.h"
#include "ir/operators/op.h"

namespace relish {

inline constexpr std::string_view barrier_name = "grad.barrier";
inline constexpr std::string_view checkpoint_start_name = "grad.start_checkpoint";
inline constexpr std::string_view checkpoint_end_name = "grad.end_checkpoint";

inline bool is_barrier(const OpCall& call) { return call.op->name == barrier_name; }
inline bool is_checkpoint_start(const OpCall& call) { return call.op->name == checkpoint_start_name; }
inline bool is_checkpoint_end(const OpCall& call) { return call.op->name == checkpoint_end_name; }

// The tensor that such a call gives back; null for other values.
inline const Expr* marked_tensor(const Expr& value) {
  const auto* call = value.as<OpCall>();
  const bool marks = call && (is_barrier(*call) || is_checkpoint_start(*call) || is_checkpoint_end(*call));
  return marks ? &call->args[0] : nullptr;
}

}  // namespace relish
