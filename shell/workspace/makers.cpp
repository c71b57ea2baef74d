// One walk along the way to the present state.
#include "shell/workspace/makers.h"

namespace relish {

std::map<std::string, std::size_t> makers_of(const Workspace& workspace, std::size_t node) {
  const Log& log = workspace.log();
  std::map<std::string, std::size_t> makers;
  const State* before = &*log.node(Log::root).state;
  for (const std::size_t id : log.way_to(node)) {
    const LogNode& step = log.node(id);
    if (step.changes)
      for (const NameChange& change : *step.changes) makers[change.name] = id;
    if (!step.state) continue;  // of others what it bound is told of the next one that is held
    if (!step.changes)
      step.state->names.for_each_difference(before->names, [&](const std::string& name, const ScriptValue*,
                                                               const ScriptValue*) { makers[name] = id; });
    before = &*step.state;
  }
  std::erase_if(makers, [&](const auto& entry) { return !before->names.find(entry.first); });
  return makers;
}

}  // namespace relish
