// Code generation of Relax functions.
#include "jit/graph/codegen_graph.h"
#include "ir/scalars/twice_given.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/scalars/symbols.h"
#include "jit/graph/split_function.h"
#include "loops/written_first.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "transform/lift_bodies.h"

namespace relish::jit {
namespace {

// Units of fewer instructions cost more to set up than they gain; of more, one thread waits for another.
constexpr std::size_t instructions_of_unit = 4'000;
constexpr std::size_t instructions_of_part = 2'000;

llvm::Type* in_context(llvm::Type* type, llvm::LLVMContext& context) {
  if (type->isPointerTy()) return llvm::PointerType::getUnqual(context);
  if (type->isFloatTy()) return llvm::Type::getFloatTy(context);
  if (type->isDoubleTy()) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, llvm::cast<llvm::IntegerType>(type)->getBitWidth());
}

}  // namespace

GraphEmitter::GraphEmitter(const LiftedModule& lifted, Build& build, const TargetTraits& target,
                           SiteTable& sites, std::vector<HostCall>* host_calls, const LoweredCalls* operators)
    : GraphEmitter(lifted, build, target, sites, build.new_unit("graph", Effort::Translate), host_calls,
                   operators) {}

GraphEmitter::GraphEmitter(const LiftedModule& lifted, Build& build, const TargetTraits& target,
                           SiteTable& sites, std::unique_ptr<CodeUnit> glue,
                           std::vector<HostCall>* host_calls, const LoweredCalls* operators)
    : GraphState(*glue->module, sites),
      lifted_(lifted),
      module_(lifted.module),
      build_(build),
      glue_(std::move(glue)),
      host_calls_(host_calls),
      operators_(operators),
      target_(target) {}

std::string GraphEmitter::finish(llvm::Function* entry) {
  entry->setName(entry->getName() + build_.suffix());
  entry->setLinkage(llvm::Function::ExternalLinkage);
  std::string symbol = entry->getName().str();
  hand_in_kernels();
  build_.add(std::move(glue_));
  return symbol;
}

void GraphEmitter::hand_in_kernels() {
  kernels_.reset();
  kernel_instructions_ = 0;
  if (kernel_unit_) build_.add(std::move(kernel_unit_));
}

const GraphValues* GraphEmitter::callee_values(const Function& function) {
  const auto known = values_.find(&function);
  if (known != values_.end()) return known->second.get();  // null while it is being analysed
  values_[&function] = nullptr;
  auto made = std::make_unique<GraphValues>(
      analyse(lifted_, function, [this](const Function& callee) { return callee_values(callee); }));
  return (values_[&function] = std::move(made)).get();
}

const GraphValues& GraphEmitter::values(const Function& function) { return *callee_values(function); }

const GraphEmitter::Kernel& GraphEmitter::kernel(const PrimFunc& function) {
  const auto known = emitted_.find(&function);
  if (known != emitted_.end()) return known->second;
  Kernel kernel;
  RangeProver prover;
  const std::vector<ParamAccess> accesses = param_accesses(function);
  std::vector<Buffer> results;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    if (!buffer) continue;
    for (const Scalar& dim : buffer->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
    if (accesses[i].written) results.push_back(*buffer);
  }
  const auto written = written_first(function.body, results, prover);
  for (const PrimParam& param : function.params)
    kernel.clear.push_back(param.buffer() && !written.contains(param.buffer()->id()));
  kernel.code = kernel_code(function);
  return emitted_.emplace(&function, std::move(kernel)).first->second;
}

// The kernel in the present unit, and its declaration beside the graph functions.
llvm::Function* GraphEmitter::kernel_code(const PrimFunc& function) {
  poll_interrupt(function.span);
  if (!kernel_unit_) {
    kernel_unit_ = build_.new_unit("kernels", Effort::Optimize);
    kernels_.emplace(*kernel_unit_->module, target_, sites_);
  }
  const std::string symbol = "kernel." + function.name + build_.suffix();
  llvm::Function* code = kernels_->emit(function, symbol);
  code->setLinkage(llvm::Function::ExternalLinkage);
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& argument : code->args())
    types.push_back(in_context(argument.getType(), code_.getContext()));
  auto* declared = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), types, false),
                                          llvm::Function::ExternalLinkage, symbol, code_);
  declared->setDoesNotThrow();
  // The functions of this kernel stand behind those of the others.
  for (auto each = code->getIterator(); each != kernel_unit_->module->end(); ++each)
    kernel_instructions_ += each->getInstructionCount();
  if (kernel_instructions_ >= instructions_of_unit) hand_in_kernels();
  return declared;
}

llvm::Function* GraphEmitter::function(const Function& source) {
  const auto known = functions_.find(&source);
  if (known != functions_.end()) return known->second;
  const GraphValues& analysed = values(source);
  llvm::Type* ptr = builder_.getPtrTy();
  auto* code = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), {ptr, ptr, ptr}, false),
                                      llvm::Function::InternalLinkage, "graph." + source.name, code_);
  functions_[&source] = code;
  finish_function(*code);
  translate_as_it_stands(*code);  // between calls of kernels it computes sizes and scalars

  Frame outside = std::move(frame_);
  const auto resume = builder_.saveIP();
  frame_ = {};
  frame_.source = &source;
  frame_.values = &analysed;
  frame_.code = code;
  frame_.context = code->getArg(0);
  frame_.storages.resize(analysed.storages.size());
  frame_.last_used.resize(analysed.made.size());
  for (std::size_t id = 0; id < analysed.storages.size(); ++id) {
    const auto last = static_cast<std::size_t>(analysed.storages[id].last_use);
    if (last < frame_.last_used.size()) frame_.last_used[last].push_back(id);
  }
  builder_.SetInsertPoint(llvm::BasicBlock::Create(code_.getContext(), "entry", code));
  frame_.flag = builder_.CreateLoad(ptr, frame_.context);
  frame_.interrupted = llvm::BasicBlock::Create(code_.getContext(), "interrupted", code);
  llvm::IRBuilder<>(frame_.interrupted).CreateRet(builder_.getInt32(status_interrupted));
  const bool recursive = lifted_function(lifted_.functions, source.name).recursive;
  if (recursive) {
    const std::int32_t site = sites_.add({source.span, FaultKind::CallDepth, name_in_text(source), {}, {}});
    llvm::Value* status =
        builder_.CreateCall(runtime_.get("rt_enter", builder_.getInt32Ty(), {ptr, builder_.getInt32Ty()}),
                            {frame_.context, builder_.getInt32(static_cast<std::uint32_t>(site))});
    RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);
  }
  emit_body();
  if (recursive) builder_.CreateCall(runtime_.get("rt_leave", builder_.getVoidTy(), {ptr}), {frame_.context});
  builder_.CreateRet(builder_.getInt32(status_ok));
  if (frame_.interrupted->hasNPredecessors(0)) frame_.interrupted->eraseFromParent();
  split_function(*code, frame_.bindings, instructions_of_part, runtime_);
  frame_ = std::move(outside);
  builder_.restoreIP(resume);
  return code;
}

void GraphEmitter::emit_body() {
  const Function& source = *frame_.source;
  read_params();
  check_params();
  plan_arena();
  for (const BindingBlock& block : source.blocks) {
    for (const Binding& binding : block.bindings) {
      poll_interrupt(binding.span);
      RuntimeCalls::poll(builder_, frame_.flag, frame_.interrupted);
      frame_.bindings.push_back(builder_.GetInsertBlock());
      frame_.span = binding.value().span().known() ? binding.value().span() : binding.span;
      Live live = value(binding.value());
      if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
        live = convert(live, cast->type, binding.span, "match_cast");
        match(live, cast->type, binding.span, "match_cast");
      }
      frame_.vars.insert_or_assign(binding.var().id(), std::move(live));
      release_dead();
      ++frame_.position;
      frame_.conversion = 0;
    }
  }
  write_result();
  if (frame_.arena) runtime_.scratch_release(builder_, frame_.context, frame_.arena);
}

// A function that owns its results hands out each tensor once: those that it has made itself as they are,
// others shared or copied.
void GraphEmitter::write_result() {
  Live result = value(frame_.source->result);
  if (frame_.values->owns_results)
    result = convert(result, frame_.source->result_type, frame_.source->result_span,
                     frame_.source->name + ": the result");
  std::size_t position = 0;
  llvm::Value* out = frame_.code->getArg(2);
  write_slots(result, out, position);
  if (!frame_.values->owns_results) return;
  std::unordered_set<std::size_t> given;
  position = 0;
  for_each_stored_slot(result.tree, position, [&](std::size_t at, const ValueTree& tree) {
    const Storage& storage = frame_.values->storages[tree.storage];
    const bool made = storage.kind == Storage::Temporary || storage.kind == Storage::Returned;
    if (made && given.insert(tree.storage).second) return;
    builder_.CreateStore(own(tree, frame_.storages[tree.storage]), slot(out, at));
  });
}

void GraphEmitter::read_params() {
  std::size_t position = 0;
  for (std::size_t i = 0; i < frame_.source->params.size(); ++i) {
    const Var& param = frame_.source->params[i];
    Live live = read_slots(frame_.values->params[i], frame_.code->getArg(1), position);
    bind_dims(live, param.type());
    frame_.vars.insert_or_assign(param.id(), std::move(live));
  }
  // A dimension that has the name of a scalar parameter has its value.
  for_each_symbol(*frame_.source, [&](const ScalarVar& symbol) {
    symbol_vars_.insert_or_assign(symbol.id(), symbol);
    const auto param = scalar_parameter_of(*frame_.source, symbol);
    if (!param || frame_.symbols.contains(symbol.id())) return;
    llvm::Value* value = frame_.vars.at(param->id()).values.at(0);
    frame_.symbols[symbol.id()] =
        is_float(symbol.dtype())
            ? builder_.CreateBitCast(builder_.CreateFPCast(value, builder_.getDoubleTy()),
                                     builder_.getInt64Ty())
            : builder_.CreateSExt(value, builder_.getInt64Ty());
  });
}

void GraphEmitter::check_params() {
  // Arguments of the whole call are checked before compiled code runs; these are for calls from other
  // functions.
  for (const Var& param : frame_.source->params)
    match(frame_.vars.at(param.id()), param.type(), param.span(),
          fmt::format("{}: {}", name_in_text(*frame_.source), param.name()));
  for (const auto& [symbol, at] : twice_given(frame_.source->params)) {
    const Var& param = frame_.source->params[at];
    llvm::Value* given = builder_.CreateSExt(frame_.vars.at(param.id()).values.at(0), builder_.getInt64Ty());
    const Type wanted = size_type(symbol);
    match_dims({given}, wanted.as<ShapeType>()->dims, 1, true,
               {param.span(),
                FaultKind::ShapeMismatch,
                scalar_size_words(name_in_text(*frame_.source), param.name()),
                wanted,
                {}});
  }
}

const GraphEmitter::Live* GraphEmitter::part_of_variable(const Expr& expr) const {
  if (const Var* var = expr.as_var()) return &frame_.vars.at(var->id());
  const auto* get = expr.as<TupleGet>();
  const Live* whole = get ? part_of_variable(get->tuple) : nullptr;
  return whole ? &whole->fields.at(static_cast<std::size_t>(get->index)) : nullptr;
}

GraphEmitter::Live GraphEmitter::value(const Expr& expr) {
  if (const Live* known = part_of_variable(expr)) return *known;
  if (const auto* n = expr.as<TupleExpr>()) {
    Live live;
    for (const Expr& field : n->fields) {
      live.fields.push_back(value(field));
      live.tree.fields.push_back(live.fields.back().tree);
    }
    return live;
  }
  if (const auto* n = expr.as<TupleGet>())
    return value(n->tuple).fields.at(static_cast<std::size_t>(n->index));
  if (const auto* n = expr.as<CallTir>()) return call_tir(*n, expr);
  if (const auto* n = expr.as<FunctionCall>()) return function_call(*n, expr);
  if (const auto* n = expr.as<If>()) return if_value(*n, expr);
  if (const auto* n = expr.as<Loop>()) return loop_value(*n, expr);
  if (const auto* n = expr.as<OpCall>()) return operator_call(*n, expr);
  if (const auto* n = expr.as<PackedCall>()) return packed_call(*n, expr);
  if (const auto* n = expr.as<GlobalRef>()) {
    if (const FunctionPtr callee = module_.function(n->name)) {
      const ValueTree result = next_conversion();
      return function_value(*callee, {}, false, result, expr.span());
    }
  }
  Live live;
  if (const auto* n = expr.as<Constant>()) {
    // The storage of this constant: constants are told apart by the memory that they hold.
    const std::size_t id = frame_.values->constants.at({n->value.data(), n->value.shape()});
    StorageValue& value = frame_.storages[id];
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(n->value.data()));
    value.pointer = builder_.CreateIntToPtr(int64(address), builder_.getPtrTy());
    value.dims.clear();
    for (const std::int64_t d : n->value.shape()) value.dims.push_back(int64(d));
    live.tree.kind = ValueTree::TensorLeaf;
    live.tree.storage = id;
    live.tree.rank = n->value.rank();
    live.tree.dtype = n->value.dtype();
    return live;
  }
  if (const auto* n = expr.as<ShapeLiteral>()) {
    live.tree.kind = ValueTree::ShapeLeaf;
    live.tree.rank = static_cast<int>(n->dims.size());
    for (const Scalar& d : n->dims) live.values.push_back(dim(d));
    return live;
  }
  if (const auto* n = expr.as<ScalarValueExpr>()) {
    live.tree.kind = ValueTree::ScalarLeaf;
    live.tree.dtype = n->value.dtype();
    live.values.push_back(scalar_value_of(n->value));
    return live;
  }
  live.tree.kind = ValueTree::TextLeaf;
  live.tree.text = packed_symbol(module_, expr).value_or(text_of(expr));
  return live;
}

llvm::Function* GraphEmitter::entry_of(const PrimFunc& source) {
  llvm::Function* code = kernel(source).code;
  llvm::Type* ptr = builder_.getPtrTy();
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), {ptr, ptr, ptr}, false),
                                       llvm::Function::InternalLinkage, "entry." + source.name, code_);
  finish_function(*entry);
  translate_as_it_stands(*entry);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(code_.getContext(), "entry", entry));
  llvm::Value* in = entry->getArg(1);
  std::vector<llvm::Value*> operands{entry->getArg(0)};
  std::size_t position = 0;
  for (const PrimParam& param : source.params) {
    if (param.buffer())
      operands.push_back(builder_.CreateLoad(ptr, slot(in, position++)));
    else
      operands.push_back(scalar_of_slot(in, position++, param.scalar()->dtype()));
  }
  for (std::size_t i = 0; i < kernel_symbols(source).size(); ++i)
    operands.push_back(builder_.CreateLoad(builder_.getInt64Ty(), slot(in, position++)));
  if (source.result_dtype) operands.push_back(entry->getArg(2));
  builder_.CreateRet(builder_.CreateCall(code, operands));
  return entry;
}

}  // namespace relish::jit
