// Conversion of script values to run-time values.
#include "shell/script/convert.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "ir/operators/foreign_keywords.h"
#include "ir/printer/printer.h"
#include "runtime/literal.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/suggest.h"

namespace relish {
namespace {

[[noreturn]] void no_fit(std::string_view what, const ScriptValue& value, const Type& wanted, Span span) {
  fail(ErrorClass::Data, span, "call.argument",
       fmt::format("{}: found {}, expected {}", what, describe(value), print(wanted)));
}

struct NestedShape {
  Shape shape;
  bool closed = false;  // a number was found, below which there are no lists
  bool any_float = false;
  bool any_int = false;
  bool any_bool = false;
};

// Walks the first element at every depth for the shape, then checks all.
void measure(const ScriptValue& value, std::size_t depth, NestedShape& into, Span span) {
  poll_interrupt(span);
  if (depth > limits().max_rank) {
    fail(ErrorClass::ResourceLimit, span, "limit.rank",
         fmt::format("a list nested deeper than {} is no tensor", limits().max_rank));
  }
  if (const ScriptList* list = value.sequence()) {
    auto length = static_cast<std::int64_t>(list->items.size());
    if (depth == into.shape.size() && into.closed)
      fail(ErrorClass::Type, span, "tensor.ragged", fmt::format("found {} among numbers", describe(value)));
    if (depth == into.shape.size()) into.shape.push_back(length);
    if (into.shape[depth] != length) {
      fail(ErrorClass::Type, span, "tensor.ragged",
           fmt::format("found lists of {} and {} items at depth {}; expected equal lengths",
                       into.shape[depth], length, depth));
    }
    for (const ScriptValue& item : list->items) {
      bool list_here = item.sequence() != nullptr;
      if (!list_here && into.shape.size() > depth + 1) {
        fail(ErrorClass::Type, span, "tensor.ragged", fmt::format("found {} among lists", describe(item)));
      }
      measure(item, depth + 1, into, span);
    }
    return;
  }
  if (depth < into.shape.size()) {
    fail(ErrorClass::Type, span, "tensor.ragged", fmt::format("found {} among lists", describe(value)));
  }
  into.closed = true;
  if (value.as<bool>()) {
    into.any_bool = true;
  } else if (value.as<std::int64_t>()) {
    into.any_int = true;
  } else if (value.as<double>()) {
    into.any_float = true;
  } else {
    fail(ErrorClass::Type, span, "tensor.element",
         fmt::format("found {} in a tensor; expected numbers{}", describe(value),
                     value.as<ScriptRange>() ? ", or arange(begin, end, step) for a range"
                     : value.tensor()        ? "; R.stack([a, b]) is one of several tensors"
                                             : ""));
  }
}

// A finite number must stay one: infinity is written as such.
void set_real(Tensor& tensor, std::int64_t at, double real, const ScriptValue& written, Span span) {
  tensor.set_double(at, real);
  if (std::isfinite(real) && !std::isfinite(tensor.get_double(at))) {
    fail(ErrorClass::Type, span, "tensor.range",
         fmt::format("{} does not fit {}", text_of(written), name_of(tensor.dtype())));
  }
}

// `beside`: as literals beside a tensor are, of its kind and exact.
void fill(const ScriptValue& value, Tensor& tensor, std::int64_t& at, Span span, bool beside = false) {
  poll_interrupt(span);
  if (const ScriptList* list = value.sequence()) {
    for (const ScriptValue& item : list->items) fill(item, tensor, at, span, beside);
    return;
  }
  DType dtype = tensor.dtype();
  if (beside) {
    const Tensor element = number_beside(value, dtype, span);
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::memcpy(static_cast<std::byte*>(tensor.mutable_data()) + static_cast<std::size_t>(at++) * size,
                element.data(), size);
    return;
  }
  if (auto integer = integer_of(value)) {
    if (is_float(dtype)) {
      set_real(tensor, at++, static_cast<double>(*integer), value, span);
      return;
    }
    if (!holds_integer(dtype, *integer)) {
      fail(ErrorClass::Type, span, "tensor.range",
           fmt::format("{} does not fit {}", *integer, name_of(dtype)));
    }
    tensor.set_int(at++, *integer);
    return;
  }
  if (!is_float(dtype)) {
    fail(ErrorClass::Type, span, "tensor.element",
         fmt::format("found the float {} in a tensor of {}", text_of(value), name_of(dtype)));
  }
  set_real(tensor, at++, *real_of(value), value, span);
}

// A list that shares its parts with itself would become a tuple of all of them.
void check_tree(const ScriptList& list, Span span) {
  std::int64_t count = 0;
  const std::function<void(const ScriptList&)> visit = [&](const ScriptList& inner) {
    poll_interrupt(span);
    count += static_cast<std::int64_t>(inner.items.size());
    check_item_count(count, span);
    for (const ScriptValue& item : inner.items) {
      if (item.sequence()) visit(*item.sequence());
    }
  };
  visit(list);
}

}  // namespace

std::vector<CallParameter> call_parameters(const Module& module, std::string_view function) {
  std::vector<CallParameter> result;
  if (FunctionPtr graph = module.function(function)) {
    for (const Var& param : graph->params) result.push_back({param.name(), param.type(), param.span()});
    return result;
  }
  PrimFuncPtr loops = module.prim_func(function);
  if (!loops) {
    std::vector<std::string> names = module.names();
    fail(ErrorClass::Type, {}, "name.unknown",
         fmt::format("module '{}' has no function '{}'{}", module.name, function,
                     did_you_mean(function, names)));
  }
  std::vector<ParamAccess> accesses = param_accesses(*loops);
  for (std::size_t i = 0; i < loops->params.size(); ++i) {
    const PrimParam& param = loops->params[i];
    if (const Buffer* buffer = param.buffer()) {
      if (accesses[i].written && !accesses[i].read) continue;
      result.push_back(
          {buffer->name(), tensor_type(buffer->shape(), buffer->dtype()), buffer->span(), param.handle});
    } else {
      result.push_back({param.name(), ScalarType{param.scalar()->dtype()}, param.scalar()->span()});
    }
  }
  return result;
}

// A number or nested list that is given where a tensor is wanted, rounded as tensor(value, dtype) does.
static Tensor tensor_of_argument(const ScriptValue& value, const Type& wanted, Span span,
                                 std::string_view what) {
  try {
    return tensor_of(value, wanted.tensor()->dtype, DType::Int64, DType::Float32, span);
  } catch (Failure& failure) {
    Diagnostic& first = failure.diagnostics().front();
    if (failure.error_class() != ErrorClass::Type) throw;
    fail(ErrorClass::Data, span, "call.argument",
         fmt::format("{}: {}, expected {}", what, first.message, print(wanted)));
  }
}

Value to_runtime(const ScriptValue& value, const Type& wanted, Span span, std::string_view what) {
  poll_interrupt(span);
  if (wanted.tensor()) {
    if (value.tensor()) return *value.tensor();
    if (value.is_number() && same_type(wanted, tensor_type({Scalar(2)}, DType::UInt32))) {
      fail(ErrorClass::Data, span, "call.argument",
           fmt::format("{}: found {}, expected a key of random numbers; write key({})", what, describe(value),
                       text_of(value)));
    }
    if (value.is_number() || value.sequence()) return tensor_of_argument(value, wanted, span, what);
    no_fit(what, value, wanted, span);
  }
  if (const auto* tuple = wanted.tuple()) {
    if (tuple->fields.empty() && value.is_none()) return {};
    const ScriptList* list = value.sequence();
    if (!list || list->items.size() != tuple->fields.size()) no_fit(what, value, wanted, span);
    std::vector<Value> fields;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      fields.push_back(to_runtime(list->items[i], tuple->fields[i], span, fmt::format("{}.{}", what, i)));
    }
    return Value::tuple(std::move(fields));
  }
  if (const auto* scalar = wanted.as<ScalarType>()) {
    auto integer = integer_of(value);
    if (is_float(scalar->dtype)) {
      if (auto real = real_of(value)) {
        // Stored as the dtype would: rounded once.
        double rounded = Tensor::scalar(scalar->dtype, *real).get_double(0);
        bool fits = std::isfinite(rounded) || !std::isfinite(*real);
        if (fits) return ScalarValue::of_real(rounded, scalar->dtype);
      }
    } else if (integer && holds_integer(scalar->dtype, *integer)) {
      return ScalarValue::of_int(*integer, scalar->dtype);
    }
    no_fit(what, value, wanted, span);
  }
  if (wanted.as<ShapeType>()) {
    if (const auto* shape = value.as<ShapeValue>()) return *shape;
    const ScriptList* list = value.sequence();
    if (!list) no_fit(what, value, wanted, span);
    ShapeValue shape;
    for (const ScriptValue& item : list->items) {
      const auto* dim = item.as<std::int64_t>();
      if (!dim) no_fit(what, value, wanted, span);
      if (*dim < 0) {
        fail(ErrorClass::Data, span, "call.argument",
             fmt::format("{}: found the dimension {}; expected at least 0", what, *dim));
      }
      shape.dims.push_back(*dim);
    }
    return shape;
  }
  if (wanted.as<StringType>() && value.string()) return *value.string();
  if (wanted.as<StackType>()) {
    if (const auto* object = value.as<std::shared_ptr<const ObjectValue>>()) return *object;
    no_fit(what, value, wanted, span);
  }
  if (wanted.as<AnyType>() || wanted.function()) {
    if (value.is_none()) return {};
    if (value.tensor()) return *value.tensor();
    if (const auto* shape = value.as<ShapeValue>()) return *shape;
    if (const auto* flag = value.as<bool>()) return ScalarValue::of_bool(*flag);
    if (const auto* integer = value.as<std::int64_t>()) return ScalarValue::of_int(*integer);
    if (const auto* real = value.as<double>()) return ScalarValue::of_real(*real);
    if (value.string()) return *value.string();
    if (const auto* object = value.as<std::shared_ptr<const ObjectValue>>()) return *object;
    if (const ScriptList* list = value.sequence()) {
      check_tree(*list, span);
      std::vector<Value> fields;
      for (const ScriptValue& item : list->items) fields.push_back(to_runtime(item, Type(), span, what));
      return Value::tuple(std::move(fields));
    }
  }
  no_fit(what, value, wanted, span);
}

Tensor number_beside(const ScriptValue& number, DType dtype, Span span) {
  if (const auto* flag = number.as<bool>()) return tensor_of_literal(*flag, dtype, span);
  if (const auto* integer = number.as<std::int64_t>()) return tensor_of_literal(*integer, dtype, span);
  return tensor_of_literal(*real_of(number), dtype, span);
}

Tensor list_beside(const ScriptValue& list, DType dtype, Span span) {
  NestedShape found;
  measure(list, 0, found, span);
  Tensor result = Tensor::empty(dtype, found.shape);
  std::int64_t at = 0;
  fill(list, result, at, span, true);
  return result;
}

Tensor tensor_of(const ScriptValue& nested, std::optional<DType> dtype, DType int_dtype, DType float_dtype,
                 Span span) {
  if (const Tensor* tensor = nested.tensor(); tensor && (!dtype || tensor->dtype() == *dtype)) return *tensor;
  NestedShape found;
  measure(nested, 0, found, span);
  if (!dtype) {
    if (found.any_bool && (found.any_int || found.any_float)) {
      fail(ErrorClass::Type, span, "tensor.element",
           "found bools among numbers; expected one kind or a dtype");
    }
    dtype = found.any_bool ? DType::Bool : found.any_int && !found.any_float ? int_dtype : float_dtype;
  }
  Tensor result = Tensor::empty(*dtype, found.shape);
  std::int64_t at = 0;
  fill(nested, result, at, span);
  return result;
}

Shape shape_of(const ScriptValue& value, Span span, bool any_int) {
  if (const auto* shape = value.as<ShapeValue>()) return shape->dims;
  const auto* single = value.as<std::int64_t>();
  if (single && (any_int || *single >= 0)) return {*single};
  const ScriptList* list = value.sequence();
  if (!list) {
    fail(ErrorClass::Type, span, "script.shape",
         single ? fmt::format("found the dimension {}; expected at least 0", *single)
                : fmt::format("found {}; expected a shape such as (2, 3)", describe(value)));
  }
  Shape shape;
  for (const ScriptValue& item : list->items) shape.push_back(index_of(item, span, "a dimension"));
  for (std::int64_t dim : shape) {
    if (dim < 0 && !any_int)
      fail(ErrorClass::Type, span, "script.shape",
           fmt::format("found the dimension {}; expected at least 0", dim));
  }
  return shape;
}

DType dtype_of_value(const ScriptValue& value, Span span) {
  if (const std::string* name = value.string()) {
    if (auto dtype = dtype_from_name(*name)) return *dtype;
    std::vector<std::string> names;
    for (int i = 0; i < dtype_count; ++i) names.emplace_back(name_of(static_cast<DType>(i)));
    const auto here = dtype_called_elsewhere(*name);
    fail(ErrorClass::Type, span, "dtype.unknown",
         fmt::format("unknown dtype '{}'{}", *name,
                     here ? fmt::format("; did you mean '{}'?", *here) : did_you_mean(*name, names)));
  }
  fail(ErrorClass::Type, span, "dtype.unknown",
       fmt::format("found {}; expected a dtype such as \"float32\"", describe(value)));
}

ScriptValue shape_as_tuple(const ScriptValue& value) {
  const auto* shape = value.as<ShapeValue>();
  if (!shape) return value;
  std::vector<ScriptValue> items;
  for (const std::int64_t dim : shape->dims) items.emplace_back(dim);
  return ScriptValue::tuple(std::move(items));
}

std::optional<std::int64_t> whole_number_of(const ScriptValue& value) {
  if (auto integer = integer_of(value)) return integer;
  const Tensor* tensor = value.tensor();
  if (!tensor || tensor->rank() != 0 || !is_int(tensor->dtype())) return std::nullopt;
  if (tensor->dtype() == DType::UInt64 && tensor->get_int(0) < 0) return std::nullopt;
  return tensor->get_int(0);
}

std::int64_t index_of(const ScriptValue& value, Span span, std::string_view what) {
  if (auto integer = whole_number_of(value)) return *integer;
  fail(ErrorClass::Type, span, "script.index",
       fmt::format("found {} as {}; expected an int", describe(value), what));
}

}  // namespace relish
