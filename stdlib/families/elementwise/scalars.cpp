// Scalar arguments of operators.
#include "stdlib/families/elementwise/scalars.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/elements.h"

namespace relish {
namespace {

// The parameter of argument `i`: attributes are no arguments.
const Param& param_of(const CallView& call, std::size_t i) {
  std::size_t position = 0;
  for (const Param& param : call.op.params)
    if (param.kind != ParamKind::Attribute && position++ == i) return param;
  RELISH_CHECK(false, "an argument has a parameter");
}

}  // namespace

void require_integer_scalar(const CallView& call, std::size_t i) {
  const auto* scalar = call.args[i].type().as<ScalarType>();
  if (scalar && is_int(scalar->dtype)) return;
  if (!scalar && call.args[i].type().as<AnyType>()) return;
  const std::string name(param_of(call, i).name);
  call.reject(name, call.span_of(i),
              fmt::format("{} has type {}; expected an integer", name, print(call.args[i].type())));
}

std::optional<Scalar> integer_expression(const CallView& call, std::size_t i) {
  const auto* value = call.args[i].as<ScalarValueExpr>();
  if (!value || !is_int(value->value.dtype())) return std::nullopt;
  return canonical(cast(DType::Int64, value->value));
}

std::optional<std::int64_t> literal_integer(const CallView& call, std::size_t i) {
  const std::optional<Scalar> expression = integer_expression(call, i);
  return expression ? expression->as_int() : std::nullopt;
}

std::optional<double> literal_number(const CallView& call, std::size_t i) {
  if (const auto integer = literal_integer(call, i)) return static_cast<double>(*integer);
  const auto* value = call.args[i].as<ScalarValueExpr>();
  const auto* real = value ? value->value.as<FloatLiteral>() : nullptr;
  return real ? std::optional(real->value) : std::nullopt;
}

std::int64_t integer_value(const EvalCall& call, std::size_t i) { return call.args[i].scalar().integer; }

Tensor scalar_tensor(const ScalarValue& scalar, DType dtype) {
  return convert_tensor(is_float(scalar.dtype) ? Tensor::scalar(scalar.dtype, scalar.real)
                                               : Tensor::scalar_int(scalar.dtype, scalar.integer),
                        dtype);
}

Scalar scalar_input(Lowering& lowering, std::size_t i, DType dtype) {
  const CallView& call = lowering.call();
  const auto* type = call.args[i].type().as<ScalarType>();
  RELISH_CHECK(type != nullptr, "a scalar argument has a scalar type");
  return cast(dtype, use(lowering.loops().scalar_input(param_of(call, i).name, type->dtype)));
}

}  // namespace relish
