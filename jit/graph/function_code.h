// The LLVM function of one Relax function while it is filled: what all parts of its generation share.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "jit/engine/runtime_calls.h"
#include "jit/engine/sites.h"
#include "jit/kernel/kernel_signature.h"
#include "runtime/dtype.h"

namespace relish::jit {

struct FunctionCode {
  FunctionCode(llvm::Function& function, RuntimeCalls& calls, SiteTable& table)
      : runtime(calls),
        sites(table),
        code(function),
        builder(function.getContext()),
        context(function.getArg(0)),
        ptr(builder.getPtrTy()),
        i32(builder.getInt32Ty()),
        i64(builder.getInt64Ty()) {}

  RuntimeCalls& runtime;
  SiteTable& sites;
  llvm::Function& code;
  llvm::IRBuilder<> builder;
  llvm::Value* context;
  llvm::BasicBlock* interrupted = nullptr;  // returns
  llvm::Type *ptr, *i32, *i64;

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(code.getContext(), name, &code);
  }
  llvm::Value* int32(std::int64_t value) { return llvm::ConstantInt::getSigned(i32, value); }
  llvm::Value* int64(std::int64_t value) { return llvm::ConstantInt::getSigned(i64, value); }
  // The address of the flag that a poll looks at; it may be another one behind a call of the runtime.
  llvm::Value* flag() { return builder.CreateLoad(ptr, context); }
  // The address of what this process has, by a symbol: code itself holds none.
  llvm::Value* address(const void* of) {
    return code.getParent()->getOrInsertGlobal(address_symbol(sites.add_address(of)),
                                               llvm::ArrayType::get(builder.getInt8Ty(), 0));
  }
  llvm::Value* slot(llvm::Value* slots, std::size_t position) {
    return builder.CreateConstInBoundsGEP1_64(i64, slots, position);
  }
  llvm::Type* scalar_type(DType dtype) { return register_type(dtype, builder.getContext()); }
  // A scalar fills the low bytes of its slot.
  llvm::Value* scalar_of_slot(llvm::Value* slots, std::size_t position, DType dtype) {
    llvm::Value* at = slot(slots, position);
    if (is_bool(dtype)) return builder.CreateIsNotNull(builder.CreateLoad(builder.getInt8Ty(), at));
    return builder.CreateLoad(scalar_type(dtype), at);
  }
  // Leaves the function with the status unless it is good.
  void return_unless_ok(llvm::Value* status) {
    RuntimeCalls::return_unless(builder, builder.CreateIsNull(status), status);
  }
};

}  // namespace relish::jit
