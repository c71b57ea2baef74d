// The same elements under another shape.
#include <algorithm>

#include "stdlib/families/shapes/movement.h"

namespace relish::ops_reshape {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"shape", ParamKind::Shape, "shape", "",
                             "shape of the result; one -1 is inferred, 0 copies the dimension of x"}};

// What a dimension of the wanted shape says.
enum class Meaning { Size, Copied, Inferred };

// What the dims of the text mean: a run has numbers where the text has sizes, and a size that is 0 or -1 in a
// run is no wish to copy or to infer. Needs the shape of x for the one case in which a 0 is meant as it
// stands: x is empty, and copying does not fit, or not for all that the sizes may be.
std::vector<Meaning> meanings(const std::optional<Dims>& from, const Dims& wanted) {
  std::vector<Meaning> meant(wanted.size(), Meaning::Size);
  Dims copied = wanted;
  bool infers = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto value = wanted[i].as_int();
    if (value == -1) {
      meant[i] = Meaning::Inferred;
      infers = true;
    } else if (value == 0 && (!from || i < from->size())) {
      meant[i] = Meaning::Copied;
      if (from) copied[i] = (*from)[i];
    }
  }
  if (!from || infers) return meant;
  const bool empty = product(*from).as_int() == 0;
  if ((empty && product(copied).as_int() != 0) ||
      (prove_different(product(*from), product(copied)) && !prove_different(product(*from), product(wanted))))
    std::replace(meant.begin(), meant.end(), Meaning::Copied, Meaning::Size);
  return meant;
}

std::vector<Meaning> meanings(const CallView& call, const std::optional<Dims>& from, const Dims& wanted) {
  if (call.written.empty()) return meanings(from, wanted);
  const CallView text{call.op, call.written, call.attributes, call.span};
  const BroadcastShape of_text = shape_argument(text, 1);
  if (!of_text.dims) return meanings(from, wanted);
  const TensorType* x = text.args[0].type().tensor();
  const std::optional<Dims> known = x ? known_dims(*x) : std::nullopt;
  return meanings(known ? known : from, *of_text.dims);
}

// The dims of both without those that they share. A number 0 is shared with none: what remains beside it may
// be anything.
void cancel_common(Dims& left, Dims& right) {
  for (auto l = left.begin(); l != left.end();) {
    const auto same = std::find_if(right.begin(), right.end(),
                                   [&](const Scalar& r) { return r.as_int() != 0 && prove_equal(*l, r); });
    if (same == right.end()) {
      ++l;
    } else {
      right.erase(same);
      l = left.erase(l);
    }
  }
}

// The dim written as -1: the size of x over that of the other dims. A copied dim is in both, whatever it is.
Scalar inferred_dim(const CallView& call, const Dims& from, const Dims& dims,
                    const std::vector<Meaning>& meant) {
  Dims numerator, denominator;
  for (std::size_t i = 0; i < std::max(from.size(), dims.size()); ++i) {
    if (i < dims.size() && meant[i] == Meaning::Copied) continue;
    if (i < from.size()) numerator.push_back(from[i]);
    if (i < dims.size() && meant[i] == Meaning::Size) denominator.push_back(dims[i]);
  }
  cancel_common(numerator, denominator);
  Scalar total = product(numerator);
  const Scalar rest = product(denominator);
  if (const auto divisor = rest.as_int()) {
    if (*divisor == 1) return total;
    if (*divisor == 0) {
      call.reject(
          "shape", call.span,
          fmt::format("-1 cannot be inferred beside a dimension 0, of x of shape {}", describe_dims(from)));
    }
    if (const auto size = total.as_int(); size && *size % *divisor != 0) {
      call.reject("shape", call.span,
                  fmt::format("x of shape {} has no whole number of rows of {} elements", describe_dims(from),
                              *divisor));
    }
  }
  return canonical(floor_div(total, rest));
}

// The dim as the text's type has it: where a size of the text is 0 in a run, numbers alone no longer tell
// what remains beside it.
std::optional<Scalar> dim_of_text(const CallView& call, std::size_t index) {
  const TensorType* type = call.result_of_text ? call.result_of_text->tensor() : nullptr;
  if (!type || !type->shape || index >= type->shape->size()) return std::nullopt;
  return (*type->shape)[index];
}

// The wanted shape with -1 and 0 resolved; absent when that needs the unknown shape of x.
std::optional<Dims> resolved_shape(const CallView& call, const std::optional<Dims>& from,
                                   const Dims& wanted) {
  const std::vector<Meaning> meant = meanings(call, from, wanted);
  Dims dims = wanted;
  std::optional<std::size_t> inferred;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (meant[i] == Meaning::Inferred) {
      if (inferred) call.reject("shape", call.span_of(1), "-1 is given twice, expected at most once");
      inferred = i;
    } else if (meant[i] == Meaning::Copied) {
      if (!from) return std::nullopt;
      dims[i] = (*from)[i];
    } else if (const auto value = wanted[i].as_int(); value && *value < 0) {
      call.reject("shape", call.span_of(1), fmt::format("dimension {} is {}", i, *value));
    }
  }
  if (inferred) {
    if (!from) return std::nullopt;
    const bool known = product(*from).as_int() == 0 && dim_of_text(call, *inferred);
    dims[*inferred] = known ? *dim_of_text(call, *inferred) : inferred_dim(call, *from, dims, meant);
    return dims;
  }
  if (from && prove_different(product(*from), product(dims)))
    call.reject("shape", call.span,
                fmt::format("x of shape {} does not reshape to {}: the number of elements differs",
                            describe_dims(*from), describe_dims(dims)));
  return dims;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape wanted = shape_argument(call, 1);
  if (!wanted.dims) return tensor_of(wanted, x.dtype);
  return TensorType{x.dtype, resolved_shape(call, known_dims(x), *wanted.dims), wanted.rank};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Shape shape = result_shape(c);
  if (element_count(shape) != x.size()) {
    fail(ErrorClass::Runtime, c.call.span, "reshape.shape",
         fmt::format("reshape: x has {} elements and the shape {}", x.size(), element_count(shape)));
  }
  return x.reshaped(shape);
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return {reshaped(rule.cotangent(), rule.dims(0)).expr(), std::nullopt};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.shape([3, 2])", "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], (-1,)", "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]"},
    {"rand((2, 3, 4), \"float64\"), (0, -1)"},
    {"rand((0, 4), \"float32\"), R.shape([0, 2, 2])"},
    {"rand((1,), \"float32\"), R.shape([])"},
    {"rand((), \"float32\"), R.shape([1, 1])"},
    {"rand((4, 6), \"float32\"), R.shape([2, 2, 3, 2])"},
};
constexpr Reject rejects[] = {
    {"reshape.shape", "rand((2, 3), \"float32\"), R.shape([4])", "number of elements differs"},
    {"reshape.shape", "rand((0, 4), \"float32\"), (1, 4, 0, -1)", "cannot be inferred beside a dimension 0"},
};

}  // namespace

extern const Op op_reshape{
    .name = "reshape",
    .summary = "The same elements, in row-major order, under another shape.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower_same_order,
    .vjp = vjp,
    .gradient_doc = "dx = reshape(g, shape of x)",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "One dimension may be -1: it is what remains. A 0 copies the dimension of x at that position, unless "
        "x is empty "
        "and copying does not fit. Beside a size that is 0, and is no copy, -1 may be any number, and is "
        "refused. When sizes cannot be compared before a run, a run checks them."};

}  // namespace relish::ops_reshape
