// A device is written as kind, number and memory, "cuda:1:global", of which the kind alone is enough.
#include "frontend/module/device_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/failure.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

struct DeviceEntry {
  std::string kind;
  std::int64_t number = 0;
};

// The devices of the list, in order. A target is a name with options or a dictionary with its kind.
std::vector<DeviceEntry> listed_devices(const Attributes& infos) {
  std::vector<DeviceEntry> devices;
  const Attribute* list = find_attribute(infos, "vdevice");
  for (const Attribute& entry : list ? *list->as<AttributeList>() : AttributeList()) {
    const AttributeList& args = *find_attribute(*entry.as<Attributes>(), "args")->as<AttributeList>();
    DeviceEntry device;
    if (!args.empty()) {
      const Attribute* target = &args[0];
      if (const auto* options = target->as<Attributes>()) target = find_attribute(*options, "kind");
      if (const auto* name = target ? target->as<std::string>() : nullptr)
        device.kind = name->substr(0, name->find(' '));
    }
    if (args.size() > 1 && args[1].as<std::int64_t>()) device.number = *args[1].as<std::int64_t>();
    devices.push_back(std::move(device));
  }
  return devices;
}

std::optional<std::int64_t> number_of(std::string_view device) {
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view digits = device.substr(colon + 1, device.find(':', colon + 1) - colon - 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

void check_device_name(const Attributes& infos, std::string_view device, Span at) {
  const std::vector<DeviceEntry> devices = listed_devices(infos);
  if (devices.empty() || std::count(device.begin(), device.end(), ':') > 1) return;
  const std::string kind(device.substr(0, device.find(':')));
  const auto number = number_of(device);
  const auto alike = [&](const DeviceEntry& each) { return kind == "vdevice" || each.kind == kind; };
  const std::int64_t count = std::count_if(devices.begin(), devices.end(), alike);
  if (number && (*number < count ||
                 std::any_of(
                     devices.begin(), devices.end(),
                     [&](const DeviceEntry& each) { return alike(each) && each.number == *number; })))
    return;
  std::string expected;
  if (count == 0) {
    std::vector<std::string> kinds;
    for (const DeviceEntry& each : devices) kinds.push_back(each.kind);
    expected = did_you_mean(kind, kinds);
  } else {
    expected = fmt::format("; expected a number below {}", count);
  }
  fail(ErrorClass::Type, at, "device.unknown",
       fmt::format("found the device \"{}\", which the module does not list{}", printable(device), expected));
}

}  // namespace relish
