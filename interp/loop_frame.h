// What a running prim_func works on: scalar cells and bound buffers, both found by slot numbers that were
// assigned once when the function was prepared, so that no name is looked up while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/tensor.h"

namespace relish::interp {

// One scalar: `integer` for bool and integer dtypes (uint64 by bit pattern), `real` for floats, held exactly
// as double.
union Cell {
  std::int64_t integer;
  double real;
};

struct BoundBuffer {
  Tensor tensor;
  char* data = nullptr;
  Shape shape;
  Shape strides;  // in elements

  void bind(Tensor t) {
    tensor = std::move(t);
    data = static_cast<char*>(tensor.mutable_data());
    shape = tensor.shape();
    strides = row_major_strides(shape);
  }
};

struct Frame {
  std::vector<Cell> cells;
  std::vector<BoundBuffer> buffers;
  Cell result{};  // of a function that returns a scalar
};

// What comes after a statement.
enum class Flow : std::uint8_t { Next, Break, Continue, Return };

// A prepared scalar expression.
struct ScalarNodeProgram {
  virtual ~ScalarNodeProgram() = default;
  virtual Cell eval(Frame& frame) const = 0;
};
using ScalarProgram = std::unique_ptr<const ScalarNodeProgram>;

// A prepared statement.
struct StmtNodeProgram {
  virtual ~StmtNodeProgram() = default;
  virtual Flow run(Frame& frame) const = 0;
};
using StmtProgram = std::unique_ptr<const StmtNodeProgram>;

}  // namespace relish::interp
