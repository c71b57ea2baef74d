// Strongly connected components by Tarjan's walk, on a stack of its own.
#include "transform/call_cycles.h"

#include <algorithm>

namespace relish {
namespace {

class CycleFinder {
 public:
  explicit CycleFinder(const CallGraph& calls) : calls_(calls) {}

  std::unordered_set<std::string> run() {
    for (const auto& [name, callees] : calls_)
      if (!nodes_.contains(name)) walk(name);
    return std::move(found_);
  }

 private:
  struct Node {
    std::size_t number, lowest;
    bool open = true;  // its component is not complete
  };
  struct Step {
    const std::string* name;
    const std::vector<std::string>* callees;
    std::size_t next = 0;
  };

  void enter(const std::string& name) {
    const auto calls = calls_.find(name);
    static const std::vector<std::string> nobody;
    nodes_.emplace(name, Node{nodes_.size(), nodes_.size()});
    open_.push_back(&name);
    path_.push_back({&name, calls == calls_.end() ? &nobody : &calls->second});
  }

  void walk(const std::string& start) {
    enter(start);
    while (!path_.empty()) {
      Step& step = path_.back();
      Node& node = nodes_.at(*step.name);
      if (step.next == step.callees->size()) {
        leave();
        continue;
      }
      const std::string& callee = (*step.callees)[step.next++];
      if (callee == *step.name) found_.insert(callee);
      const auto known = nodes_.find(callee);
      if (known == nodes_.end())
        enter(callee);
      else if (known->second.open)
        node.lowest = std::min(node.lowest, known->second.number);
    }
  }

  void leave() {
    const std::string& name = *path_.back().name;
    const Node node = nodes_.at(name);
    path_.pop_back();
    if (!path_.empty()) {
      Node& caller = nodes_.at(*path_.back().name);
      caller.lowest = std::min(caller.lowest, node.lowest);
    }
    if (node.lowest != node.number) return;
    const bool alone = *open_.back() == name;
    for (bool last = false; !last; open_.pop_back()) {
      last = *open_.back() == name;
      nodes_.at(*open_.back()).open = false;
      if (!alone) found_.insert(*open_.back());
    }
  }

  const CallGraph& calls_;
  std::unordered_map<std::string, Node> nodes_;
  std::vector<const std::string*> open_;
  std::vector<Step> path_;
  std::unordered_set<std::string> found_;
};

}  // namespace

std::unordered_set<std::string> on_cycles(const CallGraph& calls) { return CycleFinder(calls).run(); }

}  // namespace relish
