// Element type rules shared by all operators.
#include "stdlib/families/elementwise/dtypes.h"

#include "ir/printer/printer.h"

namespace relish {

void require_float(const CallView& call, std::size_t i) {
  const std::optional<DType> dtype = dtype_of_argument(call, i);
  if (dtype && !is_float(*dtype)) {
    call.reject("dtype", call.span_of(i),
                fmt::format("{} has dtype {}, expected a floating dtype; cast it with astype",
                            call.op.params[i].name, name_of(*dtype)));
  }
}

void require_number(const CallView& call, std::size_t i) {
  const std::optional<DType> dtype = dtype_of_argument(call, i);
  if (dtype && is_bool(*dtype)) {
    call.reject(
        "dtype", call.span_of(i),
        fmt::format("{} has dtype bool, expected numbers; cast it with astype", call.op.params[i].name));
  }
}

void require_integer(const CallView& call, std::size_t i, Bools bools) {
  const std::optional<DType> dtype = dtype_of_argument(call, i);
  if (!dtype || is_int(*dtype) || (is_bool(*dtype) && bools == Bools::Taken)) return;
  call.reject("dtype", call.span_of(i),
              fmt::format("{} has dtype {}, expected integers{}", call.op.params[i].name, name_of(*dtype),
                          bools == Bools::Taken ? " or bool" : ""));
}

std::optional<DType> dtype_of_argument(const CallView& call, std::size_t i) {
  if (const auto* scalar = call.args[i].type().as<ScalarType>()) return scalar->dtype;
  return call.tensor(i).dtype;
}

namespace {

// Tensors are cast by astype, scalars (dimensions, numbers that have a name) by the function of the dtype.
std::string casts(const CallView& call, std::size_t i, std::size_t j, DType of_i, DType of_j) {
  const bool scalar_i = call.args[i].type().as<ScalarType>(), scalar_j = call.args[j].type().as<ScalarType>();
  if (scalar_i == scalar_j) return "cast one with astype";
  const std::size_t scalar = scalar_i ? i : j;
  return fmt::format("{} is a scalar: write T.{}(…) of it", call.op.params[scalar].name,
                     name_of(scalar_i ? of_j : of_i));
}

}  // namespace

std::optional<DType> common_dtype(const CallView& call, std::size_t i, std::size_t j) {
  const std::optional<DType> a = dtype_of_argument(call, i), b = dtype_of_argument(call, j);
  if (!a || !b) return std::nullopt;
  if (*a == *b || is_bool(*b)) return a;
  call.reject(
      "dtype", call.span,
      fmt::format("{} has dtype {} and {} has dtype {}, expected the same; {}", call.op.params[i].name,
                  name_of(*a), call.op.params[j].name, name_of(*b), casts(call, i, j, *a, *b)));
}

std::optional<DType> dtype_attribute(const CallView& call, std::string_view name) {
  const Attribute& attribute = call.attribute(name);
  if (attribute.is_none()) return std::nullopt;
  if (const DType* dtype = attribute.as<DType>()) return *dtype;
  if (const std::string* text = attribute.as<std::string>()) {
    if (*text == "void" || text->empty()) return std::nullopt;
    if (const auto dtype = dtype_from_name(*text)) return dtype;
  }
  call.reject("dtype", call.span, fmt::format("{} is {}, expected a dtype", name, print(attribute)));
}

}  // namespace relish
