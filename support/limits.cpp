// Limits of the process and the memory that the machine and its control group leave it.
#include "support/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The number a file of one line begins with; `unlimited` when it cannot be read ("max").
std::uint64_t read_number(const std::string& path) {
  std::ifstream stream(path);
  std::uint64_t value = 0;
  return stream >> value ? value : unlimited;
}

std::uint64_t free_memory() {
  std::ifstream stream("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kilobytes = 0;
  while (stream >> key >> kilobytes) {
    std::getline(stream, unit);
    if (key == "MemAvailable:") return kilobytes << 10;
  }
  return unlimited;
}

// The least limit of the control group of this process and of all its ancestors, for both versions of the
// hierarchy.
std::uint64_t control_group_limit() {
  std::uint64_t least = std::min(read_number("/sys/fs/cgroup/memory.max"),
                                 read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  std::ifstream stream("/proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    std::size_t first = line.find(':');
    std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    bool version_two = controllers.empty();
    if (!version_two && controllers.find("memory") == std::string::npos) continue;
    for (; group.size() > 1; group.erase(group.rfind('/'))) {
      least = std::min(least, version_two
                                  ? read_number("/sys/fs/cgroup" + group + "/memory.max")
                                  : read_number("/sys/fs/cgroup/memory" + group + "/memory.limit_in_bytes"));
      if (group.rfind('/') == 0) break;
    }
  }
  return least;
}

std::uint64_t address_space_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return limit.rlim_cur;
}

[[noreturn]] void bad_size(std::string_view text, std::string_view flag) {
  fail(ErrorClass::Usage, {}, "usage.size",
       fmt::format("{}: '{}' is not a size; expected a number of bytes such as 1048576, 500MB, 2GiB or 80%",
                   flag, printable(text)));
}

}  // namespace

Limits& limits() {
  static Limits instance;
  return instance;
}

std::uint64_t parse_size(std::string_view text, std::string_view flag) {
  double number = 0;
  auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) bad_size(text, flag);
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (unit == "%") {
    if (number == 0 || number > 100) bad_size(text, flag);
    return static_cast<std::uint64_t>(number / 100 * static_cast<double>(available_memory()));
  }
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit units[] = {{"", 1},
                            {"B", 1},
                            {"kB", 1e3},
                            {"KB", 1e3},
                            {"MB", 1e6},
                            {"GB", 1e9},
                            {"TB", 1e12},
                            {"KiB", 1024.0},
                            {"K", 1024.0},
                            {"MiB", 1048576.0},
                            {"M", 1048576.0},
                            {"GiB", 1073741824.0},
                            {"G", 1073741824.0},
                            {"TiB", 1099511627776.0},
                            {"T", 1099511627776.0}};
  for (const Unit& candidate : units) {
    if (unit != candidate.name) continue;
    double bytes = number * candidate.bytes;
    if (bytes < 1 || bytes >= 9.2e18) bad_size(text, flag);
    return static_cast<std::uint64_t>(bytes);
  }
  bad_size(text, flag);
}

std::uint64_t available_memory() {
  std::uint64_t least = std::min({free_memory(), control_group_limit(), address_space_limit()});
  // A system that tells nothing is taken to have 1 GiB.
  return least == unlimited ? std::uint64_t{1} << 30 : least;
}

std::uint64_t memory_limit() {
  if (limits().memory_bytes != 0) return limits().memory_bytes;
  static const std::uint64_t found = available_memory() / 5 * 4;
  return found;
}

}  // namespace relish
