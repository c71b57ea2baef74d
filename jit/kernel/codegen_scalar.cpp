// Code generation of scalar expressions. Registers hold bool as i1, integers at their width, float16 and
// bfloat16 as float values that are rounded after every operation; memory holds bool as a byte and the halves
// as 16 bits.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cmath>

#include "ir/calls/foreign_calls.h"
#include "ir/nodes/short_circuit.h"
#include "jit/engine/integer_code.h"
#include "jit/kernel/codegen_scalar.h"
#include "loops/digits.h"
#include "loops/extremes.h"
#include "loops/faults.h"
#include "runtime/tensor.h"

namespace relish::jit {
namespace {

bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

double rounded_literal(double value, DType dtype) {
  return visit_dtype(dtype, [&](auto tag) -> double {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return static_cast<float>(T(value));
    else
      return value;
  });
}

}  // namespace

ScalarEmitter::ScalarEmitter(llvm::Module& module, const TargetTraits& target, std::vector<Site>& sites,
                             std::string first_site)
    : module_(module),
      builder_(module.getContext()),
      target_(target),
      sites_(sites),
      runtime_(module, std::move(first_site)) {}

std::int32_t ScalarEmitter::add(Site site) {
  sites_.push_back(std::move(site));
  return static_cast<std::int32_t>(sites_.size()) - 1;
}

llvm::Type* ScalarEmitter::memory_type(DType dtype) const {
  if (is_bool(dtype)) return builder_.getInt8Ty();
  if (is_half(dtype)) return builder_.getInt16Ty();
  return register_type(dtype);
}

llvm::Value* ScalarEmitter::sign_or_zero_extend(llvm::Value* value, DType dtype) {
  return is_signed_int(dtype) ? builder_.CreateSExt(value, builder_.getInt64Ty())
                              : builder_.CreateZExt(value, builder_.getInt64Ty());
}

void ScalarEmitter::fault_unless(llvm::Value* good, Site site, llvm::Value* a, llvm::Value* b,
                                 llvm::Value* c) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(good); known && known->isOne()) return;
  auto* failed = llvm::BasicBlock::Create(builder_.getContext(), "fault", frame_.function);
  auto* next = llvm::BasicBlock::Create(builder_.getContext(), "", frame_.function);
  builder_.CreateCondBr(good, next, failed,
                        llvm::MDBuilder(builder_.getContext()).createBranchWeights(1 << 20, 1));
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(runtime_.fault(builder_, frame_.context, add(std::move(site)), a, b, c));
  builder_.SetInsertPoint(next);
}

llvm::Value* ScalarEmitter::rounded(llvm::Value* value, DType dtype) {
  if (dtype == DType::Float16) {
    if (target_.f16c) {
      return builder_.CreateFPExt(builder_.CreateFPTrunc(value, builder_.getHalfTy()), builder_.getFloatTy());
    }
    llvm::Type* i32 = builder_.getInt32Ty();
    llvm::Value* bits =
        builder_.CreateCall(runtime_.get("rt_float_to_half", i32, {builder_.getFloatTy()}), {value});
    return builder_.CreateCall(runtime_.get("rt_half_to_float", builder_.getFloatTy(), {i32}), {bits});
  }
  if (dtype != DType::BFloat16) return value;
  // Nearest even on the upper half of the bits; a NaN keeps its upper half and becomes quiet.
  llvm::Value* bits = builder_.CreateBitCast(value, builder_.getInt32Ty());
  llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), 1);
  llvm::Value* up = builder_.CreateAdd(bits, builder_.CreateAdd(odd, builder_.getInt32(0x7fff)));
  llvm::Value* quiet = builder_.CreateOr(bits, builder_.getInt32(0x00400000));
  llvm::Value* nan = builder_.CreateFCmpUNO(value, value);
  llvm::Value* kept =
      builder_.CreateAnd(builder_.CreateSelect(nan, quiet, up), builder_.getInt32(0xffff0000u));
  return builder_.CreateBitCast(kept, builder_.getFloatTy());
}

llvm::Value* ScalarEmitter::from_memory(llvm::Value* raw, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return builder_.CreateIsNotNull(raw);
    case DType::BFloat16:
      return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateZExt(raw, builder_.getInt32Ty()), 16),
                                    builder_.getFloatTy());
    case DType::Float16:
      if (target_.f16c)
        return builder_.CreateFPExt(builder_.CreateBitCast(raw, builder_.getHalfTy()), builder_.getFloatTy());
      return builder_.CreateCall(
          runtime_.get("rt_half_to_float", builder_.getFloatTy(), {builder_.getInt32Ty()}),
          {builder_.CreateZExt(raw, builder_.getInt32Ty())});
    default:
      return raw;
  }
}

llvm::Value* ScalarEmitter::in_memory(llvm::Value* value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return builder_.CreateZExt(value, builder_.getInt8Ty());
    case DType::BFloat16:
      return builder_.CreateTrunc(
          builder_.CreateLShr(builder_.CreateBitCast(value, builder_.getInt32Ty()), 16),
          builder_.getInt16Ty());
    case DType::Float16: {
      if (target_.f16c)
        return builder_.CreateBitCast(builder_.CreateFPTrunc(value, builder_.getHalfTy()),
                                      builder_.getInt16Ty());
      llvm::Function* convert =
          runtime_.get("rt_float_to_half", builder_.getInt32Ty(), {builder_.getFloatTy()});
      return builder_.CreateTrunc(builder_.CreateCall(convert, {value}), builder_.getInt16Ty());
    }
    default:
      return value;
  }
}

llvm::Value* ScalarEmitter::load_element(llvm::Value* address, DType dtype) {
  const llvm::Align align(static_cast<std::uint64_t>(size_of(dtype)));
  return from_memory(builder_.CreateAlignedLoad(memory_type(dtype), address, align), dtype);
}

void ScalarEmitter::store_element(llvm::Value* value, llvm::Value* address, DType dtype) {
  const llvm::Align align(static_cast<std::uint64_t>(size_of(dtype)));
  builder_.CreateAlignedStore(in_memory(value, dtype), address, align);
}

llvm::Value* ScalarEmitter::variable(const ScalarVar& var) {
  const auto found = frame_.scalars.find(var.id());
  RELISH_CHECK(found != frame_.scalars.end(), "scalar variable '" + var.name() + "' has no value");
  ScalarSlot& slot = found->second;
  if (slot.cell) return builder_.CreateLoad(register_type(var.dtype()), slot.cell);
  if (slot.native) return slot.native;
  return builder_.CreateTrunc(slot.index, register_type(var.dtype()));
}

llvm::Value* ScalarEmitter::index(const Scalar& value) {
  if (const auto literal = value.as_int()) return int64(*literal);
  if (const auto* use = value.as<VarUse>()) {
    const auto found = frame_.scalars.find(use->var.id());
    if (found != frame_.scalars.end() && found->second.index) return found->second.index;
  }
  if (const auto* node = value.as<Cast>()) {
    if (is_signed_int(value.dtype()) && is_signed_int(node->a.dtype()) &&
        size_of(node->a.dtype()) <= size_of(value.dtype()))
      return index(node->a);
  }
  if (const auto* node = value.as<Binary>();
      node && (value.dtype() == DType::Int32 || value.dtype() == DType::Int64)) {
    switch (node->op) {
      case BinaryOp::Add:
        return builder_.CreateNSWAdd(index(node->a), index(node->b));
      case BinaryOp::Sub:
        return builder_.CreateNSWSub(index(node->a), index(node->b));
      case BinaryOp::Mul:
        return builder_.CreateNSWMul(index(node->a), index(node->b));
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
        if (node->b.as_int().value_or(0) > 0 && prover_.nonnegative(node->a)) {
          return node->op == BinaryOp::FloorDiv ? builder_.CreateUDiv(index(node->a), index(node->b))
                                                : builder_.CreateURem(index(node->a), index(node->b));
        }
        break;
      default:
        break;
    }
  }
  return sign_or_zero_extend(scalar(value), value.dtype());
}

llvm::Value* ScalarEmitter::element_address(const Buffer& buffer, const std::vector<Scalar>& indices,
                                            Span span) {
  const auto found = frame_.buffers.find(buffer.id());
  RELISH_CHECK(found != frame_.buffers.end(), "buffer '" + buffer.name() + "' is not allocated");
  const BufferSlot& slot = found->second;
  llvm::Value* flat = int64(0);
  bool proved = slot.strides.empty();
  for (std::size_t d = 0; d < indices.size(); ++d) {
    llvm::Value* at = nullptr;
    if (prover_.in_range(indices[d], buffer.shape()[d])) {
      at = index(indices[d]);
    } else {
      proved = false;
      at = sign_or_zero_extend(scalar(indices[d]), indices[d].dtype());
      fault_unless(builder_.CreateICmpULT(at, slot.dims[d]),
                   {span, FaultKind::IndexOutOfRange, buffer.name(), {}, {}, indices[d].dtype()},
                   int64(static_cast<std::int64_t>(d)), at, slot.dims[d]);
    }
    if (!slot.strides.empty())
      flat = builder_.CreateNSWAdd(flat, builder_.CreateNSWMul(at, slot.strides[d]));
    else
      flat = d == 0 ? at : builder_.CreateNSWAdd(builder_.CreateNSWMul(flat, slot.dims[d]), at);
  }
  if (const auto place = proved ? counted_place(buffer, indices) : std::nullopt) flat = index(*place);
  return builder_.CreateInBoundsGEP(memory_type(buffer.dtype()), slot.pointer, flat);
}

llvm::Value* ScalarEmitter::scalar(const Scalar& value) {
  const DType dtype = value.dtype();
  const Span span = value.span();
  if (const auto* n = value.as<IntLiteral>()) {
    return llvm::ConstantInt::get(register_type(dtype), static_cast<std::uint64_t>(n->value),
                                  is_signed_int(dtype));
  }
  if (const auto* n = value.as<FloatLiteral>())
    return llvm::ConstantFP::get(register_type(dtype), rounded_literal(n->value, dtype));
  if (const auto* n = value.as<VarUse>()) return variable(n->var);
  if (const auto* n = value.as<Binary>()) return binary(*n, dtype, span);
  if (const auto* n = value.as<Compare>()) return compare(*n);
  if (const auto* n = value.as<Logical>()) return logical(*n);
  if (const auto* n = value.as<Not>()) {
    llvm::Value* a = scalar(n->a);
    return is_bool(n->a.dtype()) ? builder_.CreateNot(a) : builder_.CreateIsNull(a);
  }
  if (const auto* n = value.as<Select>()) return select(*n, dtype);
  if (const auto* n = value.as<Cast>()) return cast(scalar(n->a), n->a.dtype(), dtype);
  if (const auto* n = value.as<Load>())
    return load_element(element_address(*n->buffer, n->indices, span), n->buffer->dtype());
  if (const auto* n = value.as<IntrinsicCall>()) return intrinsic(*n, dtype);
  if (const auto* n = value.as<Reinterpret>()) {
    llvm::Value* bits = in_memory(scalar(n->a), n->a.dtype());
    return from_memory(builder_.CreateBitCast(bits, memory_type(dtype)), dtype);
  }
  if (const auto* n = value.as<Let>()) {
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    define(n->var, {scalar(n->value), nullptr, nullptr});
    llvm::Value* body = scalar(n->body);
    leave_scope(scalars, buffers);
    return body;
  }
  // An address alone does nothing.
  if (value.as<DataOf>() || value.as<TextLiteral>()) return llvm::ConstantInt::get(register_type(dtype), 0);
  if (const auto* n = value.as<ForeignCall>()) refuse_foreign_call(*n, span);
  RELISH_CHECK(false, "scalar kind without code generation");
}

llvm::Value* ScalarEmitter::binary(const Binary& node, DType dtype, Span span) {
  llvm::Value* a = scalar(node.a);
  llvm::Value* b = scalar(node.b);
  if (is_float(dtype)) return rounded(float_binary(node.op, a, b, dtype), dtype);
  return integer_binary(node.op, a, b, node, dtype, span);
}

llvm::Value* ScalarEmitter::float_binary(BinaryOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  switch (op) {
    case BinaryOp::Add:
      return builder_.CreateFAdd(a, b);
    case BinaryOp::Sub:
      return builder_.CreateFSub(a, b);
    case BinaryOp::Mul:
      return builder_.CreateFMul(a, b);
    case BinaryOp::Div:
      return builder_.CreateFDiv(a, b);
    case BinaryOp::Min:
      return builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), a, b);
    case BinaryOp::Max:
      return builder_.CreateSelect(builder_.CreateFCmpOGT(a, b), a, b);
    case BinaryOp::FloorDiv:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    case BinaryOp::TruncMod:
    case BinaryOp::FloorMod: {
      llvm::Value* r = builder_.CreateCall(runtime_.math("fmod", register_type(dtype), 2), {a, b});
      if (op == BinaryOp::TruncMod) return r;
      llvm::Value* zero = llvm::ConstantFP::get(r->getType(), 0.0);
      llvm::Value* signs_differ =
          builder_.CreateXor(builder_.CreateFCmpOLT(r, zero), builder_.CreateFCmpOLT(b, zero));
      llvm::Value* adjust = builder_.CreateAnd(builder_.CreateFCmpUNE(r, zero), signs_differ);
      return builder_.CreateSelect(adjust, builder_.CreateFAdd(r, b), r);
    }
    default:
      break;
  }
  RELISH_CHECK(false, "integer operation on floats");
}

llvm::Value* ScalarEmitter::integer_binary(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node,
                                           DType dtype, Span span) {
  const bool is_signed = is_signed_int(dtype);
  switch (op) {
    // Sums of bools saturate, as their bytes become bool again.
    case BinaryOp::Add:
      return is_bool(dtype) ? builder_.CreateOr(a, b) : builder_.CreateAdd(a, b);
    case BinaryOp::Sub:
      return is_bool(dtype) ? builder_.CreateXor(a, b) : builder_.CreateSub(a, b);
    case BinaryOp::Mul:
      return builder_.CreateMul(a, b);
    case BinaryOp::Min:
      return builder_.CreateSelect(is_signed ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b), a,
                                   b);
    case BinaryOp::Max:
      return builder_.CreateSelect(is_signed ? builder_.CreateICmpSGT(a, b) : builder_.CreateICmpUGT(a, b), a,
                                   b);
    case BinaryOp::BitAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::BitOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::BitXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      if (is_bool(dtype)) {  // as bytes 0 and 1
        llvm::Type* byte = builder_.getInt8Ty();
        llvm::Value* r =
            divide(op, builder_.CreateZExt(a, byte), builder_.CreateZExt(b, byte), node, DType::UInt8, span);
        return builder_.CreateIsNotNull(r);
      }
      return divide(op, a, b, node, dtype, span);
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      if (is_bool(dtype)) {
        llvm::Type* byte = builder_.getInt8Ty();
        llvm::Value* r =
            shift(op, builder_.CreateZExt(a, byte), builder_.CreateZExt(b, byte), node, DType::UInt8, span);
        return builder_.CreateIsNotNull(r);
      }
      return shift(op, a, b, node, dtype, span);
  }
  RELISH_CHECK(false, "integer operation");
}

llvm::Value* ScalarEmitter::divide(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node,
                                   DType dtype, Span span) {
  const std::int64_t divisor = node.b.as_int().value_or(0);
  if (divisor == 0) fault_unless(builder_.CreateIsNotNull(b), {span, FaultKind::DivisionByZero, {}, {}, {}});
  const bool no_signs =
      !is_signed_int(dtype) ||
      (divisor > 0 && (dtype == DType::Int32 || dtype == DType::Int64) && prover_.nonnegative(node.a));
  return divided(builder_, op, a, b, !no_signs, divisor > 0);
}

llvm::Value* ScalarEmitter::shift(BinaryOp op, llvm::Value* a, llvm::Value* b, const Binary& node,
                                  DType dtype, Span span) {
  const bool counted = dtype == DType::Int32 || dtype == DType::Int64;
  const bool known = node.b.as_int().value_or(-1) >= 0 || (counted && prover_.nonnegative(node.b));
  if (is_signed_int(dtype) && !known) {
    llvm::Value* good = builder_.CreateICmpSGE(b, llvm::ConstantInt::get(b->getType(), 0));
    fault_unless(good, {span, FaultKind::NegativeShift, {}, {}, {}}, sign_or_zero_extend(b, dtype));
  }
  return shifted(builder_, op, a, b, is_signed_int(dtype), bits_of(dtype));
}

llvm::Value* ScalarEmitter::compare(const Compare& node) {
  llvm::Value* a = scalar(node.a);
  return compared_as(node.op, a, scalar(node.b), node.a.dtype());
}

// Of two values, or of vectors lane by lane.
llvm::Value* ScalarEmitter::compared_as(CompareOp op, llvm::Value* a, llvm::Value* b, DType dtype) {
  using P = llvm::CmpInst::Predicate;
  if (is_float(dtype)) {
    switch (op) {
      case CompareOp::Eq:
        return builder_.CreateFCmp(P::FCMP_OEQ, a, b);
      case CompareOp::Ne:
        return builder_.CreateFCmp(P::FCMP_UNE, a, b);
      case CompareOp::Lt:
        return builder_.CreateFCmp(P::FCMP_OLT, a, b);
      case CompareOp::Le:
        return builder_.CreateFCmp(P::FCMP_OLE, a, b);
      case CompareOp::Gt:
        return builder_.CreateFCmp(P::FCMP_OGT, a, b);
      case CompareOp::Ge:
        return builder_.CreateFCmp(P::FCMP_OGE, a, b);
    }
  }
  return compared(builder_, op, a, b, is_signed_int(dtype));
}

// Whether evaluating it although it is not needed costs little and cannot fault.
bool ScalarEmitter::cheap_and_safe(const Scalar& value) {
  if (may_fault(value, prover_)) return false;
  const std::function<bool(const Scalar&)> cheap = [&](const Scalar& v) {
    if (const auto* n = v.as<Binary>())
      return n->op != BinaryOp::TruncMod && n->op != BinaryOp::FloorMod && cheap(n->a) && cheap(n->b);
    if (const auto* n = v.as<Compare>()) return cheap(n->a) && cheap(n->b);
    if (const auto* n = v.as<Cast>()) return cheap(n->a);
    if (const auto* n = v.as<Select>()) return cheap(n->condition) && cheap(n->a) && cheap(n->b);
    return !v.as<IntrinsicCall>() && !v.as<Let>();
  };
  return cheap(value);
}

// The second operand is evaluated where the first does not decide, or where nobody can see that it was.
llvm::Value* ScalarEmitter::logical(const Logical& node) {
  const bool both = node.op == LogicalOp::And;
  if (!cheap_and_safe(node.b)) {
    const Scalar decided = bool_literal(!both);
    return select(both ? Select{node.a, node.b, decided, true} : Select{node.a, decided, node.b, true},
                  DType::Bool);
  }
  llvm::Value* a = scalar(node.a);
  llvm::Value* b = scalar(node.b);
  if (!is_bool(node.a.dtype())) a = builder_.CreateIsNotNull(a);
  if (!is_bool(node.b.dtype())) b = builder_.CreateIsNotNull(b);
  return both ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
}

// Whether LLVM may compute with the value as a half, of which it was made.
static bool may_be_narrowed(const llvm::Value* value) {
  const auto* widened = llvm::dyn_cast<llvm::FPExtInst>(value);
  return widened ? widened->getSrcTy()->getScalarType()->isHalfTy() : llvm::isa<llvm::ConstantFP>(value);
}

// LLVM 19 narrows the maximum of two widened halves to one of halves, for which processors have no
// instruction, and what it makes of vectors of those loses a NaN beside a zero. Comparisons say the same.
llvm::Value* ScalarEmitter::extreme_of_halves(llvm::Value* a, llvm::Value* b, bool largest) {
  // Of two zeros the sum is the positive one, if one is; and the other way round for the negated.
  llvm::Value* zeros =
      largest ? builder_.CreateFAdd(a, b)
              : builder_.CreateFNeg(builder_.CreateFAdd(builder_.CreateFNeg(a), builder_.CreateFNeg(b)));
  llvm::Value* is_zero = builder_.CreateFCmpOEQ(a, llvm::ConstantFP::get(a->getType(), 0.0));
  llvm::Value* equal = builder_.CreateSelect(is_zero, zeros, a);
  llvm::Value* first = largest ? builder_.CreateFCmpOGT(a, b) : builder_.CreateFCmpOLT(a, b);
  llvm::Value* other = builder_.CreateSelect(builder_.CreateFCmpUNO(a, b), builder_.CreateFAdd(a, b), b);
  return builder_.CreateSelect(builder_.CreateFCmpOEQ(a, b), equal, builder_.CreateSelect(first, a, other));
}

llvm::Value* ScalarEmitter::select(const Select& node, DType dtype) {
  if (const auto extreme = as_extreme(node)) {
    llvm::Value* a = scalar(extreme->a);
    llvm::Value* b = scalar(extreme->b);
    if (dtype == DType::Float16 || (may_be_narrowed(a) && may_be_narrowed(b)))
      return extreme_of_halves(a, b, extreme->largest);
    return extreme->largest ? builder_.CreateMaximum(a, b) : builder_.CreateMinimum(a, b);
  }
  llvm::Value* condition = scalar(node.condition);
  if (!is_bool(node.condition.dtype())) condition = builder_.CreateIsNotNull(condition);
  if (!is_one_sided(node, dtype) || (cheap_and_safe(node.a) && cheap_and_safe(node.b))) {
    llvm::Value* a = scalar(node.a);
    llvm::Value* b = scalar(node.b);
    return builder_.CreateSelect(condition, a, b);
  }
  auto& context = builder_.getContext();
  auto* taken = llvm::BasicBlock::Create(context, "then", frame_.function);
  auto* other = llvm::BasicBlock::Create(context, "else", frame_.function);
  auto* join = llvm::BasicBlock::Create(context, "join", frame_.function);
  builder_.CreateCondBr(condition, taken, other);
  builder_.SetInsertPoint(taken);
  const std::size_t facts = prover_.assume(node.condition);
  llvm::Value* a = scalar(node.a);
  prover_.forget(facts);
  taken = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(other);
  llvm::Value* b = scalar(node.b);
  other = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* result = builder_.CreatePHI(register_type(dtype), 2);
  result->addIncoming(a, taken);
  result->addIncoming(b, other);
  return result;
}

// The value of a reduction's store. Products are fused into the sum, and when the innermost loop is the one
// that is summed over, its terms may change their order: to that of a fixed number of lanes (vector_hints).
ScalarEmitter::ReductionLoops ScalarEmitter::reduction_loops(const Store& store) {
  ReductionLoops loops;
  for (const ScalarVar& loop : frame_.loops) {
    bool used = false;
    for (const Scalar& at : store.indices) used = used || prover_.depends_on(at, loop);
    loops.some = loops.some || !used;
    loops.innermost = !used;  // of the last loop in the end
  }
  return loops;
}

bool ScalarEmitter::fuses_product(const Store& store, const Update& update) {
  const DType dtype = store.buffer.dtype();
  const auto* product = update.addend.as<Binary>();
  return (dtype == DType::Float32 || dtype == DType::Float64) && update.op == BinaryOp::Add && product &&
         product->op == BinaryOp::Mul && reduction_loops(store).some;
}

llvm::Value* ScalarEmitter::update(const Store& store, const Update& update) {
  const DType dtype = store.buffer.dtype();
  const bool wide = dtype == DType::Float32 || dtype == DType::Float64;
  const auto [in_reduction, along_innermost] = reduction_loops(store);
  if (!wide || !in_reduction || (update.op != BinaryOp::Add && update.op != BinaryOp::Mul))
    return scalar(store.value);
  const bool fuse = fuses_product(store, update);
  const auto* product = update.addend.as<Binary>();
  llvm::Value* loaded = scalar(update.loaded);
  llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  llvm::FastMathFlags flags;
  if (fuse) {
    llvm::Value* a = scalar(product->a);
    llvm::Value* b = scalar(product->b);
    if (!along_innermost && target_.fma)
      return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {loaded->getType()}, {a, b, loaded});
    flags.setAllowContract(true);
    builder_.setFastMathFlags(flags);
    llvm::Value* multiplied = builder_.CreateFMul(a, b);
    flags.setAllowReassoc(along_innermost);
    frame_.free_sums = frame_.free_sums || along_innermost;
    builder_.setFastMathFlags(flags);
    return builder_.CreateFAdd(loaded, multiplied);
  }
  llvm::Value* addend = scalar(update.addend);
  // A guarded sum keeps its order, as the reference adds it (schedule/nests/arrange.h).
  const auto* guarded = update.addend.as<Select>();
  const bool free = along_innermost && !(guarded && guarded->lazy);
  flags.setAllowReassoc(free);
  frame_.free_sums = frame_.free_sums || free;
  builder_.setFastMathFlags(flags);
  return update.op == BinaryOp::Add ? builder_.CreateFAdd(loaded, addend)
                                    : builder_.CreateFMul(loaded, addend);
}

}  // namespace relish::jit
