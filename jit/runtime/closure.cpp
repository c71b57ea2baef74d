// Function values of compiled code.
#include "jit/runtime/closure.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/calls/fault.h"
#include "jit/runtime/marshal.h"
#include "jit/runtime/runtime.h"
#include "support/counted.h"
#include "support/failure.h"
#include "support/limits.h"

namespace relish::jit {
namespace {

// Gives up what belongs to the holder of the slots.
void release_slots(const ValueTree& tree, CallState& state, const std::int64_t* slots,
                   std::size_t& position) {
  if (tree.kind == ValueTree::Tuple) {
    for (const ValueTree& field : tree.fields) release_slots(field, state, slots, position);
    return;
  }
  if (tree.has_storage()) {
    void* address = reinterpret_cast<void*>(static_cast<std::intptr_t>(slots[position]));
    if (tree.kind == ValueTree::BoxLeaf)
      state.release_box(address);
    else
      state.release_tensor(address);
  }
  position += slot_count(tree);
}

const CompiledFunction& function_of(const Value& value, Span span) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&value.kind());
  const auto* function = object ? dynamic_cast<const CompiledFunction*>(object->get()) : nullptr;
  if (!function) {
    fail(ErrorClass::Runtime, span, "call.callee",
         fmt::format("{} is called; expected a function", describe(value)));
  }
  return *function;
}

class DepthGuard {
 public:
  DepthGuard(CallState& state, const CallableCode& callee) : state_(state) {
    const std::int64_t most = limits().max_call_depth;
    if (++state_.depth > most) {
      --state_.depth;
      fail_fault({FaultKind::CallDepth, callee.name, {most}}, callee.span);
    }
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  ~DepthGuard() { --state_.depth; }

 private:
  CallState& state_;
};

}  // namespace

Type without_dims(const Type& type) {
  if (const TensorType* tensor = type.tensor()) {
    TensorType open = *tensor;
    open.rank = tensor->shape ? static_cast<int>(tensor->shape->size()) : tensor->rank;
    open.shape.reset();
    return open;
  }
  if (const auto* shape = type.as<ShapeType>()) {
    ShapeType open = *shape;
    open.rank = shape->dims ? static_cast<int>(shape->dims->size()) : shape->rank;
    open.dims.reset();
    return open;
  }
  if (const TupleType* tuple = type.tuple()) {
    TupleType open;
    for (const Type& field : tuple->fields) open.fields.push_back(without_dims(field));
    return open;
  }
  return type;
}

Value with_fixed(std::vector<Value> values, Span span) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&values.at(0).kind());
  const auto* function = object ? dynamic_cast<const CompiledFunction*>(object->get()) : nullptr;
  if (!function) {
    fail(ErrorClass::Runtime, span, "call.callee",
         fmt::format("R.make_closure is given {}; expected a function", describe(values[0])));
  }
  auto made = std::make_shared<CompiledFunction>(*function);
  made->fixed.insert(made->fixed.begin(), values.begin() + 1, values.end());
  return Value(std::shared_ptr<const ObjectValue>(std::move(made)));
}

std::int32_t rt_function_value(RtContext* context, std::int32_t index, GraphCode code, const std::int64_t* in,
                               std::int64_t* out) {
  CallState& state = *context->state;
  try {
    const HostCall& host = (*state.running->host_calls)[index];
    auto made = std::make_shared<CompiledFunction>();
    made->callable = host.callable;
    made->code = code;
    made->program = *state.running;
    made->captured = arguments_of(host, state, in);
    std::size_t position = 0;
    result_to_slots(Value(std::shared_ptr<const ObjectValue>(std::move(made))), host.result, host.span, state,
                    out, position);
    return status_ok;
  } catch (...) {
    state.keep_failure();
    return status_exception;
  }
}

std::int32_t rt_call_value(RtContext* context, std::int32_t index, const std::int64_t* in,
                           std::int64_t* out) {
  CallState& state = *context->state;
  try {
    const HostCall& host = (*state.running->host_calls)[index];
    std::vector<Value> given = arguments_of(host, state, in);
    const Value callee = std::move(given[0]);
    const CompiledFunction& function = function_of(callee, host.span);
    const CallableCode& callable = *function.callable;
    std::vector<Value> args(given.begin() + 1, given.end());
    args.insert(args.end(), function.fixed.begin(), function.fixed.end());
    args.insert(args.end(), function.captured.begin(), function.captured.end());
    if (args.size() != callable.params.size()) {
      const std::size_t hidden = args.size() - (given.size() - 1);
      fail(ErrorClass::Runtime, host.span, "call.arity",
           fmt::format("{} is given {}; it takes {}", callable.name, counted(given.size() - 1, "argument"),
                       callable.params.size() - std::min(hidden, callable.params.size())));
    }
    std::size_t slots = 0, position = 0;
    for (const ValueTree& param : callable.params) slots += slot_count(param);
    std::vector<std::int64_t> passed(slots), results(slot_count(callable.result));
    for (std::size_t i = 0; i < args.size(); ++i) {
      SymbolValues symbols;
      const Var& param = callable.variables[i];
      match_value(args[i], without_dims(param.type()), symbols, ErrorClass::Runtime, param.span(),
                  fmt::format("{}: {}", callable.name, param.name()));
      result_to_slots(args[i], callable.params[i], param.span(), state, passed.data(), position);
    }
    std::int32_t status = status_ok;
    {
      const DepthGuard guard(state, callable);
      // One that another call has made runs as part of its own code, and tells its own faults.
      const RunningCode* const caller = state.running;
      const bool foreign = function.program.host_calls != caller->host_calls;
      if (foreign) state.running = &function.program;
      status = function.code(context, passed.data(), results.data());
      if (foreign) {
        state.running = caller;
        if (status == status_fault) function.program.fail(context->error, state);
      }
    }
    if (status != status_ok) return status;
    position = 0;
    for (const ValueTree& param : callable.params) release_slots(param, state, passed.data(), position);
    position = 0;
    const Value result = argument_of_slots(callable.result, state, results.data(), position);
    match_make(result, host.type, host.span, "the result of the call", host.type);
    position = 0;
    result_to_slots(result, host.result, host.span, state, out, position);
    position = 0;
    release_slots(callable.result, state, results.data(), position);
    return status_ok;
  } catch (...) {
    state.keep_failure();
    return status_exception;
  }
}

}  // namespace relish::jit
