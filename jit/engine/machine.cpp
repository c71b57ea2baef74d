// Target machine.
#include "jit/engine/machine.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "jit/engine/optimize.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

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

class Machine::Lent {
 public:
  Lent(const Machine& machine, Effort effort) : machine_(machine), effort_(effort) {
    {
      const std::lock_guard lock(machine.mutex_);
      auto& idle = machine.idle_[static_cast<std::size_t>(effort)];
      if (!idle.empty()) {
        lent_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!lent_) lent_ = machine.target_machine(effort);
  }
  ~Lent() {
    const std::lock_guard lock(machine_.mutex_);
    machine_.idle_[static_cast<std::size_t>(effort_)].push_back(std::move(lent_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  llvm::TargetMachine& operator*() const { return *lent_; }
  llvm::TargetMachine* operator->() const { return lent_.get(); }

 private:
  const Machine& machine_;
  Effort effort_;
  std::unique_ptr<llvm::TargetMachine> lent_;
};

Machine::~Machine() = default;

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
  std::unordered_set<std::string_view> known;
  for (const llvm::SubtargetFeatureKV& feature : named->getMCSubtargetInfo()->getEnabledProcessorFeatures())
    known.insert(feature.Key);
  std::vector<std::string> differing;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const std::string text = feature.first().str();
    if (feature.second != known.contains(text)) differing.push_back((feature.second ? "+" : "-") + text);
    if (text == "fma") traits_.fma = feature.second;
    if (text == "f16c") traits_.f16c = feature.second;
    if (text == "avx512vl") traits_.masked_memory = feature.second;
    if (text == "avx2") traits_.masked_loads = feature.second;
  }
  // Of a processor whose clock may fall with its widest vectors LLVM uses half of them: right for programs
  // that use few. Loops over tensors use nothing else, and sum up to twice as much by whole ones.
  for (const char* narrower : {"prefer-128-bit", "prefer-256-bit"})
    if (known.contains(narrower)) differing.push_back(std::string("-") + narrower);
  std::sort(differing.begin(), differing.end());
  features_ = llvm::join(differing, ",");
  const Lent whole(*this, Effort::Optimize);
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
  const Lent machine(*this, Effort::Optimize);
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
  const Lent machine(*this, effort);
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
