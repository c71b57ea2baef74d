// What a call of a compiled function holds in memory, as its plan says before it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"
#include "support/source.h"

namespace relish {

// Memory is taken in lines of so many bytes.
inline constexpr std::int64_t memory_line = 64;

struct Footprint {
  enum class Kind : std::uint8_t {
    Argument,
    Donated,  // an argument that the caller gives up
    Constant,
    Result,
    Value,      // made by compiled code, with memory of its own
    Temporary,  // in the arena of its function
    Buffer,     // of a kernel, on each thread that has one
  };
  struct Part {
    Kind kind = Kind::Value;
    std::int64_t bytes = 0;
    std::string name;  // of a parameter or a buffer; empty where nothing has one
    DType dtype = DType::Float32;
    Shape shape;
    Span span;
    std::string function;  // in which it is made
  };
  std::int64_t peak = 0;  // the most that is held at one time, arguments and constants among it
  // `donated`: of the arguments, what results take the place of; `results`: with memory of their own.
  std::int64_t arguments = 0, donated = 0, constants = 0, results = 0;
  std::int64_t arena = 0;    // of the functions that are entered at one time, at most
  std::int64_t buffers = 0;  // of one kernel, at most
  // False: some sizes only the run shows, so that it may hold more.
  bool complete = true;
  std::vector<Part> parts;  // largest first
};

}  // namespace relish
