// Code generation of symbolic dims: their values, and the checks of shapes against types.
#include <fmt/format.h>

#include <algorithm>

#include "ir/scalars/scalar_order.h"
#include "jit/graph/graph_state.h"
#include "jit/graph/scalar_hash.h"

namespace relish::jit {

// Dims are computed once: an equal expression gives the same value, so that checks of equal dims fall away.
llvm::Value* GraphState::dim(const Scalar& scalar) {
  if (const auto literal = scalar.as_int()) return int64(*literal);
  const Scalar form = canonical(scalar);
  const std::uint64_t hash = hash_of(form);
  const auto [begin, end] = frame_.dims.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (structurally_equal(at->second.first, form)) return at->second.second;
  llvm::Value* value = dim_uncached(scalar);
  frame_.dims.emplace(hash, std::pair(form, value));
  return value;
}

llvm::Value* GraphState::dim_uncached(const Scalar& scalar) {
  if (const auto var = scalar.as_var()) {
    const auto found = frame_.symbols.find(var->id());
    if (found == frame_.symbols.end())
      fail(ErrorClass::Type, scalar.span(), "entry.symbol",
           fmt::format("dimension {} has no value", var->name()));
    return found->second;
  }
  if (const auto* n = scalar.as<Cast>(); n && !is_float(n->a.dtype()))
    return wrapped(dim(n->a), scalar.dtype());
  if (const auto* n = scalar.as<Not>())
    return builder_.CreateZExt(builder_.CreateIsNull(dim(n->a)), builder_.getInt64Ty());
  if (const auto* n = scalar.as<Select>()) return dim_of_side(n->condition, n->a, n->b);
  if (const auto* n = scalar.as<Logical>()) {
    const Scalar decided = bool_literal(n->op == LogicalOp::Or);
    return n->op == LogicalOp::And ? dim_of_side(n->a, n->b, decided) : dim_of_side(n->a, decided, n->b);
  }
  if (const auto* n = scalar.as<Compare>()) {
    using P = llvm::CmpInst::Predicate;
    static constexpr P predicates[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                       P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
    static constexpr P of_bits[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                    P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
    llvm::Value* a = dim(n->a);
    const auto which = static_cast<std::size_t>(n->op);
    llvm::Value* held =
        builder_.CreateICmp(n->a.dtype() == DType::UInt64 ? of_bits[which] : predicates[which], a, dim(n->b));
    return builder_.CreateZExt(held, builder_.getInt64Ty());
  }
  const auto* n = scalar.as<Binary>();
  if (!n) fail(ErrorClass::Runtime, scalar.span(), "symbol.unknown", "a symbolic size has no value here");
  return wrapped(binary_dim(*n, scalar), scalar.dtype());
}

// The value of an integer expression that is computed in 64 bits, as its dtype holds it.
llvm::Value* GraphState::wrapped(llvm::Value* value, DType dtype) {
  if (is_bool(dtype)) return builder_.CreateZExt(builder_.CreateIsNotNull(value), builder_.getInt64Ty());
  if (size_of(dtype) == 8) return value;
  llvm::Value* narrow = builder_.CreateTrunc(value, scalar_type(dtype));
  return is_signed_int(dtype) ? builder_.CreateSExt(narrow, builder_.getInt64Ty())
                              : builder_.CreateZExt(narrow, builder_.getInt64Ty());
}

// The side that the condition takes; the other one is not computed, as it may be at fault.
llvm::Value* GraphState::dim_of_side(const Scalar& condition, const Scalar& a, const Scalar& b) {
  llvm::LLVMContext& context = code_.getContext();
  auto* taken = llvm::BasicBlock::Create(context, "then", frame_.code);
  auto* other = llvm::BasicBlock::Create(context, "else", frame_.code);
  auto* join = llvm::BasicBlock::Create(context, "join", frame_.code);
  builder_.CreateCondBr(builder_.CreateIsNotNull(dim(condition)), taken, other);
  llvm::PHINode* chosen = llvm::PHINode::Create(builder_.getInt64Ty(), 2, "", join);
  const auto side = [&](llvm::BasicBlock* at, const Scalar& value) {
    builder_.SetInsertPoint(at);
    apart([&] {
      llvm::Value* computed = dim(value);
      chosen->addIncoming(computed, builder_.GetInsertBlock());
    });
    builder_.CreateBr(join);
  };
  side(taken, a);
  side(other, b);
  builder_.SetInsertPoint(join);
  return chosen;
}

llvm::Value* GraphState::binary_dim(const Binary& node, const Scalar& scalar) {
  const Binary* n = &node;
  const bool bits = scalar.dtype() == DType::UInt64;
  llvm::Value* a = dim(n->a);
  llvm::Value* b = dim(n->b);
  // Sizes are exact: what does not fit int64 is a fault, as in evaluate_int.
  const auto or_overflow = [&](llvm::Value* overflows) {
    Site site{scalar.span(), FaultKind::SizeOverflow, std::string(symbol_of(n->op)), {}, {}};
    fault_where(overflows, std::move(site), a, b);
  };
  const auto exactly = [&](llvm::Intrinsic::ID operation, llvm::Instruction::BinaryOps wrapping) {
    if (scalar.dtype() != DType::Int64) return builder_.CreateBinOp(wrapping, a, b);
    llvm::Value* both = builder_.CreateBinaryIntrinsic(operation, a, b);
    or_overflow(builder_.CreateExtractValue(both, 1));
    return builder_.CreateExtractValue(both, 0);
  };
  switch (n->op) {
    case BinaryOp::Add:
      return exactly(llvm::Intrinsic::sadd_with_overflow, llvm::Instruction::Add);
    case BinaryOp::Sub:
      return exactly(llvm::Intrinsic::ssub_with_overflow, llvm::Instruction::Sub);
    case BinaryOp::Mul:
      return exactly(llvm::Intrinsic::smul_with_overflow, llvm::Instruction::Mul);
    case BinaryOp::Min:
      return builder_.CreateBinaryIntrinsic(bits ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, a, b);
    case BinaryOp::Max:
      return builder_.CreateBinaryIntrinsic(bits ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, a, b);
    case BinaryOp::BitAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::BitOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::BitXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return shifted_dim(n->op, a, b, scalar);
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      break;
  }
  const bool literal = n->b.as_int().value_or(0) > 0;
  if (!literal) {
    fault_where(builder_.CreateIsNull(b), {scalar.span(), FaultKind::DivisionByZero, {}, {}, {}}, nullptr,
                nullptr);
    if (scalar.dtype() == DType::Int64 && (n->op == BinaryOp::Div || n->op == BinaryOp::FloorDiv)) {
      or_overflow(builder_.CreateAnd(builder_.CreateICmpEQ(a, int64(INT64_MIN)),
                                     builder_.CreateICmpEQ(b, int64(-1))));
    }
  }
  if (bits) {
    return n->op == BinaryOp::Div || n->op == BinaryOp::FloorDiv ? builder_.CreateUDiv(a, b)
                                                                 : builder_.CreateURem(a, b);
  }
  // The least integer divided by -1 wraps: the machine would trap.
  llvm::Value* by_minus_one = builder_.CreateICmpEQ(b, int64(-1));
  llvm::Value* quotient = builder_.CreateSDiv(a, builder_.CreateSelect(by_minus_one, int64(1), b));
  quotient = builder_.CreateSelect(by_minus_one, builder_.CreateSub(int64(0), a), quotient);
  llvm::Value* rest = builder_.CreateSub(a, builder_.CreateMul(quotient, b));
  if (n->op == BinaryOp::Div) return quotient;
  if (n->op == BinaryOp::TruncMod) return rest;
  llvm::Value* adjust = builder_.CreateAnd(
      builder_.CreateIsNotNull(rest),
      builder_.CreateXor(builder_.CreateICmpSLT(rest, int64(0)), builder_.CreateICmpSLT(b, int64(0))));
  if (n->op == BinaryOp::FloorDiv)
    return builder_.CreateSelect(adjust, builder_.CreateSub(quotient, int64(1)), quotient);
  return builder_.CreateSelect(adjust, builder_.CreateAdd(rest, b), rest);
}

// A shift by the width or more leaves 0, or the sign.
llvm::Value* GraphState::shifted_dim(BinaryOp op, llvm::Value* a, llvm::Value* b, const Scalar& scalar) {
  const DType dtype = scalar.dtype();
  fault_where(builder_.CreateICmpSLT(b, int64(0)), {scalar.span(), FaultKind::NegativeShift, {}, {}, {}}, b,
              nullptr);
  const std::int64_t width = is_bool(dtype) ? 8 : 8 * static_cast<std::int64_t>(size_of(dtype));
  llvm::Value* too_far = builder_.CreateICmpUGE(b, int64(width));
  llvm::Value* by = builder_.CreateSelect(too_far, int64(width - 1), b);
  if (op == BinaryOp::ShiftRight && is_signed_int(dtype)) return builder_.CreateAShr(a, by);
  llvm::Value* moved = op == BinaryOp::ShiftLeft ? builder_.CreateShl(a, by) : builder_.CreateLShr(a, by);
  return builder_.CreateSelect(too_far, int64(0), moved);
}

// Leaves the function by the fault of the site where the condition holds.
void GraphState::fault_where(llvm::Value* condition, Site site, llvm::Value* a, llvm::Value* b) {
  const std::int32_t id = sites_.add(std::move(site));
  auto* failed = llvm::BasicBlock::Create(code_.getContext(), "fault", frame_.code);
  auto* next = llvm::BasicBlock::Create(code_.getContext(), "", frame_.code);
  builder_.CreateCondBr(condition, failed, next);
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(runtime_.fault(builder_, frame_.context, id, a, b, nullptr));
  builder_.SetInsertPoint(next);
}

llvm::Value* GraphState::scalar_value_of(const Scalar& scalar) {
  llvm::Type* type = scalar_type(scalar.dtype());
  if (!is_float(scalar.dtype())) return builder_.CreateTrunc(dim(scalar), type);
  if (const auto* literal = scalar.as<FloatLiteral>()) return llvm::ConstantFP::get(type, literal->value);
  if (const auto var = scalar.as_var()) {
    // A float parameter is held as the bits of its double.
    if (const auto found = frame_.symbols.find(var->id()); found != frame_.symbols.end())
      return builder_.CreateFPCast(builder_.CreateBitCast(found->second, builder_.getDoubleTy()), type);
  }
  if (const auto* n = scalar.as<Cast>()) {
    const DType from = n->a.dtype();
    if (!is_float(from)) return builder_.CreateSIToFP(dim(n->a), type);
    return builder_.CreateFPCast(scalar_value_of(n->a), type);
  }
  if (const auto* n = scalar.as<Binary>(); n && size_of(scalar.dtype()) >= 4) {
    llvm::Value* a = scalar_value_of(n->a);
    llvm::Value* b = scalar_value_of(n->b);
    switch (n->op) {
      case BinaryOp::Add:
        return builder_.CreateFAdd(a, b);
      case BinaryOp::Sub:
        return builder_.CreateFSub(a, b);
      case BinaryOp::Mul:
        return builder_.CreateFMul(a, b);
      case BinaryOp::Div:
        return builder_.CreateFDiv(a, b);
      default:
        break;
    }
  }
  const auto* half = scalar.as<Binary>();  // is rounded after every step, which the interpreter does
  if (half && size_of(scalar.dtype()) < 4 &&
      (half->op == BinaryOp::Add || half->op == BinaryOp::Sub || half->op == BinaryOp::Mul ||
       half->op == BinaryOp::Div)) {
    fail(ErrorClass::Type, scalar.span(), "jit.scalar",
         fmt::format("arithmetic of {} scalars is not compiled; run it with --tier interp",
                     name_of(scalar.dtype())));
  }
  fail(ErrorClass::Type, scalar.span(), "scalar.form", "a scalar of this form has no value here");
}

// Bare dims of the type that have no value yet take that of the value.
void GraphState::bind_dims(const Live& live, const Type& type) {
  const auto bind = [&](const std::vector<llvm::Value*>& found, const std::vector<Scalar>& dims) {
    for (std::size_t d = 0; d < dims.size() && d < found.size(); ++d) {
      const auto var = dims[d].as_var();
      if (!var) continue;
      symbol_vars_.insert_or_assign(var->id(), *var);
      frame_.symbols.try_emplace(var->id(), found[d]);
    }
  };
  if (const TensorType* tensor = type.tensor();
      tensor && tensor->shape && live.tree.kind == ValueTree::TensorLeaf)
    bind(frame_.storages[live.tree.storage].dims, *tensor->shape);
  if (const auto* shape = type.as<ShapeType>();
      shape && shape->dims && live.tree.kind == ValueTree::ShapeLeaf)
    bind(live.values, *shape->dims);
  if (const TupleType* tuple = type.tuple())
    for (std::size_t i = 0; i < tuple->fields.size() && i < live.fields.size(); ++i)
      bind_dims(live.fields[i], tuple->fields[i]);
}

// One check of all dims; `possible` is false when rank or dtype already tell that the value does not fit.
void GraphState::match_dims(const std::vector<llvm::Value*>& found,
                            const std::optional<std::vector<Scalar>>& dims, int rank, bool possible,
                            Site site) {
  if (rank >= 0 && static_cast<std::size_t>(rank) != found.size()) possible = false;
  llvm::Value* good = possible ? nullptr : builder_.getFalse();
  if (possible && dims) {
    for (std::size_t d = 0; d < dims->size(); ++d) {
      llvm::Value* wanted = dim((*dims)[d]);
      if (wanted == found[d]) continue;
      llvm::Value* equal = builder_.CreateICmpEQ(wanted, found[d]);
      good = good ? builder_.CreateAnd(good, equal) : equal;
    }
  }
  if (!good) return;
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(good); known && known->isOne()) return;

  std::vector<ScalarVar> vars;
  collect_vars(site.wanted, vars);
  std::vector<llvm::Value*> values;
  for (const ScalarVar& var : vars) {
    const auto bound = frame_.symbols.find(var.id());
    if (bound == frame_.symbols.end()) continue;
    site.symbols.push_back(var);
    values.push_back(bound->second);
  }
  const std::int32_t id = sites_.add(std::move(site));
  auto* failed = llvm::BasicBlock::Create(code_.getContext(), "fault", frame_.code);
  auto* next = llvm::BasicBlock::Create(code_.getContext(), "", frame_.code);
  builder_.CreateCondBr(good, next, failed);
  builder_.SetInsertPoint(failed);
  llvm::Type* ptr = builder_.getPtrTy();
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Function* fault = runtime_.get("rt_shape_fault", i32, {ptr, i32, ptr, i64, ptr, i64});
  fault->addFnAttr(llvm::Attribute::Cold);
  builder_.CreateRet(builder_.CreateCall(
      fault, {frame_.context, builder_.getInt32(static_cast<std::uint32_t>(id)),
              RuntimeCalls::array_of(builder_, found), int64(static_cast<std::int64_t>(found.size())),
              RuntimeCalls::array_of(builder_, values), int64(static_cast<std::int64_t>(values.size()))}));
  builder_.SetInsertPoint(next);
}

}  // namespace relish::jit
