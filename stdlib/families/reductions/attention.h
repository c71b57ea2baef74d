// What the attention operators share: their arguments, which keys a query sees, the weighted mean of values,
// and the gradient. Tensors are (batch, sequence, heads, size of a head).
#pragma once

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish::attention {

inline constexpr std::size_t query = 0, key = 1, value = 2, bias = 3;

inline constexpr Param query_param = {"query", ParamKind::Tensor, "tensor", "",
                                      "(batch, queries, heads, size)"};
inline constexpr Param key_param = {"key", ParamKind::Tensor, "tensor", "", "(batch, keys, heads, size)"};
inline constexpr Param value_param = {"value", ParamKind::Tensor, "tensor", "",
                                      "(batch, keys, heads, size of a value)"};
inline constexpr Param scale_param = {"scale", ParamKind::Attribute, "float or None", "None",
                                      "factor of the products; None: 1 / sqrt(size)"};
inline constexpr Param causal_param = {
    "causal_mask", ParamKind::Attribute, "str or None", "None",
    "\"TopLeft\": query i sees keys up to i; \"BottomRight\": the last query sees all keys; None: all do"};
inline constexpr Param window_param = {
    "window_size", ParamKind::Attribute, "int or None", "None",
    "with a causal mask: how many keys a query sees at most, the last ones"};

// Which keys a query sees. Positions count from the start of the sequence, as does the offset: query i stands
// at key i + offset.
struct Mask {
  bool causal = false, bottom_right = false;
  std::optional<std::int64_t> window = {};

  std::int64_t offset(std::int64_t queries, std::int64_t keys) const {
    return bottom_right ? keys - queries : 0;
  }
  // `ahead`: the place of the key minus that of the query.
  bool sees(std::int64_t ahead) const { return !causal || (ahead <= 0 && (!window || ahead > -*window)); }
};

// Rejects unknown masks by "mask" and windows that are no positive number or lack a mask by "window".
Mask mask_of(const CallView& call);
// The factor, given the size of a head.
double scale_of(const CallView& call, std::int64_t size);
// The type of the result. Rejects by "rank", "shape" and "dtype".
Type infer(const CallView& call);

// One query of one head: result = the mean of the values of the keys that are seen, weighted by the
// exponentials of the scores; 0 when none is seen, or all scores are -inf. Accessors give elements in
// float64.
template <class Score, class Element>
void attend(std::int64_t keys, std::int64_t size, const Score& score, const Element& value_at,
            std::vector<double>& result) {
  std::vector<std::optional<double>> scores(static_cast<std::size_t>(keys));
  double largest = -std::numeric_limits<double>::infinity();
  Pace pace;
  for (std::int64_t j = 0; j < keys; ++j, pace(size)) {
    std::optional<double>& s = scores[static_cast<std::size_t>(j)];
    s = score(j);
    if (s) largest = maximum_ieee(largest, *s);
  }
  double total = 0;
  result.assign(static_cast<std::size_t>(size), 0.0);
  for (std::int64_t j = 0; j < keys; ++j, pace(size)) {
    const std::optional<double>& s = scores[static_cast<std::size_t>(j)];
    if (!s || *s == -std::numeric_limits<double>::infinity()) continue;
    const double weight = std::exp(*s - largest);
    total += weight;
    for (std::int64_t d = 0; d < size; ++d) result[static_cast<std::size_t>(d)] += weight * value_at(j, d);
  }
  if (total == 0) return;
  for (double& element : result) element /= total;
}

// --- Gradient.

// The value by products and a softmax, whose weights the way back finds: (batch, heads, queries, keys).
// Halves are computed in float32, as the operator does. `visible` (queries, keys) is absent when all keys are
// seen.
Expr parts(const GradientRule& rule, const std::optional<GraphValue>& visible, bool with_bias);

// 0, 1, ..., n - 1 along dimension `axis` of two, the other being 1: int64.
GraphValue places(const Scalar& n, int axis, FunctionBuilder& builder);
// Whether a query sees a key, given the place of the key minus that of the query; nothing without a mask.
std::optional<GraphValue> seen(const Mask& mask, const GraphValue& ahead);
GraphValue both(const GraphValue& a, const GraphValue& b);
// The partials of query, key, value (and bias).
Partials partials(const GradientRule& rule, const std::optional<GraphValue>& visible, bool with_bias);

}  // namespace relish::attention
