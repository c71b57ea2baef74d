// Calls by their function and the types of their arguments.
#include "jit/runtime/known_calls.h"

#include <algorithm>

namespace relish::jit {

bool KnownCalls::Known::is_of(const ModulePtr& of, std::string_view name, const GivenParams& gives) const {
  return module == of.get() && function == name && given == gives && !alive.expired();
}

bool KnownCalls::match(const std::vector<Value>& values, const std::vector<Argument>& arguments,
                       std::size_t& position) {
  for (const Value& value : values) {
    if (position == arguments.size()) return false;
    const Argument& wanted = arguments[position++];
    if (const auto* tensor = std::get_if<Tensor>(&value.kind())) {
      if (wanted.is_tuple || tensor->dtype() != wanted.dtype || tensor->shape() != wanted.shape) return false;
    } else if (!value.is_tuple() || !wanted.is_tuple || value.fields().size() != wanted.size ||
               !match(value.fields(), arguments, position)) {
      return false;
    }
  }
  return true;
}

bool KnownCalls::add_arguments(const std::vector<Value>& values, std::vector<Argument>& arguments) {
  for (const Value& value : values) {
    if (value.is_tensor()) {
      arguments.push_back({false, 0, value.tensor().dtype(), value.tensor().shape()});
    } else if (value.is_tuple()) {
      arguments.push_back({true, value.fields().size(), {}, {}});
      if (!add_arguments(value.fields(), arguments)) return false;
    } else {
      return false;
    }
  }
  return true;
}

const CallCode* KnownCalls::find(const ModulePtr& module, std::string_view function,
                                 const std::vector<Value>& args, const GivenParams& given) const {
  for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
    std::size_t position = 0;
    if (known->is_of(module, function, given) && match(args, known->arguments, position) &&
        position == known->arguments.size())
      return &known->code;
  }
  return nullptr;
}

void KnownCalls::note(const ModulePtr& module, std::string_view function, const std::vector<Value>& args,
                      const GivenParams& given, const CallCode& code) {
  std::vector<Argument> arguments;
  if (!add_arguments(args, arguments)) return;
  std::erase_if(known_, [](const Known& each) { return each.alive.expired(); });
  if (known_.size() == most) known_.erase(known_.begin());
  known_.push_back({module.get(), module, std::string(function), given, std::move(arguments), code});
}

}  // namespace relish::jit
