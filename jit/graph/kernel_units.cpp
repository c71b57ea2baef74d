// Units of kernels.
#include "jit/graph/kernel_units.h"

#include "support/interrupt.h"

namespace relish::jit {
namespace {

// Units of fewer instructions cost more to set up than they gain; of more, one thread waits for another.
constexpr std::size_t instructions_of_unit = 4'000;
// The first ones are smaller, so that a program of a few kernels is compiled by more than one thread too.
constexpr std::size_t instructions_of_first_units = 500, first_units = 4;

llvm::Type* in_context(llvm::Type* type, llvm::LLVMContext& context) {
  if (type->isPointerTy()) return llvm::PointerType::getUnqual(context);
  if (type->isFloatTy()) return llvm::Type::getFloatTy(context);
  if (type->isDoubleTy()) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, llvm::cast<llvm::IntegerType>(type)->getBitWidth());
}

}  // namespace

void KernelUnits::hand_in() {
  emitter_.reset();
  instructions_ = 0;
  if (!unit_) return;
  build_.add(std::move(unit_));
  ++units_;
}

llvm::Function* KernelUnits::declared(const PrimFunc& function, llvm::Module& glue) {
  const auto known = declared_.find(&function);
  if (known != declared_.end()) return known->second;
  poll_interrupt(function.span);
  if (!unit_) {
    unit_ = build_.new_unit("kernels", Effort::Optimize);
    emitter_.emplace(*unit_->module, target_, sites_);
  }
  const std::string symbol = "kernel." + function.name;
  llvm::Function* code = emitter_->emit(function, symbol);
  code->setLinkage(llvm::Function::ExternalLinkage);
  llvm::LLVMContext& context = glue.getContext();
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& argument : code->args())
    types.push_back(in_context(argument.getType(), context));
  auto* made = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getInt32Ty(context), types, false),
                                      llvm::Function::ExternalLinkage, symbol, glue);
  made->setDoesNotThrow();
  // The functions of this kernel stand behind those of the others.
  for (auto each = code->getIterator(); each != unit_->module->end(); ++each)
    instructions_ += each->getInstructionCount();
  if (instructions_ >= (units_ < first_units ? instructions_of_first_units : instructions_of_unit)) hand_in();
  return declared_.emplace(&function, made).first->second;
}

}  // namespace relish::jit
