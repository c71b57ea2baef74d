// Which names of a graph of calls can come to call themselves: those on a cycle.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace relish {

using CallGraph = std::unordered_map<std::string, std::vector<std::string>>;  // by caller, whom it calls

// Linear in names and calls. A callee that is no caller calls nobody.
std::unordered_set<std::string> on_cycles(const CallGraph& calls);

}  // namespace relish
