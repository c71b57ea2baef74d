// Slot numbers of the scalar variables and buffers of one prim_func, and the preparation of its expressions.
#pragma once

#include <unordered_map>

#include "interp/loop_frame.h"
#include "ir/nodes/stmt.h"

namespace relish::interp {

class Slots {
 public:
  int scalar(const ScalarVar& var) { return index(scalars_, var.id()); }
  int buffer(const Buffer& buffer) { return index(buffers_, buffer.id()); }
  std::size_t scalar_count() const { return scalars_.size(); }
  std::size_t buffer_count() const { return buffers_.size(); }

 private:
  static int index(std::unordered_map<std::uint64_t, int>& map, std::uint64_t id) {
    return map.emplace(id, static_cast<int>(map.size())).first->second;
  }
  std::unordered_map<std::uint64_t, int> scalars_;
  std::unordered_map<std::uint64_t, int> buffers_;
};

// One rounding for each operation in the expression's dtype.
ScalarProgram prepare(const Scalar& scalar, Slots& slots);
StmtProgram prepare(const Stmt& stmt, Slots& slots);

// The element position of an access; a RuntimeError at `span` when an index is out of range.
class AccessProgram {
 public:
  AccessProgram(const Buffer& buffer, const std::vector<Scalar>& indices, Span span, Slots& slots);
  std::int64_t offset(Frame& frame) const {
    const BoundBuffer& bound = frame.buffers[buffer_];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      const std::int64_t index = indices_[d]->eval(frame).integer;
      if (index < 0 || index >= bound.shape[d]) out_of_range(d, index, bound.shape[d]);
      offset += index * bound.strides[d];
    }
    return offset;
  }
  char* data(Frame& frame) const { return frame.buffers[buffer_].data; }

 private:
  [[noreturn]] void out_of_range(std::size_t dimension, std::int64_t index, std::int64_t extent) const;

  std::size_t buffer_;
  std::string name_;
  Span span_;
  std::vector<ScalarProgram> indices_;
  std::vector<bool> unsigned_;  // of uint64, for the message
};

// Element conversion between storage and cells.
template <class T>
Cell to_cell(T value) {
  Cell cell;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    cell.real = value;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    cell.real = static_cast<float>(value);
  } else {
    cell.integer = static_cast<std::int64_t>(value);
  }
  return cell;
}

template <class T>
T from_cell(Cell cell) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return static_cast<T>(cell.real);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(cell.real);
  } else if constexpr (std::is_same_v<T, bool>) {
    return cell.integer != 0;
  } else {
    return static_cast<T>(cell.integer);
  }
}

}  // namespace relish::interp
