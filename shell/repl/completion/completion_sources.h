// The lists that completion takes its candidates from, each from the one place that knows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/op.h"
#include "shell/command.h"
#include "shell/repl/completion/completion.h"

namespace relish {

class CompletionSources {
 public:
  explicit CompletionSources(const Workspace& workspace) : workspace_(workspace) {}

  bool is_bound(std::string_view name) const;
  // What is bound; `and_words`: with built-ins, commands, keywords and namespaces behind that.
  std::vector<Candidate> names(bool and_words) const;
  std::vector<Candidate> tensors() const;
  std::vector<Candidate> modules() const;
  std::vector<Candidate> functions() const;  // M.main, f
  // Of a module, a value, or a namespace: "M.main" behind "M", "R.nn.relu" behind "R.nn".
  std::vector<Candidate> members(const std::string& object) const;
  // Of NAME@STATE, with what stands behind the sign so far: "before.main" of M@before.main.
  std::vector<Candidate> members_at(std::string_view name, std::string_view state) const;
  // Parameters and bindings of the function that is named: "M.main.y".
  std::vector<Candidate> bindings(std::string_view function) const;
  std::vector<Candidate> decorators() const;
  // Of the function that the text names; `behind` follows each.
  std::vector<Candidate> parameters(std::string_view function, std::string_view behind = "") const;
  // Symbolic dimensions of its parameters.
  std::vector<Candidate> dimensions(std::string_view function, std::string_view behind) const;
  // Of the parameters, those that are tensors.
  std::vector<Candidate> tensor_parameters(std::string_view function) const;
  // Arguments with a name of a built-in, or of a method such as x.sum.
  std::vector<Candidate> synopsis_keywords(std::string_view callee, std::size_t from) const;
  // Keys of a dict that are texts.
  std::vector<Candidate> keys(std::string_view dict) const;
  std::vector<Candidate> operator_keywords(const Op& op, std::size_t from) const;
  std::vector<Candidate> command_keywords(const Command& command) const;
  std::vector<Candidate> commands() const;    // :gradient
  std::vector<Candidate> transforms() const;  // gradient
  std::vector<Candidate> kinds() const;       // of what is bound: tensor, module
  std::vector<Candidate> command_options(const Command& command) const;
  // Losses behind the option `loss`, and so on; and the options of one of them.
  std::vector<Candidate> catalog(std::string_view option) const;
  std::vector<Candidate> catalog_options(std::string_view entry) const;
  // Names that have a page.
  std::vector<Candidate> pages() const;
  std::vector<Candidate> states() const;
  std::vector<Candidate> files(std::string_view begun) const;
  std::vector<Candidate> dtypes() const;
  // "mean, sum or none" of a description: the words that a text may be.
  std::vector<Candidate> choices(std::string_view doc) const;

 private:
  const Workspace& workspace_;
};

}  // namespace relish
