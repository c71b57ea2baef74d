// Scalar expressions of surface programs, in their spellings.
#include <algorithm>

#include "tests/generate/surface_loops.h"

namespace relish::generate {
std::string LoopScalars::literal(const std::string& dtype) {
  if (dtype == "bool") return w_.random.chance(0.5) ? "T.bool(True)" : "T.bool(False)";
  if (is_float(dtype)) {
    constexpr const char* values[] = {"0.5", "1.0", "-1.25", "2.0", "0.125", "3.0"};
    const std::string value = w_.random.pick(values);
    return w_.spelled_so(0.85) ? fmt::format("T.{}({})", dtype, value)
                               : fmt::format("T.FloatImm(\"{}\", {})", dtype, value);
  }
  const std::int64_t value = w_.random.between(0, 7);
  if (dtype == "int32" && w_.spelled_so(0.7)) return std::to_string(value);
  return w_.spelled_so(0.85) ? fmt::format("T.{}({})", dtype, value)
                             : fmt::format("T.IntImm(\"{}\", {})", dtype, value);
}

std::string LoopScalars::cast(const std::string& dtype, const std::string& value) {
  return w_.spelled_so(0.7) ? fmt::format("T.Cast(\"{}\", {})", dtype, value)
                            : fmt::format("T.cast({}, \"{}\")", value, dtype);
}

std::string LoopScalars::index_below(const Dim& extent) {
  std::vector<std::string> fitting, all;
  for (const LoopScope::Index& index : scope_.indices) {
    if (index.extent == extent) fitting.push_back(index.name);
    if (index.dtype == index_dtype(extent)) all.push_back(index.name);
  }
  if (!fitting.empty() && w_.random.chance(0.75)) return w_.random.pick(fitting);
  if (!is_symbol(extent) && w_.random.chance(0.4)) return std::to_string(w_.random.below(extent.value));
  if (!in_index_ && w_.random.chance(0.3)) {
    w_.cover("computed index");
    in_index_ = true;
    const std::string value = scalar(index_dtype(extent), 1);
    in_index_ = false;
    return fmt::format("({}) % ({})", value, extent.text);
  }
  if (all.empty()) return "0";
  const std::string index = w_.random.pick(all);
  return w_.spelled_so(0.7) ? fmt::format("{} % ({})", index, extent.text)
                            : fmt::format("T.floormod({}, {})", index, extent.text);
}

std::string LoopScalars::element_of(const LoopScope::Buffer& buffer) {
  std::vector<std::string> place;
  for (const Dim& dim : buffer.dims) place.push_back(index_below(dim));
  return buffer.name + "[" + (place.empty() ? "()" : listed(place)) + "]";
}

std::string LoopScalars::leaf(const std::string& dtype) {
  std::vector<const LoopScope::Buffer*> same, other;
  for (const LoopScope::Buffer& buffer : scope_.buffers)
    (buffer.dtype == dtype ? same : other).push_back(&buffer);
  const double choice = w_.random.uniform();
  if (choice < 0.5 && !same.empty()) return element_of(*w_.random.pick(same));
  if (choice < 0.62 && !other.empty() && (w_.exact || is_float(dtype))) {
    w_.cover("cast of a load");
    return cast(dtype, element_of(*w_.random.pick(other)));
  }
  if (choice < 0.8 && !scope_.locals.empty()) {
    const LoopScope::Local& local = w_.random.pick(scope_.locals);
    if (local.dtype == dtype) return local.name;
    if (w_.exact || is_float(dtype) || !is_float(local.dtype)) return cast(dtype, local.name);
  }
  if (choice < 0.9 && !scope_.indices.empty()) {
    const LoopScope::Index& index = w_.random.pick(scope_.indices);
    return index.dtype == dtype ? index.name : cast(dtype, index.name);
  }
  return literal(dtype);
}

std::string LoopScalars::condition(int depth) {
  if (depth <= 0 || w_.random.chance(0.5)) {
    w_.cover("comparison");
    struct Sign {
      const char *sign, *name;
    };
    constexpr Sign signs[] = {{"<", "LT"},  {"<=", "LE"}, {">", "GT"},
                              {">=", "GE"}, {"==", "EQ"}, {"!=", "NE"}};
    const std::string dtype = w_.exact && w_.random.chance(0.4) ? "float32" : "int32";
    const Sign& sign = w_.random.pick(signs);
    std::string a = leaf(dtype);
    const std::string b = scalar(dtype, depth - 1);
    // Two plain numbers would be compared when the text is read.
    if (std::isdigit(static_cast<unsigned char>(a[0]))) a = fmt::format("T.{}({})", dtype, a);
    return w_.spelled_so(0.8) ? fmt::format("{} {} {}", a, sign.sign, b)
                              : fmt::format("T.{}({}, {})", sign.name, a, b);
  }
  if (w_.random.chance(0.25)) {
    const std::string a = condition(depth - 1);
    return w_.spelled_so(0.7) ? fmt::format("not ({})", a) : fmt::format("T.Not({})", a);
  }
  w_.cover("and, or");
  const bool both = w_.random.chance(0.5);
  const std::string a = condition(depth - 1), b = condition(depth - 1);
  return w_.spelled_so(0.7) ? fmt::format("({}) {} ({})", a, both ? "and" : "or", b)
                            : fmt::format("T.{}({}, {})", both ? "And" : "Or", a, b);
}

std::string LoopScalars::infix(const char* sign, std::initializer_list<const char*> names,
                               const std::string& x, const std::string& y) {
  return w_.spelled_so(0.75) ? fmt::format("({} {} {})", x, sign, y)
                             : fmt::format("{}({}, {})", w_.spelled(names), x, y);
}

std::string LoopScalars::division(const std::string& dtype, int depth) {
  w_.cover("integer division");
  const std::string x = scalar(dtype, depth - 1);
  const std::string y = w_.random.chance(0.6)
                            ? fmt::format("T.{}({})", dtype, w_.random.between(1, 7))
                            : fmt::format("T.max({}, T.{}(1))", scalar(dtype, depth - 1), dtype);
  switch (w_.random.below(5)) {
    case 0:
      return infix("//", {"T.floordiv", "T.FloorDiv"}, x, y);
    case 1:
      return infix("%", {"T.floormod", "T.FloorMod"}, x, y);
    case 2:
      return infix("/", {"T.truncdiv", "T.Div"}, x, y);
    case 3:
      return fmt::format("{}({}, {})", w_.spelled({"T.truncmod", "T.Mod"}), x, y);
    default:
      return infix("//", {"T.floordiv"}, x, y);
  }
}

std::string LoopScalars::bits(const std::string& dtype, int depth) {
  w_.cover("bits and shifts");
  const auto a = [&] { return scalar(dtype, depth - 1); };
  const std::string x = a();
  switch (w_.random.below(5)) {
    case 0:
      return infix("&", {"T.bitwise_and"}, x, a());
    case 1:
      return infix("|", {"T.bitwise_or"}, x, a());
    case 2:
      return infix("^", {"T.bitwise_xor"}, x, a());
    case 3:
      return infix("<<", {"T.shift_left"}, x, fmt::format("T.{}({})", dtype, w_.random.between(0, 9)));
    default:
      return infix(">>", {"T.shift_right"}, x, fmt::format("T.{}({})", dtype, w_.random.between(0, 9)));
  }
}

std::string LoopScalars::intrinsic(const std::string& dtype, int depth) {
  w_.cover("intrinsic");
  const std::string x = scalar(dtype, depth - 1);
  if (w_.exact) {
    constexpr const char* names[] = {"T.floor", "T.ceil", "T.trunc", "T.fabs", "T.round", "T.sqrt"};
    const std::string name = w_.random.pick(names);
    return name == "T.sqrt" ? fmt::format("T.sqrt(T.fabs({}))", x) : fmt::format("{}({})", name, x);
  }
  constexpr const char* names[] = {"T.tanh", "T.sigmoid", "T.erf", "T.atan"};
  w_.loosen(6);
  const std::string name = w_.random.pick(names);
  return w_.spelled_so(0.8) ? fmt::format("{}({})", name, x)
                            : fmt::format("{}({}, dtype=\"{}\")", name, x, dtype);
}

std::string LoopScalars::scalar(const std::string& dtype, int depth) {
  if (depth <= 0 || w_.random.chance(0.2)) return leaf(dtype);
  if (dtype == "bool") return condition(depth);
  const auto a = [&] { return scalar(dtype, depth - 1); };
  const double choice = w_.random.uniform();
  if (choice < 0.1) {
    w_.cover("select, if_then_else, ternary");
    const std::string c = condition(depth - 1), x = a(), y = a();
    if (w_.random.chance(0.4)) return fmt::format("T.Select({}, {}, {})", c, x, y);
    return w_.spelled_so(0.7) ? fmt::format("T.if_then_else({}, {}, {})", c, x, y)
                              : fmt::format("({} if {} else {})", x, c, y);
  }
  if (choice < 0.18) {
    w_.cover("minimum, maximum");
    const bool least = w_.random.chance(0.5);
    const std::string x = a(), y = a();
    return fmt::format("T.{}({}, {})", least ? w_.spelled({"min", "Min"}) : w_.spelled({"max", "Max"}), x, y);
  }
  if (choice < 0.24 && !in_index_) {
    w_.cover("let expression");
    const std::string name = scope_.fresh();
    const std::string value = a();
    scope_.locals.push_back({name, dtype, false});
    const std::string body = a();
    scope_.locals.pop_back();
    scope_.lets.push_back({name, dtype, false});
    return fmt::format("T.Let({}, where={{{}: {}}})", body, name, value);
  }
  if (choice < 0.32 && !is_float(dtype)) return division(dtype, depth);
  if (choice < 0.42) return is_float(dtype) ? intrinsic(dtype, depth) : bits(dtype, depth);
  if (choice < 0.5) {
    constexpr const char* others[] = {"float32", "float64", "int32", "int64", "uint8"};
    const std::string other = w_.random.pick(others);
    if (other != dtype && (w_.exact || is_float(dtype) || !is_float(other))) {
      w_.cover("cast");
      const std::string value = scalar(other, depth - 1);
      return w_.spelled_so(0.75) ? cast(dtype, value) : fmt::format("({}).astype(\"{}\")", value, dtype);
    }
  }
  if (choice < 0.55 && dtype == "int32" && w_.exact) {
    w_.cover("reinterpret");
    return fmt::format("T.reinterpret(\"int32\", {})", scalar("float32", depth - 1));
  }
  const std::string x = a(), y = a();
  switch (w_.random.below(3)) {
    case 0:
      return infix("+", {"T.Add"}, x, y);
    case 1:
      return infix("-", {"T.Sub"}, x, y);
    default:
      return infix("*", {"T.Mul"}, x, y);
  }
}

}  // namespace relish::generate
