// libedit with its own display.
#include "shell/repl/editor/line_editor.h"

#include <histedit.h>

#include <clocale>

#include "shell/repl/editor/terminal_keys.h"

namespace relish {
namespace {

constexpr int history_length = 1000;
constexpr char line_fill_key[] = "\x1b[990~";

}  // namespace

struct LineEditor::Impl {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt, above, fill;
  EditorQuestions questions;
  bool interrupted = false;
  bool open = false;     // text of the input stands above the line
  bool dropped = false;  // by Ctrl-D

  static Impl& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Impl*>(data);
  }

  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  // The line is drawn anew at the new width.
  static void resized(EditLine* editor) {
    el_resize(editor);
    el_set(editor, EL_REFRESH);
  }

  // One character from the terminal; ends the line when a signal asks for it.
  static int read_character(EditLine* editor, wchar_t* character) {
    const KeyEvent event = read_key(*character, [&] { resized(editor); });
    if (event == KeyEvent::Interrupted) of(editor).interrupted = true;
    if (event == KeyEvent::Character) return 1;
    return event == KeyEvent::End ? 0 : -1;
  }

  // What stands between the marks of a bracketed paste goes into the line as it is, line ends included.
  static unsigned char take_paste(EditLine* editor, int) {
    std::string text;
    const KeyEvent event = read_paste(text, [&] { resized(editor); });
    if (event == KeyEvent::Interrupted) of(editor).interrupted = true;
    if (event != KeyEvent::Character) return CC_EOF;
    if (!text.empty()) el_insertstr(editor, text.c_str());
    return CC_REFRESH;
  }

  static unsigned char take_fill(EditLine* editor, int) {
    el_insertstr(editor, of(editor).fill.c_str());
    return CC_REFRESH;
  }

  // The end of a paste whose beginning nobody saw.
  static unsigned char pass_over(EditLine*, int) { return CC_NORM; }

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
    const std::string text(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    if (text.empty() || text.find_first_not_of(' ') == std::string::npos) {
      // At the beginning of a line the key indents.
      el_insertstr(editor, "    ");
      return CC_REFRESH;
    }
    const std::string all = self.above + text;
    const Completions found = self.questions.complete(all);
    if (found.candidates.empty()) return CC_ERROR;
    const std::string more = common_continuation(found);
    if (!more.empty()) {
      el_insertstr(editor, more.c_str());
      return CC_REFRESH;
    }
    if (found.candidates.size() == 1) return CC_REFRESH;
    std::string list = "\n";
    for (const Candidate& candidate : found.candidates) list += candidate.text + "  ";
    write_terminal(list + "\n");
    return CC_REDISPLAY;
  }
};

std::string common_continuation(const Completions& completions) {
  if (completions.candidates.empty()) return {};
  std::string prefix = completions.candidates.front().text;
  if (!prefix.starts_with(completions.word)) return {};  // it takes the place of a hole
  for (const Candidate& candidate : completions.candidates) {
    std::size_t length = 0;
    while (length < prefix.size() && length < candidate.text.size() &&
           prefix[length] == candidate.text[length])
      ++length;
    prefix.resize(length);
  }
  return prefix.size() > completions.word.size() ? prefix.substr(completions.word.size()) : std::string();
}

LineEditor::LineEditor(EditorQuestions questions) : impl_(std::make_unique<Impl>()) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->questions = std::move(questions);
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
  el_set(editor, EL_ADDFN, "relish-fill", "takes what the session proposes", &Impl::take_fill);
  el_set(editor, EL_ADDFN, "relish-end", "leaves, drops the input, or deletes a character",
         &Impl::end_or_delete);
  el_set(editor, EL_BIND, "\t", "relish-complete", nullptr);
  el_set(editor, EL_BIND, "^D", "relish-end", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(editor, EL_BIND, paste_mark, "relish-paste", nullptr);
  el_set(editor, EL_ADDFN, "relish-paste-end", "passes over a mark without its paste", &Impl::pass_over);
  el_set(editor, EL_BIND, paste_end_mark, "relish-paste-end", nullptr);
  el_set(editor, EL_BIND, line_fill_key, "relish-fill", nullptr);
  begin_terminal_keys();
}

LineEditor::~LineEditor() {
  end_terminal_keys();
  history_end(impl_->history);
  el_end(impl_->editor);
}

Editor::Event LineEditor::read(const std::string& prompt, std::string& line, bool open) {
  impl_->prompt = prompt;
  impl_->interrupted = false;
  impl_->open = open;
  impl_->dropped = false;
  if (!open) impl_->above.clear();
  if (!impl_->fill.empty()) el_push(impl_->editor, line_fill_key);
  int count = 0;
  const char* text = el_gets(impl_->editor, &count);
  impl_->fill.clear();
  if (impl_->interrupted) return Event::Interrupt;
  if (impl_->dropped) return Event::Drop;
  if (!text || count <= 0) return Event::EndOfInput;
  line.assign(text, static_cast<std::size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  impl_->above += line + "\n";
  return Event::Line;
}

void LineEditor::remember(const std::string& input) {
  HistEvent event;
  history(impl_->history, &event, H_ENTER, input.c_str());
}

void LineEditor::prefill(const std::string& text) { impl_->fill = text; }

}  // namespace relish
