// What a bad status of compiled code says, as the Failure that the interpreter throws at the same place.
#pragma once

#include "jit/context.h"
#include "jit/runtime.h"
#include "jit/sites.h"

namespace relish::jit {

[[noreturn]] void fail_at_site(const Site& site, const RtError& error, const CallState& state);

}  // namespace relish::jit
