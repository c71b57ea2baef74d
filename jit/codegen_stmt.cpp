// Code generation of statements: loops with interrupt polls, parallel loops as functions of their own,
// blocks, stores.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/codegen_kernel.h"

namespace relish::jit {
namespace {

constexpr std::int64_t iterations_between_polls = 1 << 20;  // of simple statements: about a millisecond
constexpr std::int64_t strip_iterations = 1 << 16;
constexpr std::int64_t parallel_threshold = 1 << 15;  // below it, waking a thread costs more than it saves
constexpr std::int64_t chunk_work = 1 << 17;
constexpr std::int64_t guessed_extent = 16;

bool has_loop(const Stmt& stmt) {
  if (!stmt.defined()) return false;
  if (stmt.as<For>() || stmt.as<While>()) return true;
  if (const auto* n = stmt.as<BlockStmt>()) return has_loop(n->init) || has_loop(n->body);
  if (const auto* n = stmt.as<IfStmt>()) return has_loop(n->then_body) || has_loop(n->else_body);
  if (const auto* n = stmt.as<SeqStmt>()) return std::any_of(n->body.begin(), n->body.end(), has_loop);
  return false;
}

// Iterations of simple statements below, when all extents are literals.
std::optional<std::int64_t> constant_work(const Stmt& stmt) {
  if (!stmt.defined()) return 0;
  if (stmt.as<While>()) return std::nullopt;
  if (const auto* n = stmt.as<For>()) {
    const auto extent = n->extent.as_int();
    const auto inner = constant_work(n->body);
    std::int64_t product = 0;
    if (!extent || !inner || __builtin_mul_overflow(*extent, *inner, &product)) return std::nullopt;
    return product;
  }
  const auto sum = [](std::optional<std::int64_t> a,
                      std::optional<std::int64_t> b) -> std::optional<std::int64_t> {
    std::int64_t total = 0;
    if (!a || !b || __builtin_add_overflow(*a, *b, &total)) return std::nullopt;
    return total;
  };
  if (const auto* n = stmt.as<BlockStmt>()) return sum(constant_work(n->init), constant_work(n->body));
  if (const auto* n = stmt.as<IfStmt>()) return sum(constant_work(n->then_body), constant_work(n->else_body));
  if (const auto* n = stmt.as<SeqStmt>()) {
    std::optional<std::int64_t> total = 0;
    for (const Stmt& child : n->body) total = sum(total, constant_work(child));
    return total;
  }
  return 1;
}

}  // namespace

std::vector<ScalarVar> kernel_symbols(const PrimFunc& function) {
  std::vector<ScalarVar> vars;
  for (const PrimParam& param : function.params)
    if (param.buffer())
      for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, vars);
  std::vector<ScalarVar> symbols;
  for (const ScalarVar& var : vars) {
    const bool is_param =
        std::any_of(function.params.begin(), function.params.end(),
                    [&](const PrimParam& param) { return param.scalar() && *param.scalar() == var; });
    if (!is_param && std::find(symbols.begin(), symbols.end(), var) == symbols.end()) symbols.push_back(var);
  }
  return symbols;
}

KernelEmitter::KernelEmitter(llvm::Module& module, const TargetTraits& target, SiteTable& sites)
    : module_(module), builder_(module.getContext()), target_(target), sites_(sites), runtime_(module) {}

void KernelEmitter::start_frame(llvm::Function* function) {
  finish_function(*function);
  frame_.function = function;
  frame_.context = function->getArg(0);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
  frame_.flag = builder_.CreateLoad(builder_.getPtrTy(), frame_.context);
  frame_.interrupted = llvm::BasicBlock::Create(builder_.getContext(), "interrupted", function);
  llvm::IRBuilder<> at(frame_.interrupted);
  at.CreateRet(at.getInt32(status_interrupted));
}

void KernelEmitter::finish_frame() {
  builder_.CreateRet(builder_.getInt32(status_ok));
  if (frame_.interrupted->hasNPredecessors(0)) frame_.interrupted->eraseFromParent();
}

void KernelEmitter::define(const ScalarVar& var, ScalarSlot slot) {
  if (frame_.scalars.insert_or_assign(var.id(), slot).second) frame_.scalar_order.push_back(var);
}

void KernelEmitter::define(const Buffer& buffer, BufferSlot slot) {
  if (frame_.buffers.insert_or_assign(buffer.id(), std::move(slot)).second)
    frame_.buffer_order.push_back(buffer);
}

llvm::Function* KernelEmitter::emit(const PrimFunc& function, const std::string& symbol) {
  symbol_ = symbol;
  nests_ = 0;
  in_parallel_ = false;
  prover_ = {};
  frame_ = {};
  const std::vector<ScalarVar> symbols = kernel_symbols(function);
  std::vector<llvm::Type*> types{builder_.getPtrTy()};
  for (const PrimParam& param : function.params)
    types.push_back(param.buffer() ? builder_.getPtrTy() : register_type(param.scalar()->dtype()));
  types.insert(types.end(), symbols.size(), builder_.getInt64Ty());
  auto* kernel = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), types, false),
                                        llvm::Function::InternalLinkage, symbol, module_);
  start_frame(kernel);

  unsigned position = 1;
  for (const PrimParam& param : function.params) {
    llvm::Argument* argument = kernel->getArg(position++);
    if (const ScalarVar* var = param.scalar()) {
      ScalarSlot slot{argument, nullptr, nullptr};
      if (!is_float(var->dtype())) slot.index = sign_or_zero_extend(argument, var->dtype());
      define(*var, slot);
    } else {
      argument->addAttr(llvm::Attribute::NoAlias);
      argument->addAttr(llvm::Attribute::getWithAlignment(builder_.getContext(), llvm::Align(64)));
    }
  }
  for (const ScalarVar& var : symbols) define(var, {nullptr, kernel->getArg(position++), nullptr});
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    for (const Scalar& dim : param.buffer()->shape())
      if (const auto var = dim.as_var()) prover_.assume_dimension(*var);
  }
  position = 1;
  for (const PrimParam& param : function.params) {
    llvm::Argument* argument = kernel->getArg(position++);
    if (!param.buffer()) continue;
    BufferSlot slot{argument, {}};
    for (const Scalar& dim : param.buffer()->shape()) slot.dims.push_back(index(dim));
    define(*param.buffer(), std::move(slot));
  }
  llvm::Value* first = nullptr;
  for (const Buffer& buffer : function.allocations) {
    allocate(buffer, !writes_all_first(function.body, buffer, prover_));
    if (!first) first = frame_.buffers[buffer.id()].pointer;
  }
  statement(function.body);
  if (first) runtime_.scratch_release(builder_, frame_.context, first);
  finish_frame();
  return kernel;
}

void KernelEmitter::allocate(const Buffer& buffer, bool clear) {
  BufferSlot slot;
  for (const Scalar& dim : buffer.shape()) slot.dims.push_back(index(dim));
  slot.pointer = runtime_.buffer(builder_, frame_.context, static_cast<std::int32_t>(buffer.dtype()),
                                 slot.dims.size(), RuntimeCalls::array_of(builder_, slot.dims), clear);
  define(buffer, std::move(slot));
}

void KernelEmitter::statement(const Stmt& stmt) {
  if (!stmt.defined()) return;
  const Span span = stmt->span;
  if (stmt.as<For>()) return for_loop(stmt);
  if (const auto* n = stmt.as<While>()) return while_loop(*n);
  if (const auto* n = stmt.as<BlockStmt>()) return block(*n);
  if (const auto* n = stmt.as<Store>()) return store(*n, span);
  if (const auto* n = stmt.as<AllocateStmt>()) return allocate(n->buffer, true);
  if (const auto* n = stmt.as<DefineScalar>()) {
    llvm::Value* value = scalar(n->value);
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
    scalar(n->value);
    return;
  }
  if (const auto* n = stmt.as<SeqStmt>()) {
    llvm::Value* first = nullptr;
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    for (const Stmt& child : n->body) {
      statement(child);
      if (const auto* made = child.as<AllocateStmt>(); made && !first)
        first = frame_.buffers[made->buffer.id()].pointer;
    }
    if (first) runtime_.scratch_release(builder_, frame_.context, first);
    return leave_scope(scalars, buffers);
  }
  RELISH_CHECK(false, "statement kind without code generation");
}

void KernelEmitter::leave_scope(std::size_t scalars, std::size_t buffers) {
  while (frame_.scalar_order.size() > scalars) {
    frame_.scalars.erase(frame_.scalar_order.back().id());
    frame_.scalar_order.pop_back();
  }
  while (frame_.buffer_order.size() > buffers) {
    frame_.buffers.erase(frame_.buffer_order.back().id());
    frame_.buffer_order.pop_back();
  }
}

void KernelEmitter::store(const Store& store, Span span) {
  const auto updated = as_update(store);
  llvm::Value* value = updated ? update(store, *updated) : scalar(store.value);
  store_element(value, element_address(store.buffer, store.indices, span), store.buffer.dtype());
}

void KernelEmitter::counted_loop(llvm::Value* first, llvm::Value* count, std::int64_t step,
                                 const std::function<void(llvm::Value*)>& body, llvm::MDNode* hints) {
  auto& context = builder_.getContext();
  auto* loop = llvm::BasicBlock::Create(context, "loop", frame_.function);
  auto* done = llvm::BasicBlock::Create(context, "done", frame_.function);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, count), loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(first, before);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  body(counter);
  leave_scope(scalars, buffers);
  llvm::Value* next = builder_.CreateAdd(counter, int64(step), "", true, true);
  counter->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), loop, done);
  if (hints) latch->setMetadata(llvm::LLVMContext::MD_loop, hints);
  builder_.SetInsertPoint(done);
}

// Advice for the vectorizer about an innermost loop: code that brings little costs compilation time all the
// same.
llvm::MDNode* KernelEmitter::vector_hints(const For& loop, bool hot) {
  auto& context = builder_.getContext();
  const auto hint = [&](const char* name, llvm::Constant* value) {
    return llvm::MDNode::get(context,
                             {llvm::MDString::get(context, name), llvm::ConstantAsMetadata::get(value)});
  };
  std::vector<llvm::Metadata*> hints{nullptr};
  const LoopTraits traits = traits_of(loop, prover_);
  const auto extent = loop.extent.as_int();
  // LLVM's own analysis of indices such as 3 * i % 16 misses that they wrap: what is not affine is left
  // scalar.
  if (!traits.affine || (extent && *extent < 8))
    hints.push_back(hint("llvm.loop.vectorize.enable", builder_.getFalse()));
  else if (!traits.reduces && !hot)
    hints.push_back(hint("llvm.loop.interleave.count", builder_.getInt32(1)));
  if (target_.masked_memory && traits.affine && !traits.calls && !traits.reduces &&
      !(extent && *extent % 16 == 0))
    hints.push_back(hint("llvm.loop.vectorize.predicate.enable", builder_.getTrue()));
  llvm::MDNode* node = llvm::MDNode::getDistinct(context, hints);
  node->replaceOperandWith(0, node);
  return node;
}

void KernelEmitter::iteration(const For& loop, llvm::Value* counter, llvm::Value* begin) {
  define(loop.var, {nullptr, builder_.CreateNSWAdd(begin, counter), nullptr});
  statement(loop.body);
}

void KernelEmitter::for_loop(const Stmt& stmt) {
  const Stmt arranged = arrange(stmt, prover_);
  const auto* loop = arranged.as<For>();
  if (!loop) return statement(arranged);
  if (!in_parallel_ && parallel_loop(arranged)) return;
  llvm::Value* count = index(loop->extent);
  loop_over(*loop, int64(0), count);
}

// Iterations [first, count) of the loop, counted from its begin.
void KernelEmitter::loop_over(const For& loop, llvm::Value* first, llvm::Value* count) {
  llvm::Value* begin = index(loop.begin);
  prover_.enter_loop(loop.var, loop.begin, loop.extent);
  frame_.loops.push_back(loop.var);
  const auto* inner = loop.body.as<For>();
  const Attribute* jam = find_attribute(loop.annotations, jam_annotation);
  if (jam && inner) {
    jammed_loop(loop, *jam->as<std::int64_t>(), begin, first, count);
  } else if (!has_loop(loop.body)) {
    strips(loop, first, count, begin);
  } else {
    const bool polls = !polls_rarely(loop);
    counted_loop(first, count, 1, [&](llvm::Value* counter) {
      if (polls) RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
      iteration(loop, counter, begin);
    });
  }
  frame_.loops.pop_back();
  prover_.leave_loop();
}

// A loop so short that the loops around it poll often enough.
bool KernelEmitter::polls_rarely(const For& loop) const {
  const auto extent = loop.extent.as_int();
  const auto inner = constant_work(loop.body);
  std::int64_t total = 0;
  return extent && inner && !__builtin_mul_overflow(*extent, *inner, &total) &&
         total <= iterations_between_polls;
}

// An innermost loop. It must stay free of polls to be vectorized, so a long one is cut into strips.
void KernelEmitter::strips(const For& loop, llvm::Value* first, llvm::Value* count, llvm::Value* begin) {
  llvm::MDNode* const hints = vector_hints(loop, false);
  const auto run = [&](llvm::Value* from, llvm::Value* to) {
    counted_loop(from, to, 1, [&](llvm::Value* counter) { iteration(loop, counter, begin); }, hints);
  };
  const bool is_chunk = in_parallel_ && frame_.loops.size() == chunk_depth_;
  if (polls_rarely(loop) || is_chunk) return run(first, count);
  counted_loop(first, count, strip_iterations, [&](llvm::Value* start) {
    RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
    llvm::Value* end = builder_.CreateNSWAdd(start, int64(strip_iterations));
    run(start, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, count));
  });
}

// `factor` iterations of a reduce loop in one sweep of the loop inside it: each element is loaded and stored
// once for all of them, and still sees its updates in their order.
void KernelEmitter::jammed_loop(const For& loop, std::int64_t factor, llvm::Value* begin, llvm::Value* first,
                                llvm::Value* count) {
  const For& inner = *loop.body.as<For>();
  llvm::Value* length = builder_.CreateNSWSub(count, first);
  llvm::Value* rest = builder_.CreateSRem(length, int64(factor));
  llvm::Value* main_end = builder_.CreateNSWSub(count, rest);
  const bool polls = !polls_rarely(loop);
  counted_loop(first, main_end, factor, [&](llvm::Value* counter) {
    if (polls) RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
    llvm::Value* inner_begin = index(inner.begin);
    llvm::Value* inner_count = index(inner.extent);
    prover_.enter_loop(inner.var, inner.begin, inner.extent);
    frame_.loops.push_back(inner.var);
    counted_loop(
        int64(0), inner_count, 1,
        [&](llvm::Value* inner_counter) {
          define(inner.var, {nullptr, builder_.CreateNSWAdd(inner_begin, inner_counter), nullptr});
          for (std::int64_t u = 0; u < factor; ++u) {
            const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
            define(loop.var, {nullptr, builder_.CreateNSWAdd(begin, builder_.CreateNSWAdd(counter, int64(u))),
                              nullptr});
            statement(inner.body);
            leave_scope(scalars, buffers);
          }
        },
        vector_hints(inner, true));
    frame_.loops.pop_back();
    prover_.leave_loop();
  });
  counted_loop(main_end, count, 1, [&](llvm::Value* counter) { iteration(loop, counter, begin); });
}

llvm::Value* KernelEmitter::work_of(const Stmt& stmt) {
  if (!stmt.defined()) return int64(0);
  if (const auto* n = stmt.as<For>()) {
    std::vector<ScalarVar> vars;
    collect_vars(n->extent, vars);
    const bool known = std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
      const auto found = frame_.scalars.find(var.id());
      return found != frame_.scalars.end() && found->second.index;
    });
    return builder_.CreateMul(known ? index(n->extent) : int64(guessed_extent), work_of(n->body));
  }
  if (const auto* n = stmt.as<While>()) return builder_.CreateMul(int64(guessed_extent), work_of(n->body));
  if (const auto* n = stmt.as<BlockStmt>()) return work_of(n->body);
  if (const auto* n = stmt.as<IfStmt>())
    return builder_.CreateAdd(work_of(n->then_body), work_of(n->else_body));
  if (const auto* n = stmt.as<SeqStmt>()) {
    llvm::Value* total = int64(0);
    for (const Stmt& child : n->body) total = builder_.CreateAdd(total, work_of(child));
    return total;
  }
  if (const auto* n = stmt.as<Store>()) return int64(1 + 10 * count_intrinsics(n->value));
  return int64(1);
}

bool KernelEmitter::parallel_loop(const Stmt& stmt) {
  const For& loop = *stmt.as<For>();
  const auto extent = loop.extent.as_int();
  if (extent && *extent <= 1) return false;
  const auto whole = constant_work(stmt);
  if (!independent_iterations(loop, prover_)) return false;
  llvm::Value* count = index(loop.extent);
  llvm::Value* work = work_of(loop.body);
  llvm::Value* total = builder_.CreateMul(count, work);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(total);
      whole && known && known->getSExtValue() < parallel_threshold)
    return false;

  // Everything visible here goes along by value.
  const std::vector<ScalarVar> scalars = frame_.scalar_order;
  const std::vector<Buffer> buffers = frame_.buffer_order;
  std::vector<llvm::Value*> captured;
  for (const ScalarVar& var : scalars) {
    const ScalarSlot& slot = frame_.scalars[var.id()];
    captured.push_back(slot.index ? slot.index : variable(var));
  }
  for (const Buffer& buffer : buffers) {
    captured.push_back(frame_.buffers[buffer.id()].pointer);
    for (llvm::Value* dim : frame_.buffers[buffer.id()].dims) captured.push_back(dim);
  }
  std::vector<llvm::Type*> fields;
  for (llvm::Value* value : captured) fields.push_back(value->getType());
  auto& context = builder_.getContext();
  auto* data_type = llvm::StructType::get(context, fields);
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Type* ptr = builder_.getPtrTy();
  std::vector<llvm::Type*> types{ptr, i64, i64};
  types.insert(types.end(), fields.begin(), fields.end());
  const std::string name = symbol_ + ".loop" + std::to_string(++nests_);
  auto* body = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), types, false),
                                      llvm::Function::InternalLinkage, name, module_);
  auto* entry =
      llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), {ptr, i64, i64, ptr}, false),
                             llvm::Function::InternalLinkage, name + ".entry", module_);
  finish_function(*entry);
  {
    llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "entry", entry));
    std::vector<llvm::Value*> args{entry->getArg(0), entry->getArg(1), entry->getArg(2)};
    for (unsigned i = 0; i < fields.size(); ++i)
      args.push_back(at.CreateLoad(fields[i], at.CreateStructGEP(data_type, entry->getArg(3), i)));
    at.CreateRet(at.CreateCall(body, args));
  }
  llvm::BasicBlock& first_block = frame_.function->getEntryBlock();
  llvm::Value* data = llvm::IRBuilder<>(&first_block, first_block.begin()).CreateAlloca(data_type);
  for (unsigned i = 0; i < captured.size(); ++i)
    builder_.CreateStore(captured[i], builder_.CreateStructGEP(data_type, data, i));
  llvm::Value* per_iteration = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, work, int64(1));
  llvm::Value* chunk = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, int64(1),
                                                      builder_.CreateSDiv(int64(chunk_work), per_iteration));
  chunk = builder_.CreateSelect(builder_.CreateICmpSLT(total, int64(parallel_threshold)), count, chunk);
  llvm::Function* run = runtime_.get("rt_parallel_for", builder_.getInt32Ty(), {ptr, i64, i64, ptr, ptr});
  llvm::Value* status = builder_.CreateCall(run, {frame_.context, count, chunk, entry, data});
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);

  // The body: the loop over [begin, end) in a function of its own.
  const Frame outside = frame_;
  const llvm::IRBuilder<>::InsertPoint resume = builder_.saveIP();
  frame_.scalars.clear();
  frame_.buffers.clear();
  frame_.scalar_order.clear();
  frame_.buffer_order.clear();
  start_frame(body);
  unsigned argument = 3;
  for (const ScalarVar& var : scalars) {
    llvm::Value* value = body->getArg(argument++);
    const bool as_index = outside.scalars.at(var.id()).index != nullptr;
    define(var, as_index ? ScalarSlot{nullptr, value, nullptr} : ScalarSlot{value, nullptr, nullptr});
  }
  for (const Buffer& buffer : buffers) {
    llvm::Argument* pointer = body->getArg(argument++);
    pointer->addAttr(llvm::Attribute::NoAlias);
    pointer->addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
    BufferSlot slot{pointer, {}};
    for (int d = 0; d < buffer.rank(); ++d) slot.dims.push_back(body->getArg(argument++));
    define(buffer, std::move(slot));
  }
  in_parallel_ = true;
  chunk_depth_ = frame_.loops.size() + 1;
  loop_over(loop, body->getArg(1), body->getArg(2));
  in_parallel_ = false;
  finish_frame();
  frame_ = outside;
  builder_.restoreIP(resume);
  return true;
}

void KernelEmitter::block(const BlockStmt& block) {
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  llvm::Value* first_reduction = nullptr;
  for (const IterVar& iter : block.iters) {
    llvm::Value* value = index(iter.binding);
    prover_.bind(iter.var, iter.binding);
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
  llvm::Value* first = nullptr;
  for (const Buffer& buffer : block.allocations) {
    allocate(buffer, !writes_all_first(block.body, buffer, prover_));
    if (!first) first = frame_.buffers[buffer.id()].pointer;
  }
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
  if (first) runtime_.scratch_release(builder_, frame_.context, first);
  if (done) {
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }
  leave_scope(scalars, buffers);
}

void KernelEmitter::while_loop(const While& loop) {
  auto& context = builder_.getContext();
  auto* head = llvm::BasicBlock::Create(context, "while", frame_.function);
  auto* body = llvm::BasicBlock::Create(context, "", frame_.function);
  auto* done = llvm::BasicBlock::Create(context, "", frame_.function);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
  builder_.CreateCondBr(scalar(loop.condition), body, done);
  builder_.SetInsertPoint(body);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  statement(loop.body);
  leave_scope(scalars, buffers);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(done);
}

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
  branch(taken, node.then_body);
  if (node.else_body.defined()) branch(other, node.else_body);
  builder_.SetInsertPoint(done);
}

}  // namespace relish::jit
