// Golden files of loops: what the analyses of loops/ tell of each prim_func, loop by loop. The order of the
// lines is that of the text; what is not printed (a store that is no update, a loop without a known
// dependence) is not known.
#include <fmt/format.h>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/dependence.h"
#include "loops/faults.h"
#include "loops/inversion.h"
#include "loops/iterations.h"
#include "loops/nest.h"
#include "loops/reduction.h"
#include "loops/work.h"
#include "loops/write_over.h"
#include "loops/written_first.h"
#include "tests/golden/commands.h"
#include "tests/golden/module_text.h"

namespace relish::testing {
namespace {

template <class Range, class Text>
std::string joined(const Range& all, Text&& text) {
  std::string result;
  for (const auto& one : all) result += (result.empty() ? "" : ", ") + text(one);
  return result;
}

std::string element(const Buffer& buffer, const std::vector<Scalar>& indices) {
  return buffer.name() + "[" + joined(indices, [](const Scalar& index) { return print(index); }) + "]";
}

class LoopFacts {
 public:
  explicit LoopFacts(const PrimFunc& function) : function_(function) {
    for (const PrimParam& param : function.params) {
      if (!param.buffer()) continue;
      for (const Scalar& dim : param.buffer()->shape())
        if (const auto var = dim.as_var()) prover_.assume_dimension(*var);
    }
  }

  std::string text() {
    line(fmt::format("{}: {}{}", function_.name, never_faults(function_) ? "never fails" : "may fail",
                     may_write_over_text()));
    ++depth_;
    visit(function_.body);
    return text_;
  }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  // Which arguments may be written over, by which results.
  std::string may_write_over_text() const {
    std::string found;
    for (std::size_t a = 0; a < function_.params.size(); ++a) {
      for (std::size_t r = 0; r < function_.params.size(); ++r) {
        if (a == r || !function_.params[a].buffer() || !function_.params[r].buffer()) continue;
        if (may_write_over(function_, {a, r}))
          found += fmt::format("; {} may be {}", function_.params[r].name(), function_.params[a].name());
      }
    }
    return found;
  }

  void visit(const Stmt& stmt) {
    if (!stmt.defined()) return;
    if (const auto* loop = stmt.as<For>()) {
      this->loop(stmt, *loop);
    } else if (const auto* block = stmt.as<BlockStmt>()) {
      this->block(*block);
    } else if (const auto* store = stmt.as<Store>()) {
      this->store(*store);
    } else if (const auto* branch = stmt.as<IfStmt>()) {
      const std::size_t facts = prover_.assume(branch->condition);
      visit(branch->then_body);
      prover_.forget(facts);
      visit(branch->else_body);
    } else if (const auto* body = stmt.as<While>()) {
      visit(body->body);
    } else if (const auto* all = stmt.as<SeqStmt>()) {
      for (const Stmt& one : all->body) visit(one);
    }
  }

  void loop(const Stmt& stmt, const For& loop) {
    const LoopTraits traits = traits_of(loop, prover_);
    std::string facts = fmt::format("for {}:", loop.var.name());
    if (independent_iterations(loop, prover_))
      facts += " independent";
    else if (const auto dependence = iteration_dependence(loop))
      facts += " dependent, " + *dependence;
    else
      facts += " unknown";
    if (traits.reduces) facts += "; reduces";
    if (!traits.affine) facts += "; not affine";
    if (const auto work = constant_work(stmt)) facts += fmt::format("; work {}", *work);
    line(facts);
    ++depth_;
    if (const auto nest = perfect_nest(stmt); nest && loops_.empty()) this->nest(*nest);
    loops_.push_back(&loop);
    prover_.enter_loop(loop.var, loop.begin, loop.extent);
    visit(loop.body);
    prover_.leave_loop();
    loops_.pop_back();
    --depth_;
  }

  // Of the outermost loop: what the whole nest is.
  void nest(Nest nest) {
    const bool stored = find_stored_axes(nest, true);
    std::string text = "nest of ";
    text += joined(nest.axes,
                   [&](const Axis& axis) { return axis.var.name() + (stored && axis.stored ? "*" : ""); });
    if (nest.block && matching_init(nest)) text += "; with init";
    line(text);
    if (!stored || nest.axes.empty()) return;
    std::vector<DomainAxis> domain;
    for (const Axis& axis : nest.axes) domain.push_back({axis.var, axis.loop->begin, axis.loop->extent});
    std::vector<Access> accesses;
    collect_loads(nest.store->value, accesses);
    for (const Access& access : accesses) inversion(access, domain);
  }

  // Which iterations of the nest read an element.
  void inversion(const Access& access, const std::vector<DomainAxis>& domain) {
    std::vector<ScalarVar> targets;
    std::vector<Scalar> extents;
    for (std::size_t d = 0; d < access.indices->size(); ++d) {
      targets.emplace_back(fmt::format("{}", static_cast<char>('p' + d)), (*access.indices)[d].dtype());
      extents.push_back(access.buffer->shape()[d]);
    }
    const std::string read = element(*access.buffer, *access.indices);
    const auto inverted = invert(*access.indices, targets, extents, domain);
    if (!inverted) return line(read + " has no inverse");
    std::vector<Scalar> place;
    for (const ScalarVar& target : targets) place.push_back(use(target));
    std::string text = fmt::format("{} is {} where", read, element(*access.buffer, place));
    for (const DomainAxis& axis : domain) {
      const auto at = inverted->at.find(axis.var.id());
      if (at != inverted->at.end()) text += fmt::format(" {} = {},", axis.var.name(), print(at->second));
    }
    for (const DomainAxis& axis : inverted->free)
      text += fmt::format(" any {} in [{}, +{}),", axis.var.name(), print(axis.begin), print(axis.extent));
    for (const Scalar& condition : inverted->conditions) text += fmt::format(" if {},", print(condition));
    text.back() = inverted->sparse ? ';' : '.';
    if (inverted->sparse) text += " not all elements are read";
    line(text);
  }

  void block(const BlockStmt& block) {
    for (const IterVar& iter : block.iters) prover_.bind(iter.var, iter.binding);
    const auto first = written_first(block.body, block.allocations, prover_);
    for (const Buffer& buffer : block.allocations)
      line(fmt::format("{} {}", buffer.name(),
                       first.contains(buffer.id()) ? "is written first" : "is cleared"));
    visit(block.init);
    visit(block.body);
  }

  void store(const Store& store) {
    std::string text = element(store.buffer, store.indices) + access_text(store.buffer, store.indices);
    if (const auto update = as_update(store))
      text += fmt::format("; joins {}{}", print(update->addend), reassociable(store) ? ", any grouping" : "");
    line(text);
    ++depth_;
    std::vector<Access> loads;
    collect_loads(store.value, loads);
    for (const Access& load : loads)
      line(fmt::format("{}{}", element(*load.buffer, *load.indices),
                       access_text(*load.buffer, *load.indices)));
    if (may_fault(store.value, prover_)) line("may fail");
    if (const int calls = count_intrinsics(store.value)) line(fmt::format("{} math functions", calls));
    --depth_;
  }

  // How the access moves with each loop around it, and whether it stays inside of the buffer.
  std::string access_text(const Buffer& buffer, const std::vector<Scalar>& indices) {
    std::string text;
    for (const For* loop : loops_) {
      const Pace pace = pace_of(buffer, indices, loop->var, prover_);
      text += fmt::format("{} {} {}", text.empty() ? ":" : ",", loop->var.name(),
                          pace == Pace::Still   ? "still"
                          : pace == Pace::Along ? "along"
                                                : "across");
    }
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (!prover_.in_range(indices[d], buffer.shape()[d])) text += fmt::format("; dimension {} unproved", d);
    return text;
  }

  const PrimFunc& function_;
  RangeProver prover_;
  std::vector<const For*> loops_;
  std::size_t depth_ = 0;
  std::string text_;
};

std::string text_of_loops(const Module& module) {
  std::string text;
  for (const GlobalFunction& function : module.functions)
    if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) text += LoopFacts(**loops).text();
  return text;
}

}  // namespace

Outcome run_loops(const GoldenFile& file) { return outcome_of_modules(file, text_of_loops); }

}  // namespace relish::testing
