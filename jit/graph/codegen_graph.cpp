// The functions of one compilation in LLVM IR.
#include "jit/graph/codegen_graph.h"

#include "jit/graph/codegen_steps.h"
#include "jit/kernel/kernel_signature.h"
#include "support/failure.h"

namespace relish::jit {

GraphEmitter::GraphEmitter(ProgramSteps steps, CodeUnits& taker, SiteTable& sites,
                           std::vector<HostCall>* host_calls, std::vector<WatchedKernel>* watched)
    : steps_(std::move(steps)),
      taker_(taker),
      sites_(sites),
      host_calls_(host_calls),
      glue_(taker.new_unit("graph", Effort::Translate)),
      runtime_(*glue_->module),
      kernels_(taker, sites),
      watch_(watched) {}

std::string GraphEmitter::finish(llvm::Function* entry) {
  entry->setLinkage(llvm::Function::ExternalLinkage);
  std::string symbol = entry->getName().str();
  kernels_.hand_in();
  taker_.add(std::move(glue_));
  return symbol;
}

std::int32_t GraphEmitter::add(HostCall call) {
  RELISH_CHECK(host_calls_ != nullptr);
  host_calls_->push_back(std::move(call));
  return static_cast<std::int32_t>(host_calls_->size()) - 1;
}

llvm::Function* GraphEmitter::new_function(const std::string& name) {
  llvm::LLVMContext& context = *glue_->context;
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {ptr, ptr, ptr}, false);
  auto* made = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, *glue_->module);
  finish_function(*made);
  translate_as_it_stands(*made);  // between calls of kernels it computes sizes and scalars
  llvm::BasicBlock::Create(context, "entry", made);
  return made;
}

llvm::Function* GraphEmitter::function(const Function& source, const step::Donated& donated) {
  const std::pair key(&source, donated);
  const auto known = functions_.find(key);
  if (known != functions_.end()) return known->second;
  const FunctionSteps& steps = steps_.of(source, donated);
  llvm::Function* code = new_function("graph." + source.name);
  functions_[key] = code;
  StepEmitter(*this, *code, steps).run();
  return code;
}

llvm::Function* GraphEmitter::entry_of(const PrimFunc& source) {
  llvm::Function* entry = new_function("entry." + source.name);
  FunctionCode code(*entry, runtime_, sites_);
  code.builder.SetInsertPoint(&entry->getEntryBlock());
  llvm::Value* in = entry->getArg(1);
  std::vector<llvm::Value*> operands{code.context};
  std::size_t position = 0;
  for (const PrimParam& param : source.params) {
    if (param.buffer())
      operands.push_back(code.builder.CreateLoad(code.ptr, code.slot(in, position++)));
    else
      operands.push_back(code.scalar_of_slot(in, position++, param.scalar()->dtype()));
  }
  const std::size_t before_sizes = operands.size();
  for (std::size_t i = 0; i < kernel_symbols(source).size(); ++i)
    operands.push_back(code.builder.CreateLoad(code.i64, code.slot(in, position++)));
  watch_.begin(code, source, source.span, llvm::ArrayRef(operands).drop_front(before_sizes));
  if (source.result_dtype) operands.push_back(entry->getArg(2));
  llvm::Value* status = code.builder.CreateCall(kernel(source), operands);
  watch_.end(code);
  code.builder.CreateRet(status);
  return entry;
}

}  // namespace relish::jit
