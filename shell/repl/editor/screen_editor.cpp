// libedit without its display.
#include "shell/repl/editor/screen_editor.h"

#include <histedit.h>

#include <algorithm>
#include <clocale>
#include <cstdio>

#include <fmt/format.h>

#include "shell/repl/editor/editing.h"
#include "shell/repl/editor/other_keys.h"
#include "shell/repl/editor/terminal_keys.h"

namespace relish {
namespace {

constexpr int searched_inputs = 1000;

constexpr std::string_view prompt_end = ">>> ", open_prompt_end = "... ";  // as long

}  // namespace

ScreenEditor::ScreenEditor(EditorQuestions questions, bool colors) : impl_(std::make_unique<Editing>()) {
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
  el_set(editor, EL_GETCFN, &Editing::read_character);
  // Ctrl-S is a key.
  el_set(editor, EL_SETTY, "-d", "-ixon", nullptr);
  bind_editing_keys(*impl_);
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
  Editing& self = *impl_;
  self.prompt = prompt;
  const std::size_t place = prompt.size() - std::min(prompt.size(), prompt_end.size());
  self.next_prompt = std::string(place, ' ') + std::string(open_prompt_end);
  self.ends.interrupted = self.ends.dropped = self.ends.accepted = self.searched = false;
  // Whoever had the terminal meanwhile, an editor or a shell, may have left it in another mode.
  mark_pastes(true);
  self.drawn_row = 0;
  self.sequences.clear();
  self.changes.begin({});
  self.recalled_at = self.inputs.size();
  self.block.clear();
  self.menu.candidates.clear();
  self.faults.found.clear();
  self.faults.text.clear();
  self.faults.known = true;
  if (!self.fill.empty() || self.left) el_push(self.editor, fill_key);
  int count = 0;
  el_gets(self.editor, &count);
  self.fill.clear();
  if (self.left) {
    // What the session tells stands in the place of the input, which is drawn again below.
    write_terminal(self.drawn_row > 0 ? fmt::format("\r\x1b[{}A\x1b[J", self.drawn_row) : "\r\x1b[J");
    return Event::Woken;
  }
  const bool ended = !self.ends.accepted && !self.ends.interrupted && !self.ends.dropped;
  self.draw(true);
  if (self.ends.interrupted) return Event::Interrupt;
  if (self.ends.dropped) return Event::Drop;
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
