// Reading of tests/numbers/operators/*.json: operator calls with results and gradients from outside (see
// tests/numbers/oracle/cases.py), and comparison of tensors with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators/op.h"
#include "runtime/value.h"

namespace relish::testing {

struct NumbersCase {
  std::string name;
  // False: tuples, scalars, shapes as results, several results or an oracle that rounds, which only tests/ops
  // reads; then only the name is given.
  bool plain = true;
  std::vector<Value> args;  // tensors and shapes
  Attributes attributes;
  Tensor expect;
  std::optional<Tensor> cotangent;
  std::vector<std::optional<Tensor>> gradients;  // one per argument when there is a cotangent
};

inline double number_of(const nlohmann::json& value) {
  if (!value.is_string()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return value == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

inline Tensor tensor_of(const nlohmann::json& json) {
  const DType dtype = *dtype_from_name(json.at("dtype").get<std::string>());
  Tensor tensor = Tensor::empty(dtype, json.at("shape").get<Shape>());
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto& value = json.at("data").at(static_cast<std::size_t>(i));
    if (is_float(dtype))
      tensor.set_double(i, number_of(value));
    else
      tensor.set_int(i, value.get<std::int64_t>());
  }
  return tensor;
}

inline Attribute attribute_of_json(const nlohmann::json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  AttributeList list;
  for (const auto& item : json) list.push_back(attribute_of_json(item));
  return list;
}

// Whether a case has tensors and shapes as arguments, one tensor as its result, and no argument by name.
inline bool is_plain(const Op& op, const nlohmann::json& json) {
  bool plain = json.at("expect").contains("data") && !json.contains("oracle_rtol");
  for (const auto& arg : json.at("args")) plain = plain && !arg.contains("tuple") && !arg.contains("scalar");
  for (const auto& [name, value] : json.at("attributes").items()) {
    plain = plain && std::any_of(op.params.begin(), op.params.end(), [&, key = name](const Param& param) {
              return param.kind == ParamKind::Attribute && param.name == key;
            });
  }
  return plain;
}

inline std::vector<NumbersCase> numbers_of(std::string_view op) {
  const std::filesystem::path path =
      std::filesystem::path(RELISH_SOURCE_DIR) / "tests/numbers/operators" / (std::string(op) + ".json");
  std::ifstream file(path);
  std::vector<NumbersCase> cases;
  if (!file) return cases;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& json : document.at("cases")) {
    NumbersCase one;
    one.name = json.at("name");
    one.plain = is_plain(*find_op(op), json);
    if (!one.plain) {
      cases.push_back(std::move(one));
      continue;
    }
    for (const auto& arg : json.at("args")) {
      if (arg.contains("shape_value"))
        one.args.push_back(ShapeValue{arg.at("shape_value").get<Shape>()});
      else
        one.args.push_back(tensor_of(arg));
    }
    for (const auto& [name, value] : json.at("attributes").items())
      one.attributes.emplace_back(name, attribute_of_json(value));
    one.expect = tensor_of(json.at("expect"));
    if (json.contains("cotangent")) {
      one.cotangent = tensor_of(json.at("cotangent"));
      for (const auto& g : json.at("gradients")) {
        one.gradients.push_back(g.is_null() ? std::nullopt : std::optional(tensor_of(g)));
      }
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

// The type of a leaf that stands for a value.
inline Expr leaf_of(const Value& value, std::string_view name) {
  if (value.is_shape()) {
    return shape_literal(std::vector<Scalar>(value.shape().dims.begin(), value.shape().dims.end()));
  }
  if (value.is_scalar()) return scalar_value(Scalar(value.scalar().integer));
  if (value.is_tuple()) {
    std::vector<Expr> fields;
    for (const Value& field : value.fields()) fields.push_back(leaf_of(field, name));
    return tuple(std::move(fields));
  }
  const Tensor& tensor = value.tensor();
  return Var(std::string(name), tensor_type({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype()));
}

// "" when `found` is `expect` within rtol and atol (0: the same bits up to NaN payloads, and signs of zeros),
// else where the first difference is.
inline std::string difference(const Tensor& found, const Tensor& expect, double rtol, double atol) {
  if (found.dtype() != expect.dtype()) {
    return fmt::format("dtype {} instead of {}", name_of(found.dtype()), name_of(expect.dtype()));
  }
  if (found.shape() != expect.shape()) return "another shape";
  for (std::int64_t i = 0; i < found.size(); ++i) {
    if (!is_float(found.dtype())) {
      if (found.get_int(i) != expect.get_int(i)) {
        return fmt::format("[{}] is {} instead of {}", i, found.get_int(i), expect.get_int(i));
      }
      continue;
    }
    const double a = found.get_double(i), b = expect.get_double(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    const bool close =
        a == b || (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= atol + rtol * std::abs(b));
    if (!close) return fmt::format("[{}] is {} instead of {}", i, a, b);
  }
  return "";
}

struct Tolerance {
  double rtol, atol;
};
// How far a reference evaluation may be from the exact answer, by agreement class and dtype.
inline Tolerance tolerance_of(Agreement agreement, DType dtype) {
  const bool wide = dtype == DType::Float64;
  if (dtype == DType::Float16 || dtype == DType::BFloat16) {
    const bool more_precise = dtype == DType::Float16;
    const double unit = more_precise ? 0x1p-10 : 0x1p-7;
    if (agreement == Agreement::Elementary) return {unit, 0};
    if (agreement == Agreement::Sum) return {unit, 1e-5};
    if (agreement == Agreement::Composite)
      return more_precise ? Tolerance{2e-3, 1e-4} : Tolerance{1.6e-2, 1e-3};
    return {0, 0};
  }
  switch (agreement) {
    case Agreement::Elementary:
      return {wide ? 2 * 0x1p-52 : 4 * 0x1p-23, 0};
    case Agreement::Sum:
      return {wide ? 1e-14 : 2e-7, wide ? 1e-14 : 1e-6};
    case Agreement::Composite:
      return wide ? Tolerance{1e-12, 1e-13} : Tolerance{1e-5, 1e-6};
    default:
      return {0, 0};
  }
}

// Whether all that an operator takes are values of any type, which it moves and computes no numbers of.
inline bool moves_values(const Op& op) {
  return std::all_of(op.params.begin(), op.params.end(), [](const Param& param) {
    return param.kind == ParamKind::Any || param.kind == ParamKind::AnyRest;
  });
}

}  // namespace relish::testing
