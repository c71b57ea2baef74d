// Parameters of kernels.
#include "jit/kernel/kernel_signature.h"

#include <unordered_set>

namespace relish::jit {

std::vector<ScalarVar> kernel_symbols(const PrimFunc& function) {
  std::vector<ScalarVar> vars;
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, vars);
    for (const Scalar& stride : param.buffer()->strides()) collect_vars(stride, vars);
    if (param.buffer()->elem_offset().defined()) collect_vars(param.buffer()->elem_offset(), vars);
  }
  std::unordered_set<std::uint64_t> known;
  for (const PrimParam& param : function.params)
    if (param.scalar()) known.insert(param.scalar()->id());
  std::vector<ScalarVar> symbols;
  for (const ScalarVar& var : vars)
    if (known.insert(var.id()).second) symbols.push_back(var);
  return symbols;
}

unsigned bits_of(DType dtype) { return is_bool(dtype) ? 1U : static_cast<unsigned>(size_of(dtype)) * 8U; }

llvm::Type* register_type(DType dtype, llvm::LLVMContext& context) {
  if (dtype == DType::Float64) return llvm::Type::getDoubleTy(context);
  if (is_float(dtype)) return llvm::Type::getFloatTy(context);
  return llvm::Type::getIntNTy(context, bits_of(dtype));
}

llvm::FunctionType* kernel_type(const PrimFunc& function, llvm::LLVMContext& context) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  std::vector<llvm::Type*> types{pointer};
  for (const PrimParam& param : function.params)
    types.push_back(param.buffer() ? pointer : register_type(param.scalar()->dtype(), context));
  types.insert(types.end(), kernel_symbols(function).size(), llvm::Type::getInt64Ty(context));
  if (function.result_dtype) types.push_back(pointer);
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), types, false);
}

}  // namespace relish::jit
