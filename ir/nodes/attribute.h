// Attribute values: the compile-time arguments of operators and the entries of func_attr dictionaries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/dtype.h"

namespace relish {

class Attribute;
using AttributeList = std::vector<Attribute>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;  // in declared order
// A call that stands in an attribute and is kept as it is written: T.target("llvm", host="llvm").
struct AttributeCall;

// None, bool, int, float, string, dtype, list (or tuple), dictionary, call.
class Attribute {
 public:
  using Kind = std::variant<std::monostate, bool, std::int64_t, double, std::string, DType, AttributeList,
                            Attributes, std::shared_ptr<const AttributeCall>>;

  Attribute() = default;
  Attribute(bool v) : kind(v) {}
  Attribute(int v) : kind(static_cast<std::int64_t>(v)) {}
  Attribute(std::int64_t v) : kind(v) {}
  Attribute(double v) : kind(v) {}
  Attribute(const char* v) : kind(std::string(v)) {}
  Attribute(std::string v) : kind(std::move(v)) {}
  Attribute(DType v) : kind(v) {}
  Attribute(AttributeList v) : kind(std::move(v)) {}
  Attribute(Attributes v) : kind(std::move(v)) {}
  Attribute(std::shared_ptr<const AttributeCall> v) : kind(std::move(v)) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(kind); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&kind);
  }
  friend bool operator==(const Attribute& a, const Attribute& b);

  Kind kind;
};

struct AttributeCall {
  std::string function;
  AttributeList arguments;  // by position
  Attributes named;
};

const Attribute* find_attribute(const Attributes& attributes, std::string_view name);
// A copy with `name` set or replaced.
Attributes with_attribute(Attributes attributes, std::string_view name, Attribute value);
// A list of ints from a list attribute, or of one int; InternalError otherwise.
std::vector<std::int64_t> int_list(const Attribute& attribute);
Attribute attribute_of(const std::vector<std::int64_t>& values);

}  // namespace relish
