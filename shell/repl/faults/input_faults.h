// Faults of an input while it is typed: what the reader and the inference of types refuse in it as it stands.
// Nothing of it runs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

class Workspace;

struct InputFault {
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::string message;
};

// In the order of the text. What is merely not finished yet is no fault. `goes_on` is asked between
// statements: when it says no, the reading is given up with Failure(Interrupted).
std::vector<InputFault> input_faults(Workspace& workspace, std::string_view text,
                                     const std::function<bool()>& goes_on = {});

// The faults of a text that was changed to another one, as long as nobody has read that: those before and
// behind the change.
std::vector<InputFault> carried_faults(const std::vector<InputFault>& faults, std::string_view before,
                                       std::string_view now);

// Those to be shown where the cursor stands: the word at whose end it is may go on.
std::vector<InputFault> shown_faults(const std::vector<InputFault>& faults, std::string_view text,
                                     std::size_t cursor);
// A line about the one at the cursor or next to it; empty when there is none.
std::string fault_line(const std::vector<InputFault>& shown, std::string_view text, std::size_t cursor);

}  // namespace relish
