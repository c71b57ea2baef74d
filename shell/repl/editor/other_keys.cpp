// The sequences of xterm, of the Linux console and of rxvt.
#include "shell/repl/editor/other_keys.h"

#include <fmt/format.h>

#include <utility>

namespace relish {
namespace {

constexpr int with_shift = 2, with_all = 8;  // what is held down beside the key
constexpr const char* word_back = "ed-prev-word";
constexpr const char* word_on = "em-next-word";
constexpr const char* delete_one = "relish-delete";
constexpr const char* delete_word = "em-delete-next-word";

}  // namespace

std::vector<OtherKey> other_keys() {
  std::vector<OtherKey> keys = {
      {"\x1b[C", "relish-right"}, {"\x1b[D", "relish-left"}, {"\x1bOC", "relish-right"},
      {"\x1bOD", "relish-left"},  {"\x1b[3~", delete_one},   {"\x1b[3$", delete_one},
      {"\x1b[3^", delete_word},   {"\x1b[3@", delete_word},  {"\x1bOM", "relish-enter"}};
  for (int held = with_shift; held <= with_all; ++held) {
    const bool words = held != with_shift;
    const std::pair<char, const char*> moves[] = {{'A', "relish-up"},
                                                  {'B', "relish-down"},
                                                  {'C', words ? word_on : "relish-right"},
                                                  {'D', words ? word_back : "relish-left"},
                                                  {'F', "relish-line-end"},
                                                  {'H', "relish-home"}};
    for (const auto& [letter, function] : moves)
      for (const char* begin : {"\x1b[1;", "\x1b[", "\x1bO1;", "\x1bO"})
        keys.push_back({fmt::format("{}{}{}", begin, held, letter), function});
    keys.push_back({fmt::format("\x1b[3;{}~", held), words ? delete_word : delete_one});
    for (const int number : {1, 7}) keys.push_back({fmt::format("\x1b[{};{}~", number, held), "relish-home"});
    for (const int number : {4, 8})
      keys.push_back({fmt::format("\x1b[{};{}~", number, held), "relish-line-end"});
  }
  // rxvt: small letters with Shift, with Ctrl behind ESC O, and other last signs.
  for (const char sign : {'[', 'O'}) {
    keys.push_back({fmt::format("\x1b{}a", sign), "relish-up"});
    keys.push_back({fmt::format("\x1b{}b", sign), "relish-down"});
    keys.push_back({fmt::format("\x1b{}c", sign), sign == 'O' ? word_on : "relish-right"});
    keys.push_back({fmt::format("\x1b{}d", sign), sign == 'O' ? word_back : "relish-left"});
  }
  for (const char last : {'^', '$', '@'}) {
    keys.push_back({fmt::format("\x1b[7{}", last), "relish-home"});
    keys.push_back({fmt::format("\x1b[8{}", last), "relish-line-end"});
  }
  keys.push_back({"\x1b\x1b[D", word_back});
  keys.push_back({"\x1b\x1b[C", word_on});
  return keys;
}

}  // namespace relish
