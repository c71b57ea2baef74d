// What takes long to free, such as the half of a large program: when an exception drops it, as a stop by a
// signal does, a thread of its own frees it, and who waits for the stop does not wait for that.
#pragma once

#include <exception>
#include <memory>
#include <utility>

namespace relish {

// Frees it on another thread, behind what was given before. All is free when the process ends.
void free_behind(std::shared_ptr<void> value);

template <class T>
class FreedBehind {
 public:
  template <class... Arguments>
  explicit FreedBehind(Arguments&&... arguments)
      : value_(std::make_shared<T>(std::forward<Arguments>(arguments)...)) {}
  FreedBehind(const FreedBehind&) = delete;
  ~FreedBehind() {
    if (std::uncaught_exceptions() > exceptions_) free_behind(std::move(value_));
  }

  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }

 private:
  int exceptions_ = std::uncaught_exceptions();
  std::shared_ptr<T> value_;
};

}  // namespace relish
