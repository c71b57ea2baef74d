// Sizes in LLVM IR.
#include "jit/graph/codegen_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/scalars/scalar_order.h"
#include "jit/engine/integer_code.h"
#include "jit/steps/scalar_hash.h"
#include "loops/faults.h"
#include "support/failure.h"
#include "support/overloaded.h"

namespace relish::jit {

void SizeEmitter::bind_scalar(const ScalarVar& symbol, llvm::Value* value) {
  llvm::IRBuilder<>& builder = code_.builder;
  bind(symbol, is_float(symbol.dtype())
                   ? builder.CreateBitCast(builder.CreateFPCast(value, builder.getDoubleTy()), code_.i64)
                   : builder.CreateSExt(value, code_.i64));
}

llvm::Value* SizeEmitter::value_of(const ScalarVar& symbol) const {
  const auto found = symbols_.find(symbol.id());
  return found == symbols_.end() ? nullptr : found->second;
}

void SizeEmitter::forget_behind(std::size_t sizes, std::size_t bytes) {
  for (; order_.size() > sizes; order_.pop_back()) dims_.at(order_.back()).pop_back();
  for (; byte_order_.size() > bytes; byte_order_.pop_back()) bytes_.erase(byte_order_.back());
}

// Sizes are computed once: an equal expression gives the same value, so that checks of equal dims fall away.
llvm::Value* SizeEmitter::dim(const Scalar& scalar) {
  if (const auto literal = scalar.as_int()) return code_.int64(*literal);
  const Scalar form = canonical(scalar);
  const std::uint64_t hash = hash_of(form);
  for (const Computed& known : dims_[hash])
    if (structurally_equal(known.form, form)) return known.value;
  llvm::Value* value = computed(scalar);
  dims_[hash].push_back({form, value});
  order_.push_back(hash);
  return value;
}

llvm::Value* SizeEmitter::computed(const Scalar& scalar) {
  llvm::IRBuilder<>& builder = code_.builder;
  const auto unknown = [&]() -> llvm::Value* {
    fail(ErrorClass::Runtime, scalar.span(), "symbol.unknown", "a symbolic size has no value here");
  };
  return std::visit(Overloaded{
                        [&](const IntLiteral& n) { return code_.int64(n.value); },
                        [&](const FloatLiteral&) { return unknown(); },
                        [&](const VarUse& n) {
                          llvm::Value* value = value_of(n.var);
                          if (!value) {
                            fail(ErrorClass::Type, scalar.span(), "entry.symbol",
                                 fmt::format("dimension {} has no value", n.var.name()));
                          }
                          return value;
                        },
                        [&](const Binary& n) { return wrapped(binary(n, scalar), scalar.dtype()); },
                        [&](const Compare& n) {
                          llvm::Value* a = dim(n.a);
                          return builder.CreateZExt(
                              compared(builder, n.op, a, dim(n.b), n.a.dtype() != DType::UInt64), code_.i64);
                        },
                        [&](const Logical& n) {
                          const Scalar decided = bool_literal(n.op == LogicalOp::Or);
                          return n.op == LogicalOp::And ? of_side(n.a, n.b, decided)
                                                        : of_side(n.a, decided, n.b);
                        },
                        [&](const Not& n) -> llvm::Value* {
                          return builder.CreateZExt(builder.CreateIsNull(dim(n.a)), code_.i64);
                        },
                        [&](const Select& n) { return of_side(n.condition, n.a, n.b); },
                        [&](const Cast& n) {
                          return is_float(n.a.dtype()) ? unknown() : wrapped(dim(n.a), scalar.dtype());
                        },
                        [&](const Reinterpret&) { return unknown(); },
                        [&](const Let&) { return unknown(); },
                        [&](const Load&) { return unknown(); },
                        [&](const IntrinsicCall& n) -> llvm::Value* {
                          if (is_float(scalar.dtype()) || n.args.size() != 1) return unknown();
                          // As evaluate_int: rounding leaves integers as they are.
                          llvm::Value* a = dim(n.args[0]);
                          if (n.intrinsic != Intrinsic::Abs || is_unsigned_int(scalar.dtype())) return a;
                          return builder.CreateSelect(builder.CreateICmpSLT(a, code_.int64(0)),
                                                      wrapped(builder.CreateNeg(a), scalar.dtype()), a);
                        },
                        [&](const TextLiteral&) { return unknown(); },
                        [&](const DataOf&) { return unknown(); },
                        [&](const ForeignCall&) { return unknown(); },
                    },
                    scalar->kind);
}

// The value of an integer expression that is computed in 64 bits, as its dtype holds it.
llvm::Value* SizeEmitter::wrapped(llvm::Value* value, DType dtype) {
  llvm::IRBuilder<>& builder = code_.builder;
  if (is_bool(dtype)) return builder.CreateZExt(builder.CreateIsNotNull(value), code_.i64);
  if (size_of(dtype) == 8) return value;
  llvm::Value* narrow = builder.CreateTrunc(value, code_.scalar_type(dtype));
  return is_signed_int(dtype) ? builder.CreateSExt(narrow, code_.i64) : builder.CreateZExt(narrow, code_.i64);
}

// The side that the condition takes; the other one is not computed, as it may be at fault.
llvm::Value* SizeEmitter::of_side(const Scalar& condition, const Scalar& a, const Scalar& b) {
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::BasicBlock *taken = code_.block("then"), *other = code_.block("else"), *join = code_.block("join");
  builder.CreateCondBr(builder.CreateIsNotNull(dim(condition)), taken, other);
  llvm::PHINode* chosen = llvm::PHINode::Create(code_.i64, 2, "", join);
  const auto side = [&](llvm::BasicBlock* at, const Scalar& value) {
    builder.SetInsertPoint(at);
    apart([&] {
      llvm::Value* made = dim(value);
      chosen->addIncoming(made, builder.GetInsertBlock());
    });
    builder.CreateBr(join);
  };
  side(taken, a);
  side(other, b);
  builder.SetInsertPoint(join);
  return chosen;
}

llvm::Value* SizeEmitter::binary(const Binary& node, const Scalar& scalar) {
  llvm::IRBuilder<>& builder = code_.builder;
  const bool bits = scalar.dtype() == DType::UInt64;
  llvm::Value* a = dim(node.a);
  llvm::Value* b = dim(node.b);
  // Sizes are exact: what does not fit int64 is a fault, as in evaluate_int.
  const auto exactly = [&](llvm::Intrinsic::ID operation, llvm::Instruction::BinaryOps wrapping) {
    if (scalar.dtype() != DType::Int64) return builder.CreateBinOp(wrapping, a, b);
    llvm::Value* both = builder.CreateBinaryIntrinsic(operation, a, b);
    fault_where(builder.CreateExtractValue(both, 1),
                {scalar.span(), FaultKind::SizeOverflow, std::string(symbol_of(node.op)), {}, {}}, a, b);
    return builder.CreateExtractValue(both, 0);
  };
  switch (node.op) {
    case BinaryOp::Add:
      return exactly(llvm::Intrinsic::sadd_with_overflow, llvm::Instruction::Add);
    case BinaryOp::Sub:
      return exactly(llvm::Intrinsic::ssub_with_overflow, llvm::Instruction::Sub);
    case BinaryOp::Mul:
      return exactly(llvm::Intrinsic::smul_with_overflow, llvm::Instruction::Mul);
    case BinaryOp::Min:
      return builder.CreateBinaryIntrinsic(bits ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, a, b);
    case BinaryOp::Max:
      return builder.CreateBinaryIntrinsic(bits ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, a, b);
    case BinaryOp::BitAnd:
      return builder.CreateAnd(a, b);
    case BinaryOp::BitOr:
      return builder.CreateOr(a, b);
    case BinaryOp::BitXor:
      return builder.CreateXor(a, b);
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return shift(node, a, b, scalar);
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return quotient(node, a, b, scalar);
  }
  RELISH_CHECK(false, "integer operation");
}

llvm::Value* SizeEmitter::quotient(const Binary& node, llvm::Value* a, llvm::Value* b, const Scalar& scalar) {
  llvm::IRBuilder<>& builder = code_.builder;
  const bool positive = node.b.as_int().value_or(0) > 0;
  if (!positive) {
    if (plans_)
      b = builder.CreateSelect(builder.CreateIsNull(b), code_.int64(1), b);
    else
      fault_where(builder.CreateIsNull(b), {scalar.span(), FaultKind::DivisionByZero, {}, {}, {}}, nullptr,
                  nullptr);
    if (scalar.dtype() == DType::Int64 && (node.op == BinaryOp::Div || node.op == BinaryOp::FloorDiv)) {
      llvm::Value* least = builder.CreateICmpEQ(a, code_.int64(INT64_MIN));
      fault_where(builder.CreateAnd(least, builder.CreateICmpEQ(b, code_.int64(-1))),
                  {scalar.span(), FaultKind::SizeOverflow, std::string(symbol_of(node.op)), {}, {}}, a, b);
    }
  }
  return divided(builder, node.op, a, b, scalar.dtype() != DType::UInt64, positive);
}

llvm::Value* SizeEmitter::shift(const Binary& node, llvm::Value* a, llvm::Value* b, const Scalar& scalar) {
  const DType dtype = scalar.dtype();
  fault_where(code_.builder.CreateICmpSLT(b, code_.int64(0)),
              {scalar.span(), FaultKind::NegativeShift, {}, {}, {}}, b, nullptr);
  const unsigned width = is_bool(dtype) ? 8 : 8 * static_cast<unsigned>(size_of(dtype));
  return shifted(code_.builder, node.op, a, b, is_signed_int(dtype), width);
}

// Leaves the function by the fault of the site where the condition holds.
void SizeEmitter::fault_where(llvm::Value* condition, Site site, llvm::Value* a, llvm::Value* b) {
  const FaultKind kind = site.kind;
  const std::int32_t id = code_.sites.add(std::move(site));
  llvm::BasicBlock *failed = code_.block("fault"), *next = code_.block("");
  code_.builder.CreateCondBr(condition, failed, next);
  code_.builder.SetInsertPoint(failed);
  llvm::Value* status = code_.runtime.fault(code_.builder, code_.context, id, a, b, nullptr);
  // What tells a fault may compute sizes itself.
  if (const auto* tell = std::exchange(tell_, nullptr); tell && kind == FaultKind::DivisionByZero) {
    (*tell)(status);
    tell_ = tell;
  } else {
    code_.builder.CreateRet(status);
    tell_ = tell;
  }
  code_.builder.SetInsertPoint(next);
}

llvm::Value* SizeEmitter::scalar(const Scalar& given) {
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::Type* type = code_.scalar_type(given.dtype());
  if (!is_float(given.dtype())) return builder.CreateTrunc(dim(given), type);
  const auto unknown = [&]() -> llvm::Value* {
    fail(ErrorClass::Type, given.span(), "scalar.form", "a scalar of this form has no value here");
  };
  return std::visit(
      Overloaded{
          [&](const IntLiteral&) { return unknown(); },
          [&](const FloatLiteral& n) -> llvm::Value* { return llvm::ConstantFP::get(type, n.value); },
          [&](const VarUse& n) {
            llvm::Value* bits = value_of(n.var);
            if (!bits) return unknown();
            return builder.CreateFPCast(builder.CreateBitCast(bits, builder.getDoubleTy()), type);
          },
          [&](const Binary& n) { return float_binary(n, given); },
          [&](const Compare&) { return unknown(); },
          [&](const Logical&) { return unknown(); },
          [&](const Not&) { return unknown(); },
          [&](const Select&) { return unknown(); },
          [&](const Cast& n) {
            return is_float(n.a.dtype()) ? builder.CreateFPCast(scalar(n.a), type)
                                         : builder.CreateSIToFP(dim(n.a), type);
          },
          [&](const Reinterpret&) { return unknown(); },
          [&](const Let&) { return unknown(); },
          [&](const Load&) { return unknown(); },
          [&](const IntrinsicCall&) { return unknown(); },
          [&](const TextLiteral&) { return unknown(); },
          [&](const DataOf&) { return unknown(); },
          [&](const ForeignCall&) { return unknown(); },
      },
      given->kind);
}

llvm::Value* SizeEmitter::float_binary(const Binary& node, const Scalar& given) {
  const bool known = node.op == BinaryOp::Add || node.op == BinaryOp::Sub || node.op == BinaryOp::Mul ||
                     node.op == BinaryOp::Div;
  if (!known) fail(ErrorClass::Type, given.span(), "scalar.form", "a scalar of this form has no value here");
  // Halves are rounded after every step, which the interpreter does.
  if (size_of(given.dtype()) < 4) {
    fail(ErrorClass::Type, given.span(), "jit.scalar",
         fmt::format("arithmetic of {} scalars is not compiled; run it with --tier interp",
                     name_of(given.dtype())));
  }
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::Value* a = scalar(node.a);
  llvm::Value* b = scalar(node.b);
  if (node.op == BinaryOp::Add) return builder.CreateFAdd(a, b);
  if (node.op == BinaryOp::Sub) return builder.CreateFSub(a, b);
  return node.op == BinaryOp::Mul ? builder.CreateFMul(a, b) : builder.CreateFDiv(a, b);
}

llvm::Value* SizeEmitter::bytes(DType dtype, const std::vector<Scalar>& dims, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  std::vector<llvm::Value*> values;
  bool literal = true;
  for (const Scalar& d : dims) {
    values.push_back(dim(d));
    literal = literal && d.as_int();
    // A negative dim is a fault where the tensor is made, not where memory is planned.
    if (!d.as_int())
      values.back() = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, values.back(), code_.int64(0));
  }
  if (literal) {
    const auto known = canonical(product(dims) * Scalar(static_cast<std::int64_t>(size_of(dtype)))).as_int();
    if (known && *known >= 0 && *known < (std::int64_t{1} << 50)) return code_.int64((*known + 63) / 64 * 64);
  }
  const auto known = bytes_.find({dtype, values});
  if (known != bytes_.end()) return known->second;
  const std::int32_t site = code_.sites.add(Site::of_dims(span));
  llvm::Value* made = code_.runtime.byte_size(builder, code_.context, static_cast<std::int32_t>(dtype),
                                              values.size(), RuntimeCalls::array_of(builder, values), site);
  byte_order_.push_back(bytes_.emplace(std::pair(dtype, std::move(values)), made).first);
  return made;
}

llvm::Value* SizeEmitter::planned_bytes(DType dtype, const std::vector<Scalar>& dims, Span span) {
  if (std::none_of(dims.begin(), dims.end(), may_divide_by_zero)) return bytes(dtype, dims, span);
  llvm::Value* made = nullptr;
  plans_ = true;
  apart([&] { made = bytes(dtype, dims, span); });
  plans_ = false;
  return made;
}

void SizeEmitter::check(const std::vector<llvm::Value*>& found,
                        const std::optional<std::vector<Scalar>>& dims, int rank,
                        const std::function<Site()>& site) {
  llvm::IRBuilder<>& builder = code_.builder;
  const bool possible = rank < 0 || static_cast<std::size_t>(rank) == found.size();
  llvm::Value* good = possible ? nullptr : builder.getFalse();
  if (possible && dims) {
    for (std::size_t d = 0; d < dims->size(); ++d) {
      llvm::Value* wanted = dim((*dims)[d]);
      if (wanted == found[d]) continue;
      llvm::Value* equal = builder.CreateICmpEQ(wanted, found[d]);
      good = good ? builder.CreateAnd(good, equal) : equal;
    }
  }
  if (!good) return;
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(good); known && known->isOne()) return;
  llvm::BasicBlock *failed = code_.block("fault"), *next = code_.block("");
  builder.CreateCondBr(good, next, failed);
  builder.SetInsertPoint(failed);
  fault_of_shape(site(), found);
  builder.SetInsertPoint(next);
}

void SizeEmitter::fault_of_shape(Site site, const std::vector<llvm::Value*>& found) {
  llvm::IRBuilder<>& builder = code_.builder;
  std::vector<ScalarVar> vars;
  collect_vars(site.wanted, vars);
  std::vector<llvm::Value*> values;
  for (const ScalarVar& var : vars) {
    llvm::Value* value = value_of(var);
    if (!value) continue;
    site.symbols.push_back(var);
    values.push_back(value);
  }
  const std::int32_t id = code_.sites.add(std::move(site));
  llvm::Function* fault = code_.runtime.get(
      "rt_shape_fault", code_.i32, {code_.ptr, code_.i32, code_.ptr, code_.i64, code_.ptr, code_.i64});
  fault->addFnAttr(llvm::Attribute::Cold);
  builder.CreateRet(builder.CreateCall(
      fault, {code_.context, code_.int32(id), RuntimeCalls::array_of(builder, found),
              code_.int64(static_cast<std::int64_t>(found.size())), RuntimeCalls::array_of(builder, values),
              code_.int64(static_cast<std::int64_t>(values.size()))}));
}

}  // namespace relish::jit
