// Code generation of calls in Relax functions: call_tir and direct calls of prim_funcs, with the checks of
// every shape that they take, and calls of other Relax functions.
#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/call_layout.h"
#include "ir/scalars/symbols.h"
#include "jit/graph/codegen_graph.h"
#include "support/failure.h"
#include "transform/lift_bodies.h"

namespace relish::jit {
namespace {

std::size_t slot_count_of(const std::vector<ValueTree>& trees) {
  std::size_t count = 0;
  for (const ValueTree& tree : trees) count += slot_count(tree);
  return count;
}

}  // namespace

GraphEmitter::Live GraphEmitter::call_tir(const CallTir& call, const Expr& expr) {
  return call_kernel(*module_.prim_func(call.callee.as<GlobalRef>()->name), call, expr,
                     /*copies_written=*/true);
}

// A call of a kernel while its operands are gathered.
struct GraphEmitter::KernelCall {
  const PrimFunc& callee;
  const CallTir& call;
  const Kernel& code;
  std::vector<ParamSource> layout;
  std::vector<ParamAccess> accesses;
  std::vector<Live> args;
  std::vector<llvm::Value*> operands;
  std::vector<const StorageValue*> buffers;  // by parameter; null for scalars
  std::unordered_map<std::uint64_t, llvm::Value*> symbols;
  std::size_t copies;  // the next storage for a copy, in `made`
};

GraphEmitter::Live GraphEmitter::call_kernel(const PrimFunc& function, const CallTir& call, const Expr& expr,
                                             bool copies_written) {
  KernelCall made{.callee = function,
                  .call = call,
                  .code = kernel(function),
                  .layout = call_layout(function, call, expr.span()),
                  .accesses = param_accesses(function),
                  .args = {},
                  .operands = {frame_.context},
                  .buffers = {},
                  .symbols = {},
                  .copies = call.out_types.size()};
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const PrimParam* param = taking(function, made.layout, i);
    made.args.push_back(argument(call.args[i], argument_type(function, made.layout, i, call.args[i].type()),
                                 expr.span(),
                                 fmt::format("{}: {}", function.name, param ? param->name() : "")));
  }
  made.buffers.resize(made.layout.size(), nullptr);
  for (std::size_t i = 0; i < made.layout.size(); ++i) {
    if (function.params[i].scalar())
      pass_scalar(made, i);
    else
      pass_buffer(made, i, copies_written);
  }
  pass_sizes(made, expr.span());

  returned_ = function.result_dtype ? RuntimeCalls::stack_slots(builder_, 1) : nullptr;
  if (returned_) made.operands.push_back(returned_);
  return_fault(builder_.CreateCall(made.code.code, made.operands), expr);
  Live results;
  for (std::size_t i = 0; i < call.out_types.size(); ++i) {
    const std::size_t storage = made_storages()[i];
    ValueTree tree;
    tree.kind = ValueTree::TensorLeaf;
    tree.storage = storage;
    tree.rank = static_cast<int>(frame_.storages[storage].dims.size());
    tree.dtype = frame_.values->storages[storage].dtype;
    results.fields.push_back(leaf(tree));
    results.tree.fields.push_back(tree);
  }
  return call.tuple_result ? results : results.fields.at(0);
}

// The storages that the binding makes: of its results, then of copies.
const std::vector<std::size_t>& GraphEmitter::made_storages() const {
  return frame_.values->made[static_cast<std::size_t>(frame_.position)];
}

void GraphEmitter::pass_scalar(KernelCall& made, std::size_t i) {
  const ScalarVar& var = *made.callee.params[i].scalar();
  const Live& live = made.args[made.layout[i].index];
  RELISH_CHECK(live.tree.kind == ValueTree::ScalarLeaf);
  llvm::Value* scalar = live.values[0];
  llvm::Type* wanted = scalar_type(var.dtype());
  if (scalar->getType()->isIntegerTy() && wanted->isIntegerTy()) {
    scalar = builder_.CreateSExtOrTrunc(scalar, wanted);
    made.symbols[var.id()] = builder_.CreateSExtOrTrunc(scalar, builder_.getInt64Ty());
  }
  RELISH_CHECK(scalar->getType() == wanted, var.name());
  made.operands.push_back(scalar);
}

// The storage of a result or an argument; values are immutable, so a kernel that writes to an argument gets a
// copy.
void GraphEmitter::pass_buffer(KernelCall& made, std::size_t i, bool copies_written) {
  const Buffer& buffer = *made.callee.params[i].buffer();
  const std::size_t index = made.layout[i].index;
  std::size_t id = 0;
  if (made.layout[i].kind == ParamSource::Result) {
    id = made_storages()[index];
    make_storage(id, made.code.clear[i]);
  } else {
    id = made.args[index].tree.storage;
    const std::vector<std::int64_t>& indices = made.call.inplace_indices;
    const auto taken = std::find(indices.begin(), indices.end(), static_cast<std::int64_t>(index));
    const bool inplace = taken != indices.end();
    if (copies_written && (made.accesses[i].written || inplace)) {
      const std::size_t copy =
          made_storages()[inplace ? static_cast<std::size_t>(taken - indices.begin()) : made.copies++];
      make_storage(copy, false);
      const StorageValue& from = frame_.storages[id];
      builder_.CreateMemCpy(frame_.storages[copy].pointer, llvm::MaybeAlign(64), from.pointer,
                            llvm::MaybeAlign(64), byte_size(frame_.values->storages[copy]));
      id = copy;
    }
  }
  const StorageValue& storage = frame_.storages[id];
  made.buffers[i] = &storage;
  made.operands.push_back(storage.pointer);
  for (int d = 0; d < buffer.rank() && d < static_cast<int>(storage.dims.size()); ++d) {
    const auto var = buffer.shape()[static_cast<std::size_t>(d)].as_var();
    if (var) made.symbols.try_emplace(var->id(), storage.dims[static_cast<std::size_t>(d)]);
  }
  // Tensors are row-major from their first element.
  const std::vector<Scalar>& strides = buffer.strides();
  llvm::Value* stride = int64(1);
  for (std::size_t d = std::min(strides.size(), storage.dims.size()); d-- > 0;) {
    if (const auto var = strides[d].as_var()) made.symbols.try_emplace(var->id(), stride);
    stride = builder_.CreateMul(stride, storage.dims[d]);
  }
  if (const Scalar& offset = buffer.elem_offset(); offset.defined())
    if (const auto var = offset.as_var()) made.symbols.try_emplace(var->id(), int64(0));
}

// Every dim of every buffer against what the prim_func declares, as the values really are; then the sizes
// that the kernel takes.
void GraphEmitter::pass_sizes(KernelCall& made, Span span) {
  auto outer_symbols = std::move(frame_.symbols);
  auto outer_dims = std::move(frame_.dims);
  frame_.symbols = made.symbols;
  frame_.dims.clear();
  for (std::size_t i = 0; i < made.layout.size(); ++i) {
    const Buffer* buffer = made.callee.params[i].buffer();
    if (!buffer) continue;
    for (const Scalar& d : buffer->shape()) {
      std::vector<ScalarVar> vars;
      collect_vars(d, vars);
      for (const ScalarVar& var : vars) symbol_vars_.insert_or_assign(var.id(), var);
    }
    Site site{span,
              FaultKind::ShapeMismatch,
              fmt::format("{}: {}", made.callee.name, buffer->name()),
              tensor_type(buffer->shape(), buffer->dtype()),
              {},
              buffer->dtype()};
    const std::vector<llvm::Value*>& dims = made.buffers[i]->dims;
    const bool same_rank = static_cast<int>(dims.size()) == buffer->rank();
    match_dims(dims, buffer->shape(), buffer->rank(), same_rank, std::move(site));
  }
  for (const ScalarVar& var : kernel_symbols(made.callee)) {
    if (!frame_.symbols.contains(var.id())) {
      fail(ErrorClass::Type, span, "symbol.unknown",
           fmt::format("{}: no argument tells the size {}", made.callee.name, var.name()));
    }
    made.operands.push_back(frame_.symbols[var.id()]);
  }
  frame_.symbols = std::move(outer_symbols);
  frame_.dims = std::move(outer_dims);
}

// Ends the function unless the status is good. The fault of an operator's kernel is told by the operator's
// evaluation on the same arguments, which knows the value and its place: its words are the interpreter's.
void GraphEmitter::return_fault(llvm::Value* status, const Expr& expr) {
  llvm::Value* good = builder_.CreateIsNull(status);
  const auto found = operators_ ? operators_->find(&expr.node()) : LoweredCalls::const_iterator();
  if (!operators_ || found == operators_->end() || !found->second.as<OpCall>()->op->eval)
    return RuntimeCalls::return_unless(builder_, good, status);
  auto* failed = llvm::BasicBlock::Create(code_.getContext(), "fault", frame_.code);
  auto* next = llvm::BasicBlock::Create(code_.getContext(), "", frame_.code);
  builder_.CreateCondBr(good, next, failed);
  builder_.SetInsertPoint(failed);
  apart([&] {
    const OpCall& call = *found->second.as<OpCall>();
    std::vector<Live> args;
    std::vector<ValueTree> trees;
    for (const Expr& arg : call.args) {
      args.push_back(value(arg));
      trees.push_back(args.back().tree);
    }
    if (const std::size_t count = slot_count_of(trees); count > frame_.fault_slot_count) {
      frame_.fault_slots = RuntimeCalls::stack_slots(builder_, count);
      frame_.fault_slot_count = count;
    }
    std::size_t position = 0;
    for (const Live& arg : args) write_slots(arg, frame_.fault_slots, position);
    host_calls_->push_back(operator_host_call(call, std::move(trees), {}, expr.span()));
    llvm::Type *ptr = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
    llvm::Value* index = builder_.getInt32(static_cast<std::uint32_t>(host_calls_->size() - 1));
    llvm::Value* in =
        frame_.fault_slots ? frame_.fault_slots : llvm::ConstantPointerNull::get(builder_.getPtrTy());
    builder_.CreateRet(builder_.CreateCall(runtime_.get("rt_operator_fault", i32, {ptr, i32, i32, ptr}),
                                           {frame_.context, index, status, in}));
  });
  builder_.SetInsertPoint(next);
}

GraphEmitter::Live GraphEmitter::function_call(const FunctionCall& call, const Expr& expr) {
  const auto* global = call.callee.as<GlobalRef>();
  if (const PrimFuncPtr prim = global ? module_.prim_func(global->name) : nullptr)
    return prim_call(*prim, call, expr);
  const FunctionPtr callee = global ? module_.function(global->name) : nullptr;
  if (!callee) return call_value(call.callee, call.args, expr);
  const bool owned = lifted_function(lifted_.functions, callee->name).owns_results;
  std::vector<Live> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) args.push_back(argument(call.args[i], *callee, i));
  std::vector<std::size_t> tensors;  // our storages of the leaves of the arguments
  const std::function<void(const Live&)> flatten = [&](const Live& live) {
    if (live.tree.has_storage()) tensors.push_back(live.tree.storage);
    for (const Live& field : live.fields) flatten(field);
  };
  std::vector<ValueTree> arg_trees;
  for (const Live& arg : args) arg_trees.push_back(arg.tree);
  llvm::Value* in = RuntimeCalls::stack_slots(builder_, slot_count_of(arg_trees));
  std::size_t position = 0;
  for (const Live& arg : args) {
    write_slots(arg, in, position);
    flatten(arg);
  }
  const ValueTree& own_tree = frame_.values->bound[static_cast<std::size_t>(frame_.position)];
  llvm::Value* out = RuntimeCalls::stack_slots(builder_, slot_count(own_tree));
  llvm::Function* code = function(*callee);
  llvm::Value* status = builder_.CreateCall(code, {frame_.context, in, out});
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);

  if (owned) {
    position = 0;
    return read_slots(own_tree, out, position);
  }
  const GraphValues& inner = values(*callee);
  // The result's storages become ours in the order in which the analysis numbered them.
  const std::vector<std::size_t>& made = frame_.values->made[static_cast<std::size_t>(frame_.position)];
  std::map<std::size_t, std::size_t> here;
  std::size_t next = 0;
  const std::function<ValueTree(const ValueTree&)> import = [&](const ValueTree& tree) {
    ValueTree result = tree;
    if (tree.has_storage()) {
      const Storage& storage = inner.storages[tree.storage];
      if (!here.contains(tree.storage))
        here[tree.storage] = storage.kind == Storage::Param ? tensors.at(storage.param) : made.at(next++);
      result.storage = here[tree.storage];
    }
    for (ValueTree& field : result.fields) field = import(field);
    return result;
  };
  const ValueTree tree = import(inner.result);
  position = 0;
  return read_slots(tree, out, position);
}

// The direct call of lowered modules: destinations are arguments like the others.
GraphEmitter::Live GraphEmitter::prim_call(const PrimFunc& callee, const FunctionCall& call,
                                           const Expr& expr) {
  // As a call_tir without results, on the tensors themselves.
  CallTir direct{call.callee, call.args, {}, true};
  call_layout(callee, direct, expr.span());  // refuses wrong counts
  Live results = call_kernel(callee, direct, expr, /*copies_written=*/false);
  if (!callee.result_dtype) return results;
  Live scalar;
  scalar.tree.kind = ValueTree::ScalarLeaf;
  scalar.tree.dtype = *callee.result_dtype;
  scalar.values.push_back(scalar_of_slot(returned_, 0, *callee.result_dtype));
  return scalar;
}

}  // namespace relish::jit
