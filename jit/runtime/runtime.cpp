// Helpers that compiled code calls, and the table that is all it can reach. No exception leaves them.
#include "jit/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>

#include "jit/runtime/closure.h"
#include "jit/runtime/marshal.h"
#include "jit/runtime/native_calls.h"
#include "jit/runtime/parallel.h"
#include "runtime/half.h"
#include "support/limits.h"

// Conversions of the compiler's support library that LLVM calls on machines without the instructions. Their
// real signatures use the 16-bit float type; only the addresses are needed here.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace relish::jit {
namespace {

// What compiled code looks at once it is not to be interrupted.
const std::int32_t never_interrupted = 0;

}  // namespace

CallState::CallState(CallMemory& memory, int threads)
    : memory(memory),
      threads(threads),
      tools_(memory.take()),
      tensors(tools_->tensors),
      slots(tools_->slots),
      scratch(tools_->scratch),
      known(tools_->known) {}

CallState::~CallState() { memory.give_back(std::move(tools_)); }

void CallState::lose(const OwnedTensors::Entry& entry) {
  if (!entry.given || lost) return;
  lost = true;
  context->interrupt_flag = &never_interrupted;
}

void CallState::release_tensor(const void* data) {
  if (const OwnedTensors::Entry* entry = tensors.find(data); entry && entry->owners == 1) lose(*entry);
  if (Tensor last = tensors.release(data); last.defined()) memory.spare.give_back(std::move(last));
}

void* CallState::box(Value value) {
  auto made = std::make_unique<Box>();
  made->value = std::move(value);
  void* address = made.get();
  boxes.emplace(address, std::move(made));
  return address;
}

void CallState::release_box(void* box) {
  const auto found = boxes.find(box);
  if (found != boxes.end() && --found->second->owners == 0) boxes.erase(found);
}

void CallState::keep_failure() {
  std::lock_guard lock(mutex);
  if (!failure) failure = std::current_exception();
}

namespace {

extern "C" {

std::int32_t rt_fault(RtContext* context, std::int32_t site, std::int64_t a, std::int64_t b, std::int64_t c) {
  context->error.site = site;
  context->error.values[0] = a;
  context->error.values[1] = b;
  context->error.values[2] = c;
  return status_fault;
}

// A failed shape check: `dims` is the shape found, `symbols` the symbolic dims known before it.
std::int32_t rt_shape_fault(RtContext* context, std::int32_t site, const std::int64_t* dims,
                            std::int64_t dim_count, const std::int64_t* symbols, std::int64_t symbol_count) {
  context->error.site = site;
  try {
    context->state->fault_values.assign(dims, dims + dim_count);
    context->state->fault_values.insert(context->state->fault_values.end(), symbols, symbols + symbol_count);
  } catch (...) {
    context->state->keep_failure();
    return status_exception;
  }
  return status_fault;
}

// Null when memory is refused; the caller returns status_exception.
void* rt_scratch(RtContext* context, std::int64_t bytes) {
  try {
    return context->scratch->push(bytes);
  } catch (...) {
    context->state->keep_failure();
    return nullptr;
  }
}

// The place of the failure that was kept last.
void rt_failed_at(RtContext* context, std::int32_t site) {
  std::lock_guard lock(context->state->mutex);
  if (context->state->failure_site < 0) context->state->failure_site = site;
}

void rt_scratch_release(RtContext* context, void* pointer) { context->scratch->pop(pointer); }

// Bytes of a tensor of these dims, rounded up to whole lines; -1 when a dim is negative or the size passes
// the limit.
std::int64_t rt_byte_size(RtContext* context, std::int32_t dtype, std::int32_t rank,
                          const std::int64_t* dims) {
  try {
    const std::int64_t count = element_count(std::span(dims, static_cast<std::size_t>(rank)));
    const std::int64_t size = size_of(static_cast<DType>(dtype));
    // Sums of a few thousand such sizes stay far from the end of 64 bits.
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    if (count > largest / size)
      Tensor::empty(static_cast<DType>(dtype), Shape(dims, dims + rank));  // refuses
    return (count * size + 63) / 64 * 64;
  } catch (...) {
    context->state->keep_failure();
    return -1;
  }
}

// A buffer of a prim_func on the scratch stack; `zero` clears it. Null when it is refused.
void* rt_buffer(RtContext* context, std::int32_t dtype, std::int32_t rank, const std::int64_t* dims,
                std::int32_t zero) {
  const std::int64_t bytes = rt_byte_size(context, dtype, rank, dims);
  if (bytes < 0) return nullptr;
  void* pointer = rt_scratch(context, bytes);
  if (pointer != nullptr && zero != 0) std::memset(pointer, 0, static_cast<std::size_t>(bytes));
  return pointer;
}

// A tensor that outlives the function; `zero` clears it.
void* rt_tensor(RtContext* context, std::int32_t dtype, std::int32_t rank, const std::int64_t* dims,
                std::int32_t zero) {
  try {
    CallState& state = *context->state;
    const std::span found(dims, static_cast<std::size_t>(rank));
    Tensor tensor = state.memory.spare.take(static_cast<DType>(dtype), element_count(found));
    if (!tensor.defined()) {
      Shape shape(found.begin(), found.end());
      tensor = zero != 0 ? Tensor::zeros(static_cast<DType>(dtype), std::move(shape))
                         : Tensor::empty(static_cast<DType>(dtype), std::move(shape));
    } else if (zero != 0) {
      std::memset(tensor.mutable_data(), 0, static_cast<std::size_t>(tensor.byte_size()));
    }
    void* data = tensor.mutable_data();
    state.tensors.add(std::move(tensor));
    return data;
  } catch (...) {
    context->state->keep_failure();
    return nullptr;
  }
}

void rt_tensor_release(RtContext* context, void* data) { context->state->release_tensor(data); }

void rt_box_own(RtContext*, void* box) { ++static_cast<Box*>(box)->owners; }
void rt_box_release(RtContext* context, void* box) { context->state->release_box(box); }

// A tensor of the same elements that belongs to the caller alone.
void* copy_of(RtContext* context, const void* data, std::int32_t dtype, std::int32_t rank,
              const std::int64_t* dims) {
  void* copy = rt_tensor(context, dtype, rank, dims, 0);
  const std::int64_t count = element_count(std::span(dims, static_cast<std::size_t>(rank)));
  if (copy && count > 0)
    std::memcpy(copy, data, static_cast<std::size_t>(count * size_of(static_cast<DType>(dtype))));
  return copy;
}

// A tensor of the same elements that belongs to the caller: what compiled code made is shared, what it does
// not own (arguments, constants, arena memory) is copied. Null when memory is refused.
void* rt_own(RtContext* context, void* data, std::int32_t dtype, std::int32_t rank,
             const std::int64_t* dims) {
  if (OwnedTensors::Entry* made = context->state->tensors.find(data)) {
    ++made->owners;
    return data;
  }
  return copy_of(context, data, dtype, rank, dims);
}

// Whether one owner in compiled code has it, and nobody outside.
bool held_alone(const OwnedTensors::Entry* made) {
  return made && made->owners == 1 && made->tensor.unique();
}

// The tensor for an owner who ends its own: itself where nobody else sees it, else a copy. Null when memory
// is refused.
void* rt_take_over(RtContext* context, void* data, std::int32_t dtype, std::int32_t rank,
                   const std::int64_t* dims) {
  const OwnedTensors::Entry* made = context->state->tensors.find(data);
  if (held_alone(made)) {
    context->state->lose(*made);
    return data;
  }
  const bool owned = made != nullptr;
  void* copy = copy_of(context, data, dtype, rank, dims);
  if (copy && owned) context->state->release_tensor(data);
  return copy;
}

// The same for an owner who writes to it, of a tensor that a loop lends to its body: that the loop alone
// holds is handed over, any other is copied.
void* rt_take(RtContext* context, void* data, std::int32_t dtype, std::int32_t rank,
              const std::int64_t* dims) {
  if (OwnedTensors::Entry* lent = context->state->tensors.find(data); held_alone(lent)) {
    context->state->lose(*lent);
    ++lent->owners;
    return data;
  }
  return copy_of(context, data, dtype, rank, dims);
}

// Around the body of a recursive function; a fault at `site` when calls nest too deep.
std::int32_t rt_enter(RtContext* context, std::int32_t site) {
  const std::int64_t most = limits().max_call_depth;
  if (++context->state->depth <= most) return status_ok;
  return rt_fault(context, site, most, 0, 0);
}
void rt_leave(RtContext* context) { --context->state->depth; }

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Around a kernel of watched code.
void rt_kernel_begin(RtContext* context, std::int32_t kernel, const std::int64_t* sizes, std::int64_t count) {
  try {
    context->state->kernel_runs.push_back({kernel, 0, 0, {sizes, sizes + count}});
    context->state->kernel_runs.back().begin_ns = now_ns();
  } catch (const std::bad_alloc&) {  // the row is missing, and nothing depends on it
  }
}
void rt_kernel_end(RtContext* context) {
  const std::int64_t end = now_ns();
  if (!context->state->kernel_runs.empty()) context->state->kernel_runs.back().end_ns = end;
}

std::int32_t rt_host_call(RtContext* context, std::int32_t index, const std::int64_t* in, std::int64_t* out) {
  CallState& state = *context->state;
  try {
    const HostCall& host = (*state.running->host_calls)[index];
    std::size_t position = 0;
    result_to_slots(host.call(arguments_of(host, state, in)), host.result, host.span, state, out, position);
    return status_ok;
  } catch (...) {
    state.keep_failure();
    return status_exception;
  }
}

// What an operator's kernel returned that did not end well. Its fault becomes the Failure that the operator's
// evaluation gives for the same arguments; where that gives none, it stays.
std::int32_t rt_operator_fault(RtContext* context, std::int32_t index, std::int32_t status,
                               const std::int64_t* in) {
  if (status != status_fault) return status;
  CallState& state = *context->state;
  try {
    const HostCall& host = (*state.running->host_calls)[index];
    host.call(arguments_of(host, state, in));
    return status;
  } catch (const Failure& failure) {
    const ErrorClass found = failure.diagnostics().front().error_class;
    if (found != ErrorClass::Runtime && found != ErrorClass::Interrupted) return status;
    state.keep_failure();
    return status_exception;
  } catch (...) {
    return status;
  }
}

float rt_half_to_float(std::uint32_t bits) { return half_bits_to_float(static_cast<std::uint16_t>(bits)); }
std::uint32_t rt_float_to_half(float value) { return float_to_half_bits(value); }

// LLVM joins the sine and the cosine of one number into one call.
void rt_sincos(double value, double* sine, double* cosine) {
  *sine = std::sin(value);
  *cosine = std::cos(value);
}
void rt_sincosf(float value, float* sine, float* cosine) {
  *sine = std::sin(value);
  *cosine = std::cos(value);
}

}  // extern "C"

template <class F>
RuntimeSymbol symbol(std::string_view name, F* function) {
  return {name, reinterpret_cast<void*>(function)};
}

// Picks the overload of a C++ math function by its type.
using Unary32 = float(float);
using Unary64 = double(double);
using Binary32 = float(float, float);
using Binary64 = double(double, double);

}  // namespace

std::span<const RuntimeSymbol> runtime_symbols() {
  static const std::vector<RuntimeSymbol> table = {
      symbol("sincos", rt_sincos),
      symbol("sincosf", rt_sincosf),
      symbol("rt_fault", rt_fault),
      symbol("rt_shape_fault", rt_shape_fault),
      symbol("rt_operator_fault", rt_operator_fault),
      symbol("rt_scratch", rt_scratch),
      symbol("rt_scratch_release", rt_scratch_release),
      symbol("rt_failed_at", rt_failed_at),
      symbol("rt_byte_size", rt_byte_size),
      symbol("rt_buffer", rt_buffer),
      symbol("rt_tensor", rt_tensor),
      symbol("rt_tensor_release", rt_tensor_release),
      symbol("rt_own", rt_own),
      symbol("rt_take_over", rt_take_over),
      symbol("rt_take", rt_take),
      symbol("rt_box_own", rt_box_own),
      symbol("rt_box_release", rt_box_release),
      symbol("rt_function_value", rt_function_value),
      symbol("rt_call_value", rt_call_value),
      symbol("rt_enter", rt_enter),
      symbol("rt_leave", rt_leave),
      symbol("rt_kernel_begin", rt_kernel_begin),
      symbol("rt_kernel_end", rt_kernel_end),
      symbol("rt_host_call", rt_host_call),
      symbol("rt_parallel_for", rt_parallel_for),
      symbol("rt_rows_ahead", rt_rows_ahead),
      symbol("rt_rows_forget", rt_rows_forget),
      symbol("rt_rows_take", rt_rows_take),
      symbol("rt_rows_give_back", rt_rows_give_back),
      symbol("rt_native_call", rt_native_call),
      symbol("rt_half_to_float", rt_half_to_float),
      symbol("rt_float_to_half", rt_float_to_half),
      symbol("__extendhfsf2", __extendhfsf2),
      symbol("__truncsfhf2", __truncsfhf2),
      symbol("__truncdfhf2", __truncdfhf2),
      symbol<void*(void*, const void*, std::size_t)>("memcpy", std::memcpy),
      symbol<void*(void*, const void*, std::size_t)>("memmove", std::memmove),
      symbol<void*(void*, int, std::size_t)>("memset", std::memset),
      symbol<int(const void*, const void*, std::size_t)>("memcmp", std::memcmp),
      symbol<Unary64>("sin", ::sin),
      symbol<Unary64>("cos", ::cos),
      symbol<Unary64>("tan", ::tan),
      symbol<Binary64>("pow", ::pow),
      symbol<Binary32>("fmodf", ::fmodf),
      symbol<Binary64>("fmod", ::fmod),
      symbol<Unary64>("acos", ::acos),
      symbol<Unary64>("acosh", ::acosh),
      symbol<Unary64>("asin", ::asin),
      symbol<Unary64>("asinh", ::asinh),
      symbol<Unary64>("atan", ::atan),
      symbol<Unary64>("atanh", ::atanh),
      symbol<Binary64>("atan2", ::atan2),
      symbol<Binary32>("nextafterf", ::nextafterf),
      symbol<Binary64>("nextafter", ::nextafter),
      symbol<float(float, int)>("ldexpf", ::ldexpf),
      symbol<double(double, int)>("ldexp", ::ldexp),
      symbol<float(float, float, float)>("fmaf", ::fmaf),
      symbol<double(double, double, double)>("fma", ::fma),
      // LLVM makes these of compare-selects whose operands it knows to be no NaN.
      symbol<Binary32>("fminf", ::fminf),
      symbol<Binary64>("fmin", ::fmin),
      symbol<Binary32>("fmaxf", ::fmaxf),
      symbol<Binary64>("fmax", ::fmax),
      symbol<Unary32>("floorf", ::floorf),
      symbol<Unary64>("floor", ::floor),
      symbol<Unary32>("ceilf", ::ceilf),
      symbol<Unary64>("ceil", ::ceil),
      symbol<Unary32>("truncf", ::truncf),
      symbol<Unary64>("trunc", ::trunc),
      // Halves round to even because nothing here changes the rounding mode.
      symbol<Unary32>("roundevenf", ::rintf),
      symbol<Unary64>("roundeven", ::rint),
      symbol<Unary32>("sqrtf", ::sqrtf),
      symbol<Unary64>("sqrt", ::sqrt),
  };
  return table;
}

}  // namespace relish::jit
