// Operands, expressions and conditions of Relax functions in surface programs.
#include "tests/generate/surface_operands.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::generate {
namespace {

bool is_float_name(const std::string& dtype) { return dtype.starts_with("float"); }

}  // namespace

std::string GraphOperands::element(const std::string& dtype) {
  if (dtype == "bool") return w_.random.chance(0.5) ? "True" : "False";
  if (!is_float_name(dtype)) return std::to_string(w_.random.between(0, 5));
  constexpr const char* values[] = {"0.5", "-0.25", "1.0", "2.0", "-1.5", "0.125"};
  return w_.random.pick(values);
}

std::string GraphOperands::constant(const Shown& type) {
  std::string text;
  const auto nest = [&](auto& self, std::size_t axis) -> void {
    if (axis == type.dims.size()) {
      text += element(type.dtype);
      return;
    }
    text += '[';
    for (std::int64_t i = 0; i < type.dims[axis].value; ++i) {
      if (i > 0) text += ", ";
      self(self, axis + 1);
    }
    text += ']';
  };
  nest(nest, 0);
  const bool plain = type.dims.empty() && (type.dtype == "float32" || type.dtype == "int32");
  return plain && w_.spelled_so(0.3) ? fmt::format("R.const({})", text)
                                     : fmt::format("R.const({}, \"{}\")", text, type.dtype);
}

std::string GraphOperands::provide(const Shown& type, const GraphPlace& place) {
  std::vector<std::string> same;
  for (const GraphScope::Known& each : scope_.known) {
    if (each.type == type) same.push_back(each.name);
  }
  if (!same.empty() && w_.random.chance(0.8)) return w_.random.pick(same);
  switch (type.kind) {
    case Shown::Tensor: {
      const bool numbers = std::all_of(type.dims.begin(), type.dims.end(), [](const Dim& dim) {
        return std::isdigit(static_cast<unsigned char>(dim.text[0])) != 0;
      });
      std::int64_t size = 1;
      for (const Dim& dim : type.dims) size *= dim.value;
      if (numbers && size <= 16 && w_.random.chance(0.5)) return constant(type);
      const std::string name = scope_.fresh();
      bind(name,
           fmt::format("R.{}({}, {}\"{}\")", w_.random.chance(0.5) ? "ones" : "zeros",
                       shape_text(w_, type.dims), w_.spelled_so() ? "dtype=" : "", type.dtype),
           type, place);
      return name;
    }
    case Shown::Scalar:
      if (type.dtype == "int64") {
        const std::string value = scope_.symbols.empty() || w_.random.chance(0.5)
                                      ? std::to_string(w_.random.between(1, 4))
                                      : w_.random.pick(scope_.symbols).text;
        return w_.spelled_so(0.3) ? fmt::format("R.prim_value({})", value) : value;
      }
      if (type.dtype == "bool") return element("bool");
      return fmt::format("T.{}({})", type.dtype, element(type.dtype));
    case Shown::Shape:
      return shape_text(w_, type.dims);
    case Shown::Tuple: {
      std::vector<std::string> fields;
      for (const Shown& field : type.fields) fields.push_back(provide(field, place));
      return w_.spelled_so(0.7) ? "(" + listed(fields, true) + ")" : "R.tuple(" + listed(fields) + ")";
    }
    default:
      return same.empty() ? "" : same.front();
  }
}

// The forms keep the type, so that branches and loops agree.
std::string GraphOperands::expression(const Shown& type, const GraphPlace& place) {
  if (type.kind == Shown::Tuple) {
    std::vector<std::string> fields;
    for (const Shown& field : type.fields) fields.push_back(provide(field, place));
    return "(" + listed(fields, true) + ")";
  }
  if (type.kind != Shown::Tensor) return provide(type, place);
  const std::string x = provide(type, place);
  if (type.dtype == "bool") return fmt::format("R.equal({}, {})", x, provide(type, place));
  const auto both = [&](const char* name, const char* sign, const std::string& a, const std::string& b) {
    // Between constants a sign has no operand that says what it means.
    const bool signs = !a.starts_with("R.const") || !b.starts_with("R.const");
    return signs && w_.spelled_so() ? fmt::format("{} {} {}", a, sign, b)
                                    : fmt::format("R.{}({}, {})", name, a, b);
  };
  const Shown scalar{.kind = Shown::Tensor, .dtype = type.dtype};
  switch (w_.random.below(10)) {
    case 0:
      return w_.spelled_so() ? "-" + x : fmt::format("R.negative({})", x);
    case 1: {
      const std::string y = provide(type, place);
      return both("add", "+", x, y);
    }
    case 2: {
      const std::string y = provide(type, place);
      return both("subtract", "-", x, y);
    }
    case 3:
      return both("multiply", "*", x, constant(scalar));
    case 4: {
      const std::string y = provide(type, place);
      return fmt::format("R.maximum({}, {})", x, y);
    }
    case 5:
      return fmt::format("R.nn.relu({})", x);
    case 6: {
      w_.cover("nested calls");
      const std::string y = provide(type, place), z = provide(type, place);
      return fmt::format("R.add(R.negative({}), R.subtract({}, {}))", x, y, z);
    }
    case 7: {
      if (!w_.exact) break;
      const std::string y = provide(type, place), z = provide(type, place);
      return fmt::format("R.where(R.less({}, {}), {}, {})", x, y, z, x);
    }
    case 8:
      if (w_.exact || !is_float_name(type.dtype)) break;
      w_.cover("inexact operator");
      w_.loosen(6);
      return fmt::format("R.sigmoid({})", x);
    default:
      break;
  }
  return both("add", "+", x, constant(scalar));
}

// Leaves of an if or while; also calls and comparisons in place.
std::string GraphOperands::condition(const GraphPlace& place) {
  const double choice = w_.random.uniform();
  if (choice < 0.35 && !scope_.symbols.empty()) {
    w_.cover("symbolic condition");
    const std::string n = w_.random.pick(scope_.symbols).text;
    constexpr const char* signs[] = {">", "<", ">=", "<=", "==", "!="};
    if (w_.random.chance(0.3)) return fmt::format("{} % 2 == 0", n);
    const std::string sign = w_.random.pick(signs);
    return fmt::format("{} {} {}", n, sign, w_.random.between(1, 4));
  }
  std::vector<std::string> flags;
  for (const GraphScope::Known& each : scope_.known) {
    const bool tensor = each.type.kind == Shown::Tensor && each.type.dims.empty();
    if (each.type.dtype == "bool" && (tensor || each.type.kind == Shown::Scalar)) flags.push_back(each.name);
  }
  if (!flags.empty() && w_.random.chance(0.6)) {
    w_.cover("bool condition");
    return w_.random.pick(flags);
  }
  const Shown count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string a = provide(count, place), b = constant(count);
  w_.cover("tensor condition");
  if (w_.random.chance(0.3)) {
    const std::string name = scope_.fresh();
    bind(name, fmt::format("R.less({}, {})", a, b), {.kind = Shown::Tensor, .dtype = "bool"}, place);
    return name;
  }
  return !a.starts_with("R.const") && w_.spelled_so() ? fmt::format("{} > {}", a, b)
                                                      : fmt::format("R.greater({}, {})", a, b);
}

void GraphOperands::bind(const std::string& name, const std::string& value, const Shown& type,
                         const GraphPlace&) {
  w_.line(w_.spelled_so(0.4) ? fmt::format("{}: {} = {}", name, type_text(w_, type, false), value)
                             : fmt::format("{} = {}", name, value));
  scope_.know(name, type);
}

void GraphOperands::bind_called(const std::string& value, const Shown& type, const GraphPlace& place) {
  const std::string name = scope_.target(place);
  w_.line(fmt::format("{}: {} = {}", name, type_text(w_, type, false), value));
  scope_.know(name, type);
}

}  // namespace relish::generate
