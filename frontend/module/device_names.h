// Devices that types and R.to_vdevice name, against those that a module lists.
#pragma once

#include <string_view>

#include "ir/nodes/attribute.h"
#include "support/diagnostic.h"

namespace relish {

// Refuses by "device.unknown" a device such as "cuda:1" that `infos`, what I.module_global_infos gives, does
// not list: neither as the second of its kind, nor by the number that it has there. Where nothing is listed
// any device may be named, and so may one with its memory, "cuda:1:global", which I.vdevice stands for.
void check_device_name(const Attributes& infos, std::string_view device, Span at);

}  // namespace relish
