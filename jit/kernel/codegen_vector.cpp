// Vector operations.
#include "jit/kernel/codegen_vector.h"

#include <algorithm>

#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/iterations.h"

namespace relish::jit {
namespace {

// More than a few registers' worth is left to the vectorizer, which works in pieces.
constexpr std::int64_t most_lanes = 64;

// Dtypes that are the same in memory and in registers.
bool plain(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Int32 || dtype == DType::Int64;
}

bool lane_wise(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
      return plain(dtype);
    case BinaryOp::Div:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return plain(dtype) && is_float(dtype);
    default:
      return false;
  }
}

}  // namespace

bool VectorEmitter::moves(const Scalar& value, const Lanes& lanes) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
    return var == lanes.loop.var || prover_.depends_on(use(var), lanes.loop.var);
  });
}

// Inside the loop.
bool VectorEmitter::fits(const For& loop, const Store& store) {
  if (!plain(store.buffer.dtype()) || store.indices.empty() || may_fault(store.value, prover_)) return false;
  if (pace_of(store.buffer, store.indices, loop.var, prover_) != Pace::Along) return false;
  for (std::size_t d = 0; d < store.indices.size(); ++d)
    if (!prover_.in_range(store.indices[d], store.buffer.shape()[d])) return false;
  const auto slot = frame_.buffers.find(store.buffer.id());
  return slot != frame_.buffers.end() && slot->second.strides.empty();
}

bool VectorEmitter::vector_loop(const For& loop, Span span) {
  const auto count = loop.extent.as_int();
  const auto* store = loop.body.as<Store>();
  if (loop.kind != LoopKind::Vectorized || !store || loop.step.defined() || !count || *count < 2 ||
      *count > most_lanes || !independent_iterations(loop, prover_))
    return false;
  prover_.enter_loop(loop.var, loop.begin, loop.extent);
  const bool taken = fits(loop, *store);
  if (taken) {
    const Lanes lanes{loop, index(loop.begin), static_cast<unsigned>(*count)};
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    const auto update = as_update(*store);
    llvm::Value* value = update ? vector_update(*store, *update, lanes) : vector(store->value, lanes);
    define(loop.var, {nullptr, lanes.begin, nullptr});
    llvm::Value* address = element_address(store->buffer, store->indices, span);
    builder_.CreateAlignedStore(value, address,
                                llvm::Align(static_cast<std::uint64_t>(size_of(store->buffer.dtype()))));
    leave_scope(scalars, buffers);
  }
  prover_.leave_loop();
  return taken;
}

llvm::Value* VectorEmitter::vector(const Scalar& value, const Lanes& lanes) {
  if (!moves(value, lanes)) return builder_.CreateVectorSplat(lanes.count, scalar(value));
  if (const auto* n = value.as<Load>()) return vector_load(*n, value.span(), lanes);
  if (const auto* n = value.as<Binary>(); n && lane_wise(n->op, value.dtype()))
    return vector_binary(*n, lanes);
  return lane_by_lane(value, lanes);
}

llvm::Value* VectorEmitter::vector_load(const Load& load, Span span, const Lanes& lanes) {
  const DType dtype = load.buffer->dtype();
  const auto slot = frame_.buffers.find(load.buffer->id());
  const bool side_by_side = plain(dtype) && slot != frame_.buffers.end() && slot->second.strides.empty() &&
                            pace_of(*load.buffer, load.indices, lanes.loop.var, prover_) == Pace::Along;
  if (!side_by_side) return lane_by_lane(relish::load(*load.buffer, load.indices, span), lanes);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  define(lanes.loop.var, {nullptr, lanes.begin, nullptr});
  llvm::Value* address = element_address(*load.buffer, load.indices, span);
  leave_scope(scalars, buffers);
  return builder_.CreateAlignedLoad(llvm::FixedVectorType::get(memory_type(dtype), lanes.count), address,
                                    llvm::Align(static_cast<std::uint64_t>(size_of(dtype))));
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
