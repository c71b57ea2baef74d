// Faults of a running program: the kinds, and the class, rule id and words of each. Both tiers report a fault
// through `fail_fault`, so that a user reads the same message whichever tier ran the program.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/failure.h"

namespace relish {

enum class FaultKind : std::uint8_t {
  IndexOutOfRange,  // subject: buffer; values: dimension (from 0), index, extent, 1 where the index is uint64
  DivisionByZero,   // division or remainder of integers
  NegativeShift,    // values: the shift amount
  AssertFailed,     // subject: the assertion's message
  ShapeMismatch,    // subject: what has the shape; values: dimension (from 0), found, expected
  AllocationFailed,  // values: bytes wanted
  CallDepth,         // subject: the function called; values: depth allowed
  ZeroStep,          // of a loop; values: the step, which must not be zero, in a prim_func positive
  Interrupted,
  ViewShape,     // subject: the view, whose shape is not that of its region
  ViewRange,     // subject: the view; values: the element it reaches, the elements of its source
  SizeOverflow,  // of int64, by arithmetic on sizes; subject: the operator; values: its operands
};

struct Fault {
  FaultKind kind;
  std::string subject = {};
  std::array<std::int64_t, 4> values = {};
};

ErrorClass fault_class(FaultKind kind);
// The id of the broken rule: "run.index", "run.division", ...
std::string_view fault_id(FaultKind kind);
std::string fault_message(const Fault& fault);
// Throws the Failure of a fault at its line. Interrupted throws by poll_interrupt, with the signal's exit
// code.
[[noreturn]] void fail_fault(const Fault& fault, Span span);

}  // namespace relish
