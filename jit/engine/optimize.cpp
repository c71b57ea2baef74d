// The passes, and the analyses that they ask for. LLVM's PassBuilder knows all passes that there are, so a
// program that names it links them all and runs their initialisers at each start: the analyses are listed
// here instead. Which ones a pass asks for its object file tells: the undefined symbols `llvm::…::Key`. One
// that is missing ends the process.
#include "jit/engine/optimize.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace relish::jit {
namespace {

class Analyses {
 public:
  Analyses(const llvm::Module& module, llvm::TargetMachine& machine)
      : no_library_(llvm::Triple(module.getTargetTriple())) {
    // No knowledge of library functions: LLVM must neither replace our calls by others nor round differently.
    no_library_.disableAllFunctions();
    of_functions(machine);
    loops_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    loops_.registerPass([] { return llvm::ShouldRunExtraSimpleLoopUnswitch(); });
    modules_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    modules_.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    modules_.registerPass([this] { return llvm::FunctionAnalysisManagerModuleProxy(functions_); });
    functions_.registerPass([this] { return llvm::ModuleAnalysisManagerFunctionProxy(modules_); });
    functions_.registerPass([this] { return llvm::LoopAnalysisManagerFunctionProxy(loops_); });
    loops_.registerPass([this] { return llvm::FunctionAnalysisManagerLoopProxy(functions_); });
  }

  llvm::ModuleAnalysisManager& modules() { return modules_; }

 private:
  void of_functions(llvm::TargetMachine& machine) {
    functions_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    functions_.registerPass([this] { return llvm::TargetLibraryAnalysis(no_library_); });
    functions_.registerPass([&machine] { return machine.getTargetIRAnalysis(); });
    functions_.registerPass([] { return llvm::AssumptionAnalysis(); });
    functions_.registerPass([] { return llvm::BasicAA(); });
    functions_.registerPass([] { return llvm::ScopedNoAliasAA(); });
    functions_.registerPass([] { return llvm::TypeBasedAA(); });
    functions_.registerPass([] {
      llvm::AAManager aliases;
      aliases.registerFunctionAnalysis<llvm::BasicAA>();
      aliases.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
      aliases.registerFunctionAnalysis<llvm::TypeBasedAA>();
      return aliases;
    });
    functions_.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    functions_.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    functions_.registerPass([] { return llvm::LoopAnalysis(); });
    functions_.registerPass([] { return llvm::MemorySSAAnalysis(); });
    functions_.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    functions_.registerPass([] { return llvm::DemandedBitsAnalysis(); });
    functions_.registerPass([] { return llvm::LoopAccessAnalysis(); });
    functions_.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    functions_.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    functions_.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    functions_.registerPass([] { return llvm::ShouldRunExtraVectorPasses(); });
  }

  llvm::TargetLibraryInfoImpl no_library_;
  // Each holds results of those behind it.
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::ModuleAnalysisManager modules_;
};

// The vectorizer takes an index that wraps around, as 5 * i % 128 or a sum of bytes, for one that moves on,
// and then reads beyond it and what an iteration before has stored. It meets them in loops of which nothing
// was known when they were emitted: where names or locals stand for the index, behind a jump, or around a
// loop of one iteration that is none any more. Such loops stay scalar. So do loops of very many accesses: the
// vectorizer looks at all pairs of a store and an access.
class KeepScalarLoops : public llvm::PassInfoMixin<KeepScalarLoops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && (has_many_pairs(*loop) || wraps(*loop, evolution)))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    return llvm::PreservedAnalyses::all();
  }

 private:
  static bool has_many_pairs(const llvm::Loop& loop) {
    constexpr std::size_t most_pairs = 100'000;
    std::size_t stores = 0, accesses = 0;
    for (llvm::BasicBlock* block : loop.blocks()) {
      for (llvm::Instruction& each : *block) {
        stores += llvm::isa<llvm::StoreInst>(each);
        accesses += llvm::getLoadStorePointerOperand(&each) != nullptr;
      }
    }
    return stores * accesses > most_pairs;
  }

  // Whether an address in the loop is computed from a counter of fewer bits.
  static bool wraps(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
    const auto counts = [&](const llvm::SCEV* each) {
      const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(each);
      return counter && counter->getLoop() == &loop;
    };
    const auto widens_counter = [&](const llvm::SCEV* each) {
      const auto* cast = llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(each);
      return cast && llvm::SCEVExprContains(cast->getOperand(), counts);
    };
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& each : *block)
        if (llvm::Value* address = llvm::getLoadStorePointerOperand(&each);
            address && llvm::SCEVExprContains(evolution.getSCEV(address), widens_counter))
          return true;
    return false;
  }
};

llvm::FunctionPassManager passes_of_functions() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  // A check that is the same in all iterations, as of the row that a loop copies, stands before the loop: one
  // that could leave anywhere is not vectorized.
  llvm::LoopPassManager invariant;
  invariant.addPass(llvm::LICMPass(llvm::LICMOptions()));
  invariant.addPass(llvm::SimpleLoopUnswitchPass(/*NonTrivial=*/false, /*Trivial=*/true));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(invariant), /*UseMemorySSA=*/true,
                                                       /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::DSEPass());
  passes.addPass(KeepScalarLoops());
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true, /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  Analyses analyses(module, machine);
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::AlwaysInlinerPass());  // elementary functions: only inlined ones are widened
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(passes_of_functions()));
  pipeline.run(module, analyses.modules());
}

}  // namespace relish::jit
