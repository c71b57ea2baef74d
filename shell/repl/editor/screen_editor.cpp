// libedit without its display.
#include "shell/repl/editor/screen_editor.h"

#include <histedit.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "shell/repl/editor/edited_text.h"
#include "shell/repl/editor/key_sequences.h"
#include "shell/repl/editor/menu.h"
#include "shell/repl/editor/other_keys.h"
#include "shell/repl/editor/screen.h"
#include "shell/repl/editor/search_line.h"
#include "shell/repl/editor/terminal_keys.h"
#include "support/interrupt.h"

namespace relish {
namespace {

constexpr int searched_inputs = 1000;
constexpr char fill_key[] = "\x1b[990~";
constexpr std::size_t most_bytes_at_once = 2048;
// Deletes a character in a search, where libedit looks for its own function.
constexpr wchar_t search_rubout = 0x1C;

constexpr std::string_view prompt_end = ">>> ", open_prompt_end = "... ";  // as long

}  // namespace

struct ScreenEditor::Impl {
  EditLine* editor = nullptr;
  History* history = nullptr;
  FILE* nowhere = nullptr;  // where libedit draws
  EditorQuestions questions;
  bool colors = true;
  std::vector<std::string> inputs;  // the newest last

  // Of the input that is read.
  std::string prompt, next_prompt, fill, result;
  std::optional<EditedText> left;  // when the session was woken
  std::string left_block;
  bool interrupted = false, dropped = false, accepted = false;
  std::size_t drawn_row = 0;  // of the cursor, as it was drawn
  EditHistory changes;
  std::size_t recalled_at = 0;  // in `inputs`; its size for what is typed
  std::string typed;            // before an input was recalled
  std::string block;            // as it was pasted or recalled: one Enter runs it
  std::string cut;
  std::vector<Candidate> menu;
  std::size_t menu_begin = 0;
  bool menu_asked = false;         // by the last key
  std::vector<InputFault> faults;  // of `checked`
  std::string checked;
  bool faults_known = true;  // of what stands there now
  bool in_key = false;       // the keys so far may be the beginning of one that has several
  KeySequences sequences;
  bool searched = false;  // among earlier inputs
  bool searches = false;  // now

  static Impl& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Impl*>(data);
  }

  EditedText now() const {
    const LineInfo* line = el_line(editor);
    return {std::string(line->buffer, line->lastchar), static_cast<std::size_t>(line->cursor - line->buffer)};
  }

  void move_to(std::size_t place) {
    const EditedText here = now();
    const std::size_t from = std::min(place, here.cursor), to = std::max(place, here.cursor);
    const auto count = static_cast<int>(characters_in(std::string_view(here.text).substr(from, to - from)));
    el_cursor(editor, place < here.cursor ? -count : count);
  }

  // Takes what stands between the places away.
  void erase(std::size_t from, std::size_t to) {
    const EditedText here = now();
    move_to(to);
    const std::size_t count = characters_in(std::string_view(here.text).substr(from, to - from));
    if (count > 0) el_deletestr(editor, static_cast<int>(count));
  }

  void insert(const std::string& text) {
    if (!text.empty()) el_insertstr(editor, text.c_str());
  }

  void replace(const EditedText& by) {
    erase(0, now().text.size());
    insert(by.text);
    move_to(by.cursor);
  }

  // --- What is seen.

  // A short text is read at every key, a longer one when nobody types.
  void look_for_faults(const EditedText& text, bool resting) {
    if (searches) {
      faults.clear();
      return;
    }
    if (text.text == checked && (faults_known || !resting)) return;
    if (text.text != checked) faults = carried_faults(faults, checked, text.text);
    checked = text.text;
    faults_known = false;
    if (!resting && text.text.size() > most_bytes_at_once) return;
    auto found = questions.faults(
        text.text, [] { return interrupt_flag.load(std::memory_order_relaxed) == 0 && !keys_wait(); });
    if (!found) return;
    faults = std::move(*found);
    faults_known = true;
  }

  void rest() {
    if (faults_known) return;
    const bool any_before = !faults.empty();
    look_for_faults(now(), true);
    if (faults_known && (any_before || !faults.empty())) draw();
  }

  std::vector<std::string> below(const EditedText& text, const std::vector<InputFault>& shown) const {
    std::vector<std::string> lines = menu_lines(menu, menu_begin);
    if (menu.empty()) {
      if (std::string fault = fault_line(shown, text.text, text.cursor); !fault.empty())
        lines.push_back(std::move(fault));
      std::string status = questions.status(std::string_view(text.text).substr(0, text.cursor));
      if (!status.empty()) lines.push_back(std::move(status));
    }
    return lines;
  }

  void draw(bool last = false) {
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
      const std::vector<InputFault> shown = shown_faults(faults, text.text, text.cursor);
      for (const InputFault& fault : shown) view.faults.emplace_back(fault.begin, fault.end);
      view.below = below(text, shown);
      if (search) view.below.insert(view.below.begin(), *search);
    }
    write_terminal(bytes_of(picture_of(view), drawn_row));
    if (!search) changes.note(text);
  }

  // The terminal has another size, or was another program's for a while.
  void redraw() {
    // Where libedit draws nobody looks: its own screen keeps the size that it began with, since libedit does
    // not survive that a tall text stands on one that becomes small.
    // libedit believes that its modes still hold.
    if (terminal_gives_lines()) el_set(editor, EL_PREP_TERM, 0);
    el_set(editor, EL_PREP_TERM, 1);
    mark_pastes(true);
    draw();
  }

  static int read_character(EditLine* editor, wchar_t* character) {
    Impl& self = of(editor);
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
      if (!self.menu_asked) self.menu.clear();
      self.menu_asked = false;
      if (event == KeyEvent::Interrupted) self.interrupted = true;
      if (event != KeyEvent::Character) return event == KeyEvent::End ? 0 : -1;
      self.take(*character);
    }
    *character = *self.sequences.next();
    return 1;
  }

  void take(wchar_t character) {
    constexpr wchar_t escape = 0x1B;
    const bool in_sequence = sequences.open() || character == escape;
    if (!in_sequence) take_block(character);
    sequences.take(character);
    if (!in_sequence || !is_searching()) return;
    // Escape ends a search, alone and in front of a key that has several characters.
    if (sequences.open() && !keys_wait()) return sequences.give_up_sequence();
    if (sequences.ready()) sequences.put_escape_in_front();
  }

  bool is_searching() const { return searched && search_begin(now().text); }

  // Text that arrives at once goes into the line at once, behind a first character that is no part of a key
  // or of a search.
  void take_block(wchar_t& character) {
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

  // --- Keys.

  static unsigned char take_paste(EditLine* editor, int) {
    Impl& self = of(editor);
    std::string text;
    const KeyEvent event = read_paste(text, [&] { self.redraw(); });
    if (event == KeyEvent::Interrupted) self.interrupted = true;
    if (event != KeyEvent::Character) return CC_EOF;
    self.insert(text);
    self.block = self.now().text;
    return CC_NORM;
  }

  static unsigned char take_fill(EditLine* editor, int) {
    Impl& self = of(editor);
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
  static unsigned char pass_over(EditLine*, int) { return CC_NORM; }

  static unsigned char end_or_delete(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText text = self.now();
    if (text.cursor < text.text.size()) {
      el_cursor(editor, 1);
      el_deletestr(editor, 1);
      return CC_NORM;
    }
    self.dropped = !text.text.empty();
    return CC_EOF;
  }

  // Of a block that arrives at once only an empty line can be the end: so it is read in linear time.
  bool inside_arriving_block() const {
    if (!keys_wait()) return false;
    const LineInfoW* line = el_wline(editor);
    const std::wstring_view text(line->buffer, static_cast<std::size_t>(line->lastchar - line->buffer));
    const std::size_t first_end = text.find(L'\n');
    const bool opens =
        !text.empty() && (text.front() == L'@' || (first_end != std::wstring_view::npos && first_end > 0 &&
                                                   text[first_end - 1] == L':'));
    const std::size_t last = text.rfind(L'\n');
    const std::wstring_view row = last == std::wstring_view::npos ? text : text.substr(last + 1);
    return opens && row.find_first_not_of(L' ') != std::wstring_view::npos;
  }

  // Runs a whole input; in another one it begins a line.
  static unsigned char enter(EditLine* editor, int) {
    Impl& self = of(editor);
    if (self.inside_arriving_block()) {
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
      self.accepted = true;
      self.result = here.text;
      return CC_NEWLINE;
    }
    return new_line(editor, 0);
  }

  static unsigned char new_line(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    // Text that arrives at once has its own blanks.
    const bool typed_by_hand = !keys_wait();
    self.insert("\n" + (typed_by_hand ? indentation_behind(here.text, here.cursor) : std::string()));
    return CC_NORM;
  }

  void recall(std::size_t place) {
    if (recalled_at == inputs.size()) typed = now().text;
    recalled_at = place;
    const std::string& text = place == inputs.size() ? typed : inputs[place];
    replace({text, text.size()});
    block = place == inputs.size() ? std::string() : text;
  }

  static unsigned char up(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    if (line_begin(here.text, here.cursor) > 0) {
      self.move_to(place_above(here.text, here.cursor));
    } else if (self.recalled_at > 0) {
      self.recall(self.recalled_at - 1);
    }
    return CC_NORM;
  }

  static unsigned char down(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    if (line_end(here.text, here.cursor) < here.text.size()) {
      self.move_to(place_below(here.text, here.cursor));
    } else if (self.recalled_at < self.inputs.size()) {
      self.recall(self.recalled_at + 1);
    }
    return CC_NORM;
  }

  static unsigned char home(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    self.move_to(line_begin(here.text, here.cursor));
    return CC_NORM;
  }

  static unsigned char end(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    self.move_to(line_end(here.text, here.cursor));
    return CC_NORM;
  }

  // In the blanks that a line begins with, the key takes a step of them away.
  static unsigned char delete_before(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    const std::size_t blanks = blanks_to_step(here.text, here.cursor);
    if (blanks > 0) {
      self.erase(here.cursor - blanks, here.cursor);
    } else {
      el_deletestr(editor, 1);
    }
    return CC_NORM;
  }

  static unsigned char unindent(EditLine* editor, int) {
    of(editor).replace(unindented(of(editor).now()));
    return CC_NORM;
  }

  void cut_out(const EditedText& here, std::size_t from, std::size_t to) {
    if (from == to) return;
    cut = here.text.substr(from, to - from);
    erase(from, to);
  }

  static unsigned char cut_to_end(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    const std::size_t end = line_end(here.text, here.cursor);
    // At its end the line takes the next one up.
    self.cut_out(here, here.cursor, end == here.cursor && end < here.text.size() ? end + 1 : end);
    return CC_NORM;
  }

  static unsigned char cut_to_begin(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    self.cut_out(here, line_begin(here.text, here.cursor), here.cursor);
    return CC_NORM;
  }

  static unsigned char cut_word(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    self.cut_out(here, word_begin(here.text, here.cursor), here.cursor);
    return CC_NORM;
  }

  static unsigned char put_back(EditLine* editor, int) {
    of(editor).insert(of(editor).cut);
    return CC_NORM;
  }

  static unsigned char undo(EditLine* editor, int) {
    Impl& self = of(editor);
    self.changes.note(self.now());
    self.replace(self.changes.undo());
    return CC_NORM;
  }

  static unsigned char clear_screen(EditLine* editor, int) {
    write_terminal("\x1b[H\x1b[2J");
    of(editor).drawn_row = 0;
    return CC_NORM;
  }

  static unsigned char complete_word(EditLine* editor, int) {
    Impl& self = of(editor);
    const EditedText here = self.now();
    const std::string before = here.text.substr(0, here.cursor);
    if (before.find_first_not_of(' ', line_begin(before, before.size())) == std::string::npos) {
      self.insert("    ");
      return CC_NORM;
    }
    if (!self.menu.empty()) {
      self.menu_begin = self.menu_begin + menu_rows < self.menu.size() ? self.menu_begin + menu_rows : 0;
      self.menu_asked = true;
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
      self.menu = std::move(found.candidates);
      self.menu_begin = 0;
      self.menu_asked = true;
    }
    return CC_NORM;
  }

  void bind_keys() {
    struct Key {
      const char* name;
      const char* what;
      unsigned char (*run)(EditLine*, int);
      std::vector<const char*> keys;
    };
    const std::vector<Key> keys = {
        {"relish-complete", "completes a name", &Impl::complete_word, {"\t"}},
        {"relish-paste", "takes a paste as one text", &Impl::take_paste, {paste_mark}},
        {"relish-paste-end", "passes over a mark without its paste", &Impl::pass_over, {paste_end_mark}},
        {"relish-fill", "takes what the session proposes", &Impl::take_fill, {fill_key}},
        {"relish-end", "leaves, drops the input, or deletes a character", &Impl::end_or_delete, {"^D"}},
        {"relish-enter", "runs the input, or begins a line", &Impl::enter, {"^M", "^J"}},
        {"relish-line", "begins a line", &Impl::new_line, {"\x1b\r", "\x1b\n"}},
        {"relish-up", "a line up, or the input before", &Impl::up, {"\x1b[A", "\x1bOA", "^P"}},
        {"relish-down", "a line down, or the next input", &Impl::down, {"\x1b[B", "\x1bOB", "^N"}},
        {"relish-home",
         "to the beginning of the line",
         &Impl::home,
         {"^A", "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}},
        {"relish-line-end",
         "to the end of the line",
         &Impl::end,
         {"^E", "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"}},
        {"relish-rubout", "deletes a character, or a step of blanks", &Impl::delete_before, {"^?", "^H"}},
        {"relish-unindent", "takes a step of blanks away", &Impl::unindent, {"\x1b[Z"}},
        {"relish-cut", "cuts to the end of the line", &Impl::cut_to_end, {"^K"}},
        {"relish-cut-line", "cuts to the beginning of the line", &Impl::cut_to_begin, {"^U"}},
        {"relish-cut-word", "cuts the word before", &Impl::cut_word, {"^W"}},
        {"relish-put", "puts back what was cut", &Impl::put_back, {"^Y"}},
        {"relish-undo", "takes the last change back", &Impl::undo, {"^_", "^X^U"}},
        {"relish-clear", "clears the screen", &Impl::clear_screen, {"^L"}},
    };
    for (const Key& key : keys) {
      el_set(editor, EL_ADDFN, key.name, key.what, key.run);
    }
    const auto bind = [this](const std::string& bytes, const char* function) {
      el_set(editor, EL_BIND, bytes.c_str(), function, nullptr);
      if (bytes != fill_key) sequences.know(bytes);
    };
    for (const OtherKey& key : other_keys()) {
      // libedit takes ^ for the sign of Ctrl.
      const bool caret = key.bytes.ends_with('^');
      bind(caret ? key.bytes.substr(0, key.bytes.size() - 1) + "\\^" : key.bytes, key.function);
      sequences.know(key.bytes);
    }
    for (const Key& key : keys) {
      for (const char* each : key.keys) bind(each, key.name);
    }
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(editor, EL_BIND, "^S", "em-inc-search-next", nullptr);
    el_set(editor, EL_BIND, "^\\", "ed-delete-prev-char", nullptr);
  }
};

ScreenEditor::ScreenEditor(EditorQuestions questions, bool colors) : impl_(std::make_unique<Impl>()) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->questions = std::move(questions);
  impl_->colors = colors;
  impl_->nowhere = std::fopen("/dev/null", "w");
  FILE* out = impl_->nowhere ? impl_->nowhere : stdout;
  impl_->editor = el_init_fd("relish", stdin, out, out, 0, 1, 2);
  impl_->history = history_init();
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, searched_inputs);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  EditLine* editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 0);
  el_set(editor, EL_HIST, history, impl_->history);
  el_set(editor, EL_GETCFN, &Impl::read_character);
  // Ctrl-S is a key.
  el_set(editor, EL_SETTY, "-d", "-ixon", nullptr);
  impl_->bind_keys();
  el_source(editor, nullptr);  // ~/.editrc
  impl_->sequences.know_own(own_key_bindings());
  begin_terminal_keys();
}

ScreenEditor::~ScreenEditor() {
  end_terminal_keys();
  history_end(impl_->history);
  el_end(impl_->editor);
  if (impl_->nowhere) std::fclose(impl_->nowhere);
}

Editor::Event ScreenEditor::read(const std::string& prompt, std::string& line, bool) {
  Impl& self = *impl_;
  self.prompt = prompt;
  const std::size_t place = prompt.size() - std::min(prompt.size(), prompt_end.size());
  self.next_prompt = std::string(place, ' ') + std::string(open_prompt_end);
  self.interrupted = self.dropped = self.accepted = self.searched = false;
  // Whoever had the terminal meanwhile, an editor or a shell, may have left it in another mode.
  mark_pastes(true);
  self.drawn_row = 0;
  self.sequences.clear();
  self.changes.begin({});
  self.recalled_at = self.inputs.size();
  self.block.clear();
  self.menu.clear();
  self.faults.clear();
  self.checked.clear();
  self.faults_known = true;
  if (!self.fill.empty() || self.left) el_push(self.editor, fill_key);
  int count = 0;
  el_gets(self.editor, &count);
  self.fill.clear();
  if (self.left) {
    // What the session tells stands in the place of the input, which is drawn again below.
    write_terminal(self.drawn_row > 0 ? fmt::format("\r\x1b[{}A\x1b[J", self.drawn_row) : "\r\x1b[J");
    return Event::Woken;
  }
  const bool ended = !self.accepted && !self.interrupted && !self.dropped;
  self.draw(true);
  if (self.interrupted) return Event::Interrupt;
  if (self.dropped) return Event::Drop;
  if (ended) return Event::EndOfInput;
  write_terminal("\r\n");
  line = std::move(self.result);
  return Event::Line;
}

void ScreenEditor::remember(const std::string& input) {
  HistEvent event;
  history(impl_->history, &event, H_ENTER, input.c_str());
  if (impl_->inputs.empty() || impl_->inputs.back() != input) impl_->inputs.push_back(input);
}

void ScreenEditor::prefill(const std::string& text) { impl_->fill = text; }

}  // namespace relish
