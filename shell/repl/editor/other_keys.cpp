// The sequences of xterm, of the Linux console and of rxvt.
#include "shell/repl/editor/other_keys.h"

#include <fmt/format.h>

#include <utility>

namespace relish {
namespace {

constexpr int most_number = 34;              // of the keys that have one
constexpr int with_shift = 2, with_all = 8;  // what is held down beside the key
constexpr const char* nothing = "relish-nothing";
constexpr const char* word_back = "ed-prev-word";
constexpr const char* word_on = "em-next-word";

}  // namespace

std::vector<OtherKey> other_keys() {
  std::vector<OtherKey> keys;
  for (int number = 1; number <= most_number; ++number) {
    keys.push_back({fmt::format("\x1b[{}~", number), nothing});
    for (int held = with_shift; held <= with_all; ++held)
      keys.push_back({fmt::format("\x1b[{};{}~", number, held), nothing});
  }
  for (int held = with_shift; held <= with_all; ++held) {
    const bool words = held != with_shift;
    const std::pair<char, const char*> moves[] = {{'A', "relish-up"},
                                                  {'B', "relish-down"},
                                                  {'C', words ? word_on : "ed-next-char"},
                                                  {'D', words ? word_back : "ed-prev-char"},
                                                  {'F', "relish-line-end"},
                                                  {'H', "relish-home"}};
    for (const auto& [letter, function] : moves)
      keys.push_back({fmt::format("\x1b[1;{}{}", held, letter), function});
    for (const char letter : {'E', 'P', 'Q', 'R', 'S'})
      keys.push_back({fmt::format("\x1b[1;{}{}", held, letter), nothing});
  }
  for (const char* other : {"\x1b[Z", "\x1b[E", "\x1b[G", "\x1b[I", "\x1b[O", "\x1bOP", "\x1bOQ", "\x1bOR",
                            "\x1bOS", "\x1b[[A", "\x1b[[B", "\x1b[[C", "\x1b[[D", "\x1b[[E"})
    keys.push_back({other, nothing});
  for (const char* other : {"\x1b[5D", "\x1bOd", "\x1b\x1b[D"}) keys.push_back({other, word_back});
  for (const char* other : {"\x1b[5C", "\x1bOc", "\x1b\x1b[C"}) keys.push_back({other, word_on});
  return keys;
}

}  // namespace relish
