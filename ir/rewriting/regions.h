// Bodies inside values, looked at and rebuilt alike: the branches of ifs, the conditions and bodies of loops,
// nested functions. What passes ask of a body stands here once: its bindings in one list, the variables that
// it takes from around it, and the value again over changed regions. (To rebuild expressions down to their
// leaves: ExprMapper.)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

// A region, or the body of a nested function.
struct Body {
  const std::vector<Var>& params;
  const std::vector<BindingBlock>& blocks;
  std::span<const Expr> results;
};
// The bodies that stand directly in the value, in the order of the text; those inside them are theirs.
void for_each_body(const Expr& value, const std::function<void(const Body&)>& visit);

// All bindings of all blocks, in order; those inside of values stay there.
std::vector<Binding> all_bindings(const std::vector<BindingBlock>& blocks);
std::vector<Binding> all_bindings(const Function& function);

// What a body takes from around it, and what it binds itself, in regions and nested functions inside it too.
struct BodyVars {
  std::vector<Var> free;                    // each once, in order of first use
  std::unordered_set<std::uint64_t> bound;  // ids; parameters too
};
BodyVars vars_of(const Function& function);
BodyVars vars_of(const Region& region);

// The value of `branch` or `loop` with each of its regions changed, in the order of the text. Types are
// inferred again. (The results of a changed region may be others, as long as those of the other regions and
// the initial values agree.)
enum class RegionRole : std::uint8_t { Then, Else, Condition, Body };
using ChangeRegion = std::function<Region(const Region&, RegionRole)>;
Expr with_regions(const If& branch, const ChangeRegion& change, Span span);
Expr with_regions(Loop loop, const ChangeRegion& change, Span span);

}  // namespace relish
