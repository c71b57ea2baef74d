// Options of other libraries' training functions: what is written here for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

struct ForeignOption {
  std::string_view word;
  std::string_view option;  // ours, without which a command is given no advice
  std::string_view write;   // what to write, then ": " and an explanation where one is needed
  bool same = false;        // takes what ours takes: the value that was given stands in the answer
};
std::span<const ForeignOption> foreign_options();

// "; write optimizer=\"momentum(momentum=0.9)\"": the end of a message about an option that a command with
// these options does not have; empty for words that are not known.
// `value`: what it was given, as text; empty where that is long or not known.
std::string foreign_option_hint(std::string_view word, const std::vector<std::string>& options,
                                const std::string& value = {});

}  // namespace relish
