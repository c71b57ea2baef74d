// The words of run-time faults.
#include "ir/calls/fault.h"

#include <fmt/format.h>

#include "support/interrupt.h"

namespace relish {

ErrorClass fault_class(FaultKind kind) {
  switch (kind) {
    case FaultKind::IndexOutOfRange:
    case FaultKind::DivisionByZero:
    case FaultKind::NegativeShift:
    case FaultKind::AssertFailed:
    case FaultKind::ShapeMismatch:
    case FaultKind::ZeroStep:
    case FaultKind::CallDepth:
    case FaultKind::ViewShape:
    case FaultKind::ViewRange:
      return ErrorClass::Runtime;
    case FaultKind::AllocationFailed:
    case FaultKind::SizeOverflow:
      return ErrorClass::ResourceLimit;
    case FaultKind::Interrupted:
      return ErrorClass::Interrupted;
  }
  return ErrorClass::Internal;
}

std::string_view fault_id(FaultKind kind) {
  switch (kind) {
    case FaultKind::IndexOutOfRange:
      return "run.index";
    case FaultKind::DivisionByZero:
      return "run.division";
    case FaultKind::NegativeShift:
      return "run.shift";
    case FaultKind::AssertFailed:
      return "run.assert";
    case FaultKind::ShapeMismatch:
      return "run.shape";
    case FaultKind::AllocationFailed:
      return "limit.memory";
    case FaultKind::CallDepth:
      return "run.depth";
    case FaultKind::ZeroStep:
      return "run.step";
    case FaultKind::Interrupted:
      return "run.interrupted";
    case FaultKind::ViewShape:
      return "view.shape";
    case FaultKind::ViewRange:
      return "view.range";
    case FaultKind::SizeOverflow:
      return "run.size";
  }
  return "";
}

std::string fault_message(const Fault& fault) {
  const auto& v = fault.values;
  switch (fault.kind) {
    case FaultKind::IndexOutOfRange:
      return fmt::format("index {} is out of range for dimension {} of {}, which has extent {}",
                         v[3] ? fmt::to_string(static_cast<std::uint64_t>(v[1])) : fmt::to_string(v[1]), v[0],
                         fault.subject, v[2]);
    case FaultKind::DivisionByZero:
      return "integer division by zero";
    case FaultKind::NegativeShift:
      return fmt::format("shift by {}, which is negative", v[0]);
    case FaultKind::AssertFailed:
      return fault.subject.empty() ? "assertion failed" : fmt::format("assertion failed: {}", fault.subject);
    case FaultKind::ShapeMismatch:
      return fmt::format("dimension {} of {} is {}, expected {}", v[0], fault.subject, v[1], v[2]);
    case FaultKind::AllocationFailed:
      return fmt::format("cannot allocate {} bytes", v[0]);
    case FaultKind::CallDepth:
      return fmt::format("calls of {} nest deeper than {}; --max-call-depth raises the limit", fault.subject,
                         v[0]);
    case FaultKind::ZeroStep:
      return fmt::format("the step of the loop is {}", v[0]);
    case FaultKind::Interrupted:
      return "interrupted";
    case FaultKind::ViewShape:
      return fmt::format("the view {} has another shape than its region", fault.subject);
    case FaultKind::ViewRange:
      return fmt::format("the view {} reaches element {}; its source has {}", fault.subject, v[0], v[1]);
    case FaultKind::SizeOverflow:
      return fmt::format("the size {} {} {} does not fit 64 bits", v[0], fault.subject, v[1]);
  }
  return "unknown fault";
}

void fail_fault(const Fault& fault, Span span) {
  if (fault.kind == FaultKind::Interrupted) poll_interrupt(span);
  fail(fault_class(fault.kind), span, fault_id(fault.kind), fault_message(fault));
}

}  // namespace relish
