// Limits on what an input may cost. Each has a flag, which the message names. Defaults follow the reliability
// rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace relish {

struct Limits {
  std::uint64_t max_source_bytes = 64ull << 20;
  std::uint32_t max_nesting = 1000;          // blocks and brackets
  std::uint32_t max_scalar_nesting = 10000;  // scalar expressions of prim_funcs
  std::uint32_t max_identifier_bytes = 4096;
  std::uint64_t max_string_bytes = 16ull << 20;
  std::uint32_t max_integer_digits = 4300;
  std::uint32_t max_rank = 32;
  std::uint64_t memory_bytes = 0;  // --memory-limit; 0: 80 % of available memory, found at first use
  std::uint32_t max_call_depth = 10000;
};

// The limits of this process; set once from the command line.
Limits& limits();

// The flag of a limit. `most`: what the reserved stack bears, where nesting takes stack.
struct LimitFlag {
  std::string_view flag, argument, doc;
  std::variant<std::uint64_t Limits::*, std::uint32_t Limits::*> limit;
  std::uint64_t most = UINT64_MAX;
};
std::span<const LimitFlag> limit_flags();
// Sets the limit to what the user wrote; UsageError for what is no number or size, 0, or above the most.
void set_limit(const LimitFlag& flag, std::string_view text);

// "2GiB", "500MB", "80%", "1048576" to bytes (percent of available memory); throws UsageError otherwise.
std::uint64_t parse_size(std::string_view text, std::string_view flag);
// The smaller of free memory and the cgroup limit, in bytes.
std::uint64_t available_memory();
// What the limits of the process leave it of addresses (ulimit -v) and of those it may write to (ulimit -d),
// the smaller, in bytes; UINT64_MAX where there are none.
std::uint64_t address_limit();
// What is said where an allocation failed, without a full stop: which limits of the process it met.
inline constexpr std::string_view memory_used_up =
    "the memory of the process is used up; lower --memory-limit or raise the limits of the process "
    "(ulimit -v, ulimit -d)";
// Ends a process that has too few for its first thread, with the exit code and a line of its own: its
// allocator would fail in the midst of what begins before the program does. Takes no memory.
void require_least_addresses();
// Tensor memory that may be used: limits().memory_bytes, or 80 % of available_memory() computed once.
std::uint64_t memory_limit();

}  // namespace relish
