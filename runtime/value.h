// Values of Relax programs at run time: tensors, tuples, shapes, scalars, strings, void, and function values.
// The runtime knows nothing of the IR, so a function value is an opaque object of whoever made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

class Value;

struct TupleValue {
  std::vector<Value> fields;
};

struct ShapeValue {
  std::vector<std::int64_t> dims;
};

// A scalar (R.Prim / T.float32): `integer` holds bool and integer dtypes (uint64 by bit pattern), `real` the
// floats.
struct ScalarValue {
  DType dtype = DType::Int64;
  std::int64_t integer = 0;
  double real = 0;

  static ScalarValue of_int(std::int64_t v, DType dtype = DType::Int64) { return {dtype, v, 0}; }
  static ScalarValue of_real(double v, DType dtype = DType::Float64) { return {dtype, 0, v}; }
  static ScalarValue of_bool(bool v) { return {DType::Bool, v ? 1 : 0, 0}; }
};

// Base of function values and other objects made by an engine.
struct ObjectValue {
  virtual ~ObjectValue() = default;
  virtual std::string describe() const = 0;  // "function f" and the like
};

class Value {
 public:
  using Kind = std::variant<std::monostate, Tensor, std::shared_ptr<const TupleValue>, ShapeValue,
                            ScalarValue, std::string, std::shared_ptr<const ObjectValue>>;

  Value() = default;  // void
  Value(Tensor t) : kind_(std::move(t)) {}
  Value(ShapeValue s) : kind_(std::move(s)) {}
  Value(ScalarValue s) : kind_(s) {}
  Value(std::string s) : kind_(std::move(s)) {}
  Value(std::shared_ptr<const ObjectValue> o) : kind_(std::move(o)) {}
  static Value tuple(std::vector<Value> fields) {
    Value v;
    v.kind_ = std::make_shared<TupleValue>(TupleValue{std::move(fields)});
    return v;
  }

  const Kind& kind() const { return kind_; }
  bool is_void() const { return std::holds_alternative<std::monostate>(kind_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(kind_); }
  bool is_tuple() const { return std::holds_alternative<std::shared_ptr<const TupleValue>>(kind_); }
  bool is_shape() const { return std::holds_alternative<ShapeValue>(kind_); }
  bool is_scalar() const { return std::holds_alternative<ScalarValue>(kind_); }
  bool is_string() const { return std::holds_alternative<std::string>(kind_); }

  // Each requires its kind (InternalError otherwise).
  const Tensor& tensor() const;
  Tensor& tensor();
  const std::vector<Value>& fields() const;
  const ShapeValue& shape() const;
  const ScalarValue& scalar() const;
  const std::string& string() const;

 private:
  Kind kind_;
};

// "a tensor float32 (2, 3)", "a tuple of 2", "a shape (2, 3)", "a scalar int64": for messages.
std::string describe(const Value& value);

}  // namespace relish
