// One walk along the way to the present state.
#include "shell/workspace/makers.h"

namespace relish {

std::map<std::string, std::size_t> makers_of(const Workspace& workspace) {
  const Log& log = workspace.log();
  std::map<std::string, std::size_t> makers;
  const State* before = &*log.node(Log::root).state;
  for (const std::size_t id : log.way_to(log.present())) {
    const LogNode& node = log.node(id);
    if (!node.state) continue;  // what it bound is told of the next one that is held
    node.state->names.for_each_difference(before->names, [&](const std::string& name, const ScriptValue*,
                                                             const ScriptValue*) { makers[name] = id; });
    before = &*node.state;
  }
  std::erase_if(makers, [&](const auto& entry) { return !workspace.state().names.find(entry.first); });
  return makers;
}

}  // namespace relish
