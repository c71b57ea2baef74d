// How often the whole program has asked for memory by operator new, and how much of it is resident.
#pragma once

#include <atomic>
#include <cstdint>

namespace relish::test {

extern std::atomic<std::uint64_t> news;
std::uint64_t resident_bytes();

}  // namespace relish::test
