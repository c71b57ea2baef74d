// What keys do. Each changes the text in libedit's line, which is drawn behind it.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "shell/repl/editor/editing.h"
#include "shell/repl/editor/menu.h"
#include "shell/repl/editor/other_keys.h"
#include "shell/repl/editor/terminal_keys.h"

namespace relish {
namespace {

unsigned char take_paste(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  std::string text;
  const KeyEvent event = read_paste(text, [&] { self.redraw(); });
  if (event == KeyEvent::Interrupted) self.ends.interrupted = true;
  if (event != KeyEvent::Character) return CC_EOF;
  self.insert(text);
  self.block = self.now().text;
  return CC_NORM;
}

unsigned char take_fill(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  if (const auto left = std::exchange(self.left, std::nullopt)) {
    self.replace(*left);
    self.block = self.left_block;
    return CC_NORM;
  }
  self.insert(self.fill);
  self.block = self.fill;
  return CC_NORM;
}

// The end of a paste whose beginning nobody saw.
unsigned char pass_over(EditLine*, int) { return CC_NORM; }

unsigned char delete_behind(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  self.erase(here.cursor, place_behind(here.text, here.cursor));
  return CC_NORM;
}

unsigned char go_left(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  self.move_to(place_before(here.text, here.cursor));
  return CC_NORM;
}

unsigned char go_right(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  self.move_to(place_behind(here.text, here.cursor));
  return CC_NORM;
}

unsigned char end_or_delete(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText text = self.now();
  if (text.cursor < text.text.size()) return delete_behind(editor, 0);
  self.ends.dropped = !text.text.empty();
  return CC_EOF;
}

// Of a block that arrives at once only an empty line can be the end: so it is read in linear time.
bool inside_arriving_block(const Editing& self) {
  if (!keys_wait()) return false;
  const LineInfoW* line = el_wline(self.editor);
  const std::wstring_view text(line->buffer, static_cast<std::size_t>(line->lastchar - line->buffer));
  const std::size_t first_end = text.find(L'\n');
  const bool opens = !text.empty() &&
                     (text.front() == L'@' ||
                      (first_end != std::wstring_view::npos && first_end > 0 && text[first_end - 1] == L':'));
  const std::size_t last = text.rfind(L'\n');
  const std::wstring_view row = last == std::wstring_view::npos ? text : text.substr(last + 1);
  return opens && row.find_first_not_of(L' ') != std::wstring_view::npos;
}

unsigned char new_line(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  // Text that arrives at once has its own blanks.
  const bool typed_by_hand = !keys_wait();
  self.insert("\n" + (typed_by_hand ? indentation_behind(here.text, here.cursor) : std::string()));
  return CC_NORM;
}

// Runs a whole input; in another one it begins a line.
unsigned char press_enter(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  if (inside_arriving_block(self)) {
    self.insert("\n");
    return CC_NORM;
  }
  const EditedText here = self.now();
  std::string text = here.text;
  // A line of blanks is an empty one.
  const std::size_t last = line_begin(text, text.size());
  if (text.find_first_not_of(' ', last) == std::string::npos) text.resize(last);
  const Missing missing = self.questions.missing(text + "\n");
  // What was found among earlier inputs is one of them as it was.
  const bool found =
      self.searched && std::find(self.inputs.begin(), self.inputs.end(), here.text) != self.inputs.end();
  const bool whole_block = found || (!self.block.empty() && here.text == self.block);
  if (missing == Missing::Nothing || (missing == Missing::BlankLine && whole_block)) {
    self.ends.accepted = true;
    self.result = here.text;
    return CC_NEWLINE;
  }
  return new_line(editor, 0);
}

void recall(Editing& self, std::size_t place) {
  if (self.recalled_at == self.inputs.size()) self.typed = self.now().text;
  self.recalled_at = place;
  const std::string& text = place == self.inputs.size() ? self.typed : self.inputs[place];
  self.replace({text, text.size()});
  self.block = place == self.inputs.size() ? std::string() : text;
}

unsigned char go_up(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  if (line_begin(here.text, here.cursor) > 0) {
    self.move_to(place_above(here.text, here.cursor));
  } else if (self.recalled_at > 0) {
    recall(self, self.recalled_at - 1);
  }
  return CC_NORM;
}

unsigned char go_down(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  if (line_end(here.text, here.cursor) < here.text.size()) {
    self.move_to(place_below(here.text, here.cursor));
  } else if (self.recalled_at < self.inputs.size()) {
    recall(self, self.recalled_at + 1);
  }
  return CC_NORM;
}

// A page is what a screen shows, but for a line of it; in one that is short, to the ends of the input.
unsigned char go_page(EditLine* editor, std::size_t (*next)(std::string_view, std::size_t)) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  std::size_t at = here.cursor;
  for (std::size_t rows = std::max<std::size_t>(terminal_size().rows, 4) - 3; rows > 0; --rows)
    at = next(here.text, at);
  self.move_to(at);
  return CC_NORM;
}
unsigned char go_page_up(EditLine* editor, int) { return go_page(editor, &place_above); }
unsigned char go_page_down(EditLine* editor, int) { return go_page(editor, &place_below); }

unsigned char go_home(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  self.move_to(line_begin(here.text, here.cursor));
  return CC_NORM;
}

unsigned char go_to_line_end(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  self.move_to(line_end(here.text, here.cursor));
  return CC_NORM;
}

// In the blanks that a line begins with, the key takes a step of them away.
unsigned char delete_before(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  const std::size_t blanks = blanks_to_step(here.text, here.cursor);
  self.erase(blanks > 0 ? here.cursor - blanks : place_before(here.text, here.cursor), here.cursor);
  return CC_NORM;
}

unsigned char unindent(EditLine* editor, int) {
  Editing::of(editor).replace(unindented(Editing::of(editor).now()));
  return CC_NORM;
}

void cut_out(Editing& self, const EditedText& here, std::size_t from, std::size_t to) {
  if (from == to) return;
  self.cut = here.text.substr(from, to - from);
  self.erase(from, to);
}

unsigned char cut_to_end(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  const std::size_t end = line_end(here.text, here.cursor);
  // At its end the line takes the next one up.
  cut_out(self, here, here.cursor, end == here.cursor && end < here.text.size() ? end + 1 : end);
  return CC_NORM;
}

unsigned char cut_to_begin(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  cut_out(self, here, line_begin(here.text, here.cursor), here.cursor);
  return CC_NORM;
}

unsigned char cut_word(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  cut_out(self, here, word_begin(here.text, here.cursor), here.cursor);
  return CC_NORM;
}

unsigned char put_back(EditLine* editor, int) {
  Editing::of(editor).insert(Editing::of(editor).cut);
  return CC_NORM;
}

unsigned char take_change_back(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  self.changes.note(self.now());
  self.replace(self.changes.undo());
  return CC_NORM;
}

unsigned char clear_screen(EditLine* editor, int) {
  write_terminal("\x1b[H\x1b[2J");
  Editing::of(editor).drawn_row = 0;
  return CC_NORM;
}

unsigned char complete_word(EditLine* editor, int) {
  Editing& self = Editing::of(editor);
  const EditedText here = self.now();
  const std::string before = here.text.substr(0, here.cursor);
  if (before.find_first_not_of(' ', line_begin(before, before.size())) == std::string::npos) {
    self.insert("    ");
    return CC_NORM;
  }
  if (!self.menu.candidates.empty()) {
    self.menu.begin =
        self.menu.begin + menu_rows < self.menu.candidates.size() ? self.menu.begin + menu_rows : 0;
    self.menu.asked = true;
    return CC_NORM;
  }
  Completions found = self.questions.complete(before);
  if (found.word.starts_with('?') && found.candidates.size() == 1) {
    // What fits a hole takes its place.
    self.erase(before.size() - found.word.size(), before.size());
    self.insert(found.candidates.front().text);
    return CC_NORM;
  }
  const std::string more = common_continuation(found);
  self.insert(more);
  if (more.empty() && found.candidates.size() > 1) {
    self.menu.candidates = std::move(found.candidates);
    self.menu.begin = 0;
    self.menu.asked = true;
  }
  return CC_NORM;
}

struct Key {
  const char* name;
  const char* what;
  unsigned char (*run)(EditLine*, int);
  std::vector<const char*> keys;
};
std::vector<Key> editing_keys() {
  return {
      {"relish-complete", "completes a name", &complete_word, {"\t"}},
      {"relish-paste", "takes a paste as one text", &take_paste, {paste_mark}},
      {"relish-paste-end", "passes over a mark without its paste", &pass_over, {paste_end_mark}},
      {"relish-fill", "takes what the session proposes", &take_fill, {fill_key}},
      {"relish-end", "leaves, drops the input, or deletes a character", &end_or_delete, {"^D"}},
      {"relish-enter", "runs the input, or begins a line", &press_enter, {"^M", "^J"}},
      {"relish-line", "begins a line", &new_line, {"\x1b\r", "\x1b\n"}},
      {"relish-up", "a line up, or the input before", &go_up, {"\x1b[A", "\x1bOA", "^P"}},
      {"relish-down", "a line down, or the next input", &go_down, {"\x1b[B", "\x1bOB", "^N"}},
      {"relish-page-up", "a page up", &go_page_up, {"\x1b[5~"}},
      {"relish-page-down", "a page down", &go_page_down, {"\x1b[6~"}},
      {"relish-left", "a character to the left", &go_left, {"^B"}},
      {"relish-right", "a character to the right", &go_right, {"^F"}},
      {"relish-delete", "deletes the character behind", &delete_behind, {}},
      {"relish-home",
       "to the beginning of the line",
       &go_home,
       {"^A", "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}},
      {"relish-line-end",
       "to the end of the line",
       &go_to_line_end,
       {"^E", "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"}},
      {"relish-rubout", "deletes a character, or a step of blanks", &delete_before, {"^?", "^H"}},
      {"relish-unindent", "takes a step of blanks away", &unindent, {"\x1b[Z"}},
      {"relish-cut", "cuts to the end of the line", &cut_to_end, {"^K"}},
      {"relish-cut-line", "cuts to the beginning of the line", &cut_to_begin, {"^U"}},
      {"relish-cut-word", "cuts the word before", &cut_word, {"^W"}},
      {"relish-put", "puts back what was cut", &put_back, {"^Y"}},
      {"relish-undo", "takes the last change back", &take_change_back, {"^_", "^X^U"}},
      {"relish-clear", "clears the screen", &clear_screen, {"^L"}},
  };
}

}  // namespace

void bind_editing_keys(Editing& editing) {
  EditLine* const editor = editing.editor;
  const std::vector<Key> keys = editing_keys();
  for (const Key& key : keys) {
    el_set(editor, EL_ADDFN, key.name, key.what, key.run);
  }
  const auto bind = [&](const std::string& bytes, const char* function) {
    el_set(editor, EL_BIND, bytes.c_str(), function, nullptr);
    if (bytes != fill_key) editing.sequences.know(bytes);
  };
  for (const OtherKey& key : other_keys()) {
    // libedit takes ^ for the sign of Ctrl.
    const bool caret = key.bytes.ends_with('^');
    bind(caret ? key.bytes.substr(0, key.bytes.size() - 1) + "\\^" : key.bytes, key.function);
    editing.sequences.know(key.bytes);
  }
  for (const Key& key : keys) {
    for (const char* each : key.keys) bind(each, key.name);
  }
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(editor, EL_BIND, "^S", "em-inc-search-next", nullptr);
  el_set(editor, EL_BIND, "^\\", "ed-delete-prev-char", nullptr);
}

}  // namespace relish
