// What lowering rules share: buffers for the arguments, arithmetic types, indices of broadcast operands, and
// the checks that a loop nest makes of dims which the type rule could not compare.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stdlib/families/shapes/shapes.h"

namespace relish {

// The dtype in which one operator computes elements of `dtype`, and in which it accumulates sums: float32 for
// the 16-bit floats, else `dtype` itself.
DType compute_dtype(DType dtype);

// An operator's loop nest in the making. Rejects by "lowering" what has no known shape or dtype.
class Lowering {
 public:
  explicit Lowering(const LowerCall& call);

  const CallView& call() const { return call_.call; }
  LoopBuilder& loops() { return loops_; }

  // Appends the parameter for argument `i`, a tensor.
  Buffer input(std::size_t i);
  // Appends one parameter for each field of argument `i`, a tuple of tensors.
  std::vector<Buffer> inputs(std::size_t i);
  // Appends the result; after all inputs.
  Buffer output();
  // Appends result `k` of an operator that gives a tuple; in order, after all inputs.
  Buffer output(std::size_t k, std::string_view name);
  // A temporary for intermediate values of the result's precision; its dtype is compute_dtype.
  Buffer temporary(std::string_view name, Dims shape, DType dtype) {
    return loops_.temporary(name, std::move(shape), dtype);
  }

  // Of the result, or of result `k` of a tuple.
  const Dims& result_dims(std::size_t k = 0) const { return *results_[k].shape; }
  DType result_dtype(std::size_t k = 0) const { return *results_[k].dtype; }
  std::size_t result_count() const { return results_.size(); }

  // The element of `buffer` in `dtype`.
  Scalar load_as(DType dtype, const Buffer& buffer, const Dims& index) const;
  // A store with the value converted to the buffer's dtype.
  Stmt store_as(const Buffer& buffer, const Dims& index, const Scalar& value) const;

  // Indices into `buffer` for element `index` of a result of shape `result` to which it broadcasts.
  Dims broadcast_index(const Buffer& buffer, const Dims& result, const Dims& index);
  // Demands at run time that the condition holds, before the loops.
  void require(const Scalar& condition, std::string message);
  // Demands a == b unless that is provable.
  void require_equal(const Scalar& a, const Scalar& b, std::string message);

  // target[s] = sum over r of term(s, r), with extents `spatial` and `reduce`, accumulated in target's dtype;
  // `combine` and `start` replace addition and zero. A reduction that may be empty is started by a block of
  // its own.
  using Term = std::function<Scalar(const Dims& spatial, const Dims& reduce)>;
  using Combine = std::function<Scalar(const Scalar& accumulated, const Scalar& term)>;
  void reduce(std::string_view block, const Buffer& target, const Dims& spatial, const Dims& reduce,
              const Term& term, const Combine& combine = nullptr, std::optional<Scalar> start = std::nullopt);
  // result[s] = value(s).
  void map(std::string_view block, const Buffer& target,
           const std::function<Scalar(const Dims& index)>& value);

  PrimFunc finish();

 private:
  const LowerCall& call_;
  LoopBuilder loops_;
  std::vector<TensorType> results_;  // shape and dtype are known
  std::vector<Stmt> requirements_;
};

}  // namespace relish
