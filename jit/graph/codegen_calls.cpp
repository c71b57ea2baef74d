// Calls in LLVM IR.
#include "jit/graph/codegen_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "jit/kernel/kernel_signature.h"
#include "support/failure.h"

namespace relish::jit {

struct CallEmitter::Operands {
  std::vector<llvm::Value*> values;
  SizeEmitter::Symbols symbols;  // of the kernel
};

void CallEmitter::kernel(const step::CallKernel& call, Span span,
                         const std::function<void(const StepList&)>& fault) {
  if (copies_rows_ahead(call, places_.described()) && places_.described(call.args[2]).slot)
    return unless_rows_are_there(call, [&] { plain_kernel(call, span, fault); });
  plain_kernel(call, span, fault);
}

void CallEmitter::unless_rows_are_there(const step::CallKernel& call, const std::function<void()>& copy) {
  llvm::IRBuilder<>& builder = code_.builder;
  const PlaceEmitter::Held &rows = places_[call.args[1]], &result = places_[call.args[2]];
  llvm::Value* own = result.address;
  llvm::Value* there = builder.CreateCall(
      code_.runtime.get("rt_rows_take", code_.ptr, {code_.ptr, code_.ptr, code_.ptr, code_.i64}),
      {code_.context, places_[call.args[0]].address, rows.address, rows.values.front()});
  llvm::BasicBlock *begin = builder.GetInsertBlock(), *missing = code_.block("rows"), *next = code_.block("");
  builder.CreateCondBr(builder.CreateIsNull(there), missing, next);
  builder.SetInsertPoint(missing);
  sizes_.apart(copy);
  llvm::BasicBlock* copied = builder.GetInsertBlock();
  builder.CreateBr(next);
  builder.SetInsertPoint(next);
  llvm::PHINode* at = builder.CreatePHI(code_.ptr, 2);
  at->addIncoming(there, begin);
  at->addIncoming(own, copied);
  places_.move(call.args[2], at);
  rows_taken_.push_back(at);
}

void CallEmitter::give_rows_back() {
  for (llvm::Value* each : rows_taken_)
    code_.builder.CreateCall(
        code_.runtime.get("rt_rows_give_back", code_.builder.getVoidTy(), {code_.ptr, code_.ptr}),
        {code_.context, each});
  rows_taken_.clear();
}

void CallEmitter::plain_kernel(const step::CallKernel& call, Span span,
                               const std::function<void(const StepList&)>& fault) {
  llvm::IRBuilder<>& builder = code_.builder;
  llvm::Function* callee = program_.kernel(*call.callee);
  Operands made{{code_.context}, {}};
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const PrimParam& param = call.callee->params[i];
    if (const Buffer* buffer = param.buffer())
      pass_buffer(made, *buffer, call.args[i]);
    else
      pass_scalar(made, *param.scalar(), call.args[i]);
  }
  const std::size_t before_sizes = made.values.size();
  pass_sizes(made, call, span);
  program_.watch().begin(code_, *call.callee, span, llvm::ArrayRef(made.values).drop_front(before_sizes));
  llvm::Value* returned = call.result ? RuntimeCalls::stack_slots(builder, 1) : nullptr;
  if (returned) made.values.push_back(returned);
  llvm::Value* status = builder.CreateCall(callee, made.values);
  program_.watch().end(code_);
  if (call.fault) {
    llvm::BasicBlock *failed = code_.block("fault"), *next = code_.block("");
    builder.CreateCondBr(builder.CreateIsNull(status), next, failed);
    builder.SetInsertPoint(failed);
    sizes_.apart([&] {
      fault(call.fault->steps);
      hosts_.tell_fault(*call.fault, status);
    });
    builder.SetInsertPoint(next);
  } else {
    code_.return_unless_ok(status);
  }
  if (returned) {
    const DType dtype = *call.callee->result_dtype;
    places_.hold(*call.result, {code_.scalar_of_slot(returned, 0, dtype)});
  }
}

void CallEmitter::pass_scalar(Operands& made, const ScalarVar& var, PlaceId place) {
  llvm::Value* scalar = places_.scalar(place);
  RELISH_CHECK(scalar->getType() == code_.scalar_type(var.dtype()), var.name());
  if (scalar->getType()->isIntegerTy())
    made.symbols[var.id()] = code_.builder.CreateSExtOrTrunc(scalar, code_.i64);
  made.values.push_back(scalar);
}

void CallEmitter::pass_buffer(Operands& made, const Buffer& buffer, PlaceId place) {
  const PlaceEmitter::Held& held = places_[place];
  made.values.push_back(held.address);
  const std::size_t rank = std::min(buffer.shape().size(), held.values.size());
  for (std::size_t d = 0; d < rank; ++d)
    if (const auto var = buffer.shape()[d].as_var()) made.symbols.try_emplace(var->id(), held.values[d]);
  // Tensors are row-major from their first element.
  const std::vector<Scalar>& strides = buffer.strides();
  llvm::Value* stride = code_.int64(1);
  for (std::size_t d = std::min(strides.size(), held.values.size()); d-- > 0;) {
    if (const auto var = strides[d].as_var()) made.symbols.try_emplace(var->id(), stride);
    stride = code_.builder.CreateMul(stride, held.values[d]);
  }
  if (const Scalar& offset = buffer.elem_offset(); offset.defined())
    if (const auto var = offset.as_var()) made.symbols.try_emplace(var->id(), code_.int64(0));
}

// Every dim of every buffer against what the prim_func declares, as the values really are; then the sizes
// that the kernel takes.
void CallEmitter::pass_sizes(Operands& made, const step::CallKernel& call, Span span) {
  const PrimFunc& callee = *call.callee;
  sizes_.with_symbols(std::move(made.symbols), [&] {
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Buffer* buffer = callee.params[i].buffer();
      if (!buffer) continue;
      const std::vector<llvm::Value*>& dims = places_[call.args[i]].values;
      sizes_.check(dims, buffer->shape(), buffer->rank(), [&] {
        return Site{span,
                    FaultKind::ShapeMismatch,
                    fmt::format("{}: {}", callee.name, buffer->name()),
                    tensor_type(buffer->shape(), buffer->dtype()),
                    {},
                    buffer->dtype()};
      });
    }
    for (const ScalarVar& var : kernel_symbols(callee)) {
      llvm::Value* size = sizes_.value_of(var);
      if (!size) {
        fail(ErrorClass::Type, span, "symbol.unknown",
             fmt::format("{}: no argument tells the size {}", callee.name, var.name()));
      }
      made.values.push_back(size);
    }
  });
}

void CallEmitter::rows_ahead(const step::RowsAhead& ahead) {
  llvm::IRBuilder<>& builder = code_.builder;
  const auto elements_of_row = [&](PlaceId place) {
    llvm::Value* elements = code_.int64(1);
    for (llvm::Value* dim : llvm::ArrayRef(places_[place].values).drop_front())
      elements = builder.CreateMul(elements, dim);
    return elements;
  };
  std::vector<llvm::Value*> sources;  // as fields of RowSource
  for (std::size_t i = 0; i < ahead.sources.size(); ++i) {
    const PlaceId source = ahead.sources[i];
    sources.push_back(builder.CreatePtrToInt(places_[source].address, code_.i64));
    sources.push_back(places_[source].values.front());
    sources.push_back(
        builder.CreateMul(elements_of_row(source),
                          code_.int64(static_cast<std::int64_t>(size_of(places_.described(source).dtype)))));
    sources.push_back(code_.int64(ahead.copied[i] ? 1 : 0));
  }
  builder.CreateCall(
      code_.runtime.get("rt_rows_ahead", builder.getVoidTy(),
                        {code_.ptr, code_.ptr, code_.i64, code_.i64, code_.i64, code_.ptr, code_.i64}),
      {code_.context, places_[ahead.table].address, places_[ahead.table].values.front(),
       elements_of_row(ahead.table), builder.CreateSExtOrTrunc(places_.scalar(ahead.at), code_.i64),
       RuntimeCalls::array_of(builder, sources),
       code_.int64(static_cast<std::int64_t>(ahead.sources.size()))});
}

void CallEmitter::forget_rows() {
  code_.builder.CreateCall(code_.runtime.get("rt_rows_forget", code_.builder.getVoidTy(), {code_.ptr}),
                           {code_.context});
}

void CallEmitter::function(const step::CallFunction& call) {
  llvm::Value* out = RuntimeCalls::stack_slots(code_.builder, slot_count(call.result));
  function_into(call, out);
  std::size_t position = 0;
  places_.read_slots(call.result, out, position);
}

void CallEmitter::function_into(const step::CallFunction& call, llvm::Value* out) {
  llvm::Value* in = places_.slots_of(call.args);
  llvm::Function* callee = program_.function(*call.callee, call.donated);
  code_.return_unless_ok(code_.builder.CreateCall(callee, {code_.context, in, out}));
}

}  // namespace relish::jit
