// The builder of loop nests for lowering rules.
#include <unordered_set>

#include "ir/nodes/builder.h"
#include "support/failure.h"

namespace relish {
namespace {

Buffer buffer_of(std::string_view name, const Type& type, Span span) {
  const TensorType* tensor = type.tensor();
  RELISH_CHECK(tensor && tensor->dtype && tensor->shape, "a lowered tensor needs a known shape and dtype");
  return Buffer(std::string(name), *tensor->dtype, *tensor->shape, "global", span);
}

// The variables that a prim_func uses but nothing in it defines, in order of first use.
class FreeVars {
 public:
  void define(const ScalarVar& var) { defined_.insert(var.id()); }

  void use(const Scalar& scalar) {
    if (!scalar.defined() || scalar.as<IntLiteral>()) return;
    std::vector<ScalarVar> vars;
    collect_vars(scalar, vars);
    for (const ScalarVar& var : vars)
      if (known_.insert(var.id()).second) used_.push_back(var);
  }
  void use(const Buffer& buffer) {
    for (const Scalar& dim : buffer.shape()) use(dim);
    for (const Scalar& stride : buffer.strides()) use(stride);
    use(buffer.elem_offset());
  }
  void use(const BufferView& view) {
    use(view.buffer);
    if (!view.region) return;
    for (const RegionDim& dim : view.region->dims) {
      use(dim.begin);
      use(dim.extent);
    }
  }

  void visit(const Stmt& stmt) {
    if (stmt.defined()) std::visit([&](const auto& node) { walk(node); }, stmt->kind);
  }

  std::vector<ScalarVar> result() const {
    std::vector<ScalarVar> free;
    for (const ScalarVar& var : used_) {
      if (!defined_.contains(var.id())) free.push_back(var);
    }
    return free;
  }

 private:
  void walk(const For& loop) {
    define(loop.var);
    use(loop.begin);
    use(loop.extent);
    use(loop.step);
    visit(loop.body);
  }
  void walk(const ViewStmt& declared) { use(declared.view); }
  void walk(const Break&) {}
  void walk(const Continue&) {}
  void walk(const Return& returned) { use(returned.value); }
  void walk(const While& loop) {
    use(loop.condition);
    visit(loop.body);
  }
  void walk(const BlockStmt& block) {
    for (const IterVar& iter : block.iters) {
      define(iter.var);
      use(iter.begin);
      use(iter.extent);
      use(iter.binding);
    }
    use(block.predicate);
    for (const Buffer& buffer : block.allocations) use(buffer);
    for (const BufferView& view : block.views) use(view);
    visit(block.init);
    visit(block.body);
  }
  void walk(const Store& store) {
    for (const Scalar& index : store.indices) use(index);
    use(store.value);
  }
  void walk(const AllocateStmt& allocate) {
    use(allocate.buffer);
    use(allocate.value);
  }
  void walk(const DefineScalar& definition) {
    define(definition.var);
    use(definition.value);
  }
  void walk(const AssignScalar& assign) { use(assign.value); }
  void walk(const IfStmt& branch) {
    use(branch.condition);
    visit(branch.then_body);
    visit(branch.else_body);
  }
  void walk(const AssertStmt& assertion) { use(assertion.condition); }
  void walk(const Evaluate& evaluate) { use(evaluate.value); }
  void walk(const SeqStmt& sequence) {
    for (const Stmt& stmt : sequence.body) visit(stmt);
  }

  std::unordered_set<std::uint64_t> defined_, known_;
  std::vector<ScalarVar> used_;
};

}  // namespace

Buffer LoopBuilder::input(std::string_view name, const Type& tensor) {
  Buffer buffer = buffer_of(name, tensor, origin_);
  params_.push_back({buffer});
  return buffer;
}

Buffer LoopBuilder::output(std::string_view name, const Type& tensor) { return input(name, tensor); }

Buffer LoopBuilder::temporary(std::string_view name, std::vector<Scalar> shape, DType dtype) {
  allocations_.emplace_back(std::string(name), dtype, std::move(shape), "global", origin_);
  return allocations_.back();
}

ScalarVar LoopBuilder::scalar_input(std::string_view name, DType dtype) {
  ScalarVar var(std::string(name), dtype, origin_);
  params_.push_back({var});
  return var;
}

void LoopBuilder::spatial_reduce(std::string_view block, const std::vector<Scalar>& spatial,
                                 const std::vector<Scalar>& reduce, const Body& body, const Init& init) {
  std::vector<ScalarVar> loops;
  std::vector<Scalar> extents, spatial_vars, reduce_vars;
  BlockStmt computation;
  computation.name = std::string(block);
  auto add_axis = [&](const Scalar& extent, const std::string& name, IterKind kind,
                      std::vector<Scalar>& vars) {
    const ScalarVar loop(name, DType::Int64, origin_), iter("v_" + name, DType::Int64, origin_);
    const Scalar wide = extent.dtype() == DType::Int64 ? extent : cast(DType::Int64, extent);
    loops.push_back(loop);
    extents.push_back(wide);
    vars.push_back(use(iter, origin_));
    computation.iters.push_back({iter, kind, Scalar(0), wide, use(loop, origin_)});
  };
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    add_axis(spatial[i], "i" + std::to_string(i), IterKind::Spatial, spatial_vars);
  }
  for (std::size_t i = 0; i < reduce.size(); ++i) {
    add_axis(reduce[i], "k" + std::to_string(i), IterKind::Reduce, reduce_vars);
  }
  if (init) computation.init = init(spatial_vars);
  computation.body = body(spatial_vars, reduce_vars);
  Stmt nest = make_stmt(std::move(computation), origin_);
  for (std::size_t i = loops.size(); i-- > 0;) {
    nest = make_stmt(For{loops[i], Scalar(0), extents[i], LoopKind::Serial, std::move(nest), {}}, origin_);
  }
  body_.push_back(std::move(nest));
}

Stmt LoopBuilder::store(const Buffer& buffer, std::vector<Scalar> indices, Scalar value) const {
  RELISH_CHECK(static_cast<int>(indices.size()) == buffer.rank(), buffer.name());
  // A literal takes the buffer's dtype; anything else must have it.
  if (value.dtype() != buffer.dtype()) {
    const auto* real = value.as<FloatLiteral>();
    if (auto integer = value.as_int())
      value = literal(buffer.dtype(), static_cast<double>(*integer), value.span());
    else if (real && is_float(buffer.dtype()))
      value = float_literal(buffer.dtype(), real->value, value.span());
  }
  RELISH_CHECK(value.dtype() == buffer.dtype(),
               fmt::format("{} of dtype {} is stored to as {}", buffer.name(), name_of(buffer.dtype()),
                           name_of(value.dtype())));
  return make_stmt(Store{buffer, std::move(indices), std::move(value)}, origin_);
}

Scalar LoopBuilder::load(const Buffer& buffer, std::vector<Scalar> indices) const {
  return relish::load(buffer, std::move(indices), origin_);
}

PrimFunc LoopBuilder::finish(std::string name) {
  PrimFunc function;
  function.name = std::move(name);
  function.span = origin_;
  function.allocations = std::move(allocations_);
  function.body = seq(std::move(body_), origin_);
  function.attributes = {{"noalias", true}};

  FreeVars free;
  for (const PrimParam& param : params_) {
    if (const ScalarVar* scalar = param.scalar()) {
      free.define(*scalar);
      continue;
    }
    for (const Scalar& dim : param.buffer()->shape()) {
      if (std::optional<ScalarVar> var = dim.as_var()) free.define(*var);
    }
    free.use(*param.buffer());
  }
  for (const Buffer& buffer : function.allocations) free.use(buffer);
  free.visit(function.body);
  function.params = std::move(params_);
  for (const ScalarVar& var : free.result()) function.params.push_back({var});
  params_.clear();
  body_.clear();
  allocations_.clear();
  return function;
}

}  // namespace relish
