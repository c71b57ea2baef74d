// The code that runs: what its calls into the program are, what holds it, and how its faults are told. A
// function value remembers it, so that another call can run the function.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "jit/runtime/context.h"

namespace relish::jit {

class HostCalls;

struct RunningCode {
  const HostCalls* host_calls = nullptr;
  std::shared_ptr<const void> held;
  std::function<void(const RtError&, const CallState&)> fail;  // throws
};

}  // namespace relish::jit
