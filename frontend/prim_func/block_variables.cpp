// A walk that counts the blocks with axes around each loop and each use of its variable. Domains of axes are
// not looked at, and what an axis is bound to and the condition of a block belong to what is around it.
// Threads are exempt: T.launch_thread, which is no loop, is read as one.
#include "frontend/prim_func/block_variables.h"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

template <class... F>
struct VisitStatement : F... {
  using F::operator()...;
};

class BlockVariables {
 public:
  explicit BlockVariables(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void walk(const Stmt& stmt) {
    if (!stmt.defined()) return;
    std::visit(VisitStatement{
                   [&](const For& loop) { walk_loop(loop); },
                   [&](const BlockStmt& block) { walk_block(block); },
                   [&](const While& loop) {
                     use(loop.condition);
                     walk(loop.body);
                   },
                   [&](const Store& store) {
                     for (const Scalar& index : store.indices) use(index);
                     use(store.value);
                   },
                   [&](const AllocateStmt& allocated) { use(allocated.value); },
                   [&](const ViewStmt& view) { use(view.view.region); },
                   [&](const DefineScalar& defined) { use(defined.value); },
                   [&](const AssignScalar& assigned) { use(assigned.value); },
                   [&](const IfStmt& branches) {
                     use(branches.condition);
                     walk(branches.then_body);
                     walk(branches.else_body);
                   },
                   [&](const AssertStmt& checked) { use(checked.condition); },
                   [&](const Return& returned) { use(returned.value); },
                   [&](const Evaluate& evaluated) { use(evaluated.value); },
                   [&](const SeqStmt& all) {
                     for (const Stmt& each : all.body) walk(each);
                   },
                   [](const Break&) {},
                   [](const Continue&) {},
               },
               stmt->kind);
  }

 private:
  void walk_loop(const For& loop) {
    use(loop.begin);
    use(loop.extent);
    use(loop.step);
    if (loop.kind != LoopKind::ThreadBinding) loops_[loop.var.id()] = {blocks_.size(), loop.var};
    walk(loop.body);
    loops_.erase(loop.var.id());
  }

  void walk_block(const BlockStmt& block) {
    for (const IterVar& iter : block.iters) use(iter.binding);
    use(block.predicate);
    if (!block.iters.empty()) blocks_.push_back({&block, {}});
    for (const auto* regions : {&block.reads, &block.writes}) {
      if (!*regions) continue;
      for (const BufferRegion& region : **regions) use(region);
    }
    for (const BufferView& view : block.views) use(view.region);
    walk(block.init);
    walk(block.body);
    if (!block.iters.empty()) blocks_.pop_back();
  }

  void use(const std::optional<BufferRegion>& region) {
    if (!region) return;
    for (const RegionDim& dim : region->dims) {
      use(dim.begin);
      use(dim.extent);
    }
  }
  void use(const Scalar& scalar) {
    if (!scalar.defined() || blocks_.empty() || loops_.empty()) return;
    for_each_scalar(scalar, [&](const Scalar& inner) {
      const auto var = inner.as_var();
      const auto loop = var ? loops_.find(var->id()) : loops_.end();
      if (loop != loops_.end() && loop->second.first < blocks_.size())
        tell(loop->second.second, inner.span());
    });
  }

  void tell(const ScalarVar& variable, Span at) {
    auto& [block, told] = blocks_.back();
    if (!told.insert(variable.id()).second) return;
    const std::string name = printable(variable.name());
    Diagnostic& diagnostic = diagnostics_.error(
        ErrorClass::Type, at, "block.loop_variable",
        fmt::format(
            "found the loop variable '{}' in the block '{}', which has axes; expected an axis that is "
            "bound to it",
            name, printable(block->name)));
    diagnostic.note(variable.span(), "the loop is outside of the block");
    for (const IterVar& iter : block->iters) {
      const auto bound = iter.binding.as_var();
      if (!bound || bound->id() != variable.id()) continue;
      diagnostic.notes.push_back(write_here(at, iter.var.name()));
      break;
    }
  }

  struct Block {
    const BlockStmt* block;
    std::set<std::uint64_t> told;
  };

  Diagnostics& diagnostics_;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, ScalarVar>> loops_;
  std::vector<Block> blocks_;
};

}  // namespace

void check_block_variables(const PrimFunc& function, Diagnostics& diagnostics) {
  BlockVariables(diagnostics).walk(function.body);
}

}  // namespace relish
