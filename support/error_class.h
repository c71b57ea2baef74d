// The error classes that users see and the exit code of each: the whole contract of the process with its
// caller.
#pragma once

#include <cstdint>
#include <string_view>

namespace relish {

enum class ErrorClass : std::uint8_t {
  Runtime,        // 1: the program ran and failed
  Usage,          // 2: wrong flag, missing argument, contradictory options
  Syntax,         // 3: text does not parse
  Type,           // 4: parses, but is not well formed
  Data,           // 5: a data file or value is malformed or does not fit
  ResourceLimit,  // 6: a documented limit would be passed
  IO,             // 7: open, read, write, rename or fsync failed
  NumericStop,    // 8: loss or weights became NaN or infinite
  Checkpoint,     // 9: checkpoint damaged or of another program
  Policy,         // 10: a feature that was not opted in
  Internal,       // 70: a defect of Relish
  TimeLimit,      // 75: --time-limit reached, state saved
  Interrupted,    // 130: SIGINT (129 and 143 for SIGHUP and SIGTERM)
};

// The class as printed: "RuntimeError", "UsageError", "SyntaxError", "TypeError", "DataError",
// "ResourceLimit", "IOError", "NumericStop", "CheckpointError", "PolicyError", "InternalError", "TimeLimit",
// "Interrupted".
std::string_view name_of(ErrorClass error_class);
int exit_code_of(ErrorClass error_class);

}  // namespace relish
