// The live line of a loop of statements: behind a second it says on a terminal which round runs, and of a
// loop of known length how long the others may take. The outermost loop that runs is told of; a loop that
// trains is told of by its job meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "support/source.h"

namespace relish {

class Session;

class LoopProgress {
 public:
  // `running`: how many loops run, counted here.
  LoopProgress(Session& session, int& running, Span loop, std::optional<std::int64_t> rounds);
  ~LoopProgress();
  LoopProgress(const LoopProgress&) = delete;

  // A round begins, counted from 1.
  void round(std::int64_t number) {
    if (told_) tell(number);
  }

 private:
  void tell(std::int64_t number);

  Session& session_;
  int& running_;
  Span loop_;
  std::optional<std::int64_t> rounds_;
  bool told_;
  double began_ = 0, shown_ = 0;
};

}  // namespace relish
