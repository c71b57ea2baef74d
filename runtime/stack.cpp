// Stacks: descriptions, and destruction of any depth.
#include "runtime/stack.h"

#include <vector>

namespace relish {
namespace {

// What destructors further up are to release: a stack may hold stacks, and so on.
thread_local std::vector<Value>* released = nullptr;

}  // namespace

StackValue::~StackValue() {
  if (size_ == 0) return;
  if (released != nullptr) {
    released->push_back(std::move(top_));
    released->push_back(Value(std::shared_ptr<const ObjectValue>(std::move(below_))));
    return;
  }
  std::vector<Value> pending;
  released = &pending;
  pending.push_back(std::move(top_));
  pending.push_back(Value(std::shared_ptr<const ObjectValue>(std::move(below_))));
  while (!pending.empty()) {
    const Value last = std::move(pending.back());
    pending.pop_back();
  }
  released = nullptr;
}

std::string StackValue::describe() const { return "a stack of " + std::to_string(size_); }

StackValue::Pointer stack_of(const Value& value) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&value.kind());
  return object ? std::dynamic_pointer_cast<const StackValue>(*object) : nullptr;
}

}  // namespace relish
