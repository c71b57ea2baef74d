// What the verifiers of graphs and loops share. Internal to ir/.
#pragma once

#include <string>
#include <string_view>

#include "ir/nodes/module.h"
#include "ir/printer/reserved_names.h"
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

  // Names of the language stand where it has them, with values of their types.
  void attributes(const Attributes& attributes, NamePlace place, Span span) {
    for (const auto& [name, value] : attributes)
      if (const auto fault = reserved_fault(place, name, value)) error(span, "verify.reserved", *fault);
  }
  void scope(const Buffer& buffer, Span span) {
    if (const auto fault = reserved_scope_fault(buffer.scope())) error(span, "verify.reserved", *fault);
  }

 private:
  Diagnostics& diagnostics_;
  std::string function_;
};

// verify_loop.cpp
void verify_prim_func(const PrimFunc& function, Reporter& report);

}  // namespace relish::verifying
