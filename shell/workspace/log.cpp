// Moves in the graph of states, and its names.
#include "shell/workspace/log.h"

#include <algorithm>

#include "support/failure.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {

Log::Log(State start) {
  LogNode node;
  node.options = start.options;
  node.state = std::move(start);
  nodes_.push_back(std::move(node));
}

Log::Log(LogContent content)
    : nodes_(std::move(content.nodes)),
      present_(content.present),
      undone_(std::move(content.undone)),
      branch_(std::move(content.branch)),
      branches_(std::move(content.branches)),
      snapshots_(std::move(content.snapshots)),
      behind_(std::move(content.behind)) {}

std::vector<std::size_t> Log::way_to(std::size_t id) const {
  std::vector<std::size_t> way;
  for (; id != root; id = nodes_[id].parent) way.push_back(id);
  std::reverse(way.begin(), way.end());
  return way;
}

void Log::add(LogNode node) {
  node.parent = present_;
  const std::size_t input = node.input;
  nodes_.push_back(std::move(node));
  present_ = nodes_.size() - 1;
  undone_.clear();
  if (branch_.empty()) {
    branch_ = "in" + std::to_string(input);
    while (named(branch_)) branch_ += "_";
  }
  branches_[branch_] = present_;
}

std::optional<std::size_t> Log::back(std::size_t count) const {
  std::size_t id = present_;
  for (; count > 0; --count) {
    if (id == root) return std::nullopt;
    id = nodes_[id].parent;
  }
  return id;
}

void Log::undo(std::size_t to) {
  for (; present_ != to; present_ = nodes_[present_].parent) undone_.push_back(present_);
}

std::optional<std::size_t> Log::forward() const {
  return undone_.empty() ? std::nullopt : std::optional<std::size_t>(undone_.back());
}

void Log::redo() {
  present_ = undone_.back();
  undone_.pop_back();
}

void Log::go_to(std::size_t id, std::string_view name) {
  present_ = id;
  undone_.clear();
  // On a branch goes on who comes to its end; by its name, or by the number.
  const auto ends_here = [&](const std::string& branch) {
    const auto found = branches_.find(branch);
    return found != branches_.end() && found->second == id;
  };
  if (ends_here(std::string(name))) {
    branch_ = name;
  } else if (!ends_here(branch_)) {
    const auto found = std::find_if(branches_.begin(), branches_.end(),
                                    [&](const auto& entry) { return entry.second == id; });
    branch_ = found == branches_.end() ? std::string() : found->first;
  }
}

void Log::check_name(const std::string& name) const {
  if (!is_plain_name(name)) {
    fail(ErrorClass::Usage, {}, "state.name",
         fmt::format("found '{}'; expected a name for a state: letters, digits and _", printable(name)));
  }
  if (named(name)) {
    fail(ErrorClass::Usage, {}, "state.name",
         fmt::format("'{}' is a {} already", name, branches_.contains(name) ? "branch" : "snapshot"));
  }
}

void Log::name_branch(const std::string& name) {
  check_name(name);
  branches_[name] = present_;
  branch_ = name;
  undone_.clear();
}

void Log::name_snapshot(const std::string& name) {
  check_name(name);
  snapshots_[name] = present_;
}

std::optional<std::size_t> Log::named(std::string_view name) const {
  for (const auto* names : {&branches_, &snapshots_})
    if (const auto found = names->find(std::string(name)); found != names->end()) return found->second;
  return std::nullopt;
}

std::vector<std::size_t> Log::left() const {
  std::vector<bool> known(nodes_.size(), false);
  const auto mark = [&](std::size_t id) {
    for (; !known[id]; id = nodes_[id].parent) known[id] = true;
  };
  known[root] = true;
  mark(present_);
  for (const auto* names : {&branches_, &snapshots_})
    for (const auto& [name, id] : *names) mark(id);
  std::vector<bool> goes_on(nodes_.size(), false);
  for (const LogNode& node : nodes_) goes_on[node.parent] = true;
  std::vector<std::size_t> ends;
  for (std::size_t id = 1; id < nodes_.size(); ++id)
    if (!known[id] && !goes_on[id]) ends.push_back(id);
  return ends;
}

std::optional<std::size_t> Log::behind(std::size_t input) const {
  const auto found = behind_.find(input);
  return found == behind_.end() ? std::nullopt : std::optional<std::size_t>(found->second);
}

}  // namespace relish
