// Modules from texts, for tests of the compiled tier.
#pragma once

#include <string>

#include "frontend/reader.h"
#include "stdlib/stdlib.h"

namespace relish::test {

inline ModulePtr module_from(const std::string& text) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  static_cast<void>(started);
  return read_module("test.relish", text);
}

}  // namespace relish::test
