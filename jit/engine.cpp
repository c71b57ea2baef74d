// Target machine, pass pipeline and linking with ORC. Symbols come from the runtime table alone: no generator
// looks into this process, so compiled code cannot name anything else.
#include "jit/engine.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
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
#include <llvm/Transforms/Utils/SplitModule.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

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

// The machine that this process runs on.
struct Host {
  const llvm::Target* target = nullptr;
  std::string triple, cpu, features;

  Host() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    triple = llvm::sys::getProcessTriple();
    cpu = llvm::sys::getHostCPUName().str();
    std::string error;
    target = llvm::TargetRegistry::lookupTarget(triple, error);
    RELISH_CHECK(target != nullptr, error);
  }

  std::unique_ptr<llvm::TargetMachine> machine() const {
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // only where instructions carry the flag
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                    llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  }

  // Keeps only the features that the name of the processor does not tell: LLVM hashes the text many times a
  // function.
  void find_features(TargetTraits& traits) {
    const std::unique_ptr<llvm::TargetMachine> named = machine();
    const llvm::MCSubtargetInfo& known = *named->getMCSubtargetInfo();
    std::vector<std::string> differing;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      const std::string text = (feature.second ? "+" : "-") + feature.first().str();
      if (!known.checkFeatures(text)) differing.push_back(text);
      if (feature.first() == "fma") traits.fma = feature.second;
      if (feature.first() == "f16c") traits.f16c = feature.second;
      if (feature.first() == "avx512vl") traits.masked_memory = feature.second;
    }
    std::sort(differing.begin(), differing.end());
    features = llvm::join(differing, ",");
  }
};

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

namespace {

// Optimized machine code of a module, as an object file in memory.
using Object = llvm::SmallVector<char, 0>;

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

Object object_of(llvm::Module& module, llvm::TargetMachine& machine) {
  optimize(module, machine);
  leave_long_blocks(module);
  Object object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  RELISH_CHECK(!machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile),
               "the target cannot emit objects");
  passes.run(module);
  return object;
}

// Larger modules are compiled in two halves at once. Functions are optimized one by one, so the halves have
// the code that the whole would have.
constexpr std::size_t functions_worth_splitting = 12;

}  // namespace

struct Engine::Impl {
  TargetTraits traits;
  Host host;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::ExecutionSession> session;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> linker;
  llvm::orc::JITDylib* library = nullptr;
  std::uint64_t compiled = 0;

  Impl() {
    host.find_features(traits);
    machine = host.machine();
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

  std::vector<Object> halves_of(llvm::Module& module);

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
  std::size_t functions = 0;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.setName(function.getName() + suffix);  // halves refer to each other by name
    ++functions;
  }
  for (const std::string& symbol : exported) {
    llvm::Function* function = module.getFunction(symbol + suffix);
    RELISH_CHECK(function != nullptr, symbol);
    function->setLinkage(llvm::Function::ExternalLinkage);
  }
  std::string fault;
  llvm::raw_string_ostream faults(fault);
  RELISH_CHECK(!llvm::verifyModule(module, &faults), fault);

  std::vector<Object> objects;
  if (functions < functions_worth_splitting || std::thread::hardware_concurrency() < 2) {
    objects.push_back(object_of(module, machine));
  } else {
    objects = impl_->halves_of(module);
  }
  llvm::orc::ResourceTrackerSP tracker = impl_->library->createResourceTracker();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
        std::move(objects[i]), "relish" + suffix + "." + std::to_string(i));
    check(impl_->linker->add(tracker, std::move(buffer)), "linking");
  }
  std::vector<std::pair<std::string, void*>> addresses;
  for (const std::string& symbol : exported) {
    auto found =
        checked(impl_->session->lookup({impl_->library}, impl_->session->intern(symbol + suffix)), "lookup");
    addresses.emplace_back(symbol, found.getAddress().toPtr<void*>());
  }
  return std::make_unique<LinkedCode>(*impl_->session, std::move(tracker), std::move(addresses));
}

// The halves travel as bitcode because each thread needs an LLVM context of its own.
std::vector<Object> Engine::Impl::halves_of(llvm::Module& module) {
  std::vector<llvm::SmallString<0>> halves;
  llvm::SplitModule(module, 2, [&](std::unique_ptr<llvm::Module> half) {
    halves.emplace_back();
    llvm::raw_svector_ostream stream(halves.back());
    llvm::WriteBitcodeToFile(*half, stream);
  });
  std::vector<Object> objects(halves.size());
  std::exception_ptr failure;
  const auto compile_half = [&](std::size_t i) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::TargetMachine> own = host.machine();
    auto half = checked(llvm::parseBitcodeFile(llvm::MemoryBufferRef(halves[i], "half"), context), "bitcode");
    objects[i] = object_of(*half, *own);
  };
  const auto rest = [&] {
    try {
      for (std::size_t i = 1; i < halves.size(); ++i) compile_half(i);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  std::optional<std::thread> second;
  try {
    second.emplace(rest);
  } catch (const std::system_error&) {
    // No thread to be had: one after the other.
  }
  try {
    compile_half(0);
  } catch (...) {
    if (second) second->join();
    throw;
  }
  if (second)
    second->join();
  else
    rest();
  if (failure) std::rethrow_exception(failure);
  return objects;
}

}  // namespace relish::jit
