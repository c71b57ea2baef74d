// The four arithmetic operators.
#include "stdlib/families/elementwise/binary.h"

namespace relish::ops_arithmetic {
namespace {

constexpr std::string_view arithmetic_doc =
    "Shapes broadcast from the right: a dimension 1 stretches. Both operands have the same dtype, or the "
    "second is bool; "
    "there is no promotion. Integers wrap around.";

constexpr Sample add_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [[10.0, 20.0], [30.0, 40.0]]", "[[11.0, 22.0], [33.0, 44.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0.5, 0.25, 0.125]", "[[1.5, 2.25, 3.125], [4.5, 5.25, 6.125]]"},
    {"[[1.0], [2.0]], [10.0, 20.0, 30.0]", "[[11.0, 21.0, 31.0], [12.0, 22.0, 32.0]]"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((2, 1, 4), \"float64\"), rand((3, 1), \"float64\")"},
    {"rand((5,), \"float32\"), rand((), \"float32\")"},
};
constexpr Reject add_rejects[] = {
    {"add.shape", "rand((2, 3), \"float32\"), rand((4, 3), \"float32\")", "do not broadcast"},
    {"add.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},
    {"add.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

constexpr Sample subtract_samples[] = {
    {"[5.0, 7.0, 9.0], [1.0, 2.5, 4.0]", "[4.0, 4.5, 5.0]"},
    {"[[5.0, 7.0], [9.0, 11.0]], [1.0, 2.0]", "[[4.0, 5.0], [8.0, 9.0]]"},
    {"[10.0, 20.0], [[1.0], [2.0], [3.0]]", "[[9.0, 19.0], [8.0, 18.0], [7.0, 17.0]]"},
    {"rand((3, 0), \"float32\"), rand((3, 1), \"float32\")"},
    {"rand((1, 4), \"float64\"), rand((3, 1), \"float64\")"},
    {"rand((), \"float32\"), rand((2, 2), \"float32\")"},
};
constexpr Reject subtract_rejects[] = {
    {"subtract.shape", "rand((3,), \"float32\"), rand((2,), \"float32\")", "do not broadcast"},
    {"subtract.dtype", "rand((2,), \"float64\"), rand((2,), \"float32\")", "expected the same"},
    {"subtract.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

constexpr Sample multiply_samples[] = {
    {"[1.5, -2.0, 3.0], [2.0, 4.0, -0.5]", "[3.0, -8.0, -1.5]"},
    {"[[1.0, 2.0], [3.0, 4.0]], [10.0, 100.0]", "[[10.0, 200.0], [30.0, 400.0]]"},
    {"[10.0, 100.0], [[1.0], [2.0]]", "[[10.0, 100.0], [20.0, 200.0]]"},
    {"rand((0,), \"float32\"), rand((1,), \"float32\")"},
    {"rand((2, 3, 1), \"float64\"), rand((1, 4), \"float64\")"},
    {"rand((3, 3), \"float32\"), rand((), \"float32\")"},
    {"R.const([True, True, False], \"bool\"), R.const([True, False, False], \"bool\")",
     "R.const([True, False, False], \"bool\")"},
};
constexpr Reject multiply_rejects[] = {
    {"multiply.shape", "rand((2, 5), \"float32\"), rand((2, 4), \"float32\")", "do not broadcast"},
    {"multiply.dtype", "rand((2,), \"float32\"), rand((2,), \"float16\")", "expected the same"},
    {"multiply.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

constexpr Sample divide_samples[] = {
    {"[1.0, -6.0, 7.5], [4.0, 1.5, 2.5]", "[0.25, -4.0, 3.0]"},
    {"[[8.0, 6.0], [4.0, 2.0]], [4.0, 0.5]", "[[2.0, 12.0], [1.0, 4.0]]"},
    {"[8.0, 6.0], [[2.0], [4.0]]", "[[4.0, 3.0], [2.0, 1.5]]"},
    {"rand((2, 0), \"float32\"), [[1.5], [2.5]]"},
    {"rand((2, 1, 2), \"float64\"), rand((3, 1), \"float64\") + 1.0"},
    {"rand((4,), \"float32\"), rand((), \"float32\") + 1.0"},
};
constexpr Reject divide_rejects[] = {
    {"divide.shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "do not broadcast"},
    {"divide.dtype", "rand((2,), \"float16\"), rand((2,), \"float32\")", "expected the same"},
    {"divide.operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"},
};

}  // namespace

extern const Op op_add = elementwise_binary(
    {.name = "add",
     .summary = "Sum of two tensors, element by element.",
     .gradient_doc = "dx1 = sum_to(g, x1), dx2 = sum_to(g, x2)",
     .samples = add_samples,
     .rejects = add_rejects,
     .doc = arithmetic_doc},
    [](const auto& a, const auto& b) { return a + b; },
    [](const auto& g, const auto&, const auto&, const auto&) { return g; },
    [](const auto& g, const auto&, const auto&, const auto&) { return g; });

extern const Op op_subtract = elementwise_binary(
    {.name = "subtract",
     .summary = "Difference of two tensors, element by element.",
     .gradient_doc = "dx1 = sum_to(g, x1), dx2 = sum_to(-g, x2)",
     .samples = subtract_samples,
     .rejects = subtract_rejects,
     .doc = arithmetic_doc},
    [](const auto& a, const auto& b) { return a - b; },
    [](const auto& g, const auto&, const auto&, const auto&) { return g; },
    [](const auto& g, const auto&, const auto&, const auto&) { return -g; });

namespace {

constexpr Op product = elementwise_binary(
    {.name = "multiply",
     .summary = "Product of two tensors, element by element.",
     .gradient_doc = "dx1 = sum_to(g * x2, x1), dx2 = sum_to(g * x1, x2)",
     .samples = multiply_samples,
     .rejects = multiply_rejects,
     .doc = arithmetic_doc},
    [](const auto& a, const auto& b) { return a * b; },
    [](const auto& g, const auto&, const auto& x2, const auto&) { return g * x2; },
    [](const auto& g, const auto& x1, const auto&, const auto&) { return g * x1; });

bool of_bools(const CallView& call) {
  return dtype_of_argument(call, 0) == DType::Bool && dtype_of_argument(call, 1) == DType::Bool;
}

// The product of bools is true where both are.
constexpr Op product_of_all() {
  Op op = product;
  op.infer = [](const CallView& call) {
    return of_bools(call) ? find_op("logical_and")->infer(call) : product.infer(call);
  };
  op.eval = [](const EvalCall& c) {
    return of_bools(c.call) ? find_op("logical_and")->eval(c) : product.eval(c);
  };
  op.lower = [](const LowerCall& c) {
    return of_bools(c.call) ? find_op("logical_and")->lower(c) : product.lower(c);
  };
  return op;
}

}  // namespace

extern const Op op_multiply = product_of_all();

extern const Op op_divide = elementwise_binary(
    {.name = "divide",
     .summary = "Quotient of two tensors, element by element.",
     .gradient_doc = "dx1 = sum_to(g / x2, x1), dx2 = sum_to(-g * y / x2, x2)",
     .samples = divide_samples,
     .rejects = divide_rejects,
     .doc = "Shapes broadcast from the right: a dimension 1 stretches. Both operands have the same dtype, or "
            "the second "
            "is bool. Floats divide as IEEE 754 says; integers truncate toward zero, a zero divisor is a "
            "RuntimeError, and "
            "the lowest integer divided by -1 is itself."},
    [](const auto& a, const auto& b) { return a / b; },
    [](const auto& g, const auto&, const auto& x2, const auto&) { return g / x2; },
    [](const auto& g, const auto&, const auto& x2, const auto& y) { return -g * y / x2; });

}  // namespace relish::ops_arithmetic
