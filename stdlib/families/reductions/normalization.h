// The family of normalizations: the elements of a group brought to mean 0 and variance 1 (or to mean square
// 1), then scaled and moved by parameters. Layer, group, instance, batch and root-mean-square norms differ in
// which dimensions make a group and which the parameters have; a Normalization says so, and evaluation, loop
// nests and gradients are written once.
#pragma once

#include "stdlib/families/reductions/moments.h"

namespace relish {

struct Normalization {
  // The dimension `split` of the input counts as two, (groups, size / groups), in the view of the input that
  // all other numbers speak of.
  std::optional<int> split = {};
  std::int64_t groups = 1;

  std::vector<int> axes;      // of the view: averaged
  std::vector<int> weighted;  // of the view: those of the parameters, in order
  double epsilon = 0;
  bool centred = true;                               // false: mean square in place of the variance
  std::optional<std::size_t> gamma = {}, beta = {};  // arguments in use

  Dims view(const Dims& dims) const;
  Shape view(const Shape& shape) const;
};

namespace normalization {

// Rejects by "epsilon" when it is negative.
double epsilon_of(const CallView& call);
bool flag(const CallView& call, std::string_view name);
// Argument `i` must have the dtype of argument 0 ("dtype") and the dims `expected`, as far as is known
// ("shape").
void require_parameter(const CallView& call, std::size_t i, const std::optional<Dims>& expected);
// The dims `axes` of argument 0; nothing when its shape is unknown.
std::optional<Dims> dims_at(const CallView& call, const std::vector<int>& axes);
// Evaluation cannot rely on the type rule alone: RuntimeError unless argument `i` has the shape `expected`.
void require_shape(const EvalCall& c, std::size_t i, const Shape& expected);
// The axes of `rank` that are not among `axes`.
std::vector<int> other_axes(const std::vector<int>& axes, int rank);

// Argument 0 normalized. With `given`, by these moments in place of its own.
Tensor evaluate(const EvalCall& c, const Normalization& n, const Moments* given = nullptr);

// The nest that stores the normalized argument 0. `moments` are over the dims of the view that are not
// averaged.
void lower(Lowering& lowering, const Normalization& n, const Buffer& data, const Buffer* gamma,
           const Buffer* beta, const MomentBuffers& moments, const Buffer& result);
// The moments of `data` in the view.
MomentBuffers lower_own_moments(Lowering& lowering, const Normalization& n, const Buffer& data);
// The whole prim_func of a norm whose result is one tensor.
PrimFunc lower(const LowerCall& c, const Normalization& n);

// The input with mean 0 and variance 1, and how it became so, in the view.
struct Standardized {
  GraphValue deviation;   // from the mean
  GraphValue scale;       // 1 / sqrt(variance + epsilon), the averaged dims as 1
  GraphValue normalized;  // the product of both
};
Standardized standardized(const GradientRule& rule, const Normalization& n);

// What the gradients of norms need, in the view of the input.
struct Parts {
  GraphValue normalized;  // the input with mean 0 and variance 1
  GraphValue scale;       // 1 / sqrt(variance + epsilon), the averaged dims as 1
  GraphValue cotangent;   // of the result
  GraphValue scaled;      // the cotangent times gamma
};
Parts parts(const GradientRule& rule, const Normalization& n, const GraphValue& cotangent);
// dx of the view, then in the shape of the input.
GraphValue input_partial(const Normalization& n, const Parts& parts);
GraphValue as_input(const GradientRule& rule, const Normalization& n, const GraphValue& in_view);
// A value of the view summed to the shape of a parameter.
GraphValue as_parameter(const GradientRule& rule, const Normalization& n, std::size_t i,
                        const GraphValue& in_view);
// The partial of a parameter that is switched off: zeros.
Expr unused_parameter(const GradientRule& rule, std::size_t i);
// A parameter, or any value with the dims `weighted`, so that it broadcasts to the view.
GraphValue along_view(const Normalization& n, const GraphValue& value, int view_rank);
// The partials of all arguments of a norm whose result is one tensor.
Partials vjp(const VjpCall& c, const Normalization& n);

// Norms whose groups the attribute "axes" says: the type, when the arguments 1 to `parameters` have the dims
// along them, and the evaluation, which looks at these again.
Type infer_along_axes(const CallView& call, std::size_t parameters);
Value evaluate_along_axes(const EvalCall& c, const Normalization& n, std::size_t parameters);
// `op` as such a norm; `norm_of` says of a call and the rank of its data which.
template <Normalization (*norm_of)(const CallView&, int rank), std::size_t parameters>
constexpr Op norm_along_axes(Op op) {
  op.infer = [](const CallView& call) { return infer_along_axes(call, parameters); };
  op.eval = [](const EvalCall& c) {
    return evaluate_along_axes(c, norm_of(c.call, c.in(0).rank()), parameters);
  };
  op.lower = [](const LowerCall& c) { return lower(c, norm_of(c.call, shape_of(c.call.tensor(0)).rank)); };
  op.vjp = [](const VjpCall& c) {
    const GradientRule rule(c);
    return vjp(c, norm_of(c.call, static_cast<int>(rule.dims(0).size())));
  };
  op.agreement = Agreement::Composite;
  return op;
}

}  // namespace normalization
}  // namespace relish
