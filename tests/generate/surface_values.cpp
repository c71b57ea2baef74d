// Straight-line statements of surface programs: operators by name and by sign, tuples, scalars, shapes,
// casts.
#include <fmt/format.h>

#include <algorithm>

#include "tests/generate/surface_graph.h"

namespace relish::generate {
void GraphWriter::operator_statement(const Place& place) {
  const auto old = scope_.some(Shown::Tensor);
  const Shown type = scope_.tensor_shown();
  if (!old) {
    const std::string value = operands_.expression(type, place);
    return operands_.bind(scope_.fresh(), value, type, place);
  }
  const double choice = w_.random.uniform();
  const auto& dims = old->type.dims;
  if (choice < 0.08 && dims.size() == 2) {
    w_.cover("transpose");
    operands_.bind(scope_.fresh(), fmt::format("R.permute_dims({})", old->name),
                   {.kind = Shown::Tensor, .dtype = old->type.dtype, .dims = {dims[1], dims[0]}}, place);
  } else if (choice < 0.16) {
    w_.cover("cast of a tensor");
    constexpr const char* floats[] = {"float32", "float64"};
    constexpr const char* integers[] = {"int32", "int64"};
    const std::string to = is_float(old->type.dtype) ? w_.random.pick(floats) : w_.random.pick(integers);
    Shown result = old->type;
    result.dtype = to;
    operands_.bind(scope_.fresh(),
                   w_.spelled_so() ? fmt::format("{}.astype(\"{}\")", old->name, to)
                                   : fmt::format("R.astype({}, {}\"{}\")", old->name,
                                                 w_.spelled_so() ? "dtype=" : "", to),
                   result, place);
  } else if (choice < 0.22) {
    Shown result = old->type;
    result.dims.insert(result.dims.begin(), {"1", 1});
    operands_.bind(scope_.fresh(),
                   fmt::format("R.expand_dims({}, {})", old->name, w_.spelled_so() ? "[0]" : "axis=[0]"),
                   result, place);
  } else if (choice < 0.27 && old->type.dtype != "bool") {
    w_.cover("comparison of tensors");
    if (!w_.exact && is_float(old->type.dtype)) return;
    Shown result = old->type;
    const std::string other = operands_.provide(old->type, place);
    result.dtype = "bool";
    const bool sign = w_.spelled_so() && !other.starts_with("R.const");
    operands_.bind(
        scope_.fresh(),
        sign ? fmt::format("{} < {}", old->name, other) : fmt::format("R.less({}, {})", old->name, other),
        result, place);
  } else if (choice < 0.32 && is_float(old->type.dtype) && !w_.exact) {
    w_.cover("inexact operator");
    w_.loosen(6);
    operands_.bind(scope_.fresh(), fmt::format("R.sum({}, axis=None, keepdims=False)", old->name),
                   {.kind = Shown::Tensor, .dtype = old->type.dtype}, place);
  } else if (choice < 0.37) {
    w_.cover("alias");
    const std::string name = scope_.target(place);
    operands_.bind(name, name == old->name ? operands_.expression(old->type, place) : old->name, old->type,
                   place);
  } else {
    // The operands are read before the name may change its meaning.
    const std::string value = operands_.expression(type, place);
    operands_.bind(scope_.target(place), value, type, place);
  }
}

void GraphWriter::tuple_statement(const Place& place) {
  const auto old = scope_.some(Shown::Tuple);
  if (!old || w_.random.chance(0.4)) {
    w_.cover("tuple");
    Shown type{.kind = Shown::Tuple};
    std::vector<std::string> fields;
    for (std::int64_t count = w_.random.between(1, 3); count > 0; --count) {
      const auto field = w_.random.chance(0.15) ? scope_.some(Shown::Tuple) : scope_.some(Shown::Tensor);
      if (!field) continue;
      type.fields.push_back(field->type);
      fields.push_back(field->name);
    }
    if (fields.empty()) return;
    operands_.bind(scope_.fresh(),
                   w_.spelled_so(0.8) ? "(" + listed(fields, true) + ")" : "R.tuple(" + listed(fields) + ")",
                   type, place);
    return;
  }
  const auto& fields = old->type.fields;
  const auto count = static_cast<std::int64_t>(fields.size());
  if (w_.random.chance(0.3) && count > 1) {
    w_.cover("tuple unpacked");
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < count; ++i) names.push_back(scope_.fresh());
    w_.line(listed(names) + " = " + old->name);
    for (std::int64_t i = 0; i < count; ++i)
      scope_.know(names[static_cast<std::size_t>(i)], fields[static_cast<std::size_t>(i)]);
    return;
  }
  w_.cover("tuple field");
  const auto at = static_cast<std::size_t>(w_.random.below(count));
  const Shown& field = fields[at];
  if (field.kind == Shown::Tuple && w_.random.chance(0.5) && !field.fields.empty()) {
    operands_.bind(scope_.fresh(), fmt::format("{}[{}][0]", old->name, at), field.fields[0], place);
    return;
  }
  operands_.bind(scope_.fresh(),
                 w_.spelled_so(0.8) ? fmt::format("{}[{}]", old->name, at)
                                    : fmt::format("R.TupleGetItem({}, {})", old->name, at),
                 field, place);
}

void GraphWriter::scalar_statement(const Place& place) {
  w_.cover("scalar value");
  const double choice = w_.random.uniform();
  if (choice < 0.4 && !scope_.symbols.empty()) {
    const std::string n = w_.random.pick(scope_.symbols).text;
    constexpr const char* forms[] = {"{} + 1", "{} * 2", "{} // 2", "{} % 3", "T.max({}, 2)", "T.min({}, 3)"};
    operands_.bind(scope_.fresh(), fmt::format(fmt::runtime(w_.random.pick(forms)), n),
                   {.kind = Shown::Scalar, .dtype = "int64"}, place);
  } else if (choice < 0.6) {
    operands_.bind(scope_.fresh(), std::to_string(w_.random.between(0, 4)),
                   {.kind = Shown::Scalar, .dtype = "int64"}, place);
  } else if (choice < 0.8) {
    operands_.bind(scope_.fresh(), operands_.element("bool"), {.kind = Shown::Scalar, .dtype = "bool"},
                   place);
  } else {
    operands_.bind(scope_.fresh(), w_.spelled_so() ? "T.float32(0.5)" : "R.prim_value(T.float32(0.5))",
                   {.kind = Shown::Scalar, .dtype = "float32"}, place);
  }
}

void GraphWriter::shape_statement(const Place& place) {
  const auto old = scope_.some(Shown::Shape);
  if (old && w_.random.chance(0.5)) {
    w_.cover("shape as operand");
    operands_.bind(scope_.fresh(), fmt::format("R.zeros({}, \"float32\")", old->name),
                   {.kind = Shown::Tensor, .dtype = "float32", .dims = old->type.dims}, place);
    return;
  }
  w_.cover("shape value");
  Shown type{.kind = Shown::Shape, .dims = scope_.tensor_shown().dims};
  operands_.bind(scope_.fresh(), shape_text(w_, type.dims), type, place);
}

void GraphWriter::cast_statement(const Place& place) {
  const auto old = scope_.some(Shown::Tensor);
  if (!old || old->type.dims.empty()) return operator_statement(place);
  Shown type = old->type;
  const std::size_t at =
      static_cast<std::size_t>(w_.random.below(static_cast<std::int64_t>(type.dims.size())));
  const std::string symbol = fmt::format("c{}", scope_.symbols.size());
  const bool fresh_symbol =
      place.depth == 0 && !place.nested && scope_.symbols.size() < 3 && w_.random.chance(0.5) &&
      std::none_of(
          scope_.symbols.begin(), scope_.symbols.end(), [&](const Dim& dim) { return dim.text == symbol; });
  w_.cover(fresh_symbol ? "match_cast with a fresh dimension" : "match_cast");
  if (fresh_symbol) {
    w_.line(symbol + " = T.int64()");
    type.dims[at].text = symbol;
  }
  const std::string name = scope_.fresh();
  w_.line(fmt::format("{} = R.match_cast({}, {})", name, old->name, type_text(w_, type, false)));
  if (fresh_symbol) scope_.symbols.push_back(type.dims[at]);
  scope_.know(name, type);
}

}  // namespace relish::generate
