// The input that is edited: the text that libedit holds, what is known of it, and how it is seen.
#pragma once

#include <histedit.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "shell/repl/editor/edited_text.h"
#include "shell/repl/editor/editor.h"
#include "shell/repl/editor/key_sequences.h"

namespace relish {

// A key that types nothing: libedit takes what the session puts into the line by it.
inline constexpr char fill_key[] = "\x1b[990~";

struct Editing {
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
  struct Ends {
    bool interrupted = false, dropped = false, accepted = false;
  } ends;                     // how the reading ends
  std::size_t drawn_row = 0;  // of the cursor, as it was drawn
  EditHistory changes;
  std::size_t recalled_at = 0;  // in `inputs`; its size for what is typed
  std::string typed;            // before an input was recalled
  std::string block;            // as it was pasted or recalled: one Enter runs it
  std::string cut;
  struct Menu {
    std::vector<Candidate> candidates;
    std::size_t begin = 0;
    bool asked = false;  // by the last key
  } menu;
  struct Faults {
    std::vector<InputFault> found;
    std::string text;   // that they are of
    bool known = true;  // of what stands there now
  } faults;
  bool in_key = false;  // the keys so far may be the beginning of one that has several
  KeySequences sequences;
  bool searched = false;  // among earlier inputs
  bool searches = false;  // now

  static Editing& of(EditLine* editor);
  EditedText now() const;
  void move_to(std::size_t place);
  // Takes what stands between the places away.
  void erase(std::size_t from, std::size_t to);
  void insert(const std::string& text);
  void replace(const EditedText& by);
  void draw(bool last = false);
  // The terminal has another size, or was another program's for a while.
  void redraw();
  // What libedit reads keys by.
  static int read_character(EditLine* editor, wchar_t* character);

 private:
  void look_for_faults(const EditedText& text, bool resting);
  void rest();
  std::vector<std::string> below(const EditedText& text, const std::vector<InputFault>& shown,
                                 std::size_t columns) const;
  void take(wchar_t character);
  bool is_searching() const;
  void take_block(wchar_t& character);
};

// What keys do to the text; libedit's other keys stay as they are.
void bind_editing_keys(Editing& editing);

}  // namespace relish
