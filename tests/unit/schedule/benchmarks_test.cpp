// The functions of the benchmarks and their gradients, scheduled: what their time is spent on runs in tiles
// of registers. How fast that is, bench/ measures; that nothing of it was left to a plain loop, or pulled
// into one, is seen in the text.
#include "interp/interpreter.h"
#include "loops/accesses.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "stdlib/stdlib.h"
#include "tests/unit/benchmark_module.h"
#include "transform/dead_code.h"
#include "transform/derivatives.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

int products_in(const Scalar& scalar, const Buffer& target) {
  std::vector<Access> loads;
  collect_loads(scalar, loads);
  return static_cast<int>(std::count_if(loads.begin(), loads.end(),
                                        [&](const Access& load) { return !(*load.buffer == target); }));
}

// Whether the store adds a product of at least two loads to what it stores to.
bool adds_product(const Store& store) {
  std::vector<Access> loads;
  collect_loads(store.value, loads);
  const bool adds = std::any_of(loads.begin(), loads.end(),
                                [&](const Access& load) { return *load.buffer == store.buffer; });
  return adds && products_in(store.value, store.buffer) >= 2;
}

// The most products that one store adds up outside of tiles and of what a condition leaves out most times
// (numbers that are not finite are summed again in the order of the text).
double most_products_in_plain_loops(const Stmt& stmt, double rounds = 1) {
  if (!stmt.defined()) return 0;
  if (const auto* loop = stmt.as<For>()) {
    const auto extent = loop->extent.as_int();
    return most_products_in_plain_loops(loop->body, rounds * static_cast<double>(extent.value_or(1)));
  }
  if (const auto* block = stmt.as<BlockStmt>())
    return block->name == "tile" || block->name == "dot" ? 0
                                                         : most_products_in_plain_loops(block->body, rounds);
  double most = 0;
  if (const auto* sequence = stmt.as<SeqStmt>())
    for (const Stmt& child : sequence->body)
      most = std::max(most, most_products_in_plain_loops(child, rounds));
  if (const auto* store = stmt.as<Store>())
    if (adds_product(*store)) most = rounds;
  return most;
}

// The variance of a norm sums the squares of an activation, in a loop along memory: 32 x 64 x 32 x 32 of
// them.
constexpr double most_of_a_norm = 1 << 21;

void check_all_in_tiles(const Module& module) {
  const Module scheduled = schedule(fuse(legalize(module)));
  for (const GlobalFunction& each : scheduled.functions) {
    const auto* function = std::get_if<PrimFuncPtr>(&each);
    if (!function) continue;
    INFO((*function)->name);
    CHECK(most_products_in_plain_loops((*function)->body) <= most_of_a_norm);
  }
}

}  // namespace

TEST_CASE("schedule: no product of the benchmarks is left to a plain loop") {
  install_stdlib();
  install_front_end();
  struct Workload {
    const char *path, *function;
  };
  for (const auto& [path, function] :
       {Workload{"bench/w2.relish", "many"}, Workload{"bench/w3.relish", "main"},
        Workload{"bench/w4.relish", "main"}, Workload{"bench/w5.relish", "infer"},
        Workload{"bench/w5.relish", "main"}, Workload{"bench/w6.relish", "main"}}) {
    CAPTURE(path, function);
    const ModulePtr module = benchmark_module(path);
    check_all_in_tiles(*module);
    DerivativeOptions options;  // the parameters; nobody asks for the gradient of the data
    const FunctionPtr source = module->function(function);
    for (std::size_t i = 1; i < source->params.size(); ++i)
      if (source->params[i].name() != "targets") options.wrt.push_back(source->params[i].name());
    check_all_in_tiles(eliminate_dead_code(vjp(*module, function, options)));
  }
}
