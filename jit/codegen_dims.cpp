// Code generation of symbolic dims: their values, and the checks of shapes against types.
#include <fmt/format.h>

#include <algorithm>

#include "jit/codegen_graph.h"

namespace relish::jit {

// Dims are computed once: an equal expression gives the same value, so that checks of equal dims fall away.
llvm::Value* GraphEmitter::dim(const Scalar& scalar) {
  if (const auto literal = scalar.as_int()) return int64(*literal);
  for (const auto& [known, value] : frame_.dims)
    if (structurally_equal(known, scalar) || prove_equal(known, scalar)) return value;
  llvm::Value* value = dim_uncached(scalar);
  frame_.dims.emplace_back(scalar, value);
  return value;
}

llvm::Value* GraphEmitter::dim_uncached(const Scalar& scalar) {
  if (const auto var = scalar.as_var()) {
    const auto found = frame_.symbols.find(var->id());
    if (found == frame_.symbols.end())
      fail(ErrorClass::Type, scalar.span(), "entry.symbol",
           fmt::format("dimension {} has no value", var->name()));
    return found->second;
  }
  if (const auto* n = scalar.as<Cast>()) return dim(n->a);
  if (const auto* n = scalar.as<Select>()) {
    llvm::Value* chosen = builder_.CreateIsNotNull(dim(n->condition));
    llvm::Value* a = dim(n->a);
    return builder_.CreateSelect(chosen, a, dim(n->b));
  }
  if (const auto* n = scalar.as<Compare>()) {
    using P = llvm::CmpInst::Predicate;
    static constexpr P predicates[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                       P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
    llvm::Value* a = dim(n->a);
    llvm::Value* held = builder_.CreateICmp(predicates[static_cast<int>(n->op)], a, dim(n->b));
    return builder_.CreateZExt(held, builder_.getInt64Ty());
  }
  const auto* n = scalar.as<Binary>();
  if (!n)
    fail(ErrorClass::Type, scalar.span(), "jit.dimension",
         "a dimension of this form is not compiled; run it with --tier interp");
  llvm::Value* a = dim(n->a);
  llvm::Value* b = dim(n->b);
  switch (n->op) {
    case BinaryOp::Add:
      return builder_.CreateAdd(a, b);
    case BinaryOp::Sub:
      return builder_.CreateSub(a, b);
    case BinaryOp::Mul:
      return builder_.CreateMul(a, b);
    case BinaryOp::Min:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case BinaryOp::Max:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      break;
    default:
      fail(ErrorClass::Type, scalar.span(), "jit.dimension",
           "a dimension of this form is not compiled; run it with --tier interp");
  }
  const bool literal = n->b.as_int().value_or(0) > 0;
  if (!literal) {
    const std::int32_t site = sites_.add({scalar.span(), FaultKind::DivisionByZero, {}, {}, {}});
    auto* failed = llvm::BasicBlock::Create(code_.getContext(), "fault", frame_.code);
    auto* next = llvm::BasicBlock::Create(code_.getContext(), "", frame_.code);
    builder_.CreateCondBr(builder_.CreateIsNull(b), failed, next);
    builder_.SetInsertPoint(failed);
    builder_.CreateRet(runtime_.fault(builder_, frame_.context, site, nullptr, nullptr, nullptr));
    builder_.SetInsertPoint(next);
    // The least integer divided by -1 would trap; dims do not reach it.
    b = builder_.CreateSelect(builder_.CreateICmpEQ(b, int64(-1)), builder_.CreateSub(int64(0), int64(1)), b);
  }
  llvm::Value* quotient = builder_.CreateSDiv(a, b);
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

llvm::Value* GraphEmitter::scalar_value_of(const Scalar& scalar) {
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
void GraphEmitter::bind_dims(const Live& live, const Type& type) {
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

void GraphEmitter::match(const Live& live, const Type& type, Span span, const std::string& what) {
  bind_dims(live, type);
  if (live.tree.kind == ValueTree::BoxLeaf) return check_box(live, type, span, what);
  Site site{span, FaultKind::ShapeMismatch, what, type, {}, live.tree.dtype};
  if (const TensorType* tensor = type.tensor()) {
    const bool possible =
        live.tree.kind == ValueTree::TensorLeaf && (!tensor->dtype || *tensor->dtype == live.tree.dtype);
    static const std::vector<llvm::Value*> none;
    const auto& found =
        live.tree.kind == ValueTree::TensorLeaf ? frame_.storages[live.tree.storage].dims : none;
    return match_dims(found, tensor->shape, tensor->rank, possible, std::move(site));
  }
  if (const auto* shape = type.as<ShapeType>())
    return match_dims(live.values, shape->dims, shape->rank, live.tree.kind == ValueTree::ShapeLeaf,
                      std::move(site));
  if (const TupleType* tuple = type.tuple()) {
    if (live.tree.kind != ValueTree::Tuple || live.fields.size() != tuple->fields.size())
      return match_dims({}, std::nullopt, -1, false, std::move(site));
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      match(live.fields[i], tuple->fields[i], span, what);
  }
}

// One check of all dims; `possible` is false when rank or dtype already tell that the value does not fit.
void GraphEmitter::match_dims(const std::vector<llvm::Value*>& found,
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
