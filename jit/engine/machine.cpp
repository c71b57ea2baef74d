// Target machine and passes.
#include "jit/engine/machine.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <unistd.h>

#include <algorithm>

#include "support/failure.h"

namespace relish::jit {
namespace {

// What straight loops need and no more: compilation is part of the user's waiting.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  // No knowledge of library functions: LLVM must neither replace our calls by others nor round differently.
  llvm::TargetLibraryInfoImpl no_library(llvm::Triple(module.getTargetTriple()));
  no_library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(no_library); });
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

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
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true, /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::EarlyCSEPass());
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::AlwaysInlinerPass());  // elementary functions: only inlined ones are widened
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

// The time that LLVM takes to order the instructions of a block grows with the square of their number:
// minutes for a loop that its author unrolled many thousand times. A function with such a block is translated
// as it stands.
constexpr std::size_t longest_ordered_block = 16'000;

void leave_long_blocks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (std::any_of(function.begin(), function.end(),
                    [](const llvm::BasicBlock& block) { return block.size() > longest_ordered_block; }))
      translate_as_it_stands(function);
  }
}

// The vectors that LLVM would use, and the caches as the system tells them.
Target tiles_of(const llvm::TargetMachine& machine) {
  llvm::LLVMContext context;
  llvm::Module module("", context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::Function::InternalLinkage, "", module);
  const llvm::TargetTransformInfo costs = machine.getTargetTransformInfo(*function);
  Target target;
  const auto bits =
      costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  target.vector_bytes = std::max<std::int64_t>(8, static_cast<std::int64_t>(bits / 8));
  target.vector_registers = costs.getNumberOfRegisters(costs.getRegisterClassForType(true));
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) target.first_cache_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) target.private_cache_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE); bytes > 0) target.line_bytes = bytes;
  return target;
}

}  // namespace

Machine::Machine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  triple_ = llvm::sys::getProcessTriple();
  cpu_ = llvm::sys::getHostCPUName().str();
  std::string error;
  target_ = llvm::TargetRegistry::lookupTarget(triple_, error);
  RELISH_CHECK(target_ != nullptr, error);
  // Only the features that the name of the processor does not tell: LLVM hashes the text many times a
  // function.
  const std::unique_ptr<llvm::TargetMachine> named = target_machine(Effort::Optimize);
  const llvm::MCSubtargetInfo& known = *named->getMCSubtargetInfo();
  std::vector<std::string> differing;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string text = (feature.second ? "+" : "-") + feature.first().str();
    if (!known.checkFeatures(text)) differing.push_back(text);
    if (feature.first() == "fma") traits_.fma = feature.second;
    if (feature.first() == "f16c") traits_.f16c = feature.second;
    if (feature.first() == "avx512vl") traits_.masked_memory = feature.second;
  }
  // Of a processor whose clock may fall with its widest vectors LLVM uses half of them: right for programs
  // that use few. Loops over tensors use nothing else, and sum up to twice as much by whole ones.
  for (const char* narrower : {"prefer-128-bit", "prefer-256-bit"})
    if (known.checkFeatures(std::string("+") + narrower)) differing.push_back(std::string("-") + narrower);
  std::sort(differing.begin(), differing.end());
  features_ = llvm::join(differing, ",");
  const std::unique_ptr<llvm::TargetMachine> whole = target_machine(Effort::Optimize);
  module_triple_ = whole->getTargetTriple().str();
  data_layout_ = whole->createDataLayout().getStringRepresentation();
  target_for_schedules_ = tiles_of(*whole);
}

std::unique_ptr<llvm::TargetMachine> Machine::target_machine(Effort effort) const {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only where instructions carry the flag
  const auto level =
      effort == Effort::Optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(target_->createTargetMachine(
      triple_, cpu_, features_, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level, /*JIT=*/true));
}

namespace {

void require_well_formed(const llvm::Module& module) {
  std::string fault;
  llvm::raw_string_ostream faults(fault);
  RELISH_CHECK(!llvm::verifyModule(module, &faults), fault);
}

}  // namespace

std::string Machine::text_of(llvm::Module& module, CodeForm form) const {
  require_well_formed(module);
  const std::unique_ptr<llvm::TargetMachine> machine = target_machine(Effort::Optimize);
  if (form != CodeForm::Generated) {
    optimize(module, *machine);
    leave_long_blocks(module);
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  if (form == CodeForm::Machine) {
    llvm::legacy::PassManager passes;
    RELISH_CHECK(!machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile),
                 "the target cannot emit text");
    passes.run(module);
  } else {
    module.print(stream, nullptr);
  }
  return text.str().str();
}

Object Machine::object_of(llvm::Module& module, Effort effort) const {
  require_well_formed(module);
  const std::unique_ptr<llvm::TargetMachine> machine = target_machine(effort);
  if (effort == Effort::Optimize) {
    optimize(module, *machine);
    leave_long_blocks(module);
  }
  Object object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  RELISH_CHECK(!machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile),
               "the target cannot emit objects");
  passes.run(module);
  return object;
}

}  // namespace relish::jit
