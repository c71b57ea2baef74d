// Every buffer and scalar variable of narrow floats gets a wide one; what uses them follows.
#include "transform/widen_prim_func.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"

namespace relish {
namespace {

class PrimFuncWidening {
 public:
  // Nothing where it cannot be said in float64.
  std::optional<PrimFunc> run(const PrimFunc& function) {
    if (!function.body.defined() || function.result_dtype || depends_on_bits(function.body))
      return std::nullopt;
    PrimFunc copy = function;
    for (PrimParam& param : copy.params) {
      if (const Buffer* buffer = param.buffer())
        param.value = wide(*buffer);
      else
        param.value = wide(*param.scalar());
    }
    for (Buffer& buffer : copy.allocations) buffer = wide(buffer);
    // The variables get their dtypes before what they stand in.
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      if (const auto* define = stmt.as<DefineScalar>()) wide(define->var);
    });
    copy.body = rewrite(
        function.body, [&](const Scalar& scalar) { return scalar_of(scalar); },
        [&](const Stmt& stmt) { return stmt_of(stmt); });
    if (!whole_) return std::nullopt;
    return copy;
  }

 private:
  static bool is_narrow(DType dtype) { return is_float(dtype) && dtype != DType::Float64; }

  // Bits, memory that others see, and views that read elements as another dtype. A T.Let is an operand that
  // binds a variable itself, which no rewriting of operands renames.
  static bool depends_on_bits(const Stmt& body) {
    bool found = false;
    const auto view = [&](const BufferView& each) {
      found = found || each.buffer.dtype() != each.source.dtype() || each.source.is_pointer();
    };
    for_each_scalar(body, [&](const Scalar& scalar) {
      const auto* binding = scalar.as<Let>();
      found = found || scalar.as<Reinterpret>() || scalar.as<DataOf>() || scalar.as<ForeignCall>() ||
              (binding && is_narrow(binding->var.dtype()));
    });
    for_each_stmt(body, [&](const Stmt& stmt) {
      if (const auto* made = stmt.as<AllocateStmt>()) found = found || made->buffer.is_pointer();
      if (const auto* declared = stmt.as<ViewStmt>()) view(declared->view);
      if (const auto* block = stmt.as<BlockStmt>())
        for (const BufferView& each : block->views) view(each);
    });
    return found;
  }

  Buffer wide(const Buffer& buffer) {
    if (!is_narrow(buffer.dtype())) return buffer;
    if (const auto made = buffers_.find(buffer.id()); made != buffers_.end()) return made->second;
    whole_ = whole_ && !buffer.is_pointer();
    Buffer result(buffer.name(), DType::Float64, buffer.shape(), buffer.scope(), buffer.span());
    if (!buffer.strides().empty() || buffer.elem_offset().defined())
      result = result.with_layout(buffer.strides(), buffer.elem_offset());
    return buffers_.emplace(buffer.id(), std::move(result)).first->second;
  }

  ScalarVar wide(const ScalarVar& var) {
    if (!is_narrow(var.dtype())) return var;
    return vars_.try_emplace(var.id(), ScalarVar(var.name(), DType::Float64, var.span())).first->second;
  }

  // Its operands are wide already.
  std::optional<Scalar> scalar_of(const Scalar& scalar) {
    if (const auto* read = scalar.as<Load>()) {
      if (!is_narrow(read->buffer->dtype())) return std::nullopt;
      return load(wide(*read->buffer), read->indices, scalar.span());
    }
    if (!is_narrow(scalar.dtype())) return std::nullopt;
    if (const auto* literal = scalar.as<FloatLiteral>())
      return float_literal(DType::Float64, literal->value, scalar.span());
    if (const auto var = scalar.as_var()) return use(wide(*var), scalar.span());
    if (const auto* conversion = scalar.as<Cast>()) return cast(DType::Float64, conversion->a, scalar.span());
    whole_ = false;
    return std::nullopt;
  }

  void widen(std::optional<std::vector<BufferRegion>>& regions) {
    if (!regions) return;
    for (BufferRegion& region : *regions) region.buffer = wide(region.buffer);
  }
  void widen(BufferView& view) {
    view.buffer = wide(view.buffer);
    view.source = wide(view.source);
    if (view.region) view.region->buffer = wide(view.region->buffer);
  }

  std::optional<Stmt> stmt_of(const Stmt& stmt) {
    StmtKind kind = stmt->kind;
    if (auto* store = std::get_if<Store>(&kind)) {
      store->buffer = wide(store->buffer);
    } else if (auto* made = std::get_if<AllocateStmt>(&kind)) {
      made->buffer = wide(made->buffer);
    } else if (auto* declared = std::get_if<ViewStmt>(&kind)) {
      widen(declared->view);
    } else if (auto* define = std::get_if<DefineScalar>(&kind)) {
      define->var = wide(define->var);
    } else if (auto* assign = std::get_if<AssignScalar>(&kind)) {
      assign->var = wide(assign->var);
    } else if (auto* block = std::get_if<BlockStmt>(&kind)) {
      widen(block->reads);
      widen(block->writes);
      for (Buffer& buffer : block->allocations) buffer = wide(buffer);
      for (BufferView& view : block->views) widen(view);
    } else {
      return std::nullopt;
    }
    return make_stmt(std::move(kind), stmt->span, stmt->comments);
  }

  BufferMap buffers_;
  std::unordered_map<std::uint64_t, ScalarVar> vars_;
  bool whole_ = true;  // nothing narrow is left
};

}  // namespace

std::optional<PrimFunc> widened(const PrimFunc& function) { return PrimFuncWidening().run(function); }

}  // namespace relish
