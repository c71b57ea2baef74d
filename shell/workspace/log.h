// The log of a session: a graph of states. A node is a state with the statements that made it from the state
// of its parent; branches and snapshots are names of nodes. Nothing here runs anything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/workspace/session_file.h"
#include "shell/workspace/state.h"

namespace relish {

// What a node did to a name: bound (+), changed (~) or unbound (-) it.
struct NameChange {
  char sign;
  std::string name;
};

struct LogNode {
  std::size_t parent = 0;                 // of the root: itself
  std::size_t input = 0;                  // the number of the input that made it
  SessionText made_by;                    // its statements
  std::string label;                      // what made it, when that was no statement
  std::optional<State> state;             // none: to be made again from the parent's
  std::shared_ptr<const KeptState> kept;  // of a restored session: the state, read from its file again
  StateOptions options;                   // of the state, kept when that is not
  double seconds = 0;
  bool stopped = false;  // a statement was stopped: running it again need not come to the same
  SessionText shown;     // inputs that changed nothing, while this was the present state
  // Against the parent's state, kept when that is not; none where nobody noted it.
  std::optional<std::vector<NameChange>> changes = {};
};

// All of a log, to be written and read.
struct LogContent {
  std::vector<LogNode> nodes;
  std::size_t present = 0;
  std::string branch;
  std::map<std::string, std::size_t> branches, snapshots;
  std::map<std::size_t, std::size_t> behind;  // nodes behind inputs
  std::vector<std::size_t> undone = {};       // nodes that `redo` goes to, the next one last
};

class Log {
 public:
  explicit Log(State start);
  explicit Log(LogContent content);
  // All but the nodes.
  LogContent names() const { return {{}, present_, branch_, branches_, snapshots_, behind_, undone_}; }

  static constexpr std::size_t root = 0;
  std::size_t size() const { return nodes_.size(); }
  const LogNode& node(std::size_t id) const { return nodes_[id]; }
  LogNode& node(std::size_t id) { return nodes_[id]; }
  std::size_t present() const { return present_; }
  // The nodes from behind the root to `id`.
  std::vector<std::size_t> way_to(std::size_t id) const;

  // Makes `node` a child of the present one and the present one itself. The branch goes along; where none
  // ends here, since one came by `go_to`, a new branch begins.
  void add(LogNode node);
  // The node N states back; nothing when there are fewer.
  std::optional<std::size_t> back(std::size_t count) const;
  void undo(std::size_t to);
  // The node that the last `undo` left; nothing when none was left or something was run since.
  std::optional<std::size_t> forward() const;
  void redo();
  void go_to(std::size_t id, std::string_view name = {});

  // Names of nodes. A name is a plain one and new, else UsageError.
  void name_branch(const std::string& name);
  void name_snapshot(const std::string& name);
  const std::string& branch() const { return branch_; }  // empty: none, until something is run
  const std::map<std::string, std::size_t>& branches() const { return branches_; }
  const std::map<std::string, std::size_t>& snapshots() const { return snapshots_; }
  std::optional<std::size_t> named(std::string_view name) const;
  // States behind which nothing was run, that no name leads to: what was undone before something else was
  // run.
  std::vector<std::size_t> left() const;

  // States that came since all of them were written to a file, or read from one.
  std::size_t unsaved() const { return nodes_.size() - saved_; }
  void note_saved() { saved_ = nodes_.size(); }

  // The node that was present behind an input.
  void end_input(std::size_t input) { behind_[input] = present_; }
  std::optional<std::size_t> behind(std::size_t input) const;

 private:
  void check_name(const std::string& name) const;

  std::vector<LogNode> nodes_;
  std::size_t present_ = root;
  std::size_t saved_ = 1;  // the start
  std::vector<std::size_t> undone_;
  std::string branch_ = "main";
  std::map<std::string, std::size_t> branches_ = {{"main", root}};
  std::map<std::string, std::size_t> snapshots_;
  std::map<std::size_t, std::size_t> behind_ = {{0, root}};
};

}  // namespace relish
