// Planned memory: storages, tensors in them, and the ends of their lives.
#include "stdlib/families/language/storage.h"

namespace relish::ops_memory_allocation {
namespace {

constexpr Param storage_params[] = {
    {"size", ParamKind::Shape, "shape", "", "number of elements"},
    {"virtual_device_index", ParamKind::Scalar, "int", "", "number of the device; there is one"},
    {"storage_scope", ParamKind::Any, "str", "", "memory of the device"},
    {"dtype", ParamKind::Any, "dtype", "", "element type that the size counts"}};
constexpr auto tensor_params = tensor_in_storage_params("what R.memory.alloc_storage gave");
constexpr Param kill_storage_params[] = {{"storage", ParamKind::Any, "storage", "", "no longer used"}};
constexpr Param kill_tensor_params[] = {{"tensor", ParamKind::Tensor, "tensor", "", "no longer used"}};

Type infer_kill_storage(const CallView& call) {
  require_storage(call, 0);
  return void_type();
}

Type infer_kill_tensor(const CallView& call) {
  if (!call.args[0].type().as<AnyType>()) call.tensor(0);
  return void_type();
}

constexpr Sample storage_samples[] = {
    {"R.shape([16]), 0, \"global\", \"uint8\"", "\"a storage of 16 bytes\"", false},
    {"[2, 3], 0, \"global\", \"float32\"", "\"a storage of 24 bytes\"", false},
    {"R.shape([0]), virtual_device_index=0, storage_scope=\"global\", dtype=\"float64\"",
     "\"a storage of 0 bytes\"", false}};
constexpr Reject storage_rejects[] = {
    {"alloc_storage.dtype", "R.shape([16]), 0, \"global\", 1", "expected R.dtype"},
    {"alloc_storage.index", "R.shape([16]), 0.5, \"global\", \"uint8\"", "expected an integer"},
    {"alloc_storage.scope", "R.shape([16]), 0, 1, \"uint8\"", "expected R.str"}};
constexpr Sample tensor_samples[] = {
    {"R.memory.alloc_storage(R.shape([16]), 0, \"global\", \"uint8\"), 0, R.shape([2]), \"float32\"",
     "[0.0, 0.0]", false},
    {"R.memory.alloc_storage(R.shape([16]), 0, \"global\", \"uint8\"), 8, [2, 1], \"int32\", 0", "[[0], [0]]",
     false}};
constexpr Reject tensor_rejects[] = {
    {"alloc_tensor.storage", "[1.0, 2.0], 0, R.shape([2]), \"float32\"", "expected a storage"},
    {"alloc_tensor.index",
     "R.memory.alloc_storage(R.shape([16]), 0, \"global\", \"uint8\"), 0.5, R.shape([2]), \"float32\"",
     "expected an integer"}};
constexpr Sample kill_storage_samples[] = {
    {"R.memory.alloc_storage(R.shape([16]), 0, \"global\", \"uint8\")", "()", false},
    {"R.memory.alloc_storage(R.shape([0]), 0, \"global\", \"uint8\")", "()", false}};
constexpr Reject kill_storage_rejects[] = {{"kill_storage.storage", "[1.0]", "expected a storage"}};
constexpr Sample kill_tensor_samples[] = {{"[1.0]", "()", false}, {"R.const(1, \"int32\")", "()", false}};
constexpr Reject kill_tensor_rejects[] = {{"kill_tensor.tensor", "R.shape([1])", "expected a tensor"}};

}  // namespace

extern const Op op_memory_alloc_storage = storage_op<3, 2>(
    {.name = "memory.alloc_storage",
     .params = storage_params,
     .samples = storage_samples,
     .rejects = storage_rejects,
     .doc = "A storage is a promise of room: each tensor in it gets memory of its own, so a wrong "
            "plan cannot make tensors overwrite each other."});
extern const Op op_memory_alloc_tensor = tensor_in_storage_op({.name = "memory.alloc_tensor",
                                                               .params = tensor_params,
                                                               .samples = tensor_samples,
                                                               .rejects = tensor_rejects});
extern const Op op_memory_kill_storage = end_of_life_op({.name = "memory.kill_storage",
                                                         .summary = "Says that a storage is no longer used.",
                                                         .params = kill_storage_params,
                                                         .infer = infer_kill_storage,
                                                         .samples = kill_storage_samples,
                                                         .rejects = kill_storage_rejects});
extern const Op op_memory_kill_tensor = end_of_life_op({.name = "memory.kill_tensor",
                                                        .summary = "Says that a tensor is no longer used.",
                                                        .params = kill_tensor_params,
                                                        .infer = infer_kill_tensor,
                                                        .samples = kill_tensor_samples,
                                                        .rejects = kill_tensor_rejects});

}  // namespace relish::ops_memory_allocation
