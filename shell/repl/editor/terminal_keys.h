// Characters from the terminal, one by one, and bytes to it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace relish {

enum class KeyEvent { Character, End, Interrupted, Woken };

// Waits for a character; a signal that asks to stop ends the wait. `changed` is called when the terminal has
// another size, or comes back behind a stop. Bytes that are no character are passed over. `wakes` is asked
// now and then while nobody types; what it says ends the wait. `rests` is called once, when no key came for a
// moment.
KeyEvent read_key(wchar_t& character, const std::function<void()>& changed,
                  const std::function<bool()>& wakes = {}, const std::function<void()>& rests = {});
// Of what has arrived, the characters up to the next sign that is none: they are taken together.
std::string take_text_at_once();
// Whether something was typed, or arrived, that was not read yet.
bool keys_wait();
// The rest of a bracketed paste, behind the mark that began it: with line ends as they are in texts, tabs as
// blanks, and none at its end. Else what came in its midst: an interrupt, or the end of the input.
KeyEvent read_paste(std::string& text, const std::function<void()>& changed);

// Whether the terminal can be drawn on.
bool terminal_can_draw();
void write_terminal(std::string_view text);
struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};
TerminalSize terminal_size();
// Asks for marks around pastes, and to be told of changes; the second takes the marks back.
void begin_terminal_keys();
void end_terminal_keys();
void mark_pastes(bool mark);
// Whether the terminal gives whole lines, as a shell leaves it to a program that it has stopped.
bool terminal_gives_lines();

inline constexpr char paste_mark[] = "\x1b[200~", paste_end_mark[] = "\x1b[201~";

}  // namespace relish
