// Methods of tensors: each is the operator of its name, with NumPy's options as far as that has them.
#include "shell/script/methods_tensors.h"

#include <array>

#include <fmt/format.h>

#include "shell/script/convert.h"
#include "shell/script/methods.h"
#include "shell/script/script.h"

namespace relish {
namespace {

// x.sum(axis=None, keepdims=False) and its like; the operator checks the rest.
template <const char* name>
ScriptValue reduction(Script& script, const ScriptValue& self, CallArguments& arguments) {
  return reduced(script, name, self, arguments);
}

constexpr char sum_name[] = "sum", mean_name[] = "mean", min_name[] = "min", max_name[] = "max",
               std_name[] = "std", argmin_name[] = "argmin", argmax_name[] = "argmax", prod_name[] = "prod";

ScriptValue tensor_all(Script& script, const ScriptValue& self, CallArguments& arguments) {
  return truth_over(script, self, arguments, true);
}
ScriptValue tensor_any(Script& script, const ScriptValue& self, CallArguments& arguments) {
  return truth_over(script, self, arguments, false);
}

ScriptValue tensor_astype(Script& script, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue& dtype = arguments.required("dtype");
  arguments.done();
  dtype_of_value(dtype.value, dtype.span);
  return script.operators().call(
      "astype", {{"x", self, arguments.span()}, {"dtype", dtype.value, dtype.span}}, arguments.span());
}

// As NumPy's: of truth values it is their number, of narrow integers the number that they have no room for.
// The operators keep the dtype.
template <const char* name>
ScriptValue counted(Script& script, const ScriptValue& self, CallArguments& arguments) {
  return reduced(script, name, as_counted(script, self, arguments.span()), arguments);
}

ScriptValue tensor_reshape(Script& script, const ScriptValue& self, CallArguments& arguments) {
  const NamedValue shape = arguments.dimensions("shape");
  arguments.done();
  ScriptValue dims = ShapeValue{shape_of(shape.value, shape.span, true)};
  return script.operators().call("reshape", {{"", self, arguments.span()}, {"", std::move(dims), shape.span}},
                                 arguments.span());
}

}  // namespace

ScriptValue element_of(const Tensor& tensor, std::int64_t index) {
  if (is_float(tensor.dtype())) return tensor.get_double(index);
  if (is_bool(tensor.dtype())) return tensor.get_int(index) != 0;
  if (tensor.dtype() == DType::UInt64 && tensor.get_int(index) < 0) {
    fail(ErrorClass::Runtime, {}, "script.overflow",
         fmt::format("the element {} does not fit a 64-bit int",
                     static_cast<std::uint64_t>(tensor.get_int(index))));
  }
  return tensor.get_int(index);
}

namespace {

ScriptValue tensor_item(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  const Tensor& tensor = *self.tensor();
  if (tensor.size() == 1) return element_of(tensor, 0);
  fail(ErrorClass::Type, arguments.span(), "call.argument",
       fmt::format("item: found {}; expected a tensor of one element", describe(self)));
}

ScriptValue list_of(const Tensor& tensor, std::size_t dimension, std::int64_t& at) {
  if (dimension == tensor.shape().size()) return element_of(tensor, at++);
  std::vector<ScriptValue> items;
  for (std::int64_t i = 0; i < tensor.shape()[dimension]; ++i)
    items.push_back(list_of(tensor, dimension + 1, at));
  return ScriptValue::list(std::move(items));
}

ScriptValue tensor_tolist(Script&, const ScriptValue& self, CallArguments& arguments) {
  arguments.done();
  check_item_count(self.tensor()->size(), arguments.span());
  std::int64_t at = 0;
  return list_of(*self.tensor(), 0, at);
}

constexpr ValueMethod methods_table[] = {
    {"all", "t.all(axis=None, keepdims=False)", tensor_all},
    {"any", "t.any(axis=None, keepdims=False)", tensor_any},
    {"argmax", "t.argmax(axis=None, keepdims=False)", reduction<argmax_name>},
    {"argmin", "t.argmin(axis=None, keepdims=False)", reduction<argmin_name>},
    {"astype", "t.astype(dtype)", tensor_astype},
    {"item", "t.item()", tensor_item},
    {"max", "t.max(axis=None, keepdims=False)", reduction<max_name>},
    {"mean", "t.mean(axis=None, keepdims=False)", reduction<mean_name>},
    {"min", "t.min(axis=None, keepdims=False)", reduction<min_name>},
    {"prod", "t.prod(axis=None, keepdims=False)", counted<prod_name>},
    {"reshape", "t.reshape(shape)", tensor_reshape},
    {"std", "t.std(axis=None, keepdims=False)", reduction<std_name>},
    {"sum", "t.sum(axis=None, keepdims=False)", counted<sum_name>},
    {"tolist", "t.tolist()", tensor_tolist},
};

}  // namespace

ScriptValue as_counted(Script& script, const ScriptValue& value, Span span) {
  const Tensor* tensor = value.tensor();
  const bool whole = tensor && (is_bool(tensor->dtype()) || is_int(tensor->dtype()));
  if (!whole || tensor->dtype() == DType::Int64 || tensor->dtype() == DType::UInt64) return value;
  return script.operators().call("astype", {{"x", value, span}, {"dtype", ScriptValue("int64"), span}}, span);
}

ScriptValue reduced(Script& script, std::string_view name, const ScriptValue& tensor,
                    CallArguments& arguments) {
  std::vector<NamedValue> given = {{"", tensor, arguments.span()}};
  // PyTorch's names mean the same.
  constexpr std::array<std::array<const char*, 2>, 2> options = {{{"axis", "dim"}, {"keepdims", "keepdim"}}};
  for (const auto& [option, other] : options) {
    const NamedValue* value = arguments.optional(option);
    const NamedValue* same = arguments.other_name(other);
    if (value && same) {
      fail(ErrorClass::Usage, same->span, "call.arguments",
           fmt::format("{}: '{}' is given twice, as {} too", name, option, other));
    }
    if (same) value = same;
    if (value) given.push_back({option, value->value, value->span});
  }
  arguments.done();
  return script.operators().call(name, given, arguments.span());
}

ScriptValue truth_over(Script& script, const ScriptValue& tensor, CallArguments& arguments, bool all) {
  OperatorCalls& operators = script.operators();
  const Span span = arguments.span();
  ScriptValue flags = tensor;
  if (!is_bool(tensor.tensor()->dtype()))
    flags = operators.call("not_equal", {{"", tensor, span}, {"", 0, span}}, span);
  flags = operators.call("astype", {{"x", flags, span}, {"dtype", "uint8", span}}, span);
  ScriptValue result = reduced(script, all ? "min" : "max", flags, arguments);
  return operators.call("astype", {{"x", result, span}, {"dtype", "bool", span}}, span);
}

std::span<const ValueMethod> tensor_methods() { return methods_table; }

}  // namespace relish
