// Code generation of statements: the function around them, buffers and views of them, stores, blocks, jumps,
// branches.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ir/rewriting/rewrite.h"
#include "jit/kernel/codegen_kernel.h"
#include "jit/kernel/local_buffers.h"
#include "jit/runtime/rows_ahead.h"
#include "loops/accesses.h"
#include "loops/lasting.h"
#include "loops/work.h"
#include "loops/written_first.h"

namespace relish::jit {

KernelEmitter::KernelEmitter(llvm::Module& module, const TargetTraits& target, std::vector<Site>& sites,
                             std::string first_site)
    : VectorEmitter(module, target, sites, std::move(first_site)) {}

void KernelEmitter::start_frame(llvm::Function* function) {
  finish_function(*function);
  frame_.function = function;
  frame_.context = function->getArg(0);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
  frame_.flag = builder_.CreateLoad(builder_.getPtrTy(), frame_.context);
  frame_.ahead = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), frame_.context, 1));
  frame_.interrupted = llvm::BasicBlock::Create(builder_.getContext(), "interrupted", function);
  llvm::IRBuilder<> at(frame_.interrupted);
  at.CreateRet(at.getInt32(status_interrupted));
}

void KernelEmitter::finish_frame() {
  builder_.CreateRet(builder_.getInt32(status_ok));
  if (frame_.interrupted->hasNPredecessors(0)) frame_.interrupted->eraseFromParent();
}

llvm::Function* KernelEmitter::emit(const PrimFunc& function, const std::string& symbol) {
  symbol_ = symbol;
  nests_ = 0;
  in_parallel_ = false;
  prover_ = {};
  frame_ = {};
  const std::vector<ScalarVar> symbols = kernel_symbols(function);
  has_views_ = declares_views(function);
  auto* kernel = llvm::Function::Create(kernel_type(function, builder_.getContext()),
                                        llvm::Function::InternalLinkage, symbol, module_);
  start_frame(kernel);

  unsigned position = 1;
  std::vector<std::pair<unsigned, llvm::Align>> buffers;
  for (const PrimParam& param : function.params) {
    llvm::Argument* argument = kernel->getArg(position++);
    if (const ScalarVar* var = param.scalar()) {
      ScalarSlot slot{argument, nullptr, nullptr};
      if (!is_float(var->dtype())) slot.index = sign_or_zero_extend(argument, var->dtype());
      define(*var, slot);
    } else {
      buffers.emplace_back(argument->getArgNo(), llvm::Align(64));
    }
  }
  mark_buffers(*kernel, buffers);
  for (const ScalarVar& var : symbols) define(var, {nullptr, kernel->getArg(position++), nullptr});
  if (function.result_dtype) frame_.result = kernel->getArg(position);
  assume_sizes(function, prover_);
  position = 1;
  for (const PrimParam& param : function.params) {
    llvm::Argument* argument = kernel->getArg(position++);
    if (!param.buffer()) continue;
    BufferSlot slot{argument, {}};
    for (const Scalar& dim : param.buffer()->shape()) slot.dims.push_back(index(dim));
    define(*param.buffer(), std::move(slot));
  }
  llvm::Value* first = nullptr;
  const auto written = written_before_reads(function.body, function.allocations, prover_);
  for (const Buffer& buffer : function.allocations) {
    allocate(buffer, has_views_ || !written.contains(buffer.id()));
    if (!first && !frame_.on_stack.contains(buffer.id()))
      frame_.scratch.push_back(first = frame_.buffers[buffer.id()].pointer);
  }
  statement(function.body);
  give_back(0);
  finish_frame();
  return kernel;
}

void KernelEmitter::allocate(const Buffer& buffer, bool clear) {
  BufferSlot slot;
  for (const Scalar& dim : buffer.shape()) slot.dims.push_back(index(dim));
  const auto bytes = local_bytes(buffer);
  if (bytes && (buffer.rank() == 0 || frame_.stack_bytes + *bytes <= most_kernel_stack_bytes)) {
    llvm::BasicBlock& entry = frame_.function->getEntryBlock();
    llvm::Type* element = memory_type(buffer.dtype());
    const auto elements = static_cast<std::uint64_t>(*bytes / size_of(buffer.dtype()));
    llvm::Type* type = buffer.rank() == 0 ? element : llvm::ArrayType::get(element, elements);
    auto* cell = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
    cell->setAlignment(llvm::Align(64));  // as all buffers are
    slot.pointer = cell;
    if (clear && buffer.rank() == 0) builder_.CreateStore(llvm::Constant::getNullValue(type), cell);
    if (clear && buffer.rank() > 0)
      builder_.CreateMemSet(cell, builder_.getInt8(0), static_cast<std::uint64_t>(*bytes), llvm::Align(64));
    if (buffer.rank() > 0) frame_.stack_bytes += *bytes;
    frame_.on_stack.insert(buffer.id());
    return define(buffer, std::move(slot));
  }
  const bool literal = std::all_of(buffer.shape().begin(), buffer.shape().end(),
                                   [](const Scalar& dim) { return dim.as_int().has_value(); });
  const std::int32_t site = add(Site::of_dims(buffer.span()));
  if (!literal) runtime_.refuse_negative(builder_, frame_.context, site, slot.dims);
  slot.pointer = runtime_.buffer(builder_, frame_.context, static_cast<std::int32_t>(buffer.dtype()),
                                 slot.dims.size(), RuntimeCalls::array_of(builder_, slot.dims), clear, site);
  define(buffer, std::move(slot));
}

// The address and the strides of a view, and the check that all of it lies in the storage of its source.
void KernelEmitter::view(const BufferView& view, Span span) {
  const BufferSlot from = frame_.buffers.at(view.source.id());
  BufferSlot slot;
  for (const Scalar& dim : view.buffer.shape()) slot.dims.push_back(index(dim));
  llvm::Value* offset =
      view.buffer.elem_offset().defined() && !view.region ? index(view.buffer.elem_offset()) : int64(0);
  if (view.region) {
    std::vector<llvm::Value*> extents;
    for (std::size_t d = 0; d < view.region->dims.size(); ++d) {
      llvm::Value* begin = index(view.region->dims[d].begin);
      llvm::Value* extent = index(view.region->dims[d].extent);
      llvm::Value* good = builder_.CreateAnd(builder_.CreateICmpSGE(begin, int64(0)),
                                             builder_.CreateICmpSGE(extent, int64(0)));
      good =
          builder_.CreateAnd(good, builder_.CreateICmpSLE(begin, builder_.CreateSub(from.dims[d], extent)));
      fault_unless(good, {span, FaultKind::IndexOutOfRange, view.buffer.name(), {}, {}},
                   int64(static_cast<std::int64_t>(d)), begin, from.dims[d]);
      extents.push_back(extent);
      llvm::Value* stride = stride_of(from, d);
      slot.strides.push_back(stride);
      offset = saturated_sum(offset, saturated_product(begin, stride));
    }
    // Leading dims of extent 1 that the view leaves out.
    const std::size_t skipped = extents.size() - std::min(extents.size(), slot.dims.size());
    slot.strides.erase(slot.strides.begin(), slot.strides.begin() + static_cast<std::ptrdiff_t>(skipped));
    extents.erase(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(skipped));
    llvm::Value* same = builder_.getInt1(extents.size() == slot.dims.size());
    for (std::size_t d = 0; d < extents.size() && d < slot.dims.size(); ++d)
      same = builder_.CreateAnd(same, builder_.CreateICmpEQ(extents[d], slot.dims[d]));
    fault_unless(same, {span, FaultKind::ViewShape, view.buffer.name(), {}, {}});
  } else if (view.buffer.strides().empty()) {
    const std::size_t rank = slot.dims.size();
    std::vector<llvm::Value*> strides(rank, int64(1));
    for (std::size_t d = rank; d-- > 0;)
      if (d + 1 < rank) strides[d] = saturated_product(strides[d + 1], slot.dims[d + 1]);
    slot.strides = std::move(strides);
  } else {
    for (const Scalar& stride : view.buffer.strides()) slot.strides.push_back(index(stride));
  }
  llvm::Value* total = from.total;
  if (!total) {
    total = int64(1);
    for (llvm::Value* dim : from.dims) total = builder_.CreateMul(total, dim);
  }
  slot.total = total;
  llvm::Value* base = from.base ? from.base : int64(0);
  llvm::Value* least = saturated_sum(base, offset);
  llvm::Value* last = least;
  llvm::Value* empty = builder_.getFalse();
  for (std::size_t d = 0; d < slot.dims.size(); ++d) {
    empty = builder_.CreateOr(empty, builder_.CreateICmpSLE(slot.dims[d], int64(0)));
    llvm::Value* reach = saturated_product(saturated_sum(slot.dims[d], int64(-1)), slot.strides[d]);
    llvm::Value* down = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, reach, int64(0));
    llvm::Value* up = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, reach, int64(0));
    least = saturated_sum(least, down);
    last = saturated_sum(last, up);
  }
  offset = builder_.CreateSelect(empty, int64(0), offset);
  slot.base = builder_.CreateAdd(base, offset);
  llvm::Value* below = builder_.CreateICmpSLT(least, int64(0));
  llvm::Value* inside = builder_.CreateAnd(builder_.CreateNot(below), builder_.CreateICmpSLT(last, total));
  fault_unless(builder_.CreateOr(empty, inside), {span, FaultKind::ViewRange, view.buffer.name(), {}, {}},
               builder_.CreateSelect(below, least, last), total);
  slot.pointer = builder_.CreateGEP(memory_type(view.buffer.dtype()), from.pointer, offset);
  define(view.buffer, std::move(slot));
}

// Before the loops of a tile, which find what they read in the caches and hold nothing in registers yet: a
// piece of what comes after them, where something is known, and the copy of one that has come.
void KernelEmitter::fetch_ahead() {
  auto& context = builder_.getContext();
  llvm::Type *i64 = builder_.getInt64Ty(), *ptr = builder_.getPtrTy();
  auto* some = llvm::BasicBlock::Create(context, "ahead", frame_.function);
  auto* next = llvm::BasicBlock::Create(context, "", frame_.function);
  llvm::Value* left = builder_.CreateLoad(i64, frame_.ahead);
  builder_.CreateCondBr(builder_.CreateIsNull(left), next, some);
  builder_.SetInsertPoint(some);
  llvm::Value* field = builder_.CreateConstInBoundsGEP1_64(ptr, frame_.ahead, 1);
  llvm::Value* at = builder_.CreateLoad(ptr, field);
  const auto field_of = [&](std::int64_t piece, std::int64_t which) -> llvm::Value* {
    constexpr std::int64_t fields = sizeof(PiecesAhead::Piece) / sizeof(void*);
    return builder_.CreateLoad(ptr, builder_.CreateGEP(ptr, at, int64(piece * fields + which)));
  };
  llvm::Value *asked = field_of(0, 0), *from = field_of(-PiecesAhead::until_copied, 1),
              *to = field_of(-PiecesAhead::until_copied, 2);
  const auto line_of = [&](llvm::Value* piece, std::int64_t line) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), piece,
                                       static_cast<std::uint64_t>(line * PiecesAhead::line_bytes));
  };
  constexpr int read = 0, second_cache = 2, of_data = 1;
  for (std::int64_t line = 0; line < PiecesAhead::lines; ++line) {
    builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ptr},
                             {line_of(asked, line), builder_.getInt32(read), builder_.getInt32(second_cache),
                              builder_.getInt32(of_data)});
  }
  auto* whole = llvm::FixedVectorType::get(builder_.getInt8Ty(), PiecesAhead::line_bytes);
  for (std::int64_t line = 0; line < PiecesAhead::lines; ++line)
    builder_.CreateAlignedStore(builder_.CreateAlignedLoad(whole, line_of(from, line), llvm::Align(1)),
                                line_of(to, line), llvm::Align(1));
  builder_.CreateStore(
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), at, sizeof(PiecesAhead::Piece)), field);
  builder_.CreateStore(builder_.CreateSub(left, int64(1)), frame_.ahead);
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

// Gives back what was taken since so many scopes had temporaries.
void KernelEmitter::give_back(std::size_t scratch) {
  if (frame_.scratch.size() > scratch)
    runtime_.scratch_release(builder_, frame_.context, frame_.scratch[scratch]);
}

// Code behind a jump is made and dropped by LLVM.
void KernelEmitter::unreachable_from_here() {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "", frame_.function));
}

void KernelEmitter::jump(llvm::BasicBlock* target, std::size_t scratch) {
  give_back(scratch);
  builder_.CreateBr(target);
  unreachable_from_here();
}

void KernelEmitter::return_value(const Return& returned) {
  const DType dtype = returned.value.dtype();
  llvm::Value* value = scalar(returned.value);
  // As a slot of the call: integers as int64, floats by their bits.
  if (!is_float(dtype)) value = sign_or_zero_extend(value, dtype);
  builder_.CreateStore(value, frame_.result);
  give_back(0);
  builder_.CreateRet(builder_.getInt32(status_ok));
  unreachable_from_here();
}

void KernelEmitter::statement(const Stmt& stmt) {
  if (!stmt.defined()) return;
  const Span span = stmt->span;
  if (stmt.as<For>()) return for_loop(stmt);
  if (const auto* n = stmt.as<ViewStmt>()) return view(n->view, span);
  if (const auto* n = stmt.as<Return>()) return return_value(*n);
  if (stmt.as<Break>()) return jump(frame_.targets.back().on_break, frame_.targets.back().scratch);
  if (stmt.as<Continue>()) return jump(frame_.targets.back().on_continue, frame_.targets.back().scratch);
  if (const auto* n = stmt.as<While>()) return while_loop(*n);
  if (const auto* n = stmt.as<BlockStmt>()) return block(*n, span);
  if (const auto* n = stmt.as<Store>()) return store(*n, span);
  if (const auto* n = stmt.as<AllocateStmt>()) return allocate(n->buffer, true);
  if (const auto* n = stmt.as<DefineScalar>()) {
    llvm::Value* value = scalar(n->value.defined() ? n->value : zero(n->var.dtype()));
    if (n->let) return define(n->var, {value, nullptr, nullptr});
    llvm::BasicBlock& entry = frame_.function->getEntryBlock();
    llvm::IRBuilder<> at(&entry, entry.begin());
    llvm::Value* cell = at.CreateAlloca(register_type(n->var.dtype()));
    builder_.CreateStore(value, cell);
    return define(n->var, {nullptr, nullptr, cell});
  }
  if (const auto* n = stmt.as<AssignScalar>()) {
    llvm::Value* value = scalar(n->value);
    llvm::Value* cell = frame_.scalars[n->var.id()].cell;
    RELISH_CHECK(cell != nullptr, "assignment to '" + n->var.name() + "', which is no local");
    builder_.CreateStore(value, cell);
    return;
  }
  if (const auto* n = stmt.as<IfStmt>()) return if_stmt(*n);
  if (const auto* n = stmt.as<AssertStmt>()) {
    llvm::Value* condition = scalar(n->condition);
    if (!is_bool(n->condition.dtype())) condition = builder_.CreateIsNotNull(condition);
    return fault_unless(condition, {span, FaultKind::AssertFailed, n->message, {}, {}});
  }
  if (const auto* n = stmt.as<Evaluate>()) {
    // An element that is read for nothing is asked for: its line is in a cache when it is read in earnest.
    const auto* asked = n->value.as<Load>();
    if (asked && asked->buffer->scope() != "local") return ask_for(*asked, n->value.span());
    scalar(n->value);
    return;
  }
  if (const auto* n = stmt.as<SeqStmt>()) {
    const std::size_t taken = frame_.scratch.size();
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    if (!sequence_in_parts(*n, taken))
      for (const Stmt& child : n->body) sequence_child(child, taken);
    give_back(taken);
    frame_.scratch.resize(taken);
    return leave_scope(scalars, buffers);
  }
  RELISH_CHECK(false, "statement kind without code generation");
}

// A statement of a sequence before which so many scopes had temporaries.
void KernelEmitter::sequence_child(const Stmt& child, std::size_t taken) {
  statement(child);
  if (const auto* made = child.as<AllocateStmt>();
      made && frame_.scratch.size() == taken && !frame_.on_stack.contains(made->buffer.id()))
    frame_.scratch.push_back(frame_.buffers[made->buffer.id()].pointer);
}

void KernelEmitter::ask_for(const Load& element, Span span) {
  constexpr int for_reading = 0, every_cache = 3, data = 1;
  llvm::Value* address = element_address(*element.buffer, element.indices, span);
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, builder_.getInt32(for_reading), builder_.getInt32(every_cache), builder_.getInt32(data)});
}

void KernelEmitter::store(const Store& store, Span span) {
  const auto updated = as_update(store);
  const bool free_before = std::exchange(frame_.free_sums, false);
  llvm::Value* value = updated ? update(store, *updated) : scalar(store.value);
  if (!frame_.free_sums && is_float(store.buffer.dtype()) && reduction_loops(store).innermost)
    frame_.strict_sums = true;
  frame_.free_sums = frame_.free_sums || free_before;
  store_element(value, element_address(store.buffer, store.indices, span), store.buffer.dtype());
}

void KernelEmitter::block(const BlockStmt& block, Span span) {
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  llvm::Value* first_reduction = nullptr;
  std::vector<Scalar> bindings;
  for (const IterVar& iter : block.iters) bindings.push_back(iter.binding);
  bindings =
      as_begun(std::move(bindings), block.init.defined() ? seq({block.init, block.body}, span) : block.body);
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    llvm::Value* value = index(iter.binding);
    prover_.bind(iter.var, bindings[i]);
    define(iter.var, {nullptr, value, nullptr});
    if (iter.kind != IterKind::Reduce || !block.init.defined()) continue;
    llvm::Value* at_begin = builder_.CreateICmpEQ(value, index(iter.begin));
    first_reduction = first_reduction ? builder_.CreateAnd(first_reduction, at_begin) : at_begin;
  }
  auto& context = builder_.getContext();
  llvm::BasicBlock* done = nullptr;
  if (block.predicate.defined()) {
    auto* inside = llvm::BasicBlock::Create(context, "", frame_.function);
    done = llvm::BasicBlock::Create(context, "", frame_.function);
    builder_.CreateCondBr(scalar(block.predicate), inside, done);
    builder_.SetInsertPoint(inside);
  }
  const std::size_t taken = frame_.scratch.size();
  const auto written = written_before_reads(block.body, block.allocations, prover_);
  for (const Buffer& buffer : block.allocations) {
    allocate(buffer, has_views_ || !written.contains(buffer.id()));
    if (frame_.scratch.size() == taken && !frame_.on_stack.contains(buffer.id()))
      frame_.scratch.push_back(frame_.buffers[buffer.id()].pointer);
  }
  const bool in_registers = std::any_of(
      block.allocations.begin(), block.allocations.end(),
      [&](const Buffer& buffer) { return buffer.rank() > 0 && frame_.on_stack.contains(buffer.id()); });
  // Tiles that are done in less time than a piece takes to come would wait for it.
  constexpr std::int64_t least_work = 512;
  if (in_registers && has_loop(block.body) && constant_work(block.body).value_or(least_work) >= least_work)
    fetch_ahead();
  for (const BufferView& each : block.views) view(each, span);
  if (block.init.defined()) {
    if (first_reduction) {
      auto* start = llvm::BasicBlock::Create(context, "", frame_.function);
      auto* next = llvm::BasicBlock::Create(context, "", frame_.function);
      builder_.CreateCondBr(first_reduction, start, next);
      builder_.SetInsertPoint(start);
      statement(block.init);
      builder_.CreateBr(next);
      builder_.SetInsertPoint(next);
    } else {
      statement(block.init);
    }
  }
  statement(block.body);
  give_back(taken);
  frame_.scratch.resize(taken);
  if (done) {
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }
  leave_scope(scalars, buffers);
}

namespace {

// Whether the condition, where it holds, does so until the statement ends.
bool lasts(const Scalar& condition, const Stmt& stmt) {
  std::vector<Access> loads;
  collect_loads(condition, loads);
  std::vector<ScalarVar> vars;
  collect_vars(condition, vars);
  bool lasts = loads.empty();
  for_each_stmt(stmt, [&](const Stmt& part) {
    const auto* assigned = part.as<AssignScalar>();
    lasts = lasts && !(assigned && std::find(vars.begin(), vars.end(), assigned->var) != vars.end());
  });
  return lasts;
}

}  // namespace

void KernelEmitter::if_stmt(const IfStmt& node) {
  auto& context = builder_.getContext();
  auto* taken = llvm::BasicBlock::Create(context, "", frame_.function);
  auto* other = llvm::BasicBlock::Create(context, "", frame_.function);
  auto* done = node.else_body.defined() ? llvm::BasicBlock::Create(context, "", frame_.function) : other;
  builder_.CreateCondBr(scalar(node.condition), taken, other);
  const auto branch = [&](llvm::BasicBlock* at, const Stmt& body) {
    builder_.SetInsertPoint(at);
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    statement(body);
    leave_scope(scalars, buffers);
    builder_.CreateBr(done);
  };
  if (lasts(node.condition, node.then_body)) {
    const std::size_t facts = prover_.assume(node.condition);
    branch(taken, node.then_body);
    prover_.forget(facts);
  } else {
    branch(taken, node.then_body);
  }
  if (node.else_body.defined()) branch(other, node.else_body);
  builder_.SetInsertPoint(done);
}

}  // namespace relish::jit
