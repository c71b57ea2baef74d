// Units of kernels.
#include "jit/graph/kernel_units.h"

#include "ir/printer/printer.h"
#include "jit/kernel/code_size.h"
#include "jit/kernel/codegen_kernel.h"
#include "support/interrupt.h"

namespace relish::jit {
namespace {

// Units of fewer instructions cost more to set up than they gain; of more, one thread waits for another.
constexpr std::int64_t instructions_of_unit = 4'000;
// The first ones are smaller, so that a program of a few kernels is compiled by more than one thread too.
constexpr std::int64_t instructions_of_first_units = 500;
constexpr std::size_t first_units = 4;

std::string symbol_of(const PrimFunc& kernel) { return "kernel." + kernel.name; }

// In a program no two units have a kernel of one name.
std::string first_site_of(const PrimFunc& first) { return "sites." + first.name; }

class KernelSource final : public UnitSource {
 public:
  explicit KernelSource(std::vector<PrimFuncPtr> kernels) : kernels_(std::move(kernels)) {}

  std::string text() const override {
    std::string text;
    for (const PrimFuncPtr& kernel : kernels_) text += print(*kernel, {.comments = false});
    return text;
  }

  std::vector<Site> emit(llvm::Module& module, const TargetTraits& target) const override {
    std::vector<Site> sites;
    KernelEmitter emitter(module, target, sites, first_site_of(*kernels_.front()));
    for (const PrimFuncPtr& kernel : kernels_) {
      poll_interrupt(kernel->span);
      emitter.emit(*kernel, symbol_of(*kernel))->setLinkage(llvm::Function::ExternalLinkage);
    }
    return sites;
  }

 private:
  std::vector<PrimFuncPtr> kernels_;
};

}  // namespace

void KernelUnits::hand_in() {
  size_ = 0;
  if (unit_.empty()) return;
  auto sites = std::make_shared<UnitSites>(first_site_of(*unit_.front()));
  sites_.add(sites);
  taker_.add(std::make_shared<const KernelSource>(std::exchange(unit_, {})), std::move(sites));
  ++units_;
}

llvm::Function* KernelUnits::declared(const PrimFunc& function, llvm::Module& glue) {
  const auto known = declared_.find(&function);
  if (known != declared_.end()) return known->second;
  poll_interrupt(function.span);
  auto* made = llvm::Function::Create(kernel_type(function, glue.getContext()),
                                      llvm::Function::ExternalLinkage, symbol_of(function), glue);
  made->setDoesNotThrow();
  unit_.push_back(std::make_shared<const PrimFunc>(function));
  size_ += code_size(function);
  if (size_ >= (units_ < first_units ? instructions_of_first_units : instructions_of_unit)) hand_in();
  return declared_.emplace(&function, made).first->second;
}

}  // namespace relish::jit
