// Target machine, pass pipeline and linking with ORC. Symbols come from the runtime table alone: no generator looks into
// this process, so compiled code cannot name anything else.
#include "jit/engine.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "jit/runtime.h"
#include "jit/runtime_calls.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

// A failure inside LLVM on code that we made is a defect of ours.
void check(llvm::Error error, const char* what) {
  if (error) RELISH_CHECK(false, std::string(what) + ": " + llvm::toString(std::move(error)));
}
template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) check(value.takeError(), what);
  return std::move(*value);
}

std::unique_ptr<llvm::TargetMachine> host_machine(TargetTraits& traits) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  RELISH_CHECK(target != nullptr, error);
  std::string features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features += (feature.second ? "+" : "-") + feature.first().str() + ",";
    if (feature.first() == "fma") traits.fma = feature.second;
    if (feature.first() == "f16c") traits.f16c = feature.second;
    if (feature.first() == "avx512vl") traits.masked_memory = feature.second;
  }
  if (!features.empty()) features.pop_back();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only where instructions carry the flag
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

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
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true, /*UseBlockFrequencyInfo=*/false));
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
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

}  // namespace

struct Engine::Impl {
  TargetTraits traits;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  llvm::orc::JITDylib* library = nullptr;
  std::uint64_t compiled = 0;

  Impl() {
    machine = host_machine(traits);
    session = std::make_unique<llvm::orc::ExecutionSession>(
        checked(llvm::orc::SelfExecutorProcessControl::Create(), "process control"));
    // The default memory manager maps pages writable, links, and then makes code executable and not writable.
    linker = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session);
    library = &session->createBareJITDylib("relish");
    llvm::orc::SymbolMap symbols;
    for (const RuntimeSymbol& symbol : runtime_symbols()) {
      symbols[session->intern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    check(library->define(llvm::orc::absoluteSymbols(std::move(symbols))), "runtime symbols");
  }

  ~Impl() {
    if (session) llvm::consumeError(session->endSession());
  }
};

namespace {

class LinkedCode final : public Code {
 public:
  LinkedCode(llvm::orc::ExecutionSession& session, llvm::orc::ResourceTrackerSP tracker,
             std::vector<std::pair<std::string, void*>> addresses)
      : session_(session), tracker_(std::move(tracker)), addresses_(std::move(addresses)) {}

  ~LinkedCode() override {
    llvm::consumeError(tracker_->remove());
    tracker_ = nullptr;
    session_.getSymbolStringPool()->clearDeadEntries();
  }

  void* address(std::string_view symbol) const override {
    for (const auto& [name, address] : addresses_)
      if (name == symbol) return address;
    RELISH_CHECK(false, "no symbol '" + std::string(symbol) + "' in compiled code");
  }

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::ResourceTrackerSP tracker_;
  std::vector<std::pair<std::string, void*>> addresses_;
};

}  // namespace

Engine::Engine() : impl_(std::make_unique<Impl>()) {}
Engine::~Engine() = default;

const TargetTraits& Engine::traits() const { return impl_->traits; }

std::unique_ptr<llvm::Module> Engine::new_module(llvm::LLVMContext& context, std::string_view name) const {
  auto module = std::make_unique<llvm::Module>(llvm::StringRef(name.data(), name.size()), context);
  module->setTargetTriple(impl_->machine->getTargetTriple().str());
  module->setDataLayout(impl_->machine->createDataLayout());
  return module;
}

std::unique_ptr<Code> Engine::compile(llvm::Module& module, const std::vector<std::string>& exported) {
  llvm::TargetMachine& machine = *impl_->machine;
  const std::string suffix = "$" + std::to_string(++impl_->compiled);
  for (const std::string& symbol : exported) {
    llvm::Function* function = module.getFunction(symbol);
    RELISH_CHECK(function != nullptr, symbol);
    function->setName(symbol + suffix);
    function->setLinkage(llvm::Function::ExternalLinkage);
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
  std::string fault;
  llvm::raw_string_ostream faults(fault);
  RELISH_CHECK(!llvm::verifyModule(module, &faults), fault);
  optimize(module, machine);

  llvm::SmallVector<char, 0> object;
  {
    llvm::raw_svector_ostream stream(object);
    llvm::legacy::PassManager passes;
    RELISH_CHECK(!machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile),
                 "the target cannot emit objects");
    passes.run(module);
  }
  llvm::orc::ResourceTrackerSP tracker = impl_->library->createResourceTracker();
  check(impl_->linker->add(tracker, std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), "relish" + suffix)),
        "linking");
  std::vector<std::pair<std::string, void*>> addresses;
  for (const std::string& symbol : exported) {
    auto found = checked(impl_->session->lookup({impl_->library}, impl_->session->intern(symbol + suffix)), "lookup");
    addresses.emplace_back(symbol, found.getAddress().toPtr<void*>());
  }
  return std::make_unique<LinkedCode>(*impl_->session, std::move(tracker), std::move(addresses));
}

}  // namespace relish::jit
