// Code generation of ifs and loops around calls of lifted bodies, and of calls into the program.
#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/op.h"
#include "jit/graph/codegen_graph.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

// An i1 of a bool scalar or a 0-d bool tensor, or of what turns out to be one when it runs.
llvm::Value* GraphEmitter::condition(const Expr& expr, Span span) {
  Live live = value(expr);
  if (needs_conversion(live.tree, condition_type(expr.type()))) {
    HostCall call{{live.tree}, next_conversion(), span, truth_at(span)};
    live = host_call({live}, std::move(call));
  }
  if (live.tree.kind == ValueTree::ScalarLeaf) return live.values.at(0);
  RELISH_CHECK(live.tree.kind == ValueTree::TensorLeaf && live.tree.rank == 0);
  return builder_.CreateIsNotNull(
      builder_.CreateLoad(builder_.getInt8Ty(), frame_.storages[live.tree.storage].pointer));
}

// Values that are boxed for the call belong to the binding, so they are made before its branches.
GraphEmitter::Captured GraphEmitter::captured_of(const Region& region) {
  const FunctionCall& call = lifted_call(region);
  const Function& callee = *module_.function(call.callee.as<GlobalRef>()->name);
  Captured captured;
  for (std::size_t i = region.params.size(); i < call.args.size(); ++i) {
    captured.emplace_back();
    if (!call.args[i].as<ShapeLiteral>()) captured.back() = argument(call.args[i], callee, i);
  }
  return captured;
}

// Calls the function of a region: the carried values as they stand in their slots, then what it captured.
void GraphEmitter::call_lifted(const Region& region, const Captured& before, llvm::Value* carried,
                               std::size_t carried_slots, llvm::Value* out) {
  const FunctionCall& call = lifted_call(region);
  std::vector<Live> captured;
  std::size_t count = carried_slots;
  for (std::size_t i = 0; i < before.size(); ++i) {
    captured.push_back(before[i] ? *before[i] : value(call.args[region.params.size() + i]));
    count += slot_count(captured.back().tree);
  }
  llvm::Value* in = RuntimeCalls::stack_slots(builder_, count);
  for (std::size_t i = 0; i < carried_slots; ++i)
    builder_.CreateStore(builder_.CreateLoad(builder_.getInt64Ty(), slot(carried, i)), slot(in, i));
  std::size_t position = carried_slots;
  for (const Live& live : captured) write_slots(live, in, position);
  llvm::Function* code = function(*module_.function(call.callee.as<GlobalRef>()->name));
  llvm::Value* status = builder_.CreateCall(code, {frame_.context, in, out});
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);
}

GraphEmitter::Live GraphEmitter::if_value(const If& branch, const Expr& expr) {
  const ValueTree& tree = frame_.values->bound[static_cast<std::size_t>(frame_.position)];
  llvm::Value* out = RuntimeCalls::stack_slots(builder_, slot_count(tree));
  llvm::Value* taken = condition(branch.condition, expr.span());
  const Captured then_captured = captured_of(*branch.then_region);
  const Captured else_captured = captured_of(*branch.else_region);
  llvm::LLVMContext& context = code_.getContext();
  auto* then_block = llvm::BasicBlock::Create(context, "then", frame_.code);
  auto* else_block = llvm::BasicBlock::Create(context, "else", frame_.code);
  auto* after = llvm::BasicBlock::Create(context, "after", frame_.code);
  builder_.CreateCondBr(taken, then_block, else_block);
  builder_.SetInsertPoint(then_block);
  apart([&] { call_lifted(*branch.then_region, then_captured, nullptr, 0, out); });
  builder_.CreateBr(after);
  builder_.SetInsertPoint(else_block);
  apart([&] { call_lifted(*branch.else_region, else_captured, nullptr, 0, out); });
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  std::size_t position = 0;
  return read_slots(tree, out, position);
}

GraphEmitter::Live GraphEmitter::loop_value(const Loop& loop, const Expr& expr) {
  const ValueTree& tree = frame_.values->bound[static_cast<std::size_t>(frame_.position)];
  const std::size_t count = slot_count(tree);
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::LLVMContext& context = code_.getContext();

  // Every value of the loop belongs to it, so each round may free those of the round before.
  llvm::Value* carried = RuntimeCalls::stack_slots(builder_, count);
  llvm::Value* next = RuntimeCalls::stack_slots(builder_, count);
  std::size_t position = 0;
  for (std::size_t i = 0; i < loop.initial.size(); ++i) {
    const Var& param = loop.body->params[i];
    const Live live = argument(loop.initial[i], param.type(), param.span(), param.name());
    std::size_t at = position;
    write_slots(live, carried, position);
    for_each_stored_slot(live.tree, at, [&](std::size_t address, const ValueTree& leaf) {
      builder_.CreateStore(own(leaf, frame_.storages[leaf.storage]), slot(carried, address));
    });
  }

  llvm::Value *index = nullptr, *end = nullptr, *step = nullptr;
  if (loop.index.defined()) {
    index = RuntimeCalls::stack_slots(builder_, 1);
    builder_.CreateStore(value(loop.begin).values.at(0), index);
    end = value(loop.end).values.at(0);
    step = value(loop.step).values.at(0);
    const std::int32_t site = sites_.add({expr.span(), FaultKind::ZeroStep, {}, {}, {}});
    auto* zero = llvm::BasicBlock::Create(context, "zero_step", frame_.code);
    auto* good = llvm::BasicBlock::Create(context, "loop", frame_.code);
    builder_.CreateCondBr(builder_.CreateIsNull(step), zero, good);
    builder_.SetInsertPoint(zero);
    builder_.CreateRet(runtime_.fault(builder_, frame_.context, site, step, nullptr, nullptr));
    builder_.SetInsertPoint(good);
  }

  const Captured condition_captured = loop.condition ? captured_of(*loop.condition) : Captured();
  const Captured body_captured = captured_of(*loop.body);
  auto* head = llvm::BasicBlock::Create(context, "head", frame_.code);
  auto* body = llvm::BasicBlock::Create(context, "body", frame_.code);
  auto* after = llvm::BasicBlock::Create(context, "after", frame_.code);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  apart([&] {
    llvm::Value* goes_on = nullptr;
    if (loop.index.defined()) {
      llvm::Value* at = builder_.CreateLoad(i64, index);
      goes_on = builder_.CreateSelect(builder_.CreateICmpSGT(step, int64(0)), builder_.CreateICmpSLT(at, end),
                                      builder_.CreateICmpSGT(at, end));
    } else {
      goes_on = loop_condition(*loop.condition, condition_captured, carried, count, expr.span());
    }
    builder_.CreateCondBr(goes_on, body, after);
    builder_.SetInsertPoint(body);
    RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
    if (loop.index.defined()) {
      symbol_vars_.insert_or_assign(loop.index.id(), loop.index);
      frame_.symbols[loop.index.id()] = builder_.CreateLoad(i64, index);
    }
    call_lifted(*loop.body, body_captured, carried, count, next);
    position = 0;
    for_each_stored_slot(tree, position, [&](std::size_t at, const ValueTree& leaf) {
      release(builder_.CreateLoad(builder_.getPtrTy(), slot(carried, at)), leaf.kind == ValueTree::BoxLeaf);
    });
    for (std::size_t i = 0; i < count; ++i)
      builder_.CreateStore(builder_.CreateLoad(i64, slot(next, i)), slot(carried, i));
    if (loop.index.defined()) {
      // A range that reaches the end of int64 ends there.
      llvm::Value* sum =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, builder_.CreateLoad(i64, index), step);
      builder_.CreateStore(sum, index);
      frame_.symbols.erase(loop.index.id());
    }
  });
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  position = 0;
  return read_slots(tree, carried, position);
}

llvm::Value* GraphEmitter::loop_condition(const Region& region, const Captured& captured,
                                          llvm::Value* carried, std::size_t count, Span span) {
  const Type& type = region.results.at(0).type();
  llvm::Value* out = RuntimeCalls::stack_slots(builder_, 1);
  call_lifted(region, captured, carried, count, out);
  if (type.as<ScalarType>()) return builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt8Ty(), out));
  llvm::Value* pointer = builder_.CreateLoad(builder_.getPtrTy(), out);
  llvm::Value* truth = nullptr;
  if (is_boxed(type)) {
    ValueTree box, scalar;
    box.kind = ValueTree::BoxLeaf;
    scalar.kind = ValueTree::ScalarLeaf;
    scalar.dtype = DType::Bool;
    llvm::Value* answer = RuntimeCalls::stack_slots(builder_, 1);
    call_host("rt_host_call", {{box}, scalar, span, truth_at(span)}, nullptr, out, answer);
    truth = builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt8Ty(), answer));
  } else {
    truth = builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt8Ty(), pointer));
  }
  release(pointer, is_boxed(type));
  return truth;
}

GraphEmitter::Live GraphEmitter::host_call(const std::vector<Live>& args, HostCall call) {
  return host_call_by("rt_host_call", args, std::move(call), nullptr);
}

GraphEmitter::Live GraphEmitter::host_call_by(const char* name, const std::vector<Live>& args, HostCall call,
                                              llvm::Function* code) {
  std::size_t count = 0;
  for (const Live& arg : args) count += slot_count(arg.tree);
  llvm::Value* in = RuntimeCalls::stack_slots(builder_, count);
  llvm::Value* out = RuntimeCalls::stack_slots(builder_, slot_count(call.result));
  std::size_t position = 0;
  for (const Live& arg : args) write_slots(arg, in, position);
  const ValueTree tree = call.result;
  call_host(name, std::move(call), code, in, out);
  position = 0;
  return read_slots(tree, out, position);
}

void GraphEmitter::call_host(const char* name, HostCall call, llvm::Function* code, llvm::Value* in,
                             llvm::Value* out) {
  RELISH_CHECK(host_calls_ != nullptr);
  host_calls_->push_back(std::move(call));
  llvm::Type *ptr = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::Value* index = builder_.getInt32(static_cast<std::uint32_t>(host_calls_->size() - 1));
  llvm::Value* status = code ? builder_.CreateCall(runtime_.get(name, i32, {ptr, i32, ptr, ptr, ptr}),
                                                   {frame_.context, index, code, in, out})
                             : builder_.CreateCall(runtime_.get(name, i32, {ptr, i32, ptr, ptr}),
                                                   {frame_.context, index, in, out});
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);
}

GraphEmitter::Live GraphEmitter::operator_call(const OpCall& call, const Expr& expr) {
  std::vector<Live> args;
  std::vector<ValueTree> trees;
  for (const Expr& arg : call.args) {
    args.push_back(value(arg));
    trees.push_back(args.back().tree);
  }
  const ValueTree& result = frame_.values->bound[static_cast<std::size_t>(frame_.position)];
  Live live = host_call(args, operator_host_call(call, std::move(trees), result, expr.span()));
  if (runs_as_call(*call.op))
    match(live, expr.type(), expr.span(), fmt::format("the result of {}", short_name_of(*call.op)));
  return live;
}

}  // namespace relish::jit
