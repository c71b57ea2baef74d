// What a bad status of compiled code says, as the Failure that the interpreter throws at the same place.
#pragma once

#include "jit/engine/sites.h"
#include "jit/runtime/context.h"
#include "jit/runtime/runtime.h"

namespace relish::jit {

[[noreturn]] void fail_at_site(const Site& site, const RtError& error, const CallState& state);

}  // namespace relish::jit
