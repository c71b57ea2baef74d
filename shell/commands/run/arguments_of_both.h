// The arguments of two functions that are measured beside each other: parameters of one name, and else those
// of one place, get the very same values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/program/call_values.h"
#include "shell/script/convert.h"

namespace relish {

class ArgumentsOfBoth {
 public:
  ArgumentsOfBoth(const Invocation& invocation, const FunctionReference& first,
                  const FunctionReference& second);

  // By the options of the call, or those of the function's last call.
  std::vector<Value> of_first() const;
  std::vector<Value> of_second(const std::vector<Value>& first) const;

 private:
  using Parameters = std::vector<CallParameter>;

  CallInputs inputs_of(const Parameters& own, const Parameters& other) const;
  const Value* shared(std::size_t other, const std::vector<Value>& first) const;
  std::optional<std::vector<Value>> last_arguments() const;

  const Invocation& invocation_;
  FunctionReference first_, second_;
  Parameters params_, others_;
  bool given_;
};

}  // namespace relish
