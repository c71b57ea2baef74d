// Straight-line statements of surface programs: operators by name and by sign, tuples, scalars, shapes,
// casts.
#include <fmt/format.h>

#include <algorithm>

#include "tests/generate/surface_graph.h"

namespace relish::generate {
namespace {

bool is_float(const std::string& dtype) { return dtype.starts_with("float"); }

}  // namespace

std::string GraphWriter::element(const std::string& dtype) {
  if (dtype == "bool") return w.random.chance(0.5) ? "True" : "False";
  if (!is_float(dtype)) return std::to_string(w.random.between(0, 5));
  constexpr const char* values[] = {"0.5", "-0.25", "1.0", "2.0", "-1.5", "0.125"};
  return w.random.pick(values);
}

std::string GraphWriter::constant(const Shown& type) {
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
  return plain && w.spelled_so(0.3) ? fmt::format("R.const({})", text)
                                    : fmt::format("R.const({}, \"{}\")", text, type.dtype);
}

std::string GraphWriter::provide(const Shown& type, const Place& place) {
  std::vector<std::string> same;
  for (const Known& each : known) {
    if (each.type == type) same.push_back(each.name);
  }
  if (!same.empty() && w.random.chance(0.8)) return w.random.pick(same);
  switch (type.kind) {
    case Shown::Tensor: {
      const bool numbers = std::all_of(type.dims.begin(), type.dims.end(), [](const Dim& dim) {
        return std::isdigit(static_cast<unsigned char>(dim.text[0])) != 0;
      });
      std::int64_t size = 1;
      for (const Dim& dim : type.dims) size *= dim.value;
      if (numbers && size <= 16 && w.random.chance(0.5)) return constant(type);
      const std::string name = fresh();
      bind(name,
           fmt::format("R.{}({}, {}\"{}\")", w.random.chance(0.5) ? "ones" : "zeros", shape_text(type.dims),
                       w.spelled_so() ? "dtype=" : "", type.dtype),
           type, place);
      return name;
    }
    case Shown::Scalar:
      if (type.dtype == "int64") {
        const std::string value = symbols_.empty() || w.random.chance(0.5)
                                      ? std::to_string(w.random.between(1, 4))
                                      : w.random.pick(symbols_).text;
        return w.spelled_so(0.3) ? fmt::format("R.prim_value({})", value) : value;
      }
      if (type.dtype == "bool") return element("bool");
      return fmt::format("T.{}({})", type.dtype, element(type.dtype));
    case Shown::Shape:
      return shape_text(type.dims);
    case Shown::Tuple: {
      std::vector<std::string> fields;
      for (const Shown& field : type.fields) fields.push_back(provide(field, place));
      return w.spelled_so(0.7) ? "(" + listed(fields, true) + ")" : "R.tuple(" + listed(fields) + ")";
    }
    default:
      return same.empty() ? "" : same.front();
  }
}

// The forms keep the type, so that branches and loops agree.
std::string GraphWriter::expression(const Shown& type, const Place& place) {
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
    return signs && w.spelled_so() ? fmt::format("{} {} {}", a, sign, b)
                                   : fmt::format("R.{}({}, {})", name, a, b);
  };
  const Shown scalar{.kind = Shown::Tensor, .dtype = type.dtype};
  switch (w.random.below(10)) {
    case 0:
      return w.spelled_so() ? "-" + x : fmt::format("R.negative({})", x);
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
      w.cover("nested calls");
      const std::string y = provide(type, place), z = provide(type, place);
      return fmt::format("R.add(R.negative({}), R.subtract({}, {}))", x, y, z);
    }
    case 7: {
      if (!w.exact) break;
      const std::string y = provide(type, place), z = provide(type, place);
      return fmt::format("R.where(R.less({}, {}), {}, {})", x, y, z, x);
    }
    case 8:
      if (w.exact || !is_float(type.dtype)) break;
      w.cover("inexact operator");
      w.loosen(6);
      return fmt::format("R.sigmoid({})", x);
    default:
      break;
  }
  return both("add", "+", x, constant(scalar));
}

// Leaves of an if or while; also calls and comparisons in place.
std::string GraphWriter::condition(const Place& place) {
  const double choice = w.random.uniform();
  if (choice < 0.35 && !symbols_.empty()) {
    w.cover("symbolic condition");
    const std::string n = w.random.pick(symbols_).text;
    constexpr const char* signs[] = {">", "<", ">=", "<=", "==", "!="};
    if (w.random.chance(0.3)) return fmt::format("{} % 2 == 0", n);
    const std::string sign = w.random.pick(signs);
    return fmt::format("{} {} {}", n, sign, w.random.between(1, 4));
  }
  std::vector<std::string> flags;
  for (const Known& each : known) {
    const bool tensor = each.type.kind == Shown::Tensor && each.type.dims.empty();
    if (each.type.dtype == "bool" && (tensor || each.type.kind == Shown::Scalar)) flags.push_back(each.name);
  }
  if (!flags.empty() && w.random.chance(0.6)) {
    w.cover("bool condition");
    return w.random.pick(flags);
  }
  const Shown count{.kind = Shown::Tensor, .dtype = "int64"};
  const std::string a = provide(count, place), b = constant(count);
  w.cover("tensor condition");
  if (w.random.chance(0.3)) {
    const std::string name = fresh();
    bind(name, fmt::format("R.less({}, {})", a, b), {.kind = Shown::Tensor, .dtype = "bool"}, place);
    return name;
  }
  return !a.starts_with("R.const") && w.spelled_so() ? fmt::format("{} > {}", a, b)
                                                     : fmt::format("R.greater({}, {})", a, b);
}

void GraphWriter::operator_statement(const Place& place) {
  const auto old = some(Shown::Tensor);
  const Shown type = tensor_shown();
  if (!old) {
    const std::string value = expression(type, place);
    return bind(fresh(), value, type, place);
  }
  const double choice = w.random.uniform();
  const auto& dims = old->type.dims;
  if (choice < 0.08 && dims.size() == 2) {
    w.cover("transpose");
    bind(fresh(), fmt::format("R.permute_dims({})", old->name),
         {.kind = Shown::Tensor, .dtype = old->type.dtype, .dims = {dims[1], dims[0]}}, place);
  } else if (choice < 0.16) {
    w.cover("cast of a tensor");
    constexpr const char* floats[] = {"float32", "float64"};
    constexpr const char* integers[] = {"int32", "int64"};
    const std::string to = is_float(old->type.dtype) ? w.random.pick(floats) : w.random.pick(integers);
    Shown result = old->type;
    result.dtype = to;
    bind(fresh(),
         w.spelled_so()
             ? fmt::format("{}.astype(\"{}\")", old->name, to)
             : fmt::format("R.astype({}, {}\"{}\")", old->name, w.spelled_so() ? "dtype=" : "", to),
         result, place);
  } else if (choice < 0.22) {
    Shown result = old->type;
    result.dims.insert(result.dims.begin(), {"1", 1});
    bind(fresh(), fmt::format("R.expand_dims({}, {})", old->name, w.spelled_so() ? "[0]" : "axis=[0]"),
         result, place);
  } else if (choice < 0.27 && old->type.dtype != "bool") {
    w.cover("comparison of tensors");
    if (!w.exact && is_float(old->type.dtype)) return;
    Shown result = old->type;
    const std::string other = provide(old->type, place);
    result.dtype = "bool";
    const bool sign = w.spelled_so() && !other.starts_with("R.const");
    bind(fresh(),
         sign ? fmt::format("{} < {}", old->name, other) : fmt::format("R.less({}, {})", old->name, other),
         result, place);
  } else if (choice < 0.32 && is_float(old->type.dtype) && !w.exact) {
    w.cover("inexact operator");
    w.loosen(6);
    bind(fresh(), fmt::format("R.sum({}, axis=None, keepdims=False)", old->name),
         {.kind = Shown::Tensor, .dtype = old->type.dtype}, place);
  } else if (choice < 0.37) {
    w.cover("alias");
    const std::string name = target(place);
    bind(name, name == old->name ? expression(old->type, place) : old->name, old->type, place);
  } else {
    // The operands are read before the name may change its meaning.
    const std::string value = expression(type, place);
    bind(target(place), value, type, place);
  }
}

void GraphWriter::tuple_statement(const Place& place) {
  const auto old = some(Shown::Tuple);
  if (!old || w.random.chance(0.4)) {
    w.cover("tuple");
    Shown type{.kind = Shown::Tuple};
    std::vector<std::string> fields;
    for (std::int64_t count = w.random.between(1, 3); count > 0; --count) {
      const auto field = w.random.chance(0.15) ? some(Shown::Tuple) : some(Shown::Tensor);
      if (!field) continue;
      type.fields.push_back(field->type);
      fields.push_back(field->name);
    }
    if (fields.empty()) return;
    bind(fresh(), w.spelled_so(0.8) ? "(" + listed(fields, true) + ")" : "R.tuple(" + listed(fields) + ")",
         type, place);
    return;
  }
  const auto& fields = old->type.fields;
  const auto count = static_cast<std::int64_t>(fields.size());
  if (w.random.chance(0.3) && count > 1) {
    w.cover("tuple unpacked");
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < count; ++i) names.push_back(fresh());
    w.line(listed(names) + " = " + old->name);
    for (std::int64_t i = 0; i < count; ++i)
      know(names[static_cast<std::size_t>(i)], fields[static_cast<std::size_t>(i)]);
    return;
  }
  w.cover("tuple field");
  const auto at = static_cast<std::size_t>(w.random.below(count));
  const Shown& field = fields[at];
  if (field.kind == Shown::Tuple && w.random.chance(0.5) && !field.fields.empty()) {
    bind(fresh(), fmt::format("{}[{}][0]", old->name, at), field.fields[0], place);
    return;
  }
  bind(fresh(),
       w.spelled_so(0.8) ? fmt::format("{}[{}]", old->name, at)
                         : fmt::format("R.TupleGetItem({}, {})", old->name, at),
       field, place);
}

void GraphWriter::scalar_statement(const Place& place) {
  w.cover("scalar value");
  const double choice = w.random.uniform();
  if (choice < 0.4 && !symbols_.empty()) {
    const std::string n = w.random.pick(symbols_).text;
    constexpr const char* forms[] = {"{} + 1", "{} * 2", "{} // 2", "{} % 3", "T.max({}, 2)", "T.min({}, 3)"};
    bind(fresh(), fmt::format(fmt::runtime(w.random.pick(forms)), n),
         {.kind = Shown::Scalar, .dtype = "int64"}, place);
  } else if (choice < 0.6) {
    bind(fresh(), std::to_string(w.random.between(0, 4)), {.kind = Shown::Scalar, .dtype = "int64"}, place);
  } else if (choice < 0.8) {
    bind(fresh(), element("bool"), {.kind = Shown::Scalar, .dtype = "bool"}, place);
  } else {
    bind(fresh(), w.spelled_so() ? "T.float32(0.5)" : "R.prim_value(T.float32(0.5))",
         {.kind = Shown::Scalar, .dtype = "float32"}, place);
  }
}

void GraphWriter::shape_statement(const Place& place) {
  const auto old = some(Shown::Shape);
  if (old && w.random.chance(0.5)) {
    w.cover("shape as operand");
    bind(fresh(), fmt::format("R.zeros({}, \"float32\")", old->name),
         {.kind = Shown::Tensor, .dtype = "float32", .dims = old->type.dims}, place);
    return;
  }
  w.cover("shape value");
  Shown type{.kind = Shown::Shape, .dims = tensor_shown().dims};
  bind(fresh(), shape_text(type.dims), type, place);
}

void GraphWriter::cast_statement(const Place& place) {
  const auto old = some(Shown::Tensor);
  if (!old || old->type.dims.empty()) return operator_statement(place);
  Shown type = old->type;
  const std::size_t at =
      static_cast<std::size_t>(w.random.below(static_cast<std::int64_t>(type.dims.size())));
  const std::string symbol = fmt::format("c{}", symbols_.size());
  const bool fresh_symbol =
      place.depth == 0 && !place.nested && symbols_.size() < 3 && w.random.chance(0.5) &&
      std::none_of(symbols_.begin(), symbols_.end(), [&](const Dim& dim) { return dim.text == symbol; });
  w.cover(fresh_symbol ? "match_cast with a fresh dimension" : "match_cast");
  if (fresh_symbol) {
    w.line(symbol + " = T.int64()");
    type.dims[at].text = symbol;
  }
  const std::string name = fresh();
  w.line(fmt::format("{} = R.match_cast({}, {})", name, old->name, type_text(type, false)));
  if (fresh_symbol) symbols_.push_back(type.dims[at]);
  know(name, type);
}

}  // namespace relish::generate
