// Built-ins that make and compare tensors.
#include <cmath>

#include "shell/script/builtins.h"
#include "shell/script/compare_tensors.h"
#include "shell/script/convert.h"
#include "shell/script/random_fill.h"
#include "shell/script/script.h"
#include "support/interrupt.h"

namespace relish {
namespace {

DType dtype_or(const NamedValue* argument, DType fallback) {
  return argument && !argument->value.is_none() ? dtype_of_value(argument->value, argument->span) : fallback;
}

ScriptValue filled(CallArguments& arguments, double value) {
  const NamedValue shape = arguments.dimensions("shape");
  const NamedValue* dtype = arguments.optional("dtype");
  arguments.done();
  Tensor result = Tensor::zeros(dtype_or(dtype, DType::Float32), shape_of(shape.value, shape.span));
  if (value != 0) {
    in_polled_parts(result.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) result.set_double(i, value);
    });
  }
  return result;
}

ScriptValue call_zeros(Script&, CallArguments& arguments) { return filled(arguments, 0); }
ScriptValue call_ones(Script&, CallArguments& arguments) { return filled(arguments, 1); }

// Without a seed: the next numbers of the session's.
ScriptValue drawn(Script& script, CallArguments& arguments, Distribution distribution,
                  std::string_view what) {
  const NamedValue shape = arguments.dimensions("shape");
  const NamedValue* dtype = arguments.optional("dtype");
  const NamedValue* seed = arguments.optional("seed");
  arguments.done();
  Settings& settings = script.session().settings();
  const bool own = seed && !seed->value.is_none();
  const RandomKey key =
      own ? key_from_seed(static_cast<std::uint64_t>(index_of(seed->value, seed->span, "the seed")))
          : key_of_draw(settings.seed, settings.draws);
  Tensor result = random_tensor(dtype_or(dtype, DType::Float32), shape_of(shape.value, shape.span), key,
                                distribution, arguments.span(), what);
  if (!own) ++settings.draws;
  return result;
}

ScriptValue call_rand(Script& script, CallArguments& arguments) {
  return drawn(script, arguments, Distribution::Uniform, "rand");
}
ScriptValue call_randn(Script& script, CallArguments& arguments) {
  return drawn(script, arguments, Distribution::Normal, "randn");
}

ScriptValue call_tensor(Script&, CallArguments& arguments) {
  const NamedValue& value = arguments.required("value");
  const NamedValue* dtype = arguments.optional("dtype");
  arguments.done();
  std::optional<DType> wanted;
  if (dtype && !dtype->value.is_none()) wanted = dtype_of_value(dtype->value, dtype->span);
  if (value.value.tensor() && wanted && value.value.tensor()->dtype() != *wanted) {
    fail(ErrorClass::Type, value.span, "tensor.element",
         fmt::format("tensor: found {}; convert it by astype(\"{}\")", describe(value.value),
                     name_of(*wanted)));
  }
  return tensor_of(value.value, wanted, DType::Int64, DType::Float32, value.span);
}

double real_argument(const NamedValue* argument, double fallback) {
  if (!argument) return fallback;
  if (auto real = real_of(argument->value)) return *real;
  fail(ErrorClass::Type, argument->span, "call.argument",
       fmt::format("allclose: found {}; expected a number", describe(argument->value)));
}

Tensor tensor_argument(const NamedValue& argument) {
  if (argument.value.tensor()) return *argument.value.tensor();
  return tensor_of(argument.value, std::nullopt, DType::Int64, DType::Float64, argument.span);
}

ScriptValue call_allclose(Script&, CallArguments& arguments) {
  const NamedValue& a = arguments.required("a");
  const NamedValue& b = arguments.required("b");
  Closeness closeness;
  closeness.rtol = real_argument(arguments.optional("rtol"), closeness.rtol);
  closeness.atol = real_argument(arguments.optional("atol"), closeness.atol);
  const NamedValue* equal_nan = arguments.optional("equal_nan");
  closeness.equal_nan = equal_nan && equal_nan->value.as<bool>() && *equal_nan->value.as<bool>();
  arguments.done();
  Tensor left = tensor_argument(a);
  Tensor right = tensor_argument(b);
  // A number is compared with every element.
  if (left.shape() != right.shape() && left.rank() != 0 && right.rank() != 0) {
    fail(ErrorClass::Type, arguments.span(), "allclose.shape",
         fmt::format("allclose: found {} and {}; expected equal shapes", describe(Value(left)),
                     describe(Value(right))));
  }
  return !first_difference(left, right, closeness);
}

constexpr Builtin makers_table[] = {
    {"zeros", "zeros(shape, dtype=\"float32\")", call_zeros},
    {"ones", "ones(shape, dtype=\"float32\")", call_ones},
    {"rand", "rand(shape, dtype=\"float32\", seed=None)", call_rand},
    {"randn", "randn(shape, dtype=\"float32\", seed=None)", call_randn},
    {"tensor", "tensor(value, dtype=None)", call_tensor},
    {"allclose", "allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", call_allclose},
};

}  // namespace

std::span<const Builtin> tensor_builtins() { return makers_table; }

}  // namespace relish
