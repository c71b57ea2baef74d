// Code generation of calls of native functions.
#include "ir/calls/packed_result.h"
#include "jit/graph/codegen_graph.h"
#include "jit/runtime/closure.h"
#include "jit/runtime/native_calls.h"
#include "runtime/machine.h"
#include "support/render.h"

namespace relish::jit {
// Functions of TVM's virtual machine take values as they are.
GraphEmitter::Live GraphEmitter::machine_call(const PackedCall& call, const Expr& expr) {
  std::vector<Live> args;
  HostCall made{{}, frame_.values->bound[static_cast<std::size_t>(frame_.position)], expr.span(), {}};
  std::vector<std::optional<std::string>> texts;
  for (const Expr& arg : call.args) {
    args.push_back(value(arg));
    made.params.push_back(args.back().tree);
    const bool text = arg.as<StringLiteral>() || arg.as<DTypeLiteral>();
    texts.push_back(text ? std::optional(text_of(arg)) : std::nullopt);
  }
  const std::string name = *packed_symbol(module_, call.callee);
  made.call = [name, texts, checked = without_dims(expr.type()),
               span = expr.span()](std::vector<Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (texts[i]) values[i] = *texts[i];
    SymbolValues none;
    return packed_result(name, machine_function(name)(name, values, span), checked, none, span);
  };
  Live live = host_call(args, std::move(made));
  match(live, expr.type(), expr.span(), fmt::format("native function '{}'", printable(name)));
  return live;
}

// The storages that the binding makes are, in this order: copies of arguments that are changed in place; then
// the destinations, or those of the value that the function returns.
GraphEmitter::Live GraphEmitter::packed_call(const PackedCall& call, const Expr& expr) {
  if (call.form == PackedForm::MakeClosure || !packed_symbol(module_, call.callee))
    return closure_call(call, expr);
  if (is_machine_call(call, *packed_symbol(module_, call.callee))) return machine_call(call, expr);
  const std::vector<std::size_t>& made = frame_.values->made[static_cast<std::size_t>(frame_.position)];
  std::size_t next = 0;
  auto native = std::make_shared<NativeCall>();
  native->name = *packed_symbol(module_, call.callee);
  native->span = expr.span();
  std::vector<Live> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    args.push_back(value(call.args[i]));
    ValueTree& tree = args.back().tree;
    if (!is_changed_in_place(call, i) || tree.kind != ValueTree::TensorLeaf) continue;
    const std::size_t copy = made.at(next++);
    make_storage(copy, false);
    builder_.CreateMemCpy(frame_.storages[copy].pointer, llvm::MaybeAlign(64),
                          frame_.storages[tree.storage].pointer, llvm::MaybeAlign(64),
                          byte_size(frame_.values->storages[copy]));
    tree.storage = copy;
  }
  Live results;
  if (call.form == PackedForm::Dps) {
    for (const Type& type : call.out_types) {
      const std::size_t id = made.at(next++);
      make_storage(id, true);
      const ValueTree tree = tree_of(type, [&](const TensorType*) { return id; });
      args.push_back(leaf(tree));
      results.fields.push_back(leaf(tree));
      results.tree.fields.push_back(tree);
    }
  } else if (results_in_place(call, expr.span())) {
    for (const std::int64_t index : call.inplace_indices) {
      results.fields.push_back(args.at(static_cast<std::size_t>(index)));
      results.tree.fields.push_back(results.fields.back().tree);
    }
  }
  const bool returns = call.form != PackedForm::Dps && results.fields.empty();
  native->result_type = returns ? expr.type() : void_type();
  native->checked_type = without_dims(native->result_type);
  if (returns) native->result = tree_of(expr.type(), [&](const TensorType*) { return made.at(next++); });

  std::size_t slots = 0, position = 0;
  for (const Live& arg : args) {
    native->args.push_back(arg.tree);
    slots += slot_count(arg.tree);
  }
  llvm::Value* in = RuntimeCalls::stack_slots(builder_, slots);
  for (const Live& arg : args) write_slots(arg, in, position);
  llvm::Value* out = RuntimeCalls::stack_slots(builder_, slot_count(native->result));
  llvm::Type* ptr = builder_.getPtrTy();
  llvm::Function* function = runtime_.get("rt_native_call", builder_.getInt32Ty(), {ptr, ptr, ptr, ptr});
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(native.get()));
  llvm::Value* status =
      builder_.CreateCall(function, {frame_.context, builder_.CreateIntToPtr(int64(address), ptr), in, out});
  sites_.keep(native);
  RuntimeCalls::return_unless(builder_, builder_.CreateIsNull(status), status);

  if (call.form == PackedForm::Dps) return call.tuple_result ? results : results.fields.at(0);
  position = 0;
  Live live = returns                      ? read_slots(native->result, out, position)
              : results.fields.size() == 1 ? results.fields[0]
                                           : results;
  match(live, expr.type(), expr.span(), fmt::format("native function '{}'", printable(native->name)));
  return live;
}

}  // namespace relish::jit
