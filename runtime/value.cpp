// Access to the kinds of values.
#include "runtime/value.h"

#include "runtime/format.h"

namespace relish {
namespace {

template <class T>
const T& get(const Value& value, const char* wanted) {
  const T* held = std::get_if<T>(&value.kind());
  RELISH_CHECK(held != nullptr, std::string("expected ") + wanted + ", got " + describe(value));
  return *held;
}

}  // namespace

const Tensor& Value::tensor() const { return get<Tensor>(*this, "a tensor"); }

Tensor& Value::tensor() { return const_cast<Tensor&>(get<Tensor>(*this, "a tensor")); }

const std::vector<Value>& Value::fields() const {
  return get<std::shared_ptr<const TupleValue>>(*this, "a tuple")->fields;
}

const ShapeValue& Value::shape() const { return get<ShapeValue>(*this, "a shape"); }

const ScalarValue& Value::scalar() const { return get<ScalarValue>(*this, "a scalar"); }

const std::string& Value::string() const { return get<std::string>(*this, "a string"); }

std::string describe(const Value& value) {
  struct Describer {
    std::string operator()(std::monostate) const { return "no value"; }
    std::string operator()(const Tensor& t) const {
      if (!t.defined()) return "no tensor";
      return fmt::format("a tensor {} {}", name_of(t.dtype()), format_shape(t.shape()));
    }
    std::string operator()(const std::shared_ptr<const TupleValue>& t) const {
      return fmt::format("a tuple of {}", t->fields.size());
    }
    std::string operator()(const ShapeValue& s) const { return "a shape " + format_shape(s.dims); }
    std::string operator()(const ScalarValue& s) const {
      return fmt::format("a scalar {}", name_of(s.dtype));
    }
    std::string operator()(const std::string&) const { return "a string"; }
    std::string operator()(const std::shared_ptr<const ObjectValue>& o) const { return o->describe(); }
  };
  return std::visit(Describer{}, value.kind());
}

}  // namespace relish
