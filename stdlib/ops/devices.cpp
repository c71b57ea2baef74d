// Places of tensors. There is one device, so they are hints that stay in the text.
#include "stdlib/families/elementwise/identity.h"

namespace relish::ops_devices {
namespace {

constexpr Param to_vdevice_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"dst_vdevice", ParamKind::Attribute, "str", "", "the device, such as \"llvm:0:global\""}};
constexpr Param hint_on_device_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"device_type", ParamKind::Attribute, "int", "", "number of the kind of device: 1 is the CPU"},
    {"index", ParamKind::Attribute, "int", "0", "which of that kind"},
    {"memory_scope", ParamKind::Attribute, "str", "\"global\"", "memory of the device"}};

Type infer_to_vdevice(const CallView& call) {
  TensorType type = call.tensor(0);
  type.vdevice = call.string_attribute("dst_vdevice");
  if (type.vdevice.empty()) call.reject("dst_vdevice", call.span, "dst_vdevice is empty; expected a device");
  return type;
}

constexpr Sample to_vdevice_samples[] = {
    {"[1.0, 2.0], dst_vdevice=\"llvm:0\"", "[1.0, 2.0]"},
    {"R.const([[1], [2]], \"int32\"), \"cuda:0:global\"", "[[1], [2]]"},
    {"R.const(3.5, \"float64\"), \"llvm:0\"", "3.5"},
    {"rand((0, 3), \"float64\"), \"llvm\"", "rand((0, 3), \"float64\")"},
    {"[True, False], \"llvm\"", "[True, False]"},
};
constexpr Reject to_vdevice_rejects[] = {
    {"to_vdevice.dst_vdevice", "[1.0], dst_vdevice=\"\"", "expected a device"},
    {"to_vdevice.dst_vdevice", "[1.0], 3", "expected str"}};
constexpr Sample hint_on_device_samples[] = {
    {"[1.0, 2.0], 1, 0", "[1.0, 2.0]"},
    {"R.const([[1], [2]], \"int32\"), 2, 1, \"global\"", "[[1], [2]]"},
    {"[3.5], device_type=4", "[3.5]"},
    {"rand((0, 3), \"float64\"), 1", "rand((0, 3), \"float64\")"},
    {"[True, False], 1, memory_scope=\"local\"", "[True, False]"},
};
constexpr Reject hint_on_device_rejects[] = {
    {"hint_on_device.tensor", "R.shape([2]), 1", "expected a tensor"},
    {"hint_on_device.device_type", "[1.0], \"cuda\"", "expected int"}};

// Their names in 2019.
constexpr std::string_view to_vdevice_aliases[] = {"device_copy"};
constexpr std::string_view hint_on_device_aliases[] = {"on_device"};

}  // namespace

extern const Op op_to_vdevice =
    identity_of_tensor({.name = "to_vdevice",
                        .summary = "The tensor on a device.",
                        .params = to_vdevice_params,
                        .infer = infer_to_vdevice,
                        .samples = to_vdevice_samples,
                        .rejects = to_vdevice_rejects,
                        .aliases = to_vdevice_aliases,
                        .doc = "The device becomes part of the type; every tensor is computed on the CPU."});
extern const Op op_hint_on_device =
    identity_of_tensor({.name = "hint_on_device",
                        .summary = "The tensor, with the wish that it be computed on a device.",
                        .params = hint_on_device_params,
                        .samples = hint_on_device_samples,
                        .rejects = hint_on_device_rejects,
                        .aliases = hint_on_device_aliases,
                        .doc = "Written R.hint_on_device(x, R.device(device_type=1, index=0), \"global\"). "
                               "Every tensor is computed "
                               "on the CPU."});

}  // namespace relish::ops_devices
