// Limits of the process and the memory that the machine and its control group leave it.
#include "support/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include "support/big_stack.h"
#include "support/failure.h"
#include "support/memory_share.h"
#include "support/render.h"
#include "support/value_text.h"

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

[[noreturn]] void bad_size(std::string_view text, std::string_view flag) {
  fail(ErrorClass::Usage, {}, "usage.size",
       fmt::format("{}: '{}' is not a size; expected a number of bytes such as 1048576, 500MB, 2GiB or 80%",
                   flag, printable(text)));
}

}  // namespace

std::span<const LimitFlag> limit_flags() {
  static constexpr LimitFlag flags[] = {
      {"--memory-limit", "SIZE", "tensor memory: 2GiB, 500MB, 80% (default: 80% of what is available)",
       &Limits::memory_bytes},
      {"--max-source-size", "SIZE", "largest text that is read (default: 64MiB)", &Limits::max_source_bytes},
      {"--max-nesting", "N", "deepest nesting of blocks and brackets (default: 1000, at most 10000)",
       &Limits::max_nesting, 10000},
      {"--max-scalar-nesting", "N",
       "deepest nesting of scalar expressions of prim_funcs (default: 10000, at most 50000)",
       &Limits::max_scalar_nesting, 50000},
      {"--max-call-depth", "N", "deepest nesting of calls in a run (default: 10000, at most 50000)",
       &Limits::max_call_depth, 50000},
      {"--max-rank", "N", "most dimensions of a tensor (default: 32)", &Limits::max_rank, 1024},
      {"--max-string-size", "SIZE", "longest string of a text (default: 16MiB)", &Limits::max_string_bytes},
      {"--max-identifier-size", "SIZE", "longest name of a text (default: 4KiB)",
       &Limits::max_identifier_bytes, UINT32_MAX},
      {"--max-digits", "N", "most digits of an integer (default: 4300)", &Limits::max_integer_digits,
       1000000},
  };
  return flags;
}

void set_limit(const LimitFlag& flag, std::string_view text) {
  std::uint64_t value = 0;
  if (flag.argument == "SIZE") {
    value = parse_size(text, flag.flag);
  } else {
    value = whole_number<std::uint64_t>(text).value_or(0);
    if (value == 0) {
      fail(ErrorClass::Usage, {}, "option.value",
           fmt::format("{}: found '{}'; expected an int of at least 1", flag.flag, printable(text)));
    }
  }
  if (value > flag.most) {
    fail(ErrorClass::Usage, {}, "option.value",
         fmt::format("{}: found {}; expected at most {}", flag.flag, value, flag.most));
  }
  std::visit(
      [&](auto member) {
        using T = std::remove_reference_t<decltype(limits().*member)>;
        limits().*member = static_cast<T>(value);
      },
      flag.limit);
}

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

std::uint64_t address_limit() {
  // RLIM_INFINITY is the greatest number there is.
  std::uint64_t least = unlimited;
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit = {};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0)
      least = std::min<std::uint64_t>(least, limit.rlim_cur);
  }
  return least;
}

void require_least_addresses() {
  // Beside its stack: the text that is read, and the pages that the allocator keeps for a thread. It crashes
  // where it gets none.
  constexpr std::uint64_t beside_stack = std::uint64_t{32} << 20;
  static_assert(least_stack_bytes + beside_stack == std::uint64_t{96} << 20, "the line says how much");
  if (address_limit() >= least_stack_bytes + beside_stack) return;
  constexpr std::string_view line =
      "relish: error[ResourceLimit]: the process may have fewer than 96 MiB of addresses; raise its limits "
      "(ulimit -v, ulimit -d) [limit.memory]\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(exit_code_of(ErrorClass::ResourceLimit));
}

std::uint64_t available_memory() {
  std::uint64_t least = std::min({free_memory(), control_group_limit(), address_limit()});
  // A system that tells nothing is taken to have 1 GiB.
  return least == unlimited ? std::uint64_t{1} << 30 : least;
}

std::uint64_t default_memory_limit(std::uint64_t available) {
  constexpr std::uint64_t of_the_program = std::uint64_t{64} << 20;
  const std::uint64_t left = std::max(available / 5, std::min(of_the_program, available / 2));
  return available - left;
}

std::uint64_t memory_limit() {
  if (limits().memory_bytes != 0) return limits().memory_bytes;
  static const std::uint64_t found = default_memory_limit(available_memory());
  return found;
}

}  // namespace relish
