// Calls into the program in LLVM IR.
#include "jit/graph/codegen_hosts.h"

#include "ir/calls/entry.h"
#include "ir/calls/packed_result.h"
#include "ir/operators/op.h"
#include "jit/runtime/closure.h"
#include "jit/runtime/native_calls.h"
#include "runtime/machine.h"

namespace relish::jit {

void HostEmitter::call(const char* name, const std::vector<ValueTree>& args, const ValueTree& result,
                       HostCall call, llvm::Function* callee) {
  llvm::IRBuilder<>& builder = code_.builder;
  call.params = args;
  call.result = result;
  llvm::Value* in = places_.slots_of(args);
  llvm::Value* out = RuntimeCalls::stack_slots(builder, slot_count(result));
  std::vector<llvm::Value*> operands{code_.context, code_.int32(program_.add(std::move(call))), in, out};
  std::vector<llvm::Type*> types{code_.ptr, code_.i32, code_.ptr, code_.ptr};
  if (callee) {
    operands.insert(operands.begin() + 2, callee);
    types.push_back(code_.ptr);
  }
  code_.return_unless_ok(builder.CreateCall(code_.runtime.get(name, code_.i32, types), operands));
  std::size_t position = 0;
  places_.read_slots(result, out, position);
}

// The value against the type when it runs: sizes that are known go along, those that the type determines come
// back.
void HostEmitter::check_value(const step::CheckValue& check, Span span) {
  HostCall made{.span = span};
  made.call = [type = check.type, span, what = check.what, known = check.known_symbols,
               found = check.found_symbols](const std::vector<Value>& args) {
    SymbolValues symbols;
    for (std::size_t i = 0; i < known.size(); ++i) symbols[known[i].id()] = args.at(1).shape().dims[i];
    match_value(args.at(0), type, symbols, ErrorClass::Runtime, span, what);
    ShapeValue sizes;
    for (const ScalarVar& var : found) sizes.dims.push_back(symbols.at(var.id()));
    return Value(std::move(sizes));
  };
  call("rt_host_call", {check.value, check.known}, check.sizes, std::move(made));
}

void HostEmitter::convert(const step::Convert& convert, Span span) {
  HostCall made{.span = span};
  if (is_boxed(convert.type)) {
    made.call = [](std::vector<Value> args) { return std::move(args.at(0)); };
  } else {
    made.call = [type = convert.type, span, what = convert.what,
                 whole = convert.whole](std::vector<Value> args) {
      match_make(args.at(0), type, span, what, whole);
      return std::move(args[0]);
    };
  }
  call("rt_host_call", {convert.from}, convert.result, std::move(made));
}

void HostEmitter::truth(const step::Truth& truth, Span span) {
  const ValueTree& from = truth.from;
  if (from.kind == ValueTree::TensorLeaf && from.rank == 0 && is_bool(from.dtype))
    return places_.hold(truth.result, {places_.truth_in(from.place)});
  ValueTree result;
  result.kind = ValueTree::ScalarLeaf;
  result.dtype = DType::Bool;
  result.place = truth.result;
  call("rt_host_call", {from}, result, {.span = span, .call = truth_at(span)});
}

void HostEmitter::evaluate(const step::EvaluateOperator& given, Span span) {
  call("rt_host_call", given.args, given.result, operator_host_call(*given.call.as<OpCall>(), {}, {}, span));
}

// Functions of TVM's virtual machine take values as they are.
void HostEmitter::machine(const step::CallMachine& given, Span span) {
  HostCall made{.span = span};
  made.call = [name = given.name, checked = without_dims(given.type),
               span](const std::vector<Value>& values) {
    SymbolValues none;
    return packed_result(name, machine_function(name)(name, values, span), checked, none, span);
  };
  call("rt_host_call", given.args, given.result, std::move(made));
}

void HostEmitter::native(const step::CallNative& given, Span span) {
  llvm::IRBuilder<>& builder = code_.builder;
  auto native = std::make_shared<NativeCall>();
  native->name = given.name;
  native->span = span;
  native->args = given.args;
  native->result_type = given.type;
  native->checked_type = without_dims(given.type);
  native->result = given.result;
  llvm::Value* in = places_.slots_of(given.args);
  llvm::Value* out = RuntimeCalls::stack_slots(builder, slot_count(given.result));
  llvm::Function* function =
      code_.runtime.get("rt_native_call", code_.i32, {code_.ptr, code_.ptr, code_.ptr, code_.ptr});
  code_.return_unless_ok(builder.CreateCall(function, {code_.context, code_.address(native.get()), in, out}));
  code_.sites.keep(native);
  std::size_t position = 0;
  places_.read_slots(given.result, out, position);
}

void HostEmitter::make_function(const step::MakeFunction& made, Span span) {
  llvm::Function* code = program_.function(*made.callee);
  const FunctionSteps& inner = program_.steps().of(*made.callee);
  auto described = std::make_shared<CallableCode>();
  described->name = program_.name_in_text(*made.callee);
  described->variables = made.callee->params;
  described->params = inner.params;
  described->result = inner.result;
  described->span = made.callee->span;
  call("rt_function_value", made.args, made.result, {.span = span, .callable = std::move(described)}, code);
}

void HostEmitter::fix_arguments(const step::FixArguments& made, Span span) {
  HostCall host{.span = span};
  host.call = [span](std::vector<Value> values) { return with_fixed(std::move(values), span); };
  call("rt_host_call", made.args, made.result, std::move(host));
}

void HostEmitter::call_value(const step::CallValue& given, Span span) {
  call("rt_call_value", given.args, given.result, {.span = span, .type = given.type});
}

// The fault of an operator's kernel is told by the operator's evaluation on the same arguments, which knows
// the value and its place: its words are the interpreter's.
void HostEmitter::tell_fault(const step::OperatorFault& fault, llvm::Value* status) {
  llvm::IRBuilder<>& builder = code_.builder;
  if (const std::size_t count = slot_count(fault.args); count > fault_slot_count_) {
    fault_slots_ = RuntimeCalls::stack_slots(builder, count);
    fault_slot_count_ = count;
  }
  llvm::Value* in = fault_slots_ ? fault_slots_ : llvm::ConstantPointerNull::get(builder.getPtrTy());
  places_.write_slots(fault.args, in);
  llvm::Value* index = code_.int32(
      program_.add(operator_host_call(*fault.call.as<OpCall>(), fault.args, {}, fault.call.span())));
  llvm::Function* tell =
      code_.runtime.get("rt_operator_fault", code_.i32, {code_.ptr, code_.i32, code_.i32, code_.ptr});
  builder.CreateRet(builder.CreateCall(tell, {code_.context, index, status, in}));
}

}  // namespace relish::jit
