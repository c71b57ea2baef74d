// Running code that must fail, and looking at what it says.
#pragma once

#include <string>
#include <utility>

#include "support/failure.h"

namespace relish::testing {

// The failure of `action` as "Class: place: message", or "no failure".
template <class Action>
std::string failure_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    std::string text(name_of(first.error_class));
    if (!first.place.empty()) text += ": " + first.place;
    return text + ": " + first.message;
  }
  return "no failure";
}

// The id of the rule that `action` breaks, after "Class: ", or "no failure".
template <class Action>
std::string rule_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    return std::string(name_of(first.error_class)) + ": " + first.id;
  }
  return "no failure";
}

}  // namespace relish::testing
