// Code generation of loops: with interrupt polls, in strips that the vectorizer takes, and parallel ones as
// functions of their own.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "jit/kernel/codegen_kernel.h"
#include "jit/math/elementary.h"
#include "loops/empty_reduction.h"
#include "loops/iterations.h"
#include "loops/work.h"

namespace relish::jit {
namespace {

constexpr std::int64_t iterations_between_polls = 1 << 20;  // of simple statements: about a millisecond
constexpr std::int64_t strip_work = 1 << 16;
// A chunk of a parallel loop: a sixteenth of it, but neither so little that taking it costs as much nor so
// much that an interrupt waits.
constexpr std::int64_t chunks_of_loop = 16, least_chunk_work = 1 << 14, most_chunk_work = 1 << 17;
constexpr std::int64_t guessed_extent = 16;
constexpr std::int64_t least_strip = 64;

// Whether the statement is stores and names of what the vectorizer widens whole, without a call that stays
// scalar.
bool widens(const Stmt& stmt) {
  if (!stmt.defined()) return true;
  if (const auto* n = stmt.as<BlockStmt>()) return widens(n->init) && widens(n->body);
  if (const auto* n = stmt.as<SeqStmt>()) return std::all_of(n->body.begin(), n->body.end(), widens);
  if (const auto* n = stmt.as<For>()) return widens(n->body);
  const auto* store = stmt.as<Store>();
  const auto* named = stmt.as<DefineScalar>();
  if (!store && !(named && named->let)) return false;
  bool scalar_call = false;
  for_each_scalar(store ? store->value : named->value, [&](const Scalar& part) {
    if (const auto* call = part.as<IntrinsicCall>())
      scalar_call = scalar_call || calls_library(call->intrinsic, call->args[0].dtype());
  });
  return !scalar_call;
}

}  // namespace

// Whether a jump in the statement leaves a sequence that it stands in.
bool KernelEmitter::leaves_sequence(const Stmt& stmt) {
  return has_return(stmt) || has_own_jump(stmt, false);
}

void KernelEmitter::counted_loop(llvm::Value* first, llvm::Value* count, std::int64_t step,
                                 const std::function<void(llvm::Value*)>& body,
                                 const std::function<llvm::MDNode*()>& hints, bool jumps) {
  auto& context = builder_.getContext();
  auto* loop = llvm::BasicBlock::Create(context, "loop", frame_.function);
  auto* done = llvm::BasicBlock::Create(context, "done", frame_.function);
  auto* onward = jumps ? llvm::BasicBlock::Create(context, "onward", frame_.function) : nullptr;
  if (jumps) frame_.targets.push_back({done, onward, frame_.scratch.size()});
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, count), loop, done);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(first, before);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  body(counter);
  leave_scope(scalars, buffers);
  if (jumps) {
    frame_.targets.pop_back();
    builder_.CreateBr(onward);
    builder_.SetInsertPoint(onward);
  }
  llvm::Value* next = builder_.CreateAdd(counter, int64(step), "", true, true);
  counter->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), loop, done);
  if (hints) latch->setMetadata(llvm::LLVMContext::MD_loop, hints());
  builder_.SetInsertPoint(done);
}

// Advice for the vectorizer about an innermost loop, behind its body: code that brings little costs
// compilation time all the same.
llvm::MDNode* KernelEmitter::vector_hints(const For& loop) {
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
  if ((!traits.affine && !traits.gathers) || (extent && *extent < 8))
    hints.push_back(hint("llvm.loop.vectorize.enable", builder_.getFalse()));
  else if (!traits.reduces && !loop.body.as<For>())  // what is unrolled inside is work enough
    hints.push_back(hint("llvm.loop.interleave.count", builder_.getInt32(1)));
  // The lanes of a sum are given, so that it has the same bits on processors with other vectors: 32, or 8 of
  // a known extent below that. (A width lets the vectorizer change the order of every sum of the loop: not
  // where one is strict.)
  constexpr std::int64_t lanes = 32, few_lanes = 8;
  if (traits.affine && frame_.free_sums && !frame_.strict_sums && !(extent && *extent < few_lanes)) {
    const std::int64_t width = extent && *extent < lanes ? few_lanes : lanes;
    hints.push_back(hint("llvm.loop.vectorize.width", builder_.getInt32(static_cast<std::uint32_t>(width))));
    hints.push_back(hint("llvm.loop.interleave.count", builder_.getInt32(1)));
  }
  if (target_.masked_memory && traits.affine && !traits.reduces && widens(loop.body) &&
      !(extent && *extent % 16 == 0))
    hints.push_back(hint("llvm.loop.vectorize.predicate.enable", builder_.getTrue()));
  llvm::MDNode* node = llvm::MDNode::getDistinct(context, hints);
  node->replaceOperandWith(0, node);
  return node;
}

// The loop with a step that is a literal or a variable: it is computed once, before the first iteration.
For KernelEmitter::with_known_step(const For& loop, Span span) {
  For known = loop;
  if (!loop.step.defined() || loop.step.as_int().value_or(0) > 0) return known;
  llvm::Value* step = index(loop.step);
  fault_unless(builder_.CreateICmpSGT(step, int64(0)), {span, FaultKind::ZeroStep, {}, {}, {}}, step);
  const ScalarVar variable("step", DType::Int64);
  define(variable, {nullptr, step, nullptr});
  known.step = use(variable);
  return known;
}

llvm::Value* KernelEmitter::iterations(const For& loop) {
  llvm::Value* extent = index(loop.extent);
  if (!loop.step.defined()) return extent;
  // (extent - 1) / step + 1 for a positive extent.
  llvm::Value* last = builder_.CreateSDiv(builder_.CreateSub(extent, int64(1)), index(loop.step));
  return builder_.CreateSelect(builder_.CreateICmpSGT(extent, int64(0)), builder_.CreateAdd(last, int64(1)),
                               int64(0));
}

void KernelEmitter::iteration(const For& loop, llvm::Value* counter, llvm::Value* begin) {
  if (loop.step.defined()) counter = builder_.CreateNSWMul(counter, index(loop.step));
  define(loop.var, {nullptr, builder_.CreateNSWAdd(begin, counter), nullptr});
  statement(loop.body);
}

void KernelEmitter::for_loop(const Stmt& stmt) {
  const auto* loop = stmt.as<For>();
  const Stmt otherwise = init_of_empty(stmt);
  const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
  llvm::BasicBlock* done = nullptr;
  if (otherwise.defined()) {
    auto& context = builder_.getContext();
    auto* some = llvm::BasicBlock::Create(context, "", frame_.function);
    auto* none = llvm::BasicBlock::Create(context, "", frame_.function);
    done = llvm::BasicBlock::Create(context, "", frame_.function);
    builder_.CreateCondBr(builder_.CreateICmpSGT(index(loop->extent), int64(0)), some, none);
    builder_.SetInsertPoint(none);
    statement(otherwise);
    leave_scope(scalars, buffers);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(some);
  }
  const For known = with_known_step(*loop, stmt->span);
  if (unrolls(known))
    unrolled_loop(known);
  else if (vector_loop(known, stmt->span))
    ;
  else if (known.kind == LoopKind::Parallel)
    parallel_loop(make_stmt(known, stmt->span));
  else
    loop_over(known, int64(0), iterations(known));
  leave_scope(scalars, buffers);
  if (!done) return;
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

// Iterations [first, count) of the loop, counted from its begin.
void KernelEmitter::loop_over(const For& loop, llvm::Value* first, llvm::Value* count) {
  llvm::Value* begin = index(loop.begin);
  enter(loop);
  frame_.loops.push_back(loop.var);
  if (!has_loop(loop.body) && !has_own_jump(loop.body, true)) {
    strips(loop, first, count, begin);
  } else {
    const bool polls = !polls_rarely(loop);
    counted_loop(
        first, count, 1,
        [&](llvm::Value* counter) {
          if (polls) RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
          iteration(loop, counter, begin);
        },
        {}, has_own_jump(loop.body, false));
  }
  frame_.loops.pop_back();
  prover_.leave_loop();
}

// A loop so short that the loops around it poll often enough.
bool KernelEmitter::polls_rarely(const For& loop) const {
  const auto extent = most_iterations(loop.extent);
  const auto inner = constant_work(loop.body);
  std::int64_t total = 0;
  return extent && inner && !__builtin_mul_overflow(*extent, *inner, &total) &&
         total <= iterations_between_polls;
}

// An innermost loop. It must stay free of polls to be vectorized, so a long one is cut into strips.
void KernelEmitter::strips(const For& loop, llvm::Value* first, llvm::Value* count, llvm::Value* begin) {
  const auto run = [&](llvm::Value* from, llvm::Value* to) {
    frame_.free_sums = frame_.strict_sums = false;
    counted_loop(
        from, to, 1, [&](llvm::Value* counter) { iteration(loop, counter, begin); },
        [&] { return vector_hints(loop); }, has_own_jump(loop.body, false));
  };
  const bool is_chunk = in_parallel_ && frame_.loops.size() == chunk_depth_;
  if (polls_rarely(loop) || is_chunk) return run(first, count);
  // As long as so many simple statements take; whole vectors.
  const std::int64_t cost = std::max<std::int64_t>(1, constant_work(loop.body).value_or(1));
  const std::int64_t strip = std::max(least_strip, strip_work / cost / least_strip * least_strip);
  counted_loop(first, count, strip, [&](llvm::Value* start) {
    RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
    llvm::Value* end = builder_.CreateNSWAdd(start, int64(strip));
    run(start, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, count));
  });
}

// One copy of the body after the other.
void KernelEmitter::unrolled_loop(const For& loop) {
  llvm::Value* begin = index(loop.begin);
  enter(loop);
  for (std::int64_t i = 0; i < *loop.extent.as_int(); ++i) {
    const std::size_t scalars = frame_.scalar_order.size(), buffers = frame_.buffer_order.size();
    define(loop.var, {nullptr, builder_.CreateNSWAdd(begin, int64(i)), nullptr});
    statement(loop.body);
    leave_scope(scalars, buffers);
  }
  prover_.leave_loop();
}

// Whether code that computes the extent can be run anywhere: it neither fails nor reads memory.
static bool counts_anywhere(const Scalar& extent) {
  if (extent.as_int() || extent.as_var()) return true;
  if (const auto* node = extent.as<Cast>()) return is_signed_int(extent.dtype()) && counts_anywhere(node->a);
  const auto* node = extent.as<Binary>();
  if (!node || !is_signed_int(extent.dtype()) || !counts_anywhere(node->a)) return false;
  switch (node->op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return counts_anywhere(node->b);
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return node->b.as_int().value_or(0) > 0;
    default:
      return false;
  }
}

llvm::Value* KernelEmitter::work_of(const Stmt& stmt, const ScalarMap& first) {
  if (!stmt.defined()) return int64(0);
  if (const auto* n = stmt.as<For>()) {
    if (const auto vectors = time_of_vectors(*n)) return int64(*vectors);
    // What a loop inside counts is taken from the first round of those around it: blocks are full there.
    ScalarMap inside = first;
    inside.insert_or_assign(n->var.id(), substitute(n->begin, first));
    if (const auto known = n->extent.as_int())
      return builder_.CreateMul(int64(*known), work_of(n->body, inside));
    const Scalar extent = substitute(n->extent, first);
    std::vector<ScalarVar> vars;
    collect_vars(extent, vars);
    const bool known =
        counts_anywhere(extent) && std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
          const auto found = frame_.scalars.find(var.id());
          return found != frame_.scalars.end() && found->second.index;
        });
    // Of anything else it is known, at best, how much it can be.
    const std::int64_t guessed =
        std::min(guessed_extent, most_iterations(n->extent).value_or(guessed_extent));
    return builder_.CreateMul(known ? index(extent) : int64(guessed), work_of(n->body, inside));
  }
  if (const auto* n = stmt.as<While>())
    return builder_.CreateMul(int64(guessed_extent), work_of(n->body, first));
  if (const auto* n = stmt.as<BlockStmt>()) return work_of(n->body, first);
  if (const auto* n = stmt.as<IfStmt>()) {
    llvm::Value* branches = builder_.CreateAdd(work_of(n->then_body, first), work_of(n->else_body, first));
    return builder_.CreateAdd(int64(cost_of(stmt)), branches);
  }
  if (const auto* n = stmt.as<SeqStmt>()) {
    llvm::Value* total = int64(0);
    for (const Stmt& child : n->body) total = builder_.CreateAdd(total, work_of(child, first));
    return total;
  }
  return int64(cost_of(stmt));
}

void KernelEmitter::parallel_loop(const Stmt& stmt) {
  const For& loop = *stmt.as<For>();
  llvm::Value* count = iterations(loop);
  llvm::Value* work = work_of(loop.body, {{loop.var.id(), loop.begin}});
  llvm::Value* total = builder_.CreateMul(count, work);
  const Captured taken = capture(std::span(&stmt, 1));
  const std::vector<llvm::Value*>& captured = taken.values;
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
  const auto larger = [&](llvm::Value* a, llvm::Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  };
  llvm::Value* wanted = larger(builder_.CreateSDiv(total, int64(chunks_of_loop)), int64(least_chunk_work));
  wanted = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, wanted, int64(most_chunk_work));
  llvm::Value* chunk = larger(int64(1), builder_.CreateSDiv(wanted, per_iteration));
  chunk = builder_.CreateSelect(builder_.CreateICmpSLT(total, int64(least_parallel_work)), count, chunk);
  llvm::Function* run = runtime_.get("rt_parallel_for", builder_.getInt32Ty(), {ptr, i64, i64, ptr, ptr});
  llvm::Value* status = builder_.CreateCall(run, {frame_.context, count, chunk, entry, data});
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);

  // The body: the loop over [begin, end) in a function of its own.
  emit_apart(body, 3, taken, [&] {
    in_parallel_ = true;
    chunk_depth_ = frame_.loops.size() + 1;
    loop_over(loop, body->getArg(1), body->getArg(2));
    in_parallel_ = false;
  });
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
  frame_.targets.push_back({done, head, frame_.scratch.size()});
  statement(loop.body);
  frame_.targets.pop_back();
  leave_scope(scalars, buffers);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(done);
}

}  // namespace relish::jit
