// Types as text, and what is drawn from a scope.
#include "tests/generate/surface_scope.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::generate {
namespace {

constexpr const char* scope_dtypes[] = {"float32", "float32", "float32", "float64", "int32", "int64"};

}  // namespace

std::string dim_text(const Dim& dim, bool signature) {
  const bool number = std::isdigit(static_cast<unsigned char>(dim.text[0])) != 0;
  if (number) return dim.text;
  return signature ? "\"" + dim.text + "\"" : dim.text;
}

std::string shape_text(TextWriter& w, const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim_text(dim, false));
  return w.spelled_so(0.7) ? "R.shape([" + listed(texts) + "])"
                           : "R.ShapeExpr((" + listed(texts, true) + "))";
}

std::string type_text(TextWriter& w, const Shown& type, bool signature) {
  const auto all = [&](std::size_t count) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < count; ++i) fields.push_back(type_text(w, type.fields[i], signature));
    return fields;
  };
  std::vector<std::string> dims;
  for (const Dim& dim : type.dims) dims.push_back(dim_text(dim, signature));
  switch (type.kind) {
    case Shown::Tensor: {
      const std::string shape = w.spelled_so(0.8) ? "(" + listed(dims, true) + ")" : "[" + listed(dims) + "]";
      const char* quote = w.spelled_so(0.85) ? "\"" : "'";
      return fmt::format("R.Tensor({}, {}{}{}{})", shape, w.spelled_so() ? "dtype=" : "", quote, type.dtype,
                         quote);
    }
    case Shown::Scalar:
      return w.spelled_so() ? fmt::format("R.Prim(\"{}\")", type.dtype) : "T." + type.dtype;
    case Shown::Shape:
      return "R.Shape([" + listed(dims) + "])";
    case Shown::Tuple:
      return w.spelled_so(0.7) || type.fields.empty() ? "R.Tuple(" + listed(all(type.fields.size())) + ")"
                                                      : "R.Tuple([" + listed(all(type.fields.size())) + "])";
    default:
      return fmt::format("R.Callable(({}), {}{})", listed(all(type.fields.size() - 1), true),
                         type_text(w, type.fields.back(), signature), w.spelled_so() ? ", True" : "");
  }
}

std::vector<const GraphScope::Known*> GraphScope::those(Shown::Kind kind) const {
  std::vector<const Known*> result;
  for (const Known& each : known) {
    if (each.type.kind == kind) result.push_back(&each);
  }
  return result;
}

std::optional<GraphScope::Known> GraphScope::some(Shown::Kind kind) {
  const auto choices = those(kind);
  if (choices.empty()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(choices.size());
  // Rather one of the last, so that programs go deep.
  const std::int64_t first = w.random.chance(0.6) ? std::max<std::int64_t>(0, count - 3) : 0;
  return *choices[static_cast<std::size_t>(w.random.between(first, count - 1))];
}

void GraphScope::know(const std::string& name, const Shown& type) {
  std::erase_if(known, [&](const Known& each) { return each.name == name; });
  known.push_back({name, type});
}

Dim GraphScope::dimension() {
  if (symbols.empty() || w.random.chance(0.5)) {
    const std::int64_t value = w.random.between(1, 4);
    return {std::to_string(value), value};
  }
  const Dim symbol = w.random.pick(symbols);
  switch (w.random.below(6)) {
    case 0:
      return {symbol.text + " * 2", symbol.value * 2};
    case 1:
      return {symbol.text + " + 1", symbol.value + 1};
    default:
      return symbol;
  }
}

Shown GraphScope::tensor_shown() {
  const auto old = some(Shown::Tensor);
  if (old && w.random.chance(0.7)) return old->type;
  Shown type;
  type.dtype = w.random.pick(scope_dtypes);
  for (std::int64_t rank = w.random.between(0, 2); rank > 0; --rank) type.dims.push_back(dimension());
  return type;
}

std::string GraphScope::target(const GraphPlace& place) {
  if (!place.branch && !place.dataflow && !place.nested && w.random.chance(0.2)) {
    std::vector<std::string> old;
    for (const Known& each : known) {
      if (!pinned.contains(each.name)) old.push_back(each.name);
    }
    if (!old.empty()) {
      w.cover("name bound again");
      const std::string name = w.random.pick(old);
      std::erase_if(known, [&](const Known& each) { return each.name == name; });
      return name;
    }
  }
  return fresh();
}

}  // namespace relish::generate
