// The value of an R.Stack(T): an immutable list whose end is its top. Pushing makes one node and shares what
// lies beneath, so a stack that is kept costs nothing and nothing is ever copied; popping gives the rest.
#pragma once

#include "runtime/value.h"
#include "support/memory.h"

namespace relish {

class StackValue final : public ObjectValue {
 public:
  using Pointer = std::shared_ptr<const StackValue>;

  StackValue() = default;  // empty
  StackValue(Pointer below, Value top)
      : held_(sizeof(StackValue) + 2 * sizeof(void*), "an entry of a stack"),
        below_(std::move(below)),
        top_(std::move(top)),
        size_(below_->size_ + 1) {}
  ~StackValue() override;
  StackValue(const StackValue&) = delete;
  StackValue& operator=(const StackValue&) = delete;

  std::int64_t size() const { return size_; }
  // Of a stack that is not empty.
  const Pointer& below() const { return below_; }
  const Value& top() const { return top_; }
  std::string describe() const override;

 private:
  HeldMemory held_;
  // Changed by the destructor alone, which takes long lists apart without recursion.
  mutable Pointer below_;
  mutable Value top_;
  std::int64_t size_ = 0;
};

// The stack that `value` is, or null.
StackValue::Pointer stack_of(const Value& value);

}  // namespace relish
