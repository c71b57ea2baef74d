// Writing wraps in unsigned arithmetic.
#include "loops/explicit_wraps.h"

#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/intervals.h"

namespace relish {
namespace {

DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::Int8:
      return DType::UInt8;
    case DType::Int16:
      return DType::UInt16;
    case DType::Int32:
      return DType::UInt32;
    default:
      return DType::UInt64;
  }
}

// A sum of signed integers modulo the width of its dtype, as sums of unsigned ones.
Scalar in_unsigned(const Scalar& value) {
  const DType dtype = unsigned_of(value.dtype());
  if (const auto literal = value.as_int(); literal && *literal >= 0) return int_literal(dtype, *literal);
  if (!is_ring_operation(value)) return cast(dtype, value, value.span());
  const auto* node = value.as<Binary>();
  return binary(node->op, in_unsigned(node->a), in_unsigned(node->b), value.span());
}

class WrapWriter {
 public:
  explicit WrapWriter(const PrimFunc& function) : intervals_(function) {}

  // Whether the number of some operand of a node, or of a statement, can wrap where it matters.
  bool finds(const PrimFunc& function) {
    bool found = false;
    const auto look_at = [&](const Scalar& value) { found = found || intervals_.may_wrap(value); };
    const auto look_into = [&](const Scalar& value) {
      if (!found && counts_operands(value)) for_each_operand(value, look_at);
    };
    for (const Buffer& made : function.allocations) {
      for_each_size(made, look_at);
      for_each_size(made, [&](const Scalar& size) { for_each_scalar(size, look_into); });
    }
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      for_each_counted(stmt, look_at);
      for_each_made(stmt, [&](const Buffer& made) { for_each_size(made, look_at); });
      const auto* loop = stmt.as<For>();
      found = found || (loop && intervals_.may_leave(*loop));
    });
    if (!found) for_each_scalar(function.body, look_into);
    return found;
  }

  void write(PrimFunc& function) {
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      if (const auto* assign = stmt.as<AssignScalar>()) assigned_.insert(assign->var.id());
    });
    BufferMap replaced;
    for (Buffer& made : function.allocations) made = with_sizes(made, replaced);
    for_each_stmt(function.body, [&](const Stmt& stmt) {
      for_each_made(stmt, [&](const Buffer& made) { with_sizes(made, replaced); });
    });
    function.body = substitute(rewrite(
                                   function.body, [&](const Scalar& value) { return with_operands(value); },
                                   [&](const Stmt& stmt) { return with_counted(stmt); }),
                               {}, replaced);
  }

 private:
  // Whether anything is concluded from the numbers of its operands. Sums and choices take them modulo their
  // width, an element is found by an index that is in range or refused, and calls are not looked into.
  static bool counts_operands(const Scalar& value) {
    if (const auto* widened = value.as<Cast>())
      return is_signed_int(value.dtype()) && size_of(widened->a.dtype()) < size_of(value.dtype());
    return value.as<Compare>() || value.as<Let>() || (value.as<Binary>() && !is_ring_operation(value));
  }

  // What a statement counts: bounds, and what it gives a name.
  template <class Visit>
  static void for_each_counted(const Stmt& stmt, const Visit& visit) {
    if (const auto* loop = stmt.as<For>()) {
      visit(loop->begin);
      visit(loop->extent);
      if (loop->step.defined()) visit(loop->step);
    } else if (const auto* block = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : block->iters) {
        visit(iter.begin);
        visit(iter.extent);
        visit(iter.binding);
      }
      for (const BufferView& view : block->views) for_each_bound(view, visit);
    } else if (const auto* declared = stmt.as<ViewStmt>()) {
      for_each_bound(declared->view, visit);
    } else if (const auto* defined = stmt.as<DefineScalar>()) {
      if (defined->value.defined()) visit(defined->value);
    }
  }

  template <class Visit>
  static void for_each_bound(const BufferView& view, const Visit& visit) {
    if (!view.region) return;
    for (const RegionDim& dim : view.region->dims) {
      visit(dim.begin);
      visit(dim.extent);
    }
  }

  // The buffers that a statement makes, and what their sizes and places are computed from.
  template <class Visit>
  static void for_each_made(const Stmt& stmt, const Visit& visit) {
    if (const auto* allocated = stmt.as<AllocateStmt>()) visit(allocated->buffer);
    if (const auto* declared = stmt.as<ViewStmt>()) visit(declared->view.buffer);
    if (const auto* block = stmt.as<BlockStmt>()) {
      for (const Buffer& made : block->allocations) visit(made);
      for (const BufferView& view : block->views) visit(view.buffer);
    }
  }
  template <class Visit>
  static void for_each_size(const Buffer& buffer, const Visit& visit) {
    for (const Scalar& dim : buffer.shape()) visit(dim);
    for (const Scalar& stride : buffer.strides()) visit(stride);
    if (buffer.elem_offset().defined()) visit(buffer.elem_offset());
  }

  // The buffer, or another one with sizes that wrap explicitly, which is noted.
  Buffer with_sizes(const Buffer& buffer, BufferMap& replaced) {
    bool changed = false;
    const auto written = [&](const Scalar& size) {
      const Scalar result = explicit_wrap(
          substitute(rewrite(size, [&](const Scalar& value) { return with_operands(value); }), {}, replaced));
      changed = changed || !result.same_as(size);
      return result;
    };
    std::vector<Scalar> shape, strides;
    for (const Scalar& dim : buffer.shape()) shape.push_back(written(dim));
    for (const Scalar& stride : buffer.strides()) strides.push_back(written(stride));
    const Scalar& offset = buffer.elem_offset();
    const Scalar place = offset.defined() ? written(offset) : offset;
    if (!changed) return buffer;
    Buffer made(buffer.name(), buffer.dtype(), std::move(shape), buffer.scope(), buffer.span());
    if (!strides.empty() || place.defined()) made = made.with_layout(std::move(strides), place);
    if (buffer.is_pointer()) made = made.as_pointer(buffer.pointer_type());
    replaced.insert_or_assign(buffer.id(), made);
    return made;
  }

  Scalar explicit_wrap(const Scalar& value) {
    return value.defined() && intervals_.may_wrap(value)
               ? cast(value.dtype(), in_unsigned(value), value.span())
               : value;
  }

  std::optional<Scalar> with_operands(const Scalar& value) {
    if (!counts_operands(value)) return std::nullopt;
    bool wraps = false;
    for_each_operand(value, [&](const Scalar& operand) { wraps = wraps || intervals_.may_wrap(operand); });
    if (!wraps) return std::nullopt;
    return map_operands(value, [&](const Scalar& operand) { return explicit_wrap(operand); });
  }

  std::optional<Stmt> with_counted(const Stmt& stmt) {
    bool wraps = false;
    for_each_counted(stmt, [&](const Scalar& value) { wraps = wraps || intervals_.may_wrap(value); });
    const auto* loop_of = stmt.as<For>();
    const bool leaves = loop_of && intervals_.may_leave(*loop_of);
    if (!wraps && !leaves) return std::nullopt;
    StmtKind kind = stmt->kind;
    const auto bounds = [&](BufferView& view) {
      if (!view.region) return;
      for (RegionDim& dim : view.region->dims) {
        dim.begin = explicit_wrap(dim.begin);
        dim.extent = explicit_wrap(dim.extent);
      }
    };
    if (auto* loop = std::get_if<For>(&kind)) {
      loop->begin = explicit_wrap(loop->begin);
      loop->extent = explicit_wrap(loop->extent);
      loop->step = explicit_wrap(loop->step);
      if (leaves) return from_zero(std::move(*loop), stmt.node());
    } else if (auto* block = std::get_if<BlockStmt>(&kind)) {
      for (IterVar& iter : block->iters) {
        iter.begin = explicit_wrap(iter.begin);
        iter.extent = explicit_wrap(iter.extent);
        iter.binding = explicit_wrap(iter.binding);
      }
      for (BufferView& view : block->views) bounds(view);
    } else if (auto* declared = std::get_if<ViewStmt>(&kind)) {
      bounds(declared->view);
    } else if (auto* defined = std::get_if<DefineScalar>(&kind)) {
      defined->value = explicit_wrap(defined->value);
    }
    return make_stmt(std::move(kind), stmt->span, stmt->comments);
  }

  // A loop whose variable can leave its dtype, over the numbers of its iterations, of which the variable is
  // made.
  Stmt from_zero(For loop, const StmtNode& stmt) {
    std::vector<Stmt> made;
    Scalar begin = loop.begin;
    if (!lasts(begin)) {
      const ScalarVar first(loop.var.name() + "_first", begin.dtype(), begin.span());
      made.push_back(make_stmt(DefineScalar{first, begin, true}, stmt.span));
      begin = use(first);
    }
    const ScalarVar number(loop.var.name(), loop.var.dtype(), loop.var.span());
    const DType dtype = is_signed_int(number.dtype()) ? unsigned_of(number.dtype()) : number.dtype();
    const Scalar wrapped =
        cast(number.dtype(), cast(dtype, begin) + cast(dtype, use(number)), loop.var.span());
    loop.body = substitute(loop.body, {{loop.var.id(), wrapped}});
    loop.begin = zero(number.dtype());
    loop.var = number;
    made.push_back(make_stmt(std::move(loop), stmt.span, stmt.comments));
    return seq(std::move(made), stmt.span);
  }

  // Whether the value is the same anywhere in the loop that begins with it.
  bool lasts(const Scalar& value) const {
    bool same = true;
    for_each_scalar(value, [&](const Scalar& part) {
      const auto var = part.as_var();
      same = same && !part.as<Load>() && !part.as<ForeignCall>() && !(var && assigned_.contains(var->id()));
    });
    return same;
  }

  Intervals intervals_;
  std::unordered_set<std::uint64_t> assigned_;
};

}  // namespace

PrimFuncPtr with_explicit_wraps(const PrimFuncPtr& function) {
  if (!function->body.defined()) return function;
  WrapWriter writer(*function);
  if (!writer.finds(*function)) return function;
  auto made = std::make_shared<PrimFunc>(*function);
  writer.write(*made);
  return made;
}

Module with_explicit_wraps(const Module& module) {
  Module made = module;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const auto* function = std::get_if<PrimFuncPtr>(&module.functions[i]);
    if (!function) continue;
    if (const PrimFuncPtr written = with_explicit_wraps(*function); written != *function)
      made.functions.replace(i, written);
  }
  return made;
}

}  // namespace relish
