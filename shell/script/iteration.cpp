// What a condition takes of a value, and going through its items.
#include "shell/script/convert.h"
#include "shell/script/indexing.h"
#include "shell/script/script_values.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {

bool truth(const ScriptValue& value, Span span, std::string_view word) {
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* integer = value.as<std::int64_t>()) return *integer != 0;
  if (const auto* real = value.as<double>()) return *real != 0;
  if (const std::string* text = value.string()) return !text->empty();
  if (const ScriptList* list = value.sequence()) return !list->items.empty();
  if (const ScriptDict* dict = value.dictionary()) return !dict->items.empty();
  if (const auto* range = value.as<ScriptRange>()) return range->count() > 0;
  if (const auto* shape = value.as<ShapeValue>()) return !shape->dims.empty();
  const Tensor* tensor = value.tensor();
  if (!tensor) return !value.is_none();
  if (tensor->rank() == 0 && is_bool(tensor->dtype())) return tensor->get_int(0) != 0;
  fail(ErrorClass::Type, span, "script.condition",
       fmt::format("'{}' takes one truth, found {}; say which with .any(), .all() or allclose(a, b)", word,
                   describe(value)));
}

void for_each_item(const ScriptValue& iterable, Span span,
                   const std::function<bool(const ScriptValue&)>& visit) {
  if (const auto* range = iterable.as<ScriptRange>()) {
    std::int64_t size = range->size();
    for (std::int64_t i = 0; i < size; ++i) {
      poll_interrupt(span);
      if (!visit(range->at(i))) return;
    }
    return;
  }
  if (const ScriptList* list = iterable.sequence()) {
    for (const ScriptValue& item : list->items) {
      poll_interrupt(span);
      if (!visit(item)) return;
    }
    return;
  }
  if (const ScriptDict* dict = iterable.dictionary()) {
    for (const auto& [key, value] : dict->items) {
      poll_interrupt(span);
      if (!visit(key)) return;
    }
    return;
  }
  if (const std::string* text = iterable.string()) {
    for (std::size_t begin = 0; begin < text->size();) {
      poll_interrupt(span);
      std::size_t end = begin + 1;
      while (end < text->size() && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) ++end;
      if (!visit(ScriptValue(text->substr(begin, end - begin)))) return;
      begin = end;
    }
    return;
  }
  if (const auto* shape = iterable.as<ShapeValue>()) {
    for (std::int64_t dim : shape->dims) {
      if (!visit(dim)) return;
    }
    return;
  }
  // The samples of a data set: the rows of a tensor.
  if (const Tensor* tensor = iterable.tensor(); tensor && tensor->rank() > 0) {
    for (std::int64_t i = 0; i < tensor->shape()[0]; ++i) {
      poll_interrupt(span);
      if (!visit(relish::subscript(iterable, {{ScriptValue(i), span}}, span))) return;
    }
    return;
  }
  fail(ErrorClass::Type, span, "script.iterate",
       fmt::format("found {}; expected a range, list, tuple, dict, str or the rows of a tensor{}",
                   describe(iterable), iterable.as<std::int64_t>() ? "; range(n) counts to a number" : ""));
}

}  // namespace relish
