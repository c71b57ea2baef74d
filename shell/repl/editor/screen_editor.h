// The editor of whole inputs on a terminal that can move its cursor: libedit turns keys into changes of a
// text, and what is seen is drawn here, with colours, candidates and a status line below.
#pragma once

#include <memory>

#include "shell/repl/editor/editor.h"

namespace relish {

struct Editing;

class ScreenEditor final : public Editor {
 public:
  ScreenEditor(EditorQuestions questions, bool colors);
  ~ScreenEditor() override;

  Event read(const std::string& prompt, std::string& line, bool open) override;
  bool reads_whole_inputs() const override { return true; }
  void remember(const std::string& input) override;
  void prefill(const std::string& text) override;

 private:
  std::unique_ptr<Editing> impl_;
};

}  // namespace relish
