// The only user of libedit.
#include "shell/repl/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cwchar>

#include "support/interrupt.h"

namespace relish {
namespace {

constexpr int history_length = 1000;
// How long a wait for a key may overlook a signal that came just before it.
constexpr int poll_milliseconds = 100;
constexpr char paste_begin[] = "\x1b[200~";
constexpr std::string_view paste_end = "\x1b[201~";
constexpr const char* ask_for_paste_marks = "\x1b[?2004h";
constexpr const char* no_paste_marks = "\x1b[?2004l";

std::atomic<bool> terminal_resized{false};
extern "C" void on_resize(int) { terminal_resized.store(true); }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == ':' || c == '-';
}

void write_terminal(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string common_prefix(const std::vector<std::string>& words) {
  std::string prefix = words.front();
  for (const std::string& word : words) {
    std::size_t length = 0;
    while (length < prefix.size() && length < word.size() && prefix[length] == word[length]) ++length;
    prefix.resize(length);
  }
  return prefix;
}

}  // namespace

std::string_view last_word(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  // '-' and ':' are parts of words in commands and their options only.
  std::string_view word = text.substr(begin);
  bool command = text.starts_with(':');
  while (!command && !word.empty() && word.find_first_of(":-") != std::string_view::npos) {
    word.remove_prefix(word.find_first_of(":-") + 1);
  }
  return word;
}

struct LineEditor::Impl {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt;
  Complete complete;
  bool interrupted = false;
  bool open = false;     // text of the input stands above the line
  bool dropped = false;  // by Ctrl-D

  static Impl& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Impl*>(data);
  }

  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  // One character from the terminal; ends the line when a signal asks for it.
  static int read_character(EditLine* editor, wchar_t* character) {
    Impl& self = of(editor);
    std::mbstate_t state{};
    while (true) {
      if (interrupt_flag.load(std::memory_order_relaxed) != 0) {
        self.interrupted = true;
        errno = EINTR;
        return -1;
      }
      if (terminal_resized.exchange(false)) {
        // The line is drawn anew at the new width.
        el_resize(editor);
        el_set(editor, EL_REFRESH);
      }
      pollfd wait{STDIN_FILENO, POLLIN, 0};
      int ready = ::poll(&wait, 1, poll_milliseconds);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char byte = 0;
      ssize_t got = ready < 0 ? -1 : ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return static_cast<int>(got);
      std::size_t length = std::mbrtowc(character, &byte, 1, &state);
      if (length == static_cast<std::size_t>(-2)) continue;  // more bytes of this character
      if (length == static_cast<std::size_t>(-1)) {
        state = {};
        continue;
      }
      return 1;
    }
  }

  // What stands between the marks of a bracketed paste goes into the line as it is, line ends included.
  static unsigned char take_paste(EditLine* editor, int) {
    std::string text;
    while (true) {
      wchar_t character = 0;
      if (read_character(editor, &character) != 1) return CC_EOF;
      char bytes[8];
      std::mbstate_t state{};
      std::size_t length = std::wcrtomb(bytes, character == L'\r' ? L'\n' : character, &state);
      if (length == static_cast<std::size_t>(-1)) continue;
      text.append(bytes, length);
      if (text.ends_with(paste_end)) break;
    }
    text.resize(text.size() - paste_end.size());
    while (text.ends_with('\n')) text.pop_back();
    std::string plain;
    for (char c : text) plain += c == '\t' ? std::string("    ") : std::string(1, c);
    if (!plain.empty()) el_insertstr(editor, plain.c_str());
    return CC_REFRESH;
  }

  // Ctrl-D leaves on an empty line, drops open text at its end, else deletes a character.
  static unsigned char end_or_delete(EditLine* editor, int) {
    Impl& self = of(editor);
    const LineInfo* line = el_line(editor);
    const bool empty = line->lastchar == line->buffer;
    if (line->cursor != line->lastchar) {
      el_cursor(editor, 1);
      el_deletestr(editor, 1);
      return CC_REFRESH;
    }
    self.dropped = self.open || !empty;
    return CC_EOF;
  }

  static unsigned char complete_word(EditLine* editor, int) {
    Impl& self = of(editor);
    const LineInfo* line = el_line(editor);
    std::string_view text(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    std::string_view word = last_word(text);
    if (text.empty() ||
        (word.empty() && text.back() == ' ' && text.find_first_not_of(' ') == std::string_view::npos)) {
      // At the beginning of a line the key indents.
      el_insertstr(editor, "    ");
      return CC_REFRESH;
    }
    std::size_t word_size = word.size();
    std::vector<std::string> candidates = self.complete(text);
    if (candidates.empty()) return CC_ERROR;
    std::string prefix = common_prefix(candidates);
    if (prefix.size() > word_size) {
      el_insertstr(editor, prefix.substr(word_size).c_str());
      return CC_REFRESH;
    }
    if (candidates.size() == 1) return CC_REFRESH;
    std::string list = "\n";
    for (const std::string& candidate : candidates) list += candidate + "  ";
    write_terminal(list + "\n");
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(Complete complete) : impl_(std::make_unique<Impl>()) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->complete = std::move(complete);
  impl_->editor = el_init("relish", stdin, stdout, stderr);
  impl_->history = history_init();
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, history_length);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  EditLine* editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_PROMPT, &Impl::show_prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 0);
  el_set(editor, EL_HIST, history, impl_->history);
  el_set(editor, EL_GETCFN, &Impl::read_character);
  el_set(editor, EL_ADDFN, "relish-complete", "completes a name", &Impl::complete_word);
  el_set(editor, EL_ADDFN, "relish-paste", "takes a paste as one text", &Impl::take_paste);
  el_set(editor, EL_ADDFN, "relish-end", "leaves, drops the input, or deletes a character",
         &Impl::end_or_delete);
  el_set(editor, EL_BIND, "\t", "relish-complete", nullptr);
  el_set(editor, EL_BIND, "^D", "relish-end", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(editor, EL_BIND, paste_begin, "relish-paste", nullptr);
  struct sigaction action = {};
  action.sa_handler = on_resize;
  sigemptyset(&action.sa_mask);
  sigaction(SIGWINCH, &action, nullptr);
  write_terminal(ask_for_paste_marks);
}

LineEditor::~LineEditor() {
  write_terminal(no_paste_marks);
  history_end(impl_->history);
  el_end(impl_->editor);
}

LineEditor::Event LineEditor::read(const std::string& prompt, std::string& line, bool open) {
  impl_->prompt = prompt;
  impl_->interrupted = false;
  impl_->open = open;
  impl_->dropped = false;
  int count = 0;
  const char* text = el_gets(impl_->editor, &count);
  if (impl_->interrupted) return Event::Interrupt;
  if (impl_->dropped) return Event::Drop;
  if (!text || count <= 0) return Event::EndOfInput;
  line.assign(text, static_cast<std::size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  return Event::Line;
}

void LineEditor::remember(const std::string& input) {
  HistEvent event;
  history(impl_->history, &event, H_ENTER, input.c_str());
}

}  // namespace relish
