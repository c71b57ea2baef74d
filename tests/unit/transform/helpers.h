// Modules from text, and the text of one function, for tests of transforms.
#pragma once

#include <catch2/catch.hpp>

#include <string>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "stdlib/stdlib.h"

namespace relish::test {

inline ModulePtr read(const std::string& text) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  return read_module("test.relish", text);
}

// The failure of an action that must fail.
template <class Action>
Failure catch_failure(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Failure& failure) {
    return failure;
  }
  FAIL("nothing failed");
  throw 0;  // not reached: FAIL throws
}

// The bindings of a function, one "name = value" a line, without types.
inline std::string bindings_of(const Module& module, std::string_view name) {
  const FunctionPtr function = module.function(name);
  REQUIRE(function != nullptr);
  std::string text;
  for (const BindingBlock& block : function->blocks)
    for (const Binding& binding : block.bindings)
      text += binding.var().name() + " = " + print(binding.value()) + "\n";
  return text + "return " + print(function->result) + "\n";
}

}  // namespace relish::test
