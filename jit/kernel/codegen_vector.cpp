// Vector operations.
#include "jit/kernel/codegen_vector.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
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

bool VectorEmitter::vector_loop(const For& loop, Span span) {
  const auto count = loop.extent.as_int();
  const auto body = loop.kind == LoopKind::Vectorized ? lines_of(loop.body) : std::nullopt;
  if (!body || loop.step.defined() || !count || *count < 2 || *count > most_lanes ||
      !independent_iterations(loop, prover_))
    return false;
  prover_.enter_loop(loop.var, loop.begin, loop.extent);
  const bool taken =
      (body->size() == 1 || all_in_lanes(*body)) &&
      std::all_of(body->begin(), body->end(), [&](const Stmt& line) {
        const auto* store = line.as<Store>();
        return store ? fits(loop, *store) : !may_fault(line.as<DefineScalar>()->value, prover_);
      });
  if (taken) {
    Lanes lanes{loop, index(loop.begin), static_cast<unsigned>(*count)};
    for (const Stmt& line : *body) {
      if (const auto* store = line.as<Store>())
        store_lanes(*store, body->size() == 1 ? span : line->span, lanes);
      else
        lanes.names[line.as<DefineScalar>()->var.id()] = vector(line.as<DefineScalar>()->value, lanes);
    }
  }
  prover_.leave_loop();
  return taken;
}

void VectorEmitter::store_lanes(const Store& store, Span span, const Lanes& lanes) {
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  const auto update = as_update(store);
  llvm::Value* value = update ? vector_update(store, *update, lanes) : vector(store.value, lanes);
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(store.buffer, store.indices, span);
  builder_.CreateAlignedStore(value, address,
                              llvm::Align(static_cast<std::uint64_t>(size_of(store.buffer.dtype()))));
  leave_scope(scalars, buffers);
}

llvm::Value* VectorEmitter::vector(const Scalar& value, const Lanes& lanes) {
  if (const auto var = value.as_var()) {
    const auto named = lanes.names.find(var->id());
    if (named != lanes.names.end()) return named->second;
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
  return made ? made : lane_by_lane(value, lanes);
}

llvm::Value* VectorEmitter::vector_load(const Load& load, Span span, const Lanes& lanes) {
  const DType dtype = load.buffer->dtype();
  const auto slot = frame_.buffers.find(load.buffer->id());
  const bool compact = has_lanes(dtype) && slot != frame_.buffers.end() && slot->second.strides.empty();
  const std::int64_t step = compact ? step_of(load, lanes) : 0;
  if (step == 0) return lane_by_lane(relish::load(*load.buffer, load.indices, span), lanes);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(*load.buffer, load.indices, span);
  leave_scope(scalars, buffers);
  return strided_load(memory_type(dtype), address, step, lanes.count,
                      llvm::Align(static_cast<std::uint64_t>(size_of(dtype))));
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
    default:
      return builder_.CreateMul(a, b);
  }
}

// As ScalarEmitter::select, where both sides may be computed; null elsewhere.
llvm::Value* VectorEmitter::vector_choice(const Select& node, const Lanes& lanes) {
  if (const auto extreme = as_extreme(node)) {
    llvm::Value* a = vector(extreme->a, lanes);
    llvm::Value* b = vector(extreme->b, lanes);
    return extreme->largest ? builder_.CreateMaximum(a, b) : builder_.CreateMinimum(a, b);
  }
  const bool both = (cheap_and_safe(node.a) && cheap_and_safe(node.b)) ||
                    (!node.lazy && computed_in_lanes(node.a) && computed_in_lanes(node.b));
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
