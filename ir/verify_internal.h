// What the verifiers of graphs and loops share. Internal to ir/.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"
#include "support/diagnostic.h"

namespace relish::verifying {

// Reports broken rules of one function; its name opens every message.
class Reporter {
 public:
  Reporter(Diagnostics& diagnostics, std::string function)
      : diagnostics_(diagnostics), function_(std::move(function)) {}

  void error(Span span, std::string_view id, const std::string& message) {
    diagnostics_.error(ErrorClass::Type, span, id, function_ + ": " + message);
  }

 private:
  Diagnostics& diagnostics_;
  std::string function_;
};

// verify_loop.cpp
void verify_prim_func(const PrimFunc& function, Reporter& report);

}  // namespace relish::verifying
