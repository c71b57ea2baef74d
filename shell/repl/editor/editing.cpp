// The text in libedit's line, and its picture.
#include "shell/repl/editor/editing.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "shell/program/terminal_width.h"
#include "shell/repl/editor/menu.h"
#include "shell/repl/editor/screen.h"
#include "shell/repl/editor/search_line.h"
#include "shell/repl/editor/terminal_keys.h"
#include "support/interrupt.h"
#include "support/lines.h"

namespace relish {
namespace {

constexpr std::size_t most_bytes_at_once = 2048;
constexpr std::size_t most_fault_rows = 3;
// Deletes a character in a search, where libedit looks for its own function.
constexpr wchar_t search_rubout = 0x1C;

}  // namespace

Editing& Editing::of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<Editing*>(data);
}

EditedText Editing::now() const {
  const LineInfo* line = el_line(editor);
  return {std::string(line->buffer, line->lastchar), static_cast<std::size_t>(line->cursor - line->buffer)};
}

void Editing::move_to(std::size_t place) {
  const EditedText here = now();
  const std::size_t from = std::min(place, here.cursor), to = std::max(place, here.cursor);
  const auto count = static_cast<int>(characters_in(std::string_view(here.text).substr(from, to - from)));
  el_cursor(editor, place < here.cursor ? -count : count);
}

void Editing::erase(std::size_t from, std::size_t to) {
  const EditedText here = now();
  move_to(to);
  const std::size_t count = characters_in(std::string_view(here.text).substr(from, to - from));
  if (count > 0) el_deletestr(editor, static_cast<int>(count));
}

void Editing::insert(const std::string& text) {
  if (!text.empty()) el_insertstr(editor, text.c_str());
}

void Editing::replace(const EditedText& by) {
  erase(0, now().text.size());
  insert(by.text);
  move_to(by.cursor);
}

// --- What is seen.

// A short text is read at every key, a longer one when nobody types.
void Editing::look_for_faults(const EditedText& text, bool resting) {
  if (searches) {
    faults.found.clear();
    return;
  }
  if (text.text == faults.text && (faults.known || !resting)) return;
  if (text.text != faults.text) faults.found = carried_faults(faults.found, faults.text, text.text);
  faults.text = text.text;
  faults.known = false;
  if (!resting && text.text.size() > most_bytes_at_once) return;
  auto found = questions.faults(
      text.text, [] { return interrupt_flag.load(std::memory_order_relaxed) == 0 && !keys_wait(); });
  if (!found) return;
  faults.found = std::move(*found);
  faults.known = true;
}

void Editing::rest() {
  if (faults.known) return;
  const bool any_before = !faults.found.empty();
  look_for_faults(now(), true);
  if (faults.known && (any_before || !faults.found.empty())) draw();
}

std::vector<std::string> Editing::below(const EditedText& text, const std::vector<InputFault>& shown,
                                        std::size_t columns) const {
  std::vector<std::string> lines = menu_lines(menu.candidates, menu.begin);
  if (menu.candidates.empty()) {
    if (const std::string fault = fault_line(shown, text.text, text.cursor); !fault.empty()) {
      const std::string rows = wrapped(fault, columns);
      for (std::size_t at = 0; at < rows.size() && lines.size() < most_fault_rows;
           at = line_end(rows, at) + 1)
        lines.push_back(rows.substr(at, line_end(rows, at) - at));
    }
    std::string status = questions.status(std::string_view(text.text).substr(0, text.cursor));
    if (!status.empty()) lines.push_back(std::move(status));
  }
  return lines;
}

void Editing::draw(bool last) {
  EditedText text = now();
  const auto search = searched ? take_search(text) : std::nullopt;
  searches = search.has_value();
  const TerminalSize size = terminal_size();
  EditorView view;
  view.text = text.text;
  view.cursor = last ? text.text.size() : text.cursor;
  view.prompt = prompt;
  view.next_prompt = next_prompt;
  view.columns = size.columns;
  view.rows = size.rows;
  view.colors = colors;
  if (!last) {
    look_for_faults(text, false);
    const std::vector<InputFault> shown = shown_faults(faults.found, text.text, text.cursor);
    for (const InputFault& fault : shown) view.faults.emplace_back(fault.begin, fault.end);
    view.below = below(text, shown, size.columns);
    if (search) view.below.insert(view.below.begin(), *search);
  }
  write_terminal(bytes_of(picture_of(view), drawn_row));
  if (!search) changes.note(text);
}

void Editing::redraw() {
  // Where libedit draws nobody looks: its own screen keeps the size that it began with, since libedit does
  // not survive that a tall text stands on one that becomes small.
  // libedit believes that its modes still hold.
  if (terminal_gives_lines()) el_set(editor, EL_PREP_TERM, 0);
  el_set(editor, EL_PREP_TERM, 1);
  mark_pastes(true);
  draw();
}

int Editing::read_character(EditLine* editor, wchar_t* character) {
  Editing& self = of(editor);
  while (!self.sequences.ready()) {
    // What arrives at once is drawn once.
    if (!keys_wait()) self.draw();
    const KeyEvent event = read_key(
        *character, [&] { self.redraw(); },
        [&] { return !self.in_key && !self.sequences.open() && self.questions.wakes(); },
        [&] { self.rest(); });
    if (event == KeyEvent::Woken) {
      self.left = self.now();
      self.left_block = self.block;
      return -1;
    }
    if (!self.menu.asked) self.menu.candidates.clear();
    self.menu.asked = false;
    if (event == KeyEvent::Interrupted) self.ends.interrupted = true;
    if (event != KeyEvent::Character) return event == KeyEvent::End ? 0 : -1;
    self.take(*character);
  }
  *character = *self.sequences.next();
  return 1;
}

void Editing::take(wchar_t character) {
  constexpr wchar_t escape = 0x1B;
  const bool in_sequence = sequences.open() || character == escape;
  if (!in_sequence) take_block(character);
  sequences.take(character);
  if (!in_sequence || !is_searching()) return;
  // Escape ends a search, alone and in front of a key that has several characters.
  if (sequences.open() && !keys_wait()) return sequences.give_up_sequence();
  if (sequences.ready()) sequences.put_escape_in_front();
}

bool Editing::is_searching() const { return searched && search_begin(now().text); }

// Text that arrives at once goes into the line at once, behind a first character that is no part of a key
// or of a search.
void Editing::take_block(wchar_t& character) {
  constexpr wchar_t more_keys = 0x18, search = 0x12, search_forward = 0x13, blank = 0x20;
  constexpr wchar_t rubout = 0x7F, backspace = 0x08;
  if ((character == rubout || character == backspace) && is_searching()) {
    character = search_rubout;
    return;
  }
  if (character < blank) {
    const bool searches_now = character == search || character == search_forward;
    in_key = character == more_keys || searches_now;
    searched |= searches_now;
    return;
  }
  if (in_key || character >= 0x7F) return;
  const std::string text = take_text_at_once();
  if (text.empty()) return;
  // The last one is the key.
  const char first[] = {static_cast<char>(character), 0};
  insert(first + text.substr(0, text.size() - 1));
  character = static_cast<unsigned char>(text.back());
}

}  // namespace relish
