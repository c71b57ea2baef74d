// Finding what is taken outside its block, and marking what is not.
#include "transform/block_outputs.h"

#include <unordered_map>

#include "ir/rewriting/expr_mapper.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class LocalMarker : public ExprMapper {
 public:
  explicit LocalMarker(const VarIds& locals) : locals_(locals) {}

 protected:
  Var map_bound(const Var& var) override {
    if (var.dataflow() || !locals_.contains(var.id())) return var;
    return Var(var.name(), var.type(), true, var.span());
  }

 private:
  const VarIds& locals_;
};

}  // namespace

void collect_locals(const std::vector<BindingBlock>& blocks, std::span<const Expr> results, VarIds& locals) {
  std::unordered_map<std::uint64_t, std::size_t> block_of;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const Binding& binding : blocks[i].bindings) block_of.emplace(binding.var().id(), i);
  VarIds seen_outside;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const Binding& binding : blocks[i].bindings) {
      for (const Var& used : used_vars(binding.value())) {
        const auto home = block_of.find(used.id());
        if (home != block_of.end() && home->second != i) seen_outside.insert(used.id());
      }
    }
  }
  for (const Expr& result : results) {
    std::vector<Var> vars;
    collect_leaf_vars(result, vars);
    for (const Var& var : vars) seen_outside.insert(var.id());
  }
  for (const BindingBlock& block : blocks) {
    if (!block.dataflow) continue;
    for (const Binding& binding : block.bindings)
      if (!seen_outside.contains(binding.var().id())) locals.insert(binding.var().id());
  }
}

FunctionPtr with_locals(const FunctionPtr& function, const VarIds& locals) {
  return locals.empty() ? function : LocalMarker(locals).map(function);
}

}  // namespace relish
