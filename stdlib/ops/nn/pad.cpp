// Padding of every dimension.
#include "stdlib/families/shapes/padding.h"

namespace relish::ops_nn_pad {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"pad_width", ParamKind::Attribute, "list[int]", "",
     "cells before and behind every dimension: before 0, behind 0, before 1, behind 1, ..."},
    {"pad_value", ParamKind::Attribute, "float", "0.0", "value of the cells in the mode constant"},
    {"pad_mode", ParamKind::Attribute, "str", "\"constant\"", "constant, reflect, replicate or circular"}};
constexpr std::string_view written_order[] = {"pad_width", "pad_mode", "pad_value"};

Type infer(const CallView& call) { return padding::infer(call, false); }
Value evaluate(const EvalCall& call) { return padding::evaluate(call, false); }
PrimFunc lower(const LowerCall& call) { return padding::lower(call, false); }
Partials vjp(const VjpCall& call) { return padding::vjp(call, false); }

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0], pad_width=[1, 2]", "[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]"},
    {"[1.0, 2.0, 3.0], [2, 1], \"constant\", 9.0", "[9.0, 9.0, 1.0, 2.0, 3.0, 9.0]"},
    {"[1.0, 2.0, 3.0], pad_width=[2, 1], pad_mode=\"reflect\"", "[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]"},
    {"[1.0, 2.0, 3.0], pad_width=[2, 1], pad_mode=\"replicate\"", "[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]"},
    {"[1.0, 2.0, 3.0], pad_width=[2, 1], pad_mode=\"circular\"", "[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]"},
    {"rand((2, 3, 4), \"float64\"), pad_width=[0, 0, 2, 1, 1, 3], pad_mode=\"reflect\""},
    {"rand((2, 3), \"float64\"), pad_width=[1, 0, 2, 3], pad_mode=\"replicate\""},
    {"rand((2, 1, 3), \"float64\"), pad_width=[0, 2, 1, 0, 3, 0], pad_mode=\"circular\""},
    {"rand((2, 3), \"float32\"), pad_width=[1, 0, 0, 2], pad_value=-1.5"},
    {"rand((0, 2), \"float32\"), pad_width=[1, 1, 0, 0]"},
    {"R.const([1, 2], \"int8\"), pad_width=[1, 1], pad_value=-3.0", "[-3, 1, 2, -3]"},
    {"rand((), \"float32\"), pad_width=[]"},
};
constexpr Reject rejects[] = {
    {"pad.pad_value", "rand((2,), \"float32\"), pad_width=[1, 1], pad_value=1e39",
     "pad_value is 1e+39, which float32 does not hold"},
    {"pad.pad_value", "R.const([1, 2], \"int8\"), pad_width=[1, 1], pad_value=300",
     "which int8 does not hold"},
    {"pad.pad_width", "rand((2, 3), \"float32\"), pad_width=[1, 1]", "is for 1 dimensions, data has 2"},
    {"pad.pad_width", "rand((2,), \"float32\"), pad_width=[1]", "expected two for each dimension"},
    {"pad.pad_width", "rand((2,), \"float32\"), pad_width=[1, -1]", "expected at least 0"},
    {"pad.pad_mode", "rand((2,), \"float32\"), pad_width=[1, 1], pad_mode=\"mirror\"",
     "expected constant, reflect, replicate or circular"},
    {"pad.size", "rand((2,), \"float32\"), pad_width=[2, 0], pad_mode=\"reflect\"", "needs at least 3"},
    {"pad.size", "rand((2,), \"float32\"), pad_width=[0, 3], pad_mode=\"circular\"", "needs at least 3"},
    {"pad.dtype", "R.const([True], \"bool\"), pad_width=[1, 1]", "expected numbers"},
};

}  // namespace

extern const Op op_nn_pad{
    .name = "nn.pad",
    .summary = "Cells added around a tensor.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = grad.pad_backward(g): each cell of g is added to the one that it was taken from",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .written_order = written_order,
    .doc =
        "reflect mirrors without repeating the border and takes at most size - 1 cells; replicate repeats "
        "the "
        "border; circular continues from the other end and takes at most size cells. For integers the value "
        "is "
        "converted as astype converts. Written without keywords the attributes stand in the order pad_width, "
        "pad_mode, pad_value; they print with pad_value before pad_mode. edge is another name of replicate."};

}  // namespace relish::ops_nn_pad
