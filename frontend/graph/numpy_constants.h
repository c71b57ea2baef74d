// NumPy's constructors inside R.const, which people write where Python runs: np.array([[1, 2]],
// dtype="int32"), np.zeros((2, 3)), np.arange(6).reshape(2, 3), np.float32(0.5), np.inf,
// np.finfo(np.float32).max.
#pragma once

#include <functional>
#include <optional>

#include "frontend/context.h"
#include "runtime/tensor.h"

namespace relish {

// Numbers in nested lists, with the dtype that NumPy gives them: bool, int64 or float64.
using ReadNumbers = std::function<Tensor(const ast::Expr&)>;

// The elements under another dtype, as astype converts them; TypeError where a number is no value of it.
Tensor converted(const Tensor& from, DType dtype, Span at);

// The tensor with NumPy's dtype; nothing for what is no name of NumPy. TypeError for another name of it.
std::optional<Tensor> numpy_constant(const ReadContext& context, const ast::Expr& expr,
                                     const ReadNumbers& numbers);

}  // namespace relish
