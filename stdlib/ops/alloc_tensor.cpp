// Allocation of tensors as lowered modules write it, and a mark of a pass.
#include "stdlib/families/elementwise/identity.h"
#include "stdlib/families/language/storage.h"

namespace relish::ops_alloc_tensor {
namespace {

constexpr Param params[] = {
    {"shape", ParamKind::Shape, "shape", "", "shape of the tensor"},
    {"dtype", ParamKind::Any, "dtype", "", "its element type"},
    {"runtime_device_index", ParamKind::Scalar, "int", "", "number of the device; there is one"},
    {"storage_scope", ParamKind::Any, "str", "\"global\"", "memory of the device"}};
constexpr Param stop_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};

Type infer(const CallView& call) {
  require_integer(call, 2);
  require_scope(call, 3);
  return allocated_type(call, 0, 1);
}

Value evaluate(const EvalCall& c) { return allocated_tensor(c, 0, 1); }

constexpr Sample samples[] = {
    {"R.shape([2]), \"float32\", 0, \"global\"", "[0.0, 0.0]", false},
    {"(2, 1), \"int8\", 0", "[[0], [0]]", false},
    {"R.shape([]), \"bool\", -1", "False", false},
    {"[0, 3], dtype=\"float64\", runtime_device_index=0", "", false},
};
constexpr Reject rejects[] = {
    {"alloc_tensor.dtype", "R.shape([2]), \"float7\", 0", "expected a dtype"},
    {"alloc_tensor.dtype", "R.shape([2]), 1, 0", "expected R.dtype"},
    {"alloc_tensor.shape", "R.shape([-2]), \"float32\", 0", "is negative"},
    {"alloc_tensor.index", "R.shape([2]), \"float32\", 1.5", "expected an integer"},
    {"alloc_tensor.scope", "R.shape([2]), \"float32\", 0, 7", "expected R.str"},
};
constexpr Sample stop_samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},         {"R.const([[1], [2]], \"int32\")", "[[1], [2]]"},
    {"R.const(3.5, \"float64\")", "3.5"}, {"[True]", "[True]"},
    {"[[0.5, -0.5]]", "[[0.5, -0.5]]"},
};
constexpr Reject stop_rejects[] = {{"stop_lift_params.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_builtin_alloc_tensor{.name = "builtin.alloc_tensor",
                                        .summary = "A tensor for a prim_func to write to.",
                                        .params = params,
                                        .infer = infer,
                                        .eval = evaluate,
                                        .no_gradient = "its elements are written by other calls",
                                        .agreement = Agreement::DataMovement,
                                        .samples = samples,
                                        .rejects = rejects,
                                        .doc =
                                            "Lowered modules give it to a direct call: out = "
                                            "R.builtin.alloc_tensor(...), then cls.f(x, out). Its "
                                            "elements are zero before that."};
extern const Op op_builtin_stop_lift_params =
    identity_of_tensor({.name = "builtin.stop_lift_params",
                        .summary = "The tensor; passes that lift computations of parameters stop here.",
                        .params = stop_params,
                        .samples = stop_samples,
                        .rejects = stop_rejects});

}  // namespace relish::ops_alloc_tensor
