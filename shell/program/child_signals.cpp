// Signals that are ignored, and put back.
#include "shell/program/child_signals.h"

namespace relish {
namespace {

constexpr std::array<int, 2> signals_of_keys = {SIGINT, SIGQUIT};

}  // namespace

ChildSignals::ChildSignals() : before_{} {
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < signals_of_keys.size(); ++i)
    ::sigaction(signals_of_keys[i], &ignored, &before_[i]);
}

ChildSignals::~ChildSignals() {
  for (std::size_t i = 0; i < signals_of_keys.size(); ++i)
    ::sigaction(signals_of_keys[i], &before_[i], nullptr);
}

void ChildSignals::take_back() {
  for (const int each : signals_of_keys) ::signal(each, SIG_DFL);
}

}  // namespace relish
