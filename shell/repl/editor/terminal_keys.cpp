// Reading and writing of the terminal.
#include "shell/repl/editor/terminal_keys.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "support/interrupt.h"

namespace relish {
namespace {

// How long a wait for a key may overlook a signal that came just before it.
constexpr int poll_milliseconds = 100;
constexpr int polls_between_wakes = 5;

std::atomic<bool> terminal_changed{false};
extern "C" void on_terminal_change(int) { terminal_changed.store(true); }

// What has arrived and was not taken yet: a paste comes in blocks.
char arrived[4096];
std::size_t arrived_begin = 0, arrived_end = 0;

}  // namespace

bool terminal_can_draw() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

void write_terminal(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string take_text_at_once() {
  const auto is_sign = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::size_t end = arrived_begin;
  while (end < arrived_end && !is_sign(arrived[end])) ++end;
  // The bytes of a character stay together, so its last ones may come later.
  while (end > arrived_begin && static_cast<unsigned char>(arrived[end - 1]) >= 0x80) --end;
  std::string text(arrived + arrived_begin, arrived + end);
  arrived_begin = end;
  return text;
}

bool keys_wait() {
  if (arrived_begin < arrived_end) return true;
  pollfd wait{STDIN_FILENO, POLLIN, 0};
  return ::poll(&wait, 1, 0) > 0;
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

KeyEvent read_key(wchar_t& character, const std::function<void()>& changed,
                  const std::function<bool()>& wakes, const std::function<void()>& rests) {
  int polls = 0;
  bool rested = !rests;
  std::mbstate_t state{};
  while (true) {
    if (interrupt_flag.load(std::memory_order_relaxed) != 0) {
      errno = EINTR;
      return KeyEvent::Interrupted;
    }
    if (terminal_changed.exchange(false)) changed();
    if (arrived_begin == arrived_end) {
      pollfd wait{STDIN_FILENO, POLLIN, 0};
      int ready = ::poll(&wait, 1, poll_milliseconds);
      if (ready == 0 && !std::exchange(rested, true)) rests();
      if (ready == 0 && wakes && ++polls % polls_between_wakes == 0 && wakes()) return KeyEvent::Woken;
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      ssize_t got = ready < 0 ? -1 : ::read(STDIN_FILENO, arrived, sizeof arrived);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return KeyEvent::End;
      arrived_begin = 0;
      arrived_end = static_cast<std::size_t>(got);
    }
    const char byte = arrived[arrived_begin++];
    std::size_t length = std::mbrtowc(&character, &byte, 1, &state);
    if (length == static_cast<std::size_t>(-2)) continue;  // more bytes of this character
    if (length == static_cast<std::size_t>(-1)) {
      state = {};
      continue;
    }
    return KeyEvent::Character;
  }
}

KeyEvent read_paste(std::string& text, const std::function<void()>& changed) {
  std::string raw;
  while (!raw.ends_with(paste_end_mark)) {
    wchar_t character = 0;
    if (const KeyEvent event = read_key(character, changed); event != KeyEvent::Character) return event;
    char bytes[8];
    std::mbstate_t state{};
    std::size_t length = std::wcrtomb(bytes, character == L'\r' ? L'\n' : character, &state);
    if (length != static_cast<std::size_t>(-1)) raw.append(bytes, length);
  }
  raw.resize(raw.size() - std::string_view(paste_end_mark).size());
  while (raw.ends_with('\n')) raw.pop_back();
  text.clear();
  for (char c : raw) text += c == '\t' ? std::string("    ") : std::string(1, c);
  return KeyEvent::Character;
}

void begin_terminal_keys() {
  struct sigaction action = {};
  action.sa_handler = on_terminal_change;
  sigemptyset(&action.sa_mask);
  sigaction(SIGWINCH, &action, nullptr);
  sigaction(SIGCONT, &action, nullptr);
  mark_pastes(true);
}

void end_terminal_keys() { mark_pastes(false); }

bool terminal_gives_lines() {
  termios modes{};
  return ::tcgetattr(STDIN_FILENO, &modes) == 0 && (modes.c_lflag & ICANON) != 0;
}

void mark_pastes(bool mark) {
  if (::isatty(STDOUT_FILENO)) write_terminal(mark ? "\x1b[?2004h" : "\x1b[?2004l");
}

}  // namespace relish
