// Results of native functions.
#include "ir/calls/packed_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer.h"
#include "runtime/machine.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_void(const Type& type) {
  const TupleType* tuple = type.tuple();
  return tuple && tuple->fields.empty();
}

// The interface has one kind of int and one of float: a number takes the dtype of the call when it fits.
Value in_dtype(const ScalarValue& scalar, DType dtype) {
  if (is_float(scalar.dtype) != is_float(dtype) || is_bool(scalar.dtype) != is_bool(dtype)) return scalar;
  if (is_float(dtype)) return ScalarValue::of_real(Tensor::scalar(dtype, scalar.real).get_double(0), dtype);
  Tensor narrow = Tensor::empty(dtype, {});
  narrow.set_int(0, scalar.integer);
  if (narrow.get_int(0) != scalar.integer) return scalar;
  return ScalarValue::of_int(scalar.integer, dtype);
}

}  // namespace

Value packed_result(const std::string& name, Value returned, const Type& type, SymbolValues& symbols,
                    Span span) {
  if (is_void(type)) return {};
  if (type.as<AnyType>()) return returned;
  const auto* wanted = type.as<ScalarType>();
  if (wanted && returned.is_scalar()) returned = in_dtype(returned.scalar(), wanted->dtype);
  match_value(returned, type, symbols, ErrorClass::Runtime, span,
              fmt::format("native function '{}'", printable(name)));
  return returned;
}

void refuse_machine_call(const std::string& name, Span span) {
  fail(ErrorClass::Policy, span, "native.form",
       fmt::format("native function '{}' is called with the context of TVM's virtual machine; --native opens "
                   "functions that need none",
                   printable(name)));
}

bool is_machine_call(const PackedCall& call, const std::string& symbol) {
  return call.form != PackedForm::Dps && machine_function(symbol) != nullptr;
}

const TensorType& destination_type(const Type& type, Span span) {
  const TensorType* tensor = type.tensor();
  if (tensor && tensor->shape && tensor->dtype) return *tensor;
  fail(ErrorClass::Type, span, "native.destination",
       fmt::format(
           "found a result of type {}; expected a tensor of known shape and dtype, which is allocated for it",
           print(type)));
}

bool is_changed_in_place(const PackedCall& call, std::size_t index) {
  return call.form == PackedForm::Inplace &&
         std::find(call.inplace_indices.begin(), call.inplace_indices.end(),
                   static_cast<std::int64_t>(index)) != call.inplace_indices.end();
}

bool results_in_place(const PackedCall& call, Span span) {
  if (call.form != PackedForm::Inplace) return false;
  const auto fresh = std::count(call.inplace_indices.begin(), call.inplace_indices.end(), -1);
  if (fresh == 0) return true;
  if (call.inplace_indices.size() == 1) return false;
  fail(ErrorClass::Runtime, span, "native.inplace",
       "found several results of R.call_inplace_packed, of which some are fresh; expected each to be an "
       "argument");
}

}  // namespace relish
