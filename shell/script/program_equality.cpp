// Comparison by names.
#include "shell/script/program_equality.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/calls/foreign_calls.h"
#include "ir/equality/equal.h"
#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

// The module as a program: without its own name, its functions in the order of theirs.
Module as_program(const Module& module) {
  Module program = module;
  program.name.clear();
  program.functions.sort(
      [](const GlobalFunction& a, const GlobalFunction& b) { return name_of(a) < name_of(b); });
  return program;
}

// Two functions of these names, each alone.
bool is_same_alone(const GlobalFunction& a, const GlobalFunction& b) {
  if (a == b) return true;
  Module first, second;
  first.functions.push_back(a);
  second.functions.push_back(b);
  return equal_modulo_names(first, second);
}

std::vector<std::string> called_by(const GlobalFunction& function) {
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) return global_references(**graph);
  const auto* loops = std::get_if<PrimFuncPtr>(&function);
  return loops ? called_prim_funcs(**loops) : std::vector<std::string>();
}

}  // namespace

bool is_same_program(const Module& a, const Module& b) {
  return a.functions.size() == b.functions.size() && equal_modulo_names(as_program(a), as_program(b));
}

bool is_same_program(const FunctionReference& a, const FunctionReference& b) {
  if (a.module == b.module) return a.name == b.name;
  if (a.name != b.name) return false;
  std::vector<std::string> waiting = {a.name};
  std::set<std::string> seen = {a.name};
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    const GlobalFunction *ours = a.module->find(name), *theirs = b.module->find(name);
    if (!ours && !theirs) continue;
    if (!ours || !theirs || !is_same_alone(*ours, *theirs)) return false;
    for (std::string& callee : called_by(*ours))
      if (seen.insert(callee).second) waiting.push_back(std::move(callee));
  }
  return true;
}

}  // namespace relish
