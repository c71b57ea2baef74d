// Steps in LLVM IR.
#include "jit/graph/codegen_steps.h"

#include <algorithm>

#include "ir/scalars/twice_given.h"
#include "jit/graph/split_function.h"
#include "support/interrupt.h"
#include "support/overloaded.h"

namespace relish::jit {
namespace {

constexpr std::size_t instructions_of_part = 2'000;

bool same_places(const ValueTree& a, const ValueTree& b) {
  return a.kind == b.kind && (!a.is_leaf() || a.place == b.place) &&
         std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(), same_places);
}

}  // namespace

StepEmitter::StepEmitter(GraphEmitter& program, llvm::Function& code, const FunctionSteps& steps)
    : program_(program),
      steps_(steps),
      code_(code, program.runtime(), program.sites()),
      sizes_(code_),
      places_(code_, sizes_, steps.places),
      hosts_(program, code_, places_),
      calls_(program, code_, sizes_, places_, hosts_) {}

void StepEmitter::run() {
  enter();
  std::size_t position = 0;
  for (const ValueTree& param : steps_.params) places_.read_slots(param, code_.code.getArg(1), position);
  list(steps_.steps);
  if (steps_.recursive) {
    code_.builder.CreateCall(code_.runtime.get("rt_leave", code_.builder.getVoidTy(), {code_.ptr}),
                             {code_.context});
  }
  code_.builder.CreateRet(code_.int32(status_ok));
  if (code_.interrupted->hasNPredecessors(0)) code_.interrupted->eraseFromParent();
  split_function(code_.code, cuts_, instructions_of_part, code_.runtime);
}

void StepEmitter::enter() {
  code_.builder.SetInsertPoint(&code_.code.getEntryBlock());
  code_.interrupted = code_.block("interrupted");
  llvm::IRBuilder<>(code_.interrupted).CreateRet(code_.int32(status_interrupted));
  if (!steps_.recursive) return;
  const std::int32_t site = code_.sites.add({steps_.span, FaultKind::CallDepth, steps_.name, {}, {}});
  code_.return_unless_ok(code_.builder.CreateCall(
      code_.runtime.get("rt_enter", code_.i32, {code_.ptr, code_.i32}), {code_.context, code_.int32(site)}));
}

void StepEmitter::list(const StepList& steps) {
  for (const Step& each : steps) step(each);
}

void StepEmitter::step(const Step& given) {
  const Span span = given.span;
  visit_kind(Overloaded{
                 [&](const step::Poll&) { poll(span); },
                 [&](const step::BindSize& n) { bind_size(n); },
                 [&](const step::CheckShape& n) { check_shape(n, span); },
                 [&](const step::CheckSize& n) { check_size(n, span); },
                 [&](const step::CheckValue& n) { hosts_.check_value(n, span); },
                 [&](const step::ComputeShape& n) { compute_shape(n); },
                 [&](const step::ComputeScalar& n) { places_.hold(n.result, {sizes_.scalar(n.value)}); },
                 [&](const step::TakeArena& n) { places_.take_arena(n, span); },
                 [&](const step::ReturnArena&) {
                   calls_.give_rows_back();
                   places_.return_arena();
                 },
                 [&](const step::Allocate& n) { allocate(n, span); },
                 [&](const step::Copy& n) { places_.copy(n.from, n.to); },
                 [&](const step::Share& n) { places_.share(n.from, n.result, n.to_write); },
                 [&](const step::Release& n) { places_.release(n.place); },
                 [&](const step::TakeOver& n) { places_.take_over(n.from, n.result, span); },
                 [&](const step::CallKernel& n) {
                   calls_.kernel(n, span, [&](const StepList& steps) { list(steps); });
                 },
                 [&](const step::RowsAhead& n) { calls_.rows_ahead(n); },
                 [&](const step::CallFunction& n) { calls_.function(n); },
                 [&](const step::CallNative& n) { hosts_.native(n, span); },
                 [&](const step::CallMachine& n) { hosts_.machine(n, span); },
                 [&](const step::EvaluateOperator& n) { hosts_.evaluate(n, span); },
                 [&](const step::Convert& n) { hosts_.convert(n, span); },
                 [&](const step::Truth& n) { hosts_.truth(n, span); },
                 [&](const step::MakeFunction& n) { hosts_.make_function(n, span); },
                 [&](const step::FixArguments& n) { hosts_.fix_arguments(n, span); },
                 [&](const step::CallValue& n) { hosts_.call_value(n, span); },
                 [&](const step::Branch& n) { branch(n); },
                 [&](const step::Loop& n) { loop(n, span); },
                 [&](const step::Return& n) { write(n.value, code_.code.getArg(2)); },
             },
             given);
}

void StepEmitter::allocate(const step::Allocate& given, Span span) {
  if (!given.fault) return places_.allocate(given.result, given.clear, span, {});
  places_.allocate(given.result, given.clear, span, [&](llvm::Value* status) {
    sizes_.apart([&] {
      list(given.fault->steps);
      hosts_.tell_fault(*given.fault, status);
    });
  });
}

void StepEmitter::poll(Span span) {
  poll_interrupt(span);
  RuntimeCalls::poll(code_.builder, code_.flag(), code_.interrupted);
  cuts_.push_back(code_.builder.GetInsertBlock());
}

void StepEmitter::bind_size(const step::BindSize& bind) {
  if (bind.dim == step::BindSize::scalar)
    sizes_.bind_scalar(bind.symbol, places_.scalar(bind.place));
  else
    sizes_.bind(bind.symbol, places_[bind.place].values.at(static_cast<std::size_t>(bind.dim)));
}

void StepEmitter::check_shape(const step::CheckShape& check, Span span) {
  const TensorType* tensor = check.type.tensor();
  const auto* shape = check.type.as<ShapeType>();
  sizes_.check(places_[check.place].values, tensor ? tensor->shape : shape->dims,
               tensor ? tensor->rank : shape->rank, [&] {
                 return Site{span,       FaultKind::ShapeMismatch,
                             check.what, check.type,
                             {},         places_.described(check.place).dtype};
               });
}

void StepEmitter::check_size(const step::CheckSize& check, Span span) {
  const Type wanted = size_type(check.symbol);
  llvm::Value* given = code_.builder.CreateSExt(places_.scalar(check.place), code_.i64);
  sizes_.check({given}, wanted.as<ShapeType>()->dims, 1,
               [&] { return Site{span, FaultKind::ShapeMismatch, check.what, wanted, {}}; });
}

void StepEmitter::compute_shape(const step::ComputeShape& computed) {
  std::vector<llvm::Value*> dims;
  for (const Scalar& dim : computed.dims) dims.push_back(sizes_.dim(dim));
  places_.hold(computed.result, std::move(dims));
}

void StepEmitter::write(const ValueTree& value, llvm::Value* slots) {
  std::size_t position = 0;
  places_.write_slots(value, slots, position);
}

void StepEmitter::read(const ValueTree& value, llvm::Value* slots) {
  std::size_t position = 0;
  places_.read_slots(value, slots, position);
}

void StepEmitter::branch(const step::Branch& branch) {
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::Value* out = RuntimeCalls::stack_slots(builder, slot_count(branch.result));
  llvm::BasicBlock *then = code_.block("then"), *otherwise = code_.block("else"),
                   *after = code_.block("after");
  builder.CreateCondBr(places_.scalar(branch.condition), then, otherwise);
  const auto side = [&](llvm::BasicBlock* begin, const StepList& steps, const ValueTree& value) {
    builder.SetInsertPoint(begin);
    sizes_.apart([&] { list_into(steps, value, out); });
    builder.CreateBr(after);
  };
  side(then, branch.then, branch.then_value);
  side(otherwise, branch.otherwise, branch.otherwise_value);
  builder.SetInsertPoint(after);
  read(branch.result, out);
}

void StepEmitter::list_into(const StepList& steps, const ValueTree& value, llvm::Value* slots) {
  const auto* last = steps.empty() ? nullptr : std::get_if<Apart<step::CallFunction>>(&steps.back().kind);
  if (last && same_places((**last).result, value)) {
    // What a call gives last is put there by the call.
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) step(steps[i]);
    return calls_.function_into(**last, slots);
  }
  list(steps);
  write(value, slots);
}

void StepEmitter::loop(const step::Loop& loop, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::Value* carried = RuntimeCalls::stack_slots(builder, slot_count(loop.carried));
  write(loop.initial, carried);
  llvm::Value* index = nullptr;
  if (loop.range) {
    index = RuntimeCalls::stack_slots(builder, 1);
    builder.CreateStore(places_.scalar(loop.range->begin), index);
    refuse_zero_step(*loop.range, span);
  }
  llvm::BasicBlock *head = code_.block("head"), *body = code_.block("body"), *after = code_.block("after");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  sizes_.apart([&] {
    read(loop.carried, carried);
    builder.CreateCondBr(goes_on(loop, index), body, after);
    builder.SetInsertPoint(body);
    round(loop, index);
    write(loop.next, carried);
  });
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  if (tells_rows(loop.condition) || tells_rows(loop.body)) calls_.forget_rows();
  read(loop.result, carried);
}

bool StepEmitter::tells_rows(const StepList& steps) {
  bool tells = false;
  for_each_step(steps, [&](const Step& each) {
    const auto* call = std::get_if<Apart<step::CallFunction>>(&each.kind);
    if (!call) return;
    const StepList& called = program_.steps().of(*(**call).callee, (**call).donated).steps;
    tells |= std::any_of(called.begin(), called.end(),
                         [](const Step& part) { return std::holds_alternative<step::RowsAhead>(part.kind); });
  });
  return tells;
}

void StepEmitter::refuse_zero_step(const step::Loop::Range& range, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  const std::int32_t site = code_.sites.add({span, FaultKind::ZeroStep, {}, {}, {}});
  llvm::Value* step = places_.scalar(range.step);
  llvm::BasicBlock *zero = code_.block("zero_step"), *good = code_.block("loop");
  builder.CreateCondBr(builder.CreateIsNull(step), zero, good);
  builder.SetInsertPoint(zero);
  builder.CreateRet(code_.runtime.fault(builder, code_.context, site, step, nullptr, nullptr));
  builder.SetInsertPoint(good);
}

llvm::Value* StepEmitter::goes_on(const step::Loop& loop, llvm::Value* index) {
  llvm::IRBuilder<>& builder = code_.builder;
  if (!loop.range) {
    list(loop.condition);
    return places_.scalar(*loop.goes_on);
  }
  llvm::Value *at = builder.CreateLoad(code_.i64, index), *end = places_.scalar(loop.range->end);
  return builder.CreateSelect(builder.CreateICmpSGT(places_.scalar(loop.range->step), code_.int64(0)),
                              builder.CreateICmpSLT(at, end), builder.CreateICmpSGT(at, end));
}

void StepEmitter::round(const step::Loop& loop, llvm::Value* index) {
  llvm::IRBuilder<>& builder = code_.builder;
  RuntimeCalls::poll(builder, code_.flag(), code_.interrupted);
  if (loop.range) sizes_.bind(loop.range->index, builder.CreateLoad(code_.i64, index));
  list(loop.body);
  if (!loop.range) return;
  // A range that reaches the end of int64 ends there.
  builder.CreateStore(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, builder.CreateLoad(code_.i64, index),
                                    places_.scalar(loop.range->step)),
      index);
  sizes_.forget(loop.range->index);
}

}  // namespace relish::jit
