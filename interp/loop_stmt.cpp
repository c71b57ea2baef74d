// Preparation of statements: loops, blocks with iteration variables, stores and control flow, run in program
// order.
#include <fmt/format.h>

#include "interp/loop_slots.h"
#include "ir/calls/fault.h"
#include "loops/empty_reduction.h"
#include "support/interrupt.h"
#include "support/overloaded.h"

namespace relish::interp {
namespace {

struct SeqProgram final : StmtNodeProgram {
  std::vector<StmtProgram> body;
  Flow run(Frame& frame) const override {
    for (const StmtProgram& stmt : body) {
      if (const Flow flow = stmt->run(frame); flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }
};

struct ForProgram final : StmtNodeProgram {
  std::size_t slot;
  ScalarProgram begin, extent;
  ScalarProgram step;  // null: 1
  StmtProgram body;
  StmtProgram when_empty;  // null: nothing
  Span span;
  DType dtype;  // of the variable, which wraps around as all integers do
  Flow run(Frame& frame) const override {
    const auto first = static_cast<std::uint64_t>(begin->eval(frame).integer);
    const std::int64_t length = extent->eval(frame).integer;
    const std::int64_t stride = step ? step->eval(frame).integer : 1;
    if (stride <= 0) fail_fault({FaultKind::ZeroStep, {}, {stride}}, span);
    if (length <= 0) return when_empty ? when_empty->run(frame) : Flow::Next;
    const std::int64_t last = (length - 1) / stride;
    for (std::int64_t turn = 0; turn <= last; ++turn) {
      if (interrupt_flag.load(std::memory_order_relaxed) != 0) poll_interrupt(span);
      frame.cells[slot].integer = wrapped(first + static_cast<std::uint64_t>(turn * stride));
      const Flow flow = body->run(frame);
      if (flow == Flow::Return) return flow;
      if (flow == Flow::Break) break;
    }
    return Flow::Next;
  }
  std::int64_t wrapped(std::uint64_t value) const {
    const int above = 64 - 8 * static_cast<int>(size_of(dtype));
    value <<= above;
    return is_signed_int(dtype) ? static_cast<std::int64_t>(value) >> above
                                : static_cast<std::int64_t>(value >> above);
  }
};

struct WhileProgram final : StmtNodeProgram {
  ScalarProgram condition;
  StmtProgram body;
  Span span;
  Flow run(Frame& frame) const override {
    while (condition->eval(frame).integer != 0) {
      if (interrupt_flag.load(std::memory_order_relaxed) != 0) poll_interrupt(span);
      const Flow flow = body->run(frame);
      if (flow == Flow::Return) return flow;
      if (flow == Flow::Break) break;
    }
    return Flow::Next;
  }
};

struct Allocation {
  std::size_t slot;
  DType dtype;
  Span span;
  std::vector<ScalarProgram> shape;

  Allocation(const Buffer& buffer, Slots& slots)
      : slot(static_cast<std::size_t>(slots.buffer(buffer))), dtype(buffer.dtype()), span(buffer.span()) {
    for (const Scalar& dim : buffer.shape()) shape.push_back(prepare(dim, slots));
  }
  void run(Frame& frame) const {
    Shape extents;
    for (const ScalarProgram& dim : shape) extents.push_back(dim->eval(frame).integer);
    try {
      frame.buffers[slot].bind(Tensor::zeros(dtype, std::move(extents)));
    } catch (Failure& failure) {
      failure.at(span);
      throw;
    }
  }
};

// Beyond 64 bits the nearest number: what a view reaches is then outside of any source.
std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

Shape saturated_row_major(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = saturated_product(strides[d], shape[d]);
  return strides;
}

// Binds a view: the address of its first element and the strides of its dims over the source's storage.
struct View {
  struct Dim {
    ScalarProgram begin, extent;
  };
  std::size_t slot, source;
  std::vector<ScalarProgram> shape, strides;  // no strides: row-major
  std::vector<Dim> region;
  bool of_region;
  ScalarProgram offset;  // null: 0
  std::string name;
  Span span;

  View(const BufferView& view, Span at, Slots& slots)
      : slot(static_cast<std::size_t>(slots.buffer(view.buffer))),
        source(static_cast<std::size_t>(slots.buffer(view.source))),
        of_region(view.region.has_value()),
        name(view.buffer.name()),
        span(at) {
    if (view.buffer.dtype() != view.source.dtype()) {
      fail(ErrorClass::Type, at, "view.dtype",
           fmt::format("view {} is {} over a buffer of {}; expected the same dtype", name,
                       name_of(view.buffer.dtype()), name_of(view.source.dtype())));
    }
    for (const Scalar& dim : view.buffer.shape()) shape.push_back(prepare(dim, slots));
    // Those of a region are its source's; what the text declares (often fresh variables) describes them.
    if (of_region) {
      for (const RegionDim& dim : view.region->dims)
        region.push_back({prepare(dim.begin, slots), prepare(dim.extent, slots)});
      return;
    }
    for (const Scalar& stride : view.buffer.strides()) strides.push_back(prepare(stride, slots));
    if (view.buffer.elem_offset().defined()) offset = prepare(view.buffer.elem_offset(), slots);
  }

  void run(Frame& frame) const {
    const BoundBuffer from = frame.buffers[source];
    BoundBuffer bound;
    bound.tensor = from.tensor;
    for (const ScalarProgram& dim : shape) bound.shape.push_back(dim->eval(frame).integer);
    std::int64_t first = offset ? offset->eval(frame).integer : 0;
    if (of_region) {
      Shape extents, steps;
      for (std::size_t d = 0; d < region.size(); ++d) {
        const std::int64_t begin = region[d].begin->eval(frame).integer;
        extents.push_back(region[d].extent->eval(frame).integer);
        steps.push_back(from.strides[d]);
        if (begin < 0 || extents[d] < 0 || begin > from.shape[d] - extents[d])
          fail_fault({FaultKind::IndexOutOfRange, name, {static_cast<std::int64_t>(d), begin, from.shape[d]}},
                     span);
        first = saturated_sum(first, saturated_product(begin, from.strides[d]));
      }
      // Leading dims of extent 1 that the view leaves out.
      const std::size_t skipped = extents.size() - std::min(extents.size(), bound.shape.size());
      bound.strides.assign(steps.begin() + static_cast<std::ptrdiff_t>(skipped), steps.end());
      extents.erase(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(skipped));
      if (extents != bound.shape) {
        fail_fault({FaultKind::ViewShape, name}, span);
      }
    } else if (strides.empty()) {
      bound.strides = saturated_row_major(bound.shape);
    } else {
      for (const ScalarProgram& stride : strides) bound.strides.push_back(stride->eval(frame).integer);
    }
    const std::int64_t base =
        static_cast<std::int64_t>(from.data - static_cast<const char*>(from.tensor.data())) /
        size_of(from.tensor.dtype());
    std::int64_t last = saturated_sum(base, first), least = last;
    bool empty = false;
    for (std::size_t d = 0; d < bound.shape.size(); ++d) {
      empty = empty || bound.shape[d] <= 0;
      std::int64_t& end = bound.strides[d] < 0 ? least : last;
      end = saturated_sum(end, saturated_product(saturated_sum(bound.shape[d], -1), bound.strides[d]));
    }
    if (empty) first = 0;
    if (!empty && (least < 0 || last >= from.tensor.size())) {
      fail_fault({FaultKind::ViewRange, name, {least < 0 ? least : last, from.tensor.size()}}, span);
    }
    bound.data = from.data + first * size_of(from.tensor.dtype());
    frame.buffers[slot] = std::move(bound);
  }
};

struct ViewProgram final : StmtNodeProgram {
  View view;
  ViewProgram(const BufferView& from, Span span, Slots& slots) : view(from, span, slots) {}
  Flow run(Frame& frame) const override {
    view.run(frame);
    return Flow::Next;
  }
};

struct JumpProgram final : StmtNodeProgram {
  Flow flow;
  explicit JumpProgram(Flow f) : flow(f) {}
  Flow run(Frame&) const override { return flow; }
};

struct ReturnProgram final : StmtNodeProgram {
  ScalarProgram value;
  explicit ReturnProgram(ScalarProgram v) : value(std::move(v)) {}
  Flow run(Frame& frame) const override {
    frame.result = value->eval(frame);
    return Flow::Return;
  }
};

struct AllocateProgram final : StmtNodeProgram {
  Allocation allocation;
  AllocateProgram(const Buffer& buffer, Slots& slots) : allocation(buffer, slots) {}
  Flow run(Frame& frame) const override {
    allocation.run(frame);
    return Flow::Next;
  }
};

struct BlockProgram final : StmtNodeProgram {
  struct Iter {
    std::size_t slot;
    bool reduce;
    ScalarProgram begin, binding;
  };
  std::vector<Iter> iters;
  ScalarProgram predicate;  // null: always
  std::vector<Allocation> allocations;
  std::vector<View> views;
  StmtProgram init;  // null: none
  StmtProgram body;

  Flow run(Frame& frame) const override {
    bool first_reduction = true;
    for (const Iter& iter : iters) {
      const std::int64_t value = iter.binding->eval(frame).integer;
      frame.cells[iter.slot].integer = value;
      if (iter.reduce && value != iter.begin->eval(frame).integer) first_reduction = false;
    }
    if (predicate && predicate->eval(frame).integer == 0) return Flow::Next;
    for (const Allocation& allocation : allocations) allocation.run(frame);
    for (const View& view : views) view.run(frame);
    if (init && first_reduction) init->run(frame);
    return body->run(frame);
  }
};

template <class T>
struct StoreProgram final : StmtNodeProgram {
  AccessProgram access;
  ScalarProgram value;
  StoreProgram(AccessProgram a, ScalarProgram v) : access(std::move(a)), value(std::move(v)) {}
  Flow run(Frame& frame) const override {
    const Cell cell = value->eval(frame);  // the value before the target, as the text is evaluated
    const std::int64_t offset = access.offset(frame);
    reinterpret_cast<T*>(access.data(frame))[offset] = from_cell<T>(cell);
    return Flow::Next;
  }
};

struct AssignProgram final : StmtNodeProgram {
  std::size_t slot;
  ScalarProgram value;
  AssignProgram(std::size_t s, ScalarProgram v) : slot(s), value(std::move(v)) {}
  Flow run(Frame& frame) const override {
    frame.cells[slot] = value ? value->eval(frame) : Cell{};
    return Flow::Next;
  }
};

struct IfProgram final : StmtNodeProgram {
  ScalarProgram condition;
  StmtProgram then_body, else_body;
  Flow run(Frame& frame) const override {
    if (condition->eval(frame).integer != 0) return then_body->run(frame);
    return else_body ? else_body->run(frame) : Flow::Next;
  }
};

struct AssertProgram final : StmtNodeProgram {
  ScalarProgram condition;
  std::string message;
  Span span;
  Flow run(Frame& frame) const override {
    if (condition->eval(frame).integer == 0) fail_fault({FaultKind::AssertFailed, message}, span);
    return Flow::Next;
  }
};

struct EvaluateProgram final : StmtNodeProgram {
  ScalarProgram value;
  explicit EvaluateProgram(ScalarProgram v) : value(std::move(v)) {}
  Flow run(Frame& frame) const override {
    value->eval(frame);
    return Flow::Next;
  }
};

StmtProgram prepare_block(const BlockStmt& block, Span block_span, Slots& slots) {
  auto program = std::make_unique<BlockProgram>();
  for (const IterVar& iter : block.iters) {
    program->iters.push_back({static_cast<std::size_t>(slots.scalar(iter.var)), iter.kind == IterKind::Reduce,
                              prepare(iter.begin, slots), prepare(iter.binding, slots)});
  }
  if (block.predicate.defined()) program->predicate = prepare(block.predicate, slots);
  for (const Buffer& buffer : block.allocations) program->allocations.emplace_back(buffer, slots);
  for (const BufferView& view : block.views) program->views.emplace_back(view, block_span, slots);
  if (block.init.defined()) program->init = prepare(block.init, slots);
  program->body = prepare(block.body, slots);
  return program;
}

}  // namespace

StmtProgram prepare(const Stmt& stmt, Slots& slots) {
  const Span span = stmt->span;
  return std::visit(
      Overloaded{
          [&](const For& n) -> StmtProgram {
            auto program = std::make_unique<ForProgram>();
            program->slot = static_cast<std::size_t>(slots.scalar(n.var));
            program->dtype = n.var.dtype();
            program->begin = prepare(n.begin, slots);
            program->extent = prepare(n.extent, slots);
            if (n.step.defined()) program->step = prepare(n.step, slots);
            if (const Stmt init = init_of_empty(stmt); init.defined())
              program->when_empty = prepare(init, slots);
            program->body = prepare(n.body, slots);
            program->span = span;
            return program;
          },
          [&](const While& n) -> StmtProgram {
            auto program = std::make_unique<WhileProgram>();
            program->condition = prepare(n.condition, slots);
            program->body = prepare(n.body, slots);
            program->span = span;
            return program;
          },
          [&](const BlockStmt& n) { return prepare_block(n, span, slots); },
          [&](const Store& n) -> StmtProgram {
            AccessProgram access(n.buffer, n.indices, span, slots);
            ScalarProgram value = prepare(n.value, slots);
            return visit_dtype(n.buffer.dtype(), [&](auto tag) -> StmtProgram {
              return std::make_unique<StoreProgram<decltype(tag)>>(std::move(access), std::move(value));
            });
          },
          [&](const AllocateStmt& n) -> StmtProgram {
            return std::make_unique<AllocateProgram>(n.buffer, slots);
          },
          [&](const ViewStmt& n) -> StmtProgram {
            return std::make_unique<ViewProgram>(n.view, span, slots);
          },
          [&](const Break&) -> StmtProgram { return std::make_unique<JumpProgram>(Flow::Break); },
          [&](const Continue&) -> StmtProgram { return std::make_unique<JumpProgram>(Flow::Continue); },
          [&](const Return& n) -> StmtProgram {
            return std::make_unique<ReturnProgram>(prepare(n.value, slots));
          },
          [&](const DefineScalar& n) -> StmtProgram {
            return std::make_unique<AssignProgram>(static_cast<std::size_t>(slots.scalar(n.var)),
                                                   n.value.defined() ? prepare(n.value, slots) : nullptr);
          },
          [&](const AssignScalar& n) -> StmtProgram {
            return std::make_unique<AssignProgram>(static_cast<std::size_t>(slots.scalar(n.var)),
                                                   prepare(n.value, slots));
          },
          [&](const IfStmt& n) -> StmtProgram {
            auto program = std::make_unique<IfProgram>();
            program->condition = prepare(n.condition, slots);
            program->then_body = prepare(n.then_body, slots);
            if (n.else_body.defined()) program->else_body = prepare(n.else_body, slots);
            return program;
          },
          [&](const AssertStmt& n) -> StmtProgram {
            auto program = std::make_unique<AssertProgram>();
            program->condition = prepare(n.condition, slots);
            program->message = n.message;
            program->span = span;
            return program;
          },
          [&](const Evaluate& n) -> StmtProgram {
            return std::make_unique<EvaluateProgram>(prepare(n.value, slots));
          },
          [&](const SeqStmt& n) -> StmtProgram {
            auto program = std::make_unique<SeqProgram>();
            for (const Stmt& child : n.body) program->body.push_back(prepare(child, slots));
            return program;
          },
      },
      stmt->kind);
}

}  // namespace relish::interp
