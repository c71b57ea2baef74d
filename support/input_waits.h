// Ctrl-C while somebody types.
#pragma once

namespace relish {

// While one lives somebody is asked for input: however many SIGINT come, none of them ends the process, since
// whoever asks drops what was typed.
class InputWaits {
 public:
  InputWaits();
  ~InputWaits();
  InputWaits(const InputWaits&) = delete;
};

}  // namespace relish
