// Memory as modules ask for it that are lowered to the virtual machine.
#include "stdlib/families/language/storage.h"

namespace relish::ops_vm_allocation {
namespace {

constexpr Param storage_params[] = {
    {"shape", ParamKind::Shape, "shape", "", "number of elements"},
    {"runtime_device_index", ParamKind::Scalar, "int", "", "number of the device; there is one"},
    {"dtype", ParamKind::Any, "dtype", "", "element type that the shape counts"},
    {"storage_scope", ParamKind::Any, "str", "\"global\"", "memory of the device"}};
constexpr auto tensor_params = tensor_in_storage_params("what R.vm.alloc_storage gave");
constexpr Param kill_params[] = {{"obj", ParamKind::Any, "any value", "", "no longer used"}};

Type infer_kill(const CallView&) { return void_type(); }

constexpr Sample storage_samples[] = {
    {"R.shape([16]), 0, \"uint8\", \"global\"", "\"a storage of 16 bytes\"", false},
    {"[2, 3], 0, \"float32\"", "\"a storage of 24 bytes\"", false}};
constexpr Reject storage_rejects[] = {
    {"alloc_storage.dtype", "R.shape([16]), 0, 1", "expected R.dtype"},
    {"alloc_storage.index", "R.shape([16]), 0.5, \"uint8\"", "expected an integer"},
    {"alloc_storage.scope", "R.shape([16]), 0, \"uint8\", 1", "expected R.str"}};
constexpr Sample tensor_samples[] = {
    {"R.vm.alloc_storage(R.shape([16]), 0, \"uint8\"), 0, R.shape([2]), \"float32\"", "[0.0, 0.0]", false},
    {"R.vm.alloc_storage(R.shape([16]), 0, \"uint8\"), offset=8, shape=[2, 1], dtype=\"int32\"", "[[0], [0]]",
     false}};
constexpr Reject tensor_rejects[] = {
    {"alloc_tensor.storage", "[1.0, 2.0], 0, R.shape([2]), \"float32\"", "expected a storage"},
    {"alloc_tensor.shape", "R.vm.alloc_storage(R.shape([16]), 0, \"uint8\"), 0, R.shape([-2]), \"float32\"",
     "is negative"}};
constexpr Sample kill_samples[] = {{"[1.0]", "()", false},
                                   {"R.vm.alloc_storage(R.shape([16]), 0, \"uint8\")", "()", false}};
constexpr Reject kill_rejects[] = {{"kill_object.missing", "", "argument 'obj' is missing"}};

}  // namespace

extern const Op op_vm_alloc_storage =
    storage_op<2, 3>({.name = "vm.alloc_storage",
                      .params = storage_params,
                      .samples = storage_samples,
                      .rejects = storage_rejects,
                      .doc = "As R.memory.alloc_storage: a promise of room."});
extern const Op op_vm_alloc_tensor = tensor_in_storage_op({.name = "vm.alloc_tensor",
                                                           .params = tensor_params,
                                                           .samples = tensor_samples,
                                                           .rejects = tensor_rejects});
extern const Op op_vm_kill_object = end_of_life_op({.name = "vm.kill_object",
                                                    .summary = "Says that a value is no longer used.",
                                                    .params = kill_params,
                                                    .infer = infer_kill,
                                                    .samples = kill_samples,
                                                    .rejects = kill_rejects});

}  // namespace relish::ops_vm_allocation
