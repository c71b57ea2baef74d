// Reading of index maps, and the bounds of what they give.
#include "stdlib/families/shapes/index_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "support/failure.h"

namespace relish {
namespace {

constexpr int deepest = 64;  // brackets and signs within each other

// A reader of one text by recursive descent. `refuse` does not return.
class MapReader {
 public:
  MapReader(std::string_view text, const std::function<void(std::string)>& refuse)
      : text_(text), refuse_(refuse) {}

  std::vector<ScalarVar> vars;
  std::vector<Scalar> results;

  void read() {
    if (word() != "lambda") fail("expected lambda");
    while (!take(":")) {
      const std::string name = word();
      if (name.empty()) fail("expected the name of an index");
      const bool again =
          std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) { return var.name() == name; });
      if (again) fail(fmt::format("{} is named twice", name));
      vars.emplace_back(name, DType::Int64);
      if (!take(",") && !at(":")) fail("expected ',' or ':'");
    }
    const bool bracket = at("(") || at("[");
    const std::size_t start = at_;
    if (bracket && tuple() && rest_empty()) return;
    at_ = start;
    results = {sum()};
    if (!rest_empty()) fail("expected the end of the map");
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    refuse_(fmt::format("{} at position {} of \"{}\"", what, at_, text_));
    internal_failure(__FILE__, __LINE__, "index map", "a refusal returned");
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool at(std::string_view token) {
    skip();
    return text_.substr(at_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!at(token)) return false;
    at_ += token.size();
    return true;
  }
  bool rest_empty() {
    skip();
    return at_ == text_.size();
  }
  std::string word() {
    skip();
    const std::size_t start = at_;
    const auto letter = [&] {
      const auto c = static_cast<unsigned char>(text_[at_]);
      return std::isalpha(c) || c == '_' || (at_ > start && std::isdigit(c));
    };
    while (at_ < text_.size() && letter()) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // "(a, b)": false where a lone bracketed expression goes on behind its bracket.
  bool tuple() {
    const std::string_view close = take("(") ? ")" : (take("["), "]");
    results.clear();
    bool comma = false;
    while (!take(close)) {
      results.push_back(sum());
      if (!take(",")) {
        if (!take(close)) fail("expected ',' or the end of the tuple");
        break;
      }
      comma = true;
    }
    return comma || close == "]" || rest_empty();
  }

  Scalar sum() {
    Scalar value = product_of();
    while (true) {
      if (take("+"))
        value = value + product_of();
      else if (take("-"))
        value = value - product_of();
      else
        return value;
    }
  }

  Scalar product_of() {
    Scalar value = factor();
    while (true) {
      if (take("//"))
        value = floor_div(value, divisor());
      else if (take("*"))
        value = value * factor();
      else if (take("%"))
        value = floor_mod(value, divisor());
      else
        return value;
    }
  }

  Scalar divisor() {
    const Scalar value = factor();
    const auto literal = canonical(value).as_int();
    if (!literal || *literal <= 0) fail("expected a positive constant as divisor");
    return *literal;
  }

  Scalar factor() {
    if (++depth_ > deepest) fail("brackets are nested too deeply");
    Scalar value;
    if (take("-")) {
      value = Scalar(0) - factor();
    } else if (take("(")) {
      value = sum();
      if (!take(")")) fail("expected ')'");
    } else {
      value = atom();
    }
    --depth_;
    return value;
  }

  Scalar atom() {
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      std::int64_t number = 0;
      const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) fail("found a number that does not fit");
      at_ = static_cast<std::size_t>(stop - text_.data());
      return number;
    }
    const std::string name = word();
    for (const ScalarVar& var : vars) {
      if (!name.empty() && var.name() == name) return var;
    }
    fail("expected an index or an integer");
  }

  std::string_view text_;
  const std::function<void(std::string)>& refuse_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// The least and the greatest value of an expression.
struct Range {
  Scalar low, high;
};

class RangeFinder {
 public:
  RangeFinder(const std::vector<ScalarVar>& vars, const Dims& shape) : vars_(vars), shape_(shape) {}

  Range of(const Scalar& expression) const {
    if (const auto literal = expression.as_int()) return {*literal, *literal};
    if (const auto var = expression.as_var()) {
      const auto found = std::find(vars_.begin(), vars_.end(), *var);
      return {0, canonical(shape_[static_cast<std::size_t>(found - vars_.begin())] - Scalar(1))};
    }
    const auto* binary = expression.as<Binary>();
    RELISH_CHECK(binary != nullptr, "an index map has other nodes");
    const Range a = of(binary->a), b = of(binary->b);
    switch (binary->op) {
      case BinaryOp::Add:
        return {canonical(a.low + b.low), canonical(a.high + b.high)};
      case BinaryOp::Sub:
        return {canonical(a.low - b.high), canonical(a.high - b.low)};
      case BinaryOp::Mul:
        return product(a, b);
      case BinaryOp::FloorDiv:
        return {canonical(floor_div(a.low, b.low)), canonical(floor_div(a.high, b.low))};
      default:
        break;
    }
    // A remainder takes all values, however short the dimension is: so a shape does not depend on what is
    // known.
    return {0, canonical(b.low - Scalar(1))};
  }

 private:
  static Range product(const Range& a, const Range& b) {
    const auto scaled = [](const Range& range, std::int64_t by) -> Range {
      const Scalar factor = by;
      if (by >= 0) return {canonical(range.low * factor), canonical(range.high * factor)};
      return {canonical(range.high * factor), canonical(range.low * factor)};
    };
    if (const auto by = b.low.as_int(); by && prove_equal(b.low, b.high)) return scaled(a, *by);
    if (const auto by = a.low.as_int(); by && prove_equal(a.low, a.high)) return scaled(b, *by);
    return {canonical(a.low * b.low), canonical(a.high * b.high)};  // of indices, which are not negative
  }

  const std::vector<ScalarVar>& vars_;
  const Dims& shape_;
};

}  // namespace

IndexMap::IndexMap(const CallView& call, std::string_view name, int rank) {
  const auto refuse = [&](std::string message) { call.reject("index_map", call.span, std::move(message)); };
  const auto* text = call.attribute(name).as<std::string>();
  if (!text) call.reject("index_map", call.span, "index_map is no map, expected a lambda");
  const std::function<void(std::string)> refusal = refuse;
  MapReader reader(*text, refusal);
  reader.read();
  if (rank >= 0 && static_cast<int>(reader.vars.size()) != rank) {
    call.reject("index_map", call.span,
                fmt::format("the map takes {} indices beside a tensor of rank {}", reader.vars.size(), rank));
  }
  vars_ = std::move(reader.vars);
  results_ = std::move(reader.results);
}

Dims IndexMap::operator()(const Dims& index) const {
  ScalarMap map;
  for (std::size_t i = 0; i < vars_.size(); ++i) map.emplace(vars_[i].id(), index[i]);
  Dims place;
  for (const Scalar& result : results_) place.push_back(substitute(result, map));
  return place;
}

Dims IndexMap::shape(const CallView& call, const Dims& shape) const {
  const RangeFinder ranges(vars_, shape);
  const bool empty = std::any_of(shape.begin(), shape.end(), is_zero);
  Dims dims;
  for (const Scalar& result : results_) {
    const Range range = ranges.of(result);
    if (range.low.as_int().value_or(-1) < 0 && !empty)
      call.reject("index_map", call.span, fmt::format("result {} of the map may be negative", dims.size()));
    const Scalar dim = canonical(range.high + Scalar(1));
    dims.push_back(dim.as_int() ? Scalar(std::max<std::int64_t>(*dim.as_int(), 0)) : dim);
  }
  return dims;
}

}  // namespace relish
