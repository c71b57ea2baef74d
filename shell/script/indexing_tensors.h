// The elements of a tensor that a subscript names, by NumPy's rules: ints, slices, `...`, None, masks, and
// lists and tensors of positions.
#pragma once

#include <functional>
#include <vector>

#include "shell/script/indexing.h"

namespace relish {

class TensorSelection {
 public:
  // TypeError for what is no index, RuntimeError for positions out of range.
  TensorSelection(const Tensor& tensor, const std::vector<SubscriptItem>& given, Span span);

  // Of what is selected.
  const Shape& shape() const { return shape_; }
  // The chosen elements in the order of the result, as runs: `count` elements from the flat position `offset`
  // on, `stride` apart.
  using Run = std::function<void(std::int64_t offset, std::int64_t count, std::int64_t stride)>;
  void for_each_run(const Run& visit) const;

 private:
  // A dimension of the result: elements `stride` apart, or those of `offsets`.
  struct Dimension {
    std::int64_t count = 1;
    std::int64_t stride = 0;
    const std::vector<std::int64_t>* offsets = nullptr;
  };
  void runs(std::size_t dimension, std::int64_t offset, const Run& visit) const;
  void add_positions(const Tensor& indices, std::int64_t length, std::int64_t stride, Span span);
  void add_mask(const Tensor& mask, const Tensor& tensor, std::size_t first, const Shape& strides, Span span);

  std::int64_t begin_ = 0;
  std::vector<Dimension> dimensions_;
  Shape shape_;
  // Of all positions together: their shape, and where each leads.
  Shape chosen_shape_;
  std::vector<std::int64_t> chosen_;
};

// The tensor `t[items]`.
Tensor select(const Tensor& tensor, const std::vector<SubscriptItem>& given, Span span);
// `t[items] = value` of a tensor that nobody else holds: a number, or a tensor or nested list whose shape
// broadcasts to what is selected.
void assign(Tensor& tensor, const std::vector<SubscriptItem>& items, const ScriptValue& value, Span span);

}  // namespace relish
