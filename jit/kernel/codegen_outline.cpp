// Statements in functions of their own: what they take along, and the cutting of very long sequences, which
// LLVM compiles in time with the square of a function's length.
#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "jit/kernel/codegen_kernel.h"

namespace relish::jit {
namespace {

// Sizes in nodes of the text. Sequences of more than `long_sequence` are cut into parts of about `part_size`.
constexpr std::int64_t long_sequence = 6000;
constexpr std::int64_t part_size = 1500;

std::int64_t nodes_of(const Stmt& stmt) {
  std::int64_t nodes = 0;
  for_each_stmt(stmt, [&](const Stmt&) { nodes += 4; });
  for_each_scalar(stmt, [&](const Scalar&) { ++nodes; });
  return nodes;
}

// The scalars and buffers that statements name, and whether they change a local scalar of those around them.
struct Uses {
  std::unordered_set<std::uint64_t> scalars, buffers, own_scalars;
  std::vector<std::uint64_t> assigned;

  void note(const Stmt& stmt) {
    for_each_scalar(stmt, [&](const Scalar& node) {
      if (const auto* use = node.as<VarUse>()) scalars.insert(use->var.id());
      if (const auto* load = node.as<Load>()) buffers.insert(load->buffer->id());
    });
    for_each_stmt(stmt, [&](const Stmt& inside) {
      if (const auto* store = inside.as<Store>()) buffers.insert(store->buffer.id());
      if (const auto* definition = inside.as<DefineScalar>()) own_scalars.insert(definition->var.id());
      if (const auto* assignment = inside.as<AssignScalar>()) {
        assigned.push_back(assignment->var.id());
        scalars.insert(assignment->var.id());
      }
    });
  }
  bool assigns_outside() const {
    return std::any_of(assigned.begin(), assigned.end(),
                       [&](std::uint64_t id) { return !own_scalars.contains(id); });
  }
};

}  // namespace

// By value, in the order in which they were defined. Constants are not handed over: the function has them
// itself, so that its addresses have known strides.
KernelEmitter::Captured KernelEmitter::capture(std::span<const Stmt> body) {
  Uses uses;
  for (const Stmt& stmt : body) uses.note(stmt);
  Captured captured;
  const auto take = [&](llvm::Value* value) {
    captured.all.push_back(value);
    if (!llvm::isa<llvm::Constant>(value)) captured.values.push_back(value);
  };
  for (const ScalarVar& var : frame_.scalar_order) {
    if (!uses.scalars.contains(var.id())) continue;
    const ScalarSlot& slot = frame_.scalars[var.id()];
    captured.scalars.push_back(var);
    take(slot.index ? slot.index : variable(var));
  }
  for (const Buffer& buffer : frame_.buffer_order) {
    if (!uses.buffers.contains(buffer.id())) continue;
    const BufferSlot& slot = frame_.buffers[buffer.id()];
    captured.buffers.push_back(buffer);
    take(slot.pointer);
    for (llvm::Value* dim : slot.dims) take(dim);
  }
  return captured;
}

// `function`, whose parameters from `first` on are what was captured, filled by `emit`.
void KernelEmitter::emit_apart(llvm::Function* function, unsigned first, const Captured& captured,
                               const std::function<void()>& emit) {
  const Frame outside = frame_;
  const llvm::IRBuilder<>::InsertPoint resume = builder_.saveIP();
  frame_.scalars.clear();
  frame_.buffers.clear();
  frame_.scalar_order.clear();
  frame_.buffer_order.clear();
  frame_.targets.clear();
  frame_.scratch.clear();
  start_frame(function);
  unsigned argument = first;
  std::size_t position = 0;
  const auto next = [&]() -> llvm::Value* {
    llvm::Value* value = captured.all[position++];
    return llvm::isa<llvm::Constant>(value) ? value : function->getArg(argument++);
  };
  for (const ScalarVar& var : captured.scalars) {
    llvm::Value* value = next();
    const bool as_index = outside.scalars.at(var.id()).index != nullptr;
    define(var, as_index ? ScalarSlot{nullptr, value, nullptr} : ScalarSlot{value, nullptr, nullptr});
  }
  std::vector<std::pair<unsigned, llvm::Align>> marked;
  for (const Buffer& buffer : captured.buffers) {
    llvm::Value* pointer = next();
    const llvm::Align known =
        outside.buffers.at(buffer.id()).pointer->getPointerAlignment(module_.getDataLayout());
    if (const auto* handed = llvm::dyn_cast<llvm::Argument>(pointer))
      marked.emplace_back(handed->getArgNo(), known);
    BufferSlot slot{pointer, {}};
    for (int d = 0; d < buffer.rank(); ++d) slot.dims.push_back(next());
    define(buffer, std::move(slot));
  }
  mark_buffers(*function, marked);
  emit();
  finish_frame();
  frame_ = outside;
  builder_.restoreIP(resume);
}

// A sequence in parts, where it is long. What defines names for the statements behind it stays here.
bool KernelEmitter::sequence_in_parts(const SeqStmt& sequence, std::size_t taken) {
  if (has_views_ || sequence.body.size() < 2) return false;
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (const Stmt& child : sequence.body) {
    sizes.push_back(nodes_of(child));
    total += sizes.back();
  }
  if (total <= long_sequence) return false;
  const auto movable = [](const Stmt& child) {
    return !child.as<AllocateStmt>() && !child.as<DefineScalar>() && !child.as<AssignScalar>() &&
           !leaves_sequence(child);
  };
  for (std::size_t i = 0; i < sequence.body.size();) {
    std::size_t end = i;
    std::int64_t size = 0;
    while (end < sequence.body.size() && size < part_size && movable(sequence.body[end]))
      size += sizes[end++];
    const std::span<const Stmt> part(sequence.body.data() + i, end - i);
    if (part.size() > 1 && size >= part_size / 2 && statements_apart(part)) {
      i = end;
      continue;
    }
    end = std::max(end, i + 1);
    for (; i < end; ++i) sequence_child(sequence.body[i], taken);
  }
  return true;
}

bool KernelEmitter::statements_apart(std::span<const Stmt> body) {
  Uses uses;
  for (const Stmt& stmt : body) uses.note(stmt);
  if (uses.assigns_outside()) return false;
  const Captured captured = capture(body);
  std::vector<llvm::Type*> types{builder_.getPtrTy()};
  std::vector<llvm::Value*> arguments{frame_.context};
  for (llvm::Value* value : captured.values) {
    types.push_back(value->getType());
    arguments.push_back(value);
  }
  auto* function = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), types, false),
                                          llvm::Function::InternalLinkage,
                                          symbol_ + ".part" + std::to_string(++nests_), module_);
  llvm::Value* status = builder_.CreateCall(function, arguments);
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);
  emit_apart(function, 1, captured, [&] {
    for (const Stmt& stmt : body) statement(stmt);
  });
  return true;
}

}  // namespace relish::jit
