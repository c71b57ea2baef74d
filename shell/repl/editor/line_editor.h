// Line editing on a terminal that can do little (TERM=dumb), through libedit: history, completion, pastes as
// one text, and Ctrl-C that drops the line.
#pragma once

#include <memory>

#include "shell/repl/editor/editor.h"

namespace relish {

class LineEditor final : public Editor {
 public:
  explicit LineEditor(EditorQuestions questions);
  ~LineEditor() override;

  Event read(const std::string& prompt, std::string& line, bool open) override;
  bool reads_whole_inputs() const override { return false; }
  void remember(const std::string& input) override;
  void prefill(const std::string& text) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relish
