// The last calls whose arguments were tensors, or tuples of them: a call of the same function with tensors of
// the same dtypes and sizes finds its code here, without a lock, and is not checked again.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "ir/operators/giving.h"
#include "jit/runtime/running_code.h"

namespace relish::jit {

struct Compiled;

// What a call runs, found or made.
struct CallCode {
  std::shared_ptr<const Compiled> code;
  RunningCode running;
  Span entry;  // of the function
};

class KnownCalls {
 public:
  // Null when no such call is known. Valid until the next `note`.
  const CallCode* find(const ModulePtr& module, std::string_view function, const std::vector<Value>& args,
                       const GivenParams& given) const;
  // Nothing is noted of arguments that hold anything but tensors.
  void note(const ModulePtr& module, std::string_view function, const std::vector<Value>& args,
            const GivenParams& given, const CallCode& code);

 private:
  static constexpr std::size_t most = 16;

  // A tensor, or the beginning of a tuple of `size` values.
  struct Argument {
    bool is_tuple;
    std::size_t size;
    DType dtype;
    Shape shape;
  };
  struct Known {
    const Module* module;
    std::weak_ptr<const Module> alive;
    std::string function;
    GivenParams given;
    std::vector<Argument> arguments;
    CallCode code;

    bool is_of(const ModulePtr& module, std::string_view function, const GivenParams& given) const;
  };

  static bool add_arguments(const std::vector<Value>& values, std::vector<Argument>& arguments);
  static bool match(const std::vector<Value>& values, const std::vector<Argument>& arguments,
                    std::size_t& position);

  std::vector<Known> known_;  // the latest last
};

}  // namespace relish::jit
