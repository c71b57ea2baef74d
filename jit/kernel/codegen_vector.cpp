// Vector operations.
#include "jit/kernel/codegen_vector.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/extremes.h"
#include "loops/faults.h"
#include "loops/iterations.h"
#include "loops/lanes.h"

namespace relish::jit {
namespace {

// More than a few registers' worth is left to the vectorizer, which works in pieces.
constexpr std::int64_t most_lanes = 64;

// Lanes further apart are loaded one by one.
constexpr std::int64_t widest_step = 4;

bool has_halves(const Scalar& value) {
  bool found = false;
  for_each_scalar(value, [&](const Scalar& part) {
    found = found || part.dtype() == DType::Float16 || part.dtype() == DType::BFloat16;
  });
  return found;
}

bool loads_something(const Scalar& value) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return !loads.empty();
}

}  // namespace

bool VectorEmitter::moves(const Scalar& value, const Lanes& lanes) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    return var == lanes.loop.var || lanes.names.contains(var.id()) ||
           prover_.depends_on(use(var), lanes.loop.var);
  });
}

// Inside the loop.
bool VectorEmitter::fits(const For& loop, const Store& store) {
  if (!has_lanes(store.buffer.dtype()) || store.indices.empty() || may_fault(store.value, prover_))
    return false;
  if (pace_of(store.buffer, store.indices, loop.var, prover_) != Pace::Along) return false;
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    if (!prover_.in_range(store.indices[d], store.buffer.shape()[d])) return false;
  const auto slot = frame_.buffers.find(store.buffer.id());
  return slot != frame_.buffers.end() && slot->second.strides.empty();
}

// Whether an operation that moves with the loop, which was entered, has no form for lanes: LLVM's vectorizer
// may have one, where a lane at a time has none. Elements are loaded as far apart as they lie in either case.
bool VectorEmitter::computes_alone(const Scalar& value, const For& loop) {
  if (value.as<Load>() || !prover_.depends_on(value, loop.var)) return false;
  const auto* operation = value.as<Binary>();
  const auto* converted = value.as<Cast>();
  if (operation && !lane_wise(operation->op, value.dtype())) return true;
  if (converted && !converted_in_lanes(converted->a.dtype(), value.dtype())) return true;
  bool found = false;
  for_each_operand(value, [&](const Scalar& part) { found = found || computes_alone(part, loop); });
  return found;
}

bool VectorEmitter::vector_loop(const For& loop, Span span) {
  const auto count = loop.extent.as_int();
  if (loop.kind != LoopKind::Vectorized || loop.step.defined() || !count || *count < 2 || *count > most_lanes)
    return false;
  if (const auto* guarded = loop.body.as<IfStmt>()) return masked_loop(loop, *guarded, span);
  const auto body = lines_of(loop.body);
  if (!body || !independent_iterations(loop, prover_)) return false;
  enter(loop);
  const auto* alone = body->size() == 1 ? body->front().as<Store>() : nullptr;
  const bool taken =
      (alone ? !computes_alone(alone->value, loop) : all_in_lanes(*body)) &&
      std::all_of(body->begin(), body->end(), [&](const Stmt& line) {
        const auto* store = line.as<Store>();
        return store ? fits(loop, *store) : !may_fault(line.as<DefineScalar>()->value, prover_);
      });
  if (taken) {
    Lanes lanes{loop, index(loop.begin), static_cast<unsigned>(*count)};
    emit_lines(*body, lanes, span);
  }
  prover_.leave_loop();
  return taken;
}

void VectorEmitter::emit_lines(const std::vector<Stmt>& lines, Lanes& lanes, Span span) {
  for (const Stmt& line : lines) {
    if (const auto* store = line.as<Store>())
      store_lanes(*store, lines.size() == 1 ? span : line->span, lanes);
    else
      lanes.names[line.as<DefineScalar>()->var.id()] = vector(line.as<DefineScalar>()->value, lanes);
  }
}

// Whether the condition compares a number that counts with the loop with one that stays: it holds for the
// first iterations, all or none.
bool VectorEmitter::is_prefix(const Scalar& condition, const For& loop) {
  const auto* compared = condition.as<Compare>();
  if (!compared || compared->op != CompareOp::Lt || compared->a.dtype() != DType::Int64 ||
      may_fault(condition, prover_) || loads_something(condition))
    return false;
  const auto stride = prover_.stride(compared->a, loop.var);
  return stride && stride->constant() == 1 && !prover_.depends_on(compared->b, loop.var);
}

// The lanes for which it holds.
llvm::Value* VectorEmitter::prefix_mask(const Scalar& condition, const Lanes& lanes) {
  const auto* compared = condition.as<Compare>();
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* left = builder_.CreateSub(index(compared->b), index(compared->a));
  leave_scope(scalars, buffers);
  left = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, int64(lanes.count));
  left = builder_.CreateTrunc(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, int64(0)),
                              builder_.getInt32Ty());
  std::vector<llvm::Constant*> places;
  for (unsigned lane = 0; lane < lanes.count; ++lane) places.push_back(builder_.getInt32(lane));
  return builder_.CreateICmpSLT(llvm::ConstantVector::get(places),
                                builder_.CreateVectorSplat(lanes.count, left));
}

// Whether each load has its elements side by side, or one for all lanes, which then may be loaded also when
// none of them runs.
bool VectorEmitter::loads_in_lanes(const Scalar& value, const For& loop) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return std::all_of(loads.begin(), loads.end(), [&](const Access& load) {
    const auto slot = frame_.buffers.find(load.buffer->id());
    if (slot == frame_.buffers.end() || !slot->second.strides.empty()) return false;
    const Pace pace = pace_of(*load.buffer, *load.indices, loop.var, prover_);
    return pace == Pace::Along ||
           (pace == Pace::Still && !may_fault(relish::load(*load.buffer, *load.indices), prover_));
  });
}

// A loop of which the first iterations, or none, run the body.
bool VectorEmitter::masked_loop(const For& loop, const IfStmt& guarded, Span span) {
  const auto body = guarded.else_body.defined() ? std::nullopt : lines_of(guarded.then_body);
  if (!target_.masked_memory || !body || !is_prefix(guarded.condition, loop) || !all_in_lanes(*body) ||
      !independent_iterations(loop, prover_))
    return false;
  enter(loop);
  const auto value_of = [](const Stmt& line) {
    const auto* store = line.as<Store>();
    return store ? store->value : line.as<DefineScalar>()->value;
  };
  const bool in_lanes = std::all_of(body->begin(), body->end(),
                                    [&](const Stmt& line) { return loads_in_lanes(value_of(line), loop); });
  const std::size_t facts = prover_.assume(guarded.condition);
  const bool taken = in_lanes && std::all_of(body->begin(), body->end(), [&](const Stmt& line) {
                       const auto* store = line.as<Store>();
                       return store ? fits(loop, *store) : !may_fault(value_of(line), prover_);
                     });
  if (taken) {
    Lanes lanes{loop, index(loop.begin), static_cast<unsigned>(*loop.extent.as_int())};
    lanes.mask = prefix_mask(guarded.condition, lanes);
    lanes.condition = guarded.condition;
    lanes.facts = facts;
    emit_lines(*body, lanes, span);
  }
  prover_.forget(facts);
  prover_.leave_loop();
  return taken;
}

void VectorEmitter::store_lanes(const Store& store, Span span, const Lanes& lanes) {
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  const auto update = as_update(store);
  llvm::Value* value = update ? vector_update(store, *update, lanes) : vector(store.value, lanes);
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(store.buffer, store.indices, span);
  const llvm::Align align(static_cast<std::uint64_t>(size_of(store.buffer.dtype())));
  if (lanes.mask)
    builder_.CreateMaskedStore(value, address, align, lanes.mask);
  else
    builder_.CreateAlignedStore(value, address, align);
  leave_scope(scalars, buffers);
}

llvm::Value* VectorEmitter::vector(const Scalar& value, const Lanes& lanes) {
  if (const auto var = value.as_var()) {
    const auto named = lanes.names.find(var->id());
    if (named != lanes.names.end()) return named->second;
    if (*var == lanes.loop.var) return counted_lanes(var->dtype(), lanes);
  }
  if (!moves(value, lanes)) return builder_.CreateVectorSplat(lanes.count, scalar(value));
  if (const auto* n = value.as<Load>()) return vector_load(*n, value.span(), lanes);
  if (const auto* n = value.as<Binary>(); n && lane_wise(n->op, value.dtype()))
    return vector_binary(*n, lanes);
  llvm::Value* made = nullptr;
  if (const auto* n = value.as<Select>(); n && has_lanes(value.dtype()) && !has_halves(value))
    made = vector_choice(*n, lanes);
  if (const auto* n = value.as<Logical>()) made = vector_logical(*n, lanes);
  if (const auto* n = value.as<Compare>(); n && has_lanes(n->a.dtype())) {
    llvm::Value* a = vector(n->a, lanes);
    made = compared_as(n->op, a, vector(n->b, lanes), n->a.dtype());
  }
  if (const auto* n = value.as<IntrinsicCall>(); n && computed_in_lanes(value))
    made = vector_intrinsic(*n, lanes);
  if (const auto* n = value.as<Not>(); n && is_bool(n->a.dtype()))
    made = builder_.CreateNot(vector(n->a, lanes));
  if (const auto* n = value.as<Cast>(); n && converted_in_lanes(n->a.dtype(), value.dtype()))
    made = vector_cast(vector(n->a, lanes), n->a.dtype(), value.dtype());
  return made ? made : lane_by_lane(value, lanes);
}

// The loop's variable.
llvm::Value* VectorEmitter::counted_lanes(DType dtype, const Lanes& lanes) {
  llvm::Type* type = register_type(dtype);
  std::vector<llvm::Constant*> places;
  for (unsigned lane = 0; lane < lanes.count; ++lane) places.push_back(llvm::ConstantInt::get(type, lane));
  llvm::Value* first = builder_.CreateSExtOrTrunc(lanes.begin, type);
  return builder_.CreateAdd(builder_.CreateVectorSplat(lanes.count, first),
                            llvm::ConstantVector::get(places));
}

llvm::Value* VectorEmitter::vector_load(const Load& load, Span span, const Lanes& lanes) {
  const DType dtype = load.buffer->dtype();
  const auto slot = frame_.buffers.find(load.buffer->id());
  const bool compact = has_lanes(dtype) && slot != frame_.buffers.end() && slot->second.strides.empty();
  const std::int64_t step = compact ? step_of(load, lanes) : 0;
  if (step == 0) {
    llvm::Value* elements = compact ? gathered(load, lanes) : nullptr;
    return elements ? elements : lane_by_lane(relish::load(*load.buffer, load.indices, span), lanes);
  }
  if (lanes.mask && step == 1 && !in_range_in_all_lanes(load, lanes))
    return masked_load(load, span, lanes, lanes.mask, nullptr);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(*load.buffer, load.indices, span);
  leave_scope(scalars, buffers);
  return strided_load(memory_type(dtype), address, step, lanes.count,
                      llvm::Align(static_cast<std::uint64_t>(size_of(dtype))));
}

// Elements of which other elements tell where they lie, in the buffer in any case; null of every other load.
llvm::Value* VectorEmitter::gathered(const Load& load, const Lanes& lanes) {
  if (lanes.mask) return nullptr;
  bool told = false;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    const Scalar& index = load.indices[d];
    if (!prover_.in_range(index, load.buffer->shape()[d])) return nullptr;
    if (!moves(index, lanes)) continue;
    if (!computed_in_lanes(index)) return nullptr;
    told = told || loads_something(index);
  }
  if (!told) return nullptr;
  // Places in 32 bits, where that is enough, are gathered in half the time.
  std::int64_t elements = 1;
  bool narrow = true;
  for (const Scalar& dim : load.buffer->shape())
    narrow = narrow && !__builtin_mul_overflow(elements, dim.as_int().value_or(INT64_MAX), &elements);
  narrow = narrow && elements <= INT32_MAX;
  const BufferSlot& slot = frame_.buffers.find(load.buffer->id())->second;
  llvm::Type* counted = narrow ? builder_.getInt32Ty() : builder_.getInt64Ty();
  auto* places = llvm::FixedVectorType::get(counted, lanes.count);
  llvm::Value* base = int64(0);
  llvm::Value* stride = int64(1);
  llvm::Value* apart = nullptr;
  for (std::size_t d = load.indices.size(); d-- > 0;) {
    if (moves(load.indices[d], lanes)) {
      llvm::Value* at = builder_.CreateSExtOrTrunc(vector(load.indices[d], lanes), places);
      llvm::Value* by = builder_.CreateVectorSplat(lanes.count, builder_.CreateSExtOrTrunc(stride, counted));
      at = builder_.CreateMul(at, by);
      apart = apart ? builder_.CreateAdd(apart, at) : at;
    } else {
      base = builder_.CreateNSWAdd(base, builder_.CreateNSWMul(index(load.indices[d]), stride));
    }
    stride = builder_.CreateNSWMul(stride, slot.dims[d]);
  }
  llvm::Type* type = memory_type(load.buffer->dtype());
  llvm::Value* addresses = builder_.CreateGEP(type, builder_.CreateGEP(type, slot.pointer, base), apart);
  return builder_.CreateMaskedGather(llvm::FixedVectorType::get(type, lanes.count), addresses,
                                     llvm::Align(static_cast<std::uint64_t>(size_of(load.buffer->dtype()))));
}

// Whether the lanes that do not run the body may load too.
bool VectorEmitter::in_range_in_all_lanes(const Load& load, const Lanes& lanes) {
  prover_.forget(lanes.facts);
  const bool all = !may_fault(relish::load(*load.buffer, load.indices), prover_);
  prover_.assume(lanes.condition);
  return all;
}

// Elements side by side, of the lanes of the mask; `otherwise`: the others, null when nobody asks.
llvm::Value* VectorEmitter::masked_load(const Load& load, Span span, const Lanes& lanes, llvm::Value* mask,
                                        llvm::Value* otherwise) {
  const DType dtype = load.buffer->dtype();
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(*load.buffer, load.indices, span);
  leave_scope(scalars, buffers);
  auto* type = llvm::FixedVectorType::get(memory_type(dtype), lanes.count);
  return builder_.CreateMaskedLoad(type, address, llvm::Align(static_cast<std::uint64_t>(size_of(dtype))),
                                   mask, otherwise);
}

// Whether the choice loads elements side by side for the first lanes, and stays the same for the others.
bool VectorEmitter::loads_under_mask(const Select& node, const Lanes& lanes) {
  const auto* loaded = node.a.as<Load>();
  if (!target_.masked_loads || !node.lazy || !loaded || lanes.mask || !has_lanes(loaded->buffer->dtype()) ||
      !is_prefix(node.condition, lanes.loop) || moves(node.b, lanes))
    return false;
  const auto slot = frame_.buffers.find(loaded->buffer->id());
  return slot != frame_.buffers.end() && slot->second.strides.empty() &&
         pace_of(*loaded->buffer, loaded->indices, lanes.loop.var, prover_) == Pace::Along;
}

// By how many elements the lanes of a load are apart: 1, or a few; 0 of every other load.
std::int64_t VectorEmitter::step_of(const Load& load, const Lanes& lanes) {
  if (pace_of(*load.buffer, load.indices, lanes.loop.var, prover_) == Pace::Along) return 1;
  std::int64_t step = 0;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    const auto stride = prover_.stride(load.indices[d], lanes.loop.var);
    const auto by = stride ? stride->constant() : std::nullopt;
    const bool last = d + 1 == load.indices.size();
    if (!by || (!last && *by != 0) || !prover_.in_range(load.indices[d], load.buffer->shape()[d])) return 0;
    step = *by;
  }
  return step > 1 && step <= widest_step ? step : 0;
}

// As many vectors as lanes are apart hold all that is between the first and the last lane, and no more.
llvm::Value* VectorEmitter::strided_load(llvm::Type* element, llvm::Value* address, std::int64_t step,
                                         unsigned count, llvm::Align align) {
  auto* type = llvm::FixedVectorType::get(element, count);
  if (step == 1) return builder_.CreateAlignedLoad(type, address, align);
  const std::int64_t wide = count, last = (wide - 1) * step + 1 - wide;
  llvm::Value* all = nullptr;
  for (std::int64_t part = 0; part < step; ++part) {
    const std::int64_t begin = std::min(part * wide, last);
    llvm::Value* held =
        builder_.CreateAlignedLoad(type, builder_.CreateGEP(element, address, int64(begin)), align);
    std::vector<int> lanes;
    for (std::int64_t lane = 0; lane < wide; ++lane) {
      const std::int64_t at = lane * step, in = std::min(at / wide, step - 1);
      if (in == part)
        lanes.push_back(static_cast<int>(at - begin + (part > 0 ? wide : 0)));
      else
        lanes.push_back(in < part ? static_cast<int>(lane) : llvm::PoisonMaskElem);
    }
    all = part == 0 ? builder_.CreateShuffleVector(held, lanes)
                    : builder_.CreateShuffleVector(all, held, lanes);
  }
  return all;
}

llvm::Value* VectorEmitter::vector_binary(const Binary& node, const Lanes& lanes) {
  llvm::Value* a = vector(node.a, lanes);
  llvm::Value* b = vector(node.b, lanes);
  if (is_float(node.a.dtype())) return float_binary(node.op, a, b, node.a.dtype());
  switch (node.op) {
    case BinaryOp::Add:
      return builder_.CreateAdd(a, b);
    case BinaryOp::Sub:
      return builder_.CreateSub(a, b);
    case BinaryOp::Min:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case BinaryOp::Max:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    default:
      return builder_.CreateMul(a, b);
  }
}

// As ScalarEmitter::cast.
llvm::Value* VectorEmitter::vector_cast(llvm::Value* value, DType from, DType to) {
  if (from == to) return value;
  auto* type = llvm::VectorType::get(register_type(to), llvm::cast<llvm::VectorType>(value->getType()));
  if (!is_float(from))
    return is_float(to) ? builder_.CreateSIToFP(value, type) : builder_.CreateSExt(value, type);
  return to == DType::Float64 ? builder_.CreateFPExt(value, type) : builder_.CreateFPTrunc(value, type);
}

// As ScalarEmitter::select, where both sides may be computed; null elsewhere.
llvm::Value* VectorEmitter::vector_choice(const Select& node, const Lanes& lanes) {
  if (const auto extreme = as_extreme(node)) {
    llvm::Value* a = vector(extreme->a, lanes);
    llvm::Value* b = vector(extreme->b, lanes);
    return extreme->largest ? builder_.CreateMaximum(a, b) : builder_.CreateMinimum(a, b);
  }
  if (loads_under_mask(node, lanes)) {
    llvm::Value* mask = prefix_mask(node.condition, lanes);
    llvm::Value* otherwise = vector(node.b, lanes);
    const std::size_t facts = prover_.assume(node.condition);
    llvm::Value* loaded = masked_load(*node.a.as<Load>(), node.a.span(), lanes, mask, otherwise);
    prover_.forget(facts);
    return loaded;
  }
  const bool both = (cheap_and_safe(node.a) && cheap_and_safe(node.b)) ||
                    (computed_in_lanes(node.a) && computed_in_lanes(node.b) &&
                     (!node.lazy || (!may_fault(node.a, prover_) && !may_fault(node.b, prover_))));
  if (!is_bool(node.condition.dtype()) || !both) return nullptr;
  llvm::Value* condition = vector(node.condition, lanes);
  llvm::Value* a = vector(node.a, lanes);
  return builder_.CreateSelect(condition, a, vector(node.b, lanes));
}

// As ScalarEmitter::logical, where nobody can see that the second operand was computed; null elsewhere.
llvm::Value* VectorEmitter::vector_logical(const Logical& node, const Lanes& lanes) {
  if (!is_bool(node.a.dtype()) || !is_bool(node.b.dtype()) || !cheap_and_safe(node.b)) return nullptr;
  llvm::Value* a = vector(node.a, lanes);
  llvm::Value* b = vector(node.b, lanes);
  return node.op == LogicalOp::And ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
}

// As ScalarEmitter::update: products are joined to a sum with one rounding where the machine can, in sums
// over a loop around.
llvm::Value* VectorEmitter::vector_update(const Store& store, const Update& update, const Lanes& lanes) {
  const auto* product = update.addend.as<Binary>();
  if (!fuses_product(store, update)) return vector(store.value, lanes);
  llvm::Value* sum = vector(update.loaded, lanes);
  llvm::Value* a = vector(product->a, lanes);
  llvm::Value* b = vector(product->b, lanes);
  if (target_.fma) return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, sum});
  return builder_.CreateFAdd(sum, builder_.CreateFMul(a, b));
}

llvm::Value* VectorEmitter::lane_by_lane(const Scalar& value, const Lanes& lanes) {
  llvm::Value* all = nullptr;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    define(lanes.loop.var, {nullptr, builder_.CreateNSWAdd(lanes.begin, int64(lane)), nullptr});
    llvm::Value* one = scalar(value);
    leave_scope(scalars, buffers);
    if (!all) all = llvm::PoisonValue::get(llvm::FixedVectorType::get(one->getType(), lanes.count));
    all = builder_.CreateInsertElement(all, one, static_cast<std::uint64_t>(lane));
  }
  return all;
}

}  // namespace relish::jit
