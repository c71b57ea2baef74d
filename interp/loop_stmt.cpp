// Preparation of statements: loops, blocks with iteration variables, stores and control flow, run in program
// order.
#include "interp/loop_slots.h"
#include "ir/fault.h"
#include "support/interrupt.h"
#include "support/overloaded.h"

namespace relish::interp {
namespace {

struct SeqProgram final : StmtNodeProgram {
  std::vector<StmtProgram> body;
  void run(Frame& frame) const override {
    for (const StmtProgram& stmt : body) stmt->run(frame);
  }
};

struct ForProgram final : StmtNodeProgram {
  std::size_t slot;
  ScalarProgram begin, extent;
  StmtProgram body;
  Span span;
  void run(Frame& frame) const override {
    const std::int64_t first = begin->eval(frame).integer;
    const std::int64_t end = first + extent->eval(frame).integer;
    for (std::int64_t i = first; i < end; ++i) {
      if (interrupt_flag.load(std::memory_order_relaxed) != 0) poll_interrupt(span);
      frame.cells[slot].integer = i;
      body->run(frame);
    }
  }
};

struct WhileProgram final : StmtNodeProgram {
  ScalarProgram condition;
  StmtProgram body;
  Span span;
  void run(Frame& frame) const override {
    while (condition->eval(frame).integer != 0) {
      if (interrupt_flag.load(std::memory_order_relaxed) != 0) poll_interrupt(span);
      body->run(frame);
    }
  }
};

struct Allocation {
  std::size_t slot;
  DType dtype;
  std::vector<ScalarProgram> shape;

  Allocation(const Buffer& buffer, Slots& slots)
      : slot(static_cast<std::size_t>(slots.buffer(buffer))), dtype(buffer.dtype()) {
    for (const Scalar& dim : buffer.shape()) shape.push_back(prepare(dim, slots));
  }
  void run(Frame& frame) const {
    Shape extents;
    for (const ScalarProgram& dim : shape) extents.push_back(dim->eval(frame).integer);
    frame.buffers[slot].bind(Tensor::zeros(dtype, std::move(extents)));
  }
};

struct AllocateProgram final : StmtNodeProgram {
  Allocation allocation;
  AllocateProgram(const Buffer& buffer, Slots& slots) : allocation(buffer, slots) {}
  void run(Frame& frame) const override { allocation.run(frame); }
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
  StmtProgram init;  // null: none
  StmtProgram body;

  void run(Frame& frame) const override {
    bool first_reduction = true;
    for (const Iter& iter : iters) {
      const std::int64_t value = iter.binding->eval(frame).integer;
      frame.cells[iter.slot].integer = value;
      if (iter.reduce && value != iter.begin->eval(frame).integer) first_reduction = false;
    }
    if (predicate && predicate->eval(frame).integer == 0) return;
    for (const Allocation& allocation : allocations) allocation.run(frame);
    if (init && first_reduction) init->run(frame);
    body->run(frame);
  }
};

template <class T>
struct StoreProgram final : StmtNodeProgram {
  AccessProgram access;
  ScalarProgram value;
  StoreProgram(AccessProgram a, ScalarProgram v) : access(std::move(a)), value(std::move(v)) {}
  void run(Frame& frame) const override {
    const Cell cell = value->eval(frame);  // the value before the target, as the text is evaluated
    const std::int64_t offset = access.offset(frame);
    reinterpret_cast<T*>(access.data(frame))[offset] = from_cell<T>(cell);
  }
};

struct AssignProgram final : StmtNodeProgram {
  std::size_t slot;
  ScalarProgram value;
  AssignProgram(std::size_t s, ScalarProgram v) : slot(s), value(std::move(v)) {}
  void run(Frame& frame) const override { frame.cells[slot] = value->eval(frame); }
};

struct IfProgram final : StmtNodeProgram {
  ScalarProgram condition;
  StmtProgram then_body, else_body;
  void run(Frame& frame) const override {
    if (condition->eval(frame).integer != 0)
      then_body->run(frame);
    else if (else_body)
      else_body->run(frame);
  }
};

struct AssertProgram final : StmtNodeProgram {
  ScalarProgram condition;
  std::string message;
  Span span;
  void run(Frame& frame) const override {
    if (condition->eval(frame).integer == 0) fail_fault({FaultKind::AssertFailed, message}, span);
  }
};

struct EvaluateProgram final : StmtNodeProgram {
  ScalarProgram value;
  explicit EvaluateProgram(ScalarProgram v) : value(std::move(v)) {}
  void run(Frame& frame) const override { value->eval(frame); }
};

StmtProgram prepare_block(const BlockStmt& block, Slots& slots) {
  auto program = std::make_unique<BlockProgram>();
  for (const IterVar& iter : block.iters) {
    program->iters.push_back({static_cast<std::size_t>(slots.scalar(iter.var)), iter.kind == IterKind::Reduce,
                              prepare(iter.begin, slots), prepare(iter.binding, slots)});
  }
  if (block.predicate.defined()) program->predicate = prepare(block.predicate, slots);
  for (const Buffer& buffer : block.allocations) program->allocations.emplace_back(buffer, slots);
  if (block.init.defined()) program->init = prepare(block.init, slots);
  program->body = prepare(block.body, slots);
  return program;
}

}  // namespace

StmtProgram prepare(const Stmt& stmt, Slots& slots) {
  const Span span = stmt->span;
  return std::visit(Overloaded{
                        [&](const For& n) -> StmtProgram {
                          auto program = std::make_unique<ForProgram>();
                          program->slot = static_cast<std::size_t>(slots.scalar(n.var));
                          program->begin = prepare(n.begin, slots);
                          program->extent = prepare(n.extent, slots);
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
                        [&](const BlockStmt& n) { return prepare_block(n, slots); },
                        [&](const Store& n) -> StmtProgram {
                          AccessProgram access(n.buffer, n.indices, span, slots);
                          ScalarProgram value = prepare(n.value, slots);
                          return visit_dtype(n.buffer.dtype(), [&](auto tag) -> StmtProgram {
                            return std::make_unique<StoreProgram<decltype(tag)>>(std::move(access),
                                                                                 std::move(value));
                          });
                        },
                        [&](const AllocateStmt& n) -> StmtProgram {
                          return std::make_unique<AllocateProgram>(n.buffer, slots);
                        },
                        [&](const DefineScalar& n) -> StmtProgram {
                          return std::make_unique<AssignProgram>(
                              static_cast<std::size_t>(slots.scalar(n.var)), prepare(n.value, slots));
                        },
                        [&](const AssignScalar& n) -> StmtProgram {
                          return std::make_unique<AssignProgram>(
                              static_cast<std::size_t>(slots.scalar(n.var)), prepare(n.value, slots));
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
