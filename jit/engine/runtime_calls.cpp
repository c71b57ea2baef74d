// Declarations of runtime functions in the module that is being made.
#include "jit/engine/runtime_calls.h"

#include <llvm/IR/MDBuilder.h>

#include <vector>

namespace relish::jit {

llvm::Function* RuntimeCalls::get(llvm::StringRef name, llvm::Type* result,
                                  llvm::ArrayRef<llvm::Type*> params) {
  if (llvm::Function* known = module_.getFunction(name)) return known;
  auto* type = llvm::FunctionType::get(result, params, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  function->setDoesNotThrow();
  return function;
}

llvm::Function* RuntimeCalls::math(llvm::StringRef name, llvm::Type* type, unsigned arity) {
  const std::string symbol = type->isFloatTy() ? (name + "f").str() : name.str();
  const std::vector<llvm::Type*> params(arity, type);
  llvm::Function* function = get(symbol, type, params);
  function->setDoesNotAccessMemory();  // errno is not looked at
  function->setWillReturn();
  return function;
}

llvm::Value* RuntimeCalls::number_of(llvm::IRBuilder<>& builder, std::int32_t site) {
  llvm::Value* number = builder.getInt32(static_cast<std::uint32_t>(site));
  if (first_site_.empty()) return number;
  llvm::Constant* first =
      module_.getOrInsertGlobal(first_site_, llvm::ArrayType::get(builder.getInt8Ty(), 0));
  return builder.CreateAdd(builder.CreatePtrToInt(first, builder.getInt32Ty()), number);
}

llvm::Value* RuntimeCalls::fault(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t site,
                                 llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Function* function =
      get("rt_fault", builder.getInt32Ty(), {builder.getPtrTy(), builder.getInt32Ty(), i64, i64, i64});
  function->addFnAttr(llvm::Attribute::Cold);
  const auto value = [&](llvm::Value* v) { return v ? v : builder.getInt64(0); };
  return builder.CreateCall(function, {context, number_of(builder, site), value(a), value(b), value(c)});
}

llvm::Value* RuntimeCalls::scratch(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* bytes,
                                   std::optional<std::int32_t> site) {
  llvm::Function* function =
      get("rt_scratch", builder.getPtrTy(), {builder.getPtrTy(), builder.getInt64Ty()});
  function->setReturnDoesNotAlias();
  function->addRetAttr(llvm::Attribute::getWithAlignment(builder.getContext(), llvm::Align(64)));
  llvm::Value* pointer = builder.CreateCall(function, {context, bytes});
  require_at(builder, context, builder.CreateIsNotNull(pointer), site);
  return pointer;
}

llvm::Value* RuntimeCalls::buffer(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t dtype,
                                  std::size_t rank, llvm::Value* dims, bool zero, std::int32_t site) {
  llvm::Type* ptr = builder.getPtrTy();
  llvm::Type* i32 = builder.getInt32Ty();
  llvm::Function* function = get("rt_buffer", ptr, {ptr, i32, i32, ptr, i32});
  function->setReturnDoesNotAlias();
  function->addRetAttr(llvm::Attribute::getWithAlignment(builder.getContext(), llvm::Align(64)));
  llvm::Value* pointer = builder.CreateCall(
      function, {context, builder.getInt32(static_cast<std::uint32_t>(dtype)),
                 builder.getInt32(static_cast<std::uint32_t>(rank)), dims, builder.getInt32(zero)});
  require_at(builder, context, builder.CreateIsNotNull(pointer), site);
  return pointer;
}

llvm::Value* RuntimeCalls::byte_size(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t dtype,
                                     std::size_t rank, llvm::Value* dims, std::int32_t site) {
  llvm::Type* ptr = builder.getPtrTy();
  llvm::Type* i32 = builder.getInt32Ty();
  llvm::Function* function = get("rt_byte_size", builder.getInt64Ty(), {ptr, i32, i32, ptr});
  llvm::Value* bytes =
      builder.CreateCall(function, {context, builder.getInt32(static_cast<std::uint32_t>(dtype)),
                                    builder.getInt32(static_cast<std::uint32_t>(rank)), dims});
  require_at(builder, context, builder.CreateICmpSGE(bytes, builder.getInt64(0)), site);
  return bytes;
}

llvm::Value* RuntimeCalls::stack_slots(llvm::IRBuilder<>& builder, std::size_t count) {
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(llvm::ArrayType::get(at.getInt64Ty(), std::max<std::size_t>(count, 1)));
}

llvm::Value* RuntimeCalls::array_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> values) {
  llvm::Value* slots = stack_slots(builder, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    builder.CreateStore(values[i], builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slots, i));
  return slots;
}

void RuntimeCalls::refuse_negative(llvm::IRBuilder<>& builder, llvm::Value* context, std::int32_t site,
                                   llvm::ArrayRef<llvm::Value*> dims,
                                   const std::function<void(llvm::Value* status)>& tell) {
  llvm::Value* good = nullptr;
  for (llvm::Value* dim : dims) {
    llvm::Value* least = builder.CreateICmpSGE(dim, builder.getInt64(0));
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(least); known && known->isOne()) continue;
    good = good ? builder.CreateAnd(good, least) : least;
  }
  if (!good) return;
  llvm::Function* code = builder.GetInsertBlock()->getParent();
  auto* failed = llvm::BasicBlock::Create(builder.getContext(), "fault", code);
  auto* next = llvm::BasicBlock::Create(builder.getContext(), "", code);
  builder.CreateCondBr(good, next, failed);
  builder.SetInsertPoint(failed);
  llvm::Type *ptr = builder.getPtrTy(), *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
  llvm::Function* fault = get("rt_shape_fault", i32, {ptr, i32, ptr, i64, ptr, i64});
  fault->addFnAttr(llvm::Attribute::Cold);
  llvm::Value* status =
      builder.CreateCall(fault, {context, number_of(builder, site), array_of(builder, dims),
                                 builder.getInt64(dims.size()), array_of(builder, {}), builder.getInt64(0)});
  if (tell)
    tell(status);
  else
    builder.CreateRet(status);
  builder.SetInsertPoint(next);
}

void RuntimeCalls::scratch_release(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* pointer) {
  builder.CreateCall(get("rt_scratch_release", builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy()}),
                     {context, pointer});
}

namespace {

llvm::MDNode* unlikely(llvm::IRBuilder<>& builder) {
  return llvm::MDBuilder(builder.getContext()).createBranchWeights(1, 1 << 20);
}

}  // namespace

void RuntimeCalls::poll(llvm::IRBuilder<>& builder, llvm::Value* flag, llvm::BasicBlock* interrupted) {
  llvm::LoadInst* seen = builder.CreateAlignedLoad(builder.getInt32Ty(), flag, llvm::Align(4));
  seen->setAtomic(llvm::AtomicOrdering::Monotonic);
  auto* next = llvm::BasicBlock::Create(builder.getContext(), "", builder.GetInsertBlock()->getParent());
  builder.CreateCondBr(builder.CreateIsNotNull(seen), interrupted, next, unlikely(builder));
  builder.SetInsertPoint(next);
}

void RuntimeCalls::return_unless(llvm::IRBuilder<>& builder, llvm::Value* good, llvm::Value* status) {
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* failed = llvm::BasicBlock::Create(builder.getContext(), "", function);
  auto* next = llvm::BasicBlock::Create(builder.getContext(), "", function);
  builder.CreateCondBr(builder.CreateNot(good), failed, next, unlikely(builder));
  builder.SetInsertPoint(failed);
  builder.CreateRet(status);
  builder.SetInsertPoint(next);
}

void RuntimeCalls::require_at(llvm::IRBuilder<>& builder, llvm::Value* context, llvm::Value* good,
                              std::optional<std::int32_t> site) {
  if (!site) return return_unless(builder, good, builder.getInt32(status_exception));
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* failed = llvm::BasicBlock::Create(builder.getContext(), "", function);
  auto* next = llvm::BasicBlock::Create(builder.getContext(), "", function);
  builder.CreateCondBr(builder.CreateNot(good), failed, next, unlikely(builder));
  builder.SetInsertPoint(failed);
  llvm::Function* place =
      get("rt_failed_at", builder.getVoidTy(), {builder.getPtrTy(), builder.getInt32Ty()});
  place->addFnAttr(llvm::Attribute::Cold);
  builder.CreateCall(place, {context, number_of(builder, *site)});
  builder.CreateRet(builder.getInt32(status_exception));
  builder.SetInsertPoint(next);
}

void RuntimeCalls::check_allocated(llvm::IRBuilder<>& builder, llvm::Value* pointer) {
  return_unless(builder, builder.CreateIsNotNull(pointer), builder.getInt32(status_exception));
}

void finish_function(llvm::Function& function) {
  function.setDoesNotThrow();
  function.addFnAttr("no-trapping-math", "true");
}

void mark_buffers(llvm::Function& function, std::span<const std::pair<unsigned, llvm::Align>> buffers) {
  llvm::LLVMContext& context = function.getContext();
  std::vector<llvm::AttributeSet> of_arguments(function.arg_size());
  for (const auto& [argument, alignment] : buffers) {
    llvm::AttrBuilder attributes(context);
    attributes.addAttribute(llvm::Attribute::NoAlias);
    attributes.addAlignmentAttr(alignment);
    of_arguments[argument] = llvm::AttributeSet::get(context, attributes);
  }
  const llvm::AttributeList before = function.getAttributes();
  function.setAttributes(
      llvm::AttributeList::get(context, before.getFnAttrs(), before.getRetAttrs(), of_arguments));
}

void translate_as_it_stands(llvm::Function& function) {
  function.addFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::NoInline);  // which the other demands
}

}  // namespace relish::jit
