// Where functions of modules come from: the command that made each, and of which function. What a function
// was made from may be another one by now; then it is stale.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shell/script/script_observer.h"

namespace relish {

struct Origin {
  GlobalFunction function;             // the one that was made
  std::string command;                 // gradient
  std::optional<std::string> options;  // wrt=["w"]; none: no text says them
  std::string source;                  // the name of what it was made from
  GlobalFunction source_function;
  std::size_t input = 0;  // that made it
};
using OriginPtr = std::shared_ptr<const Origin>;

class Origins {
 public:
  // Null for a function that no command made.
  OriginPtr of(const GlobalFunction& function) const;
  // Of functions that a restored session reads: shared by all that come of these.
  explicit Origins(std::shared_ptr<const Origins> restored) : restored_(std::move(restored)) {}
  Origins() = default;
  void add(Origin origin);
  // With those of the functions that the call made in input `input`. A command that replaces all functions of
  // a module by ones that mean the same (legalize) hands their origins on.
  Origins with(const TransformCall& call, std::size_t input) const;

  // The functions of the module that were made from what is no longer there in that form, or from one that is
  // stale itself, in the order of the module.
  std::vector<OriginPtr> stale(const Module& module) const;

 private:
  std::map<const void*, OriginPtr> of_;  // by the function, which the origin keeps alive
  std::shared_ptr<const Origins> restored_;
};

// What a transform did to a module, by names.
struct ModuleChanges {
  std::vector<std::string> added, replaced, removed;
};
ModuleChanges changes_between(const Module& before, const Module& after);

// "main(x, w)": to tell functions apart that differ in their parameters.
std::string parameters_of(const GlobalFunction& function);
bool is_same_function(const GlobalFunction& a, const GlobalFunction& b);

}  // namespace relish
