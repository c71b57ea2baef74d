// Functions of T that make vectors: ramps, broadcasts, shuffles and masks. A vector is read as the scalar of
// one of its lanes; the statement that it stands in becomes a loop over the lanes.
#include <fmt/format.h>

#include "frontend/types/scalar_function.h"

namespace relish {

std::int64_t ScalarFunction::lanes_argument(const ast::Expr& expr) {
  auto lanes = reader_.read(expr).as_int();
  if (!lanes || *lanes < 1 || *lanes > most_lanes) {
    type_error(expr.span, "vector.lanes",
               fmt::format("found {} as a number of lanes; expected a literal from 1 to {}",
                           ast::describe(expr), most_lanes));
  }
  return *lanes;
}

std::optional<std::pair<DType, int>> vector_type(std::string_view name) {
  const std::size_t times = std::min(name.rfind('x'), name.size());
  const auto element = dtype_from_name(std::string(name.substr(0, times)));
  const std::string_view count = name.substr(std::min(times + 1, name.size()));
  if (!element || count.empty() || count.size() > 5 ||
      count.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::pair(*element, std::stoi(std::string(count)));
}

// "float32", or "float32x4".
std::pair<DType, int> ScalarFunction::dtype_and_lanes(const ast::Expr& expr) const {
  auto* name = expr.as<ast::StringValue>();
  const auto vector = name ? vector_type(name->value) : std::nullopt;
  return vector ? *vector : std::pair(reader_.dtype_argument(expr), 1);
}

// T.float32x4(x): a number in every lane, or a vector of as many lanes, as T.Cast("float32x4", x).
ScalarOperand ScalarFunction::vector_of(DType dtype, int lanes) {
  expect(1);
  if (lanes < 1 || lanes > most_lanes)
    type_error(
        call_.callee->span, "vector.lanes",
        fmt::format("found {} as a number of lanes; expected a literal from 1 to {}", lanes, most_lanes));
  const Scalar all = typed_literal(dtype).value;
  const int found = reader_.lanes_of(all, expr_.span);
  if (found > 1 && lanes != found)
    type_error(expr_.span, "vector.lanes",
               fmt::format("found a vector of {} lanes cast to {} lanes; expected as many", found, lanes));
  return {all, false, lanes};
}

ScalarOperand ScalarFunction::ramp() {
  expect(3);
  std::int64_t lanes = lanes_argument(*arguments_[2]);
  ScalarOperand base = reader_.operand(*arguments_[0]), stride = reader_.operand(*arguments_[1]);
  return {reader_.ramp(base, stride, lanes, expr_.span)};
}

ScalarOperand ScalarFunction::broadcast() {
  expect(2);
  std::int64_t lanes = lanes_argument(*arguments_[1]);
  ScalarOperand all = reader_.operand(*arguments_[0]);
  reader_.refuse_vector(all.value, arguments_[0]->span);
  return {reader_.settled(all).value, false, static_cast<int>(lanes)};
}

// Lanes picked out of vectors written one behind the other.
ScalarOperand ScalarFunction::shuffle() {
  expect(2);
  const ast::Expr &vectors = *arguments_[0], &places = *arguments_[1];
  auto* list = vectors.as<ast::ListValue>();
  if (!list || list->items.empty())
    type_error(vectors.span, "vector.shuffle", "T.Shuffle takes a list of vectors and a list of lanes");
  std::vector<Scalar> elements;
  for (const ast::ExprPtr& item : list->items) {
    Scalar vector = reader_.value(*item);
    int lanes = reader_.lanes_of(vector, item->span);
    for (int i = 0; i < lanes; ++i) {
      elements.push_back(
          lanes == 1 ? vector
                     : substitute(vector, {{reader_.lane(lanes).id(), int_literal(DType::Int32, i)}}));
    }
  }
  std::vector<Scalar> chosen;
  for (const Scalar& place : reader_.read_list(places)) {
    auto at = place.as_int();
    if (!at || *at < 0 || *at >= static_cast<std::int64_t>(elements.size())) {
      type_error(
          places.span, "vector.shuffle",
          fmt::format("found a lane of T.Shuffle that is no literal from 0 to {}", elements.size() - 1));
    }
    chosen.push_back(elements[static_cast<std::size_t>(*at)]);
  }
  if (chosen.empty()) type_error(places.span, "vector.shuffle", "found no lane in T.Shuffle");
  if (chosen.size() == 1) return {chosen[0]};
  Scalar result = chosen.back();
  for (std::size_t i = chosen.size() - 1; i-- > 0;) {
    Scalar here = compare(CompareOp::Eq, use(reader_.lane(static_cast<int>(chosen.size()))),
                          int_literal(DType::Int32, static_cast<std::int64_t>(i)), expr_.span);
    result = if_then_else(here, chosen[i], result, expr_.span);
  }
  return {result};
}

// T.get_active_lane_mask("uint1x4", base, limit): the lanes base + 0, base + 1, … below the limit.
ScalarOperand ScalarFunction::lane_mask() {
  expect(3);
  const auto [dtype, lanes] = dtype_and_lanes(*arguments_[0]);
  if (!is_bool(dtype))
    type_error(arguments_[0]->span, "scalar.dtype",
               fmt::format("found a mask of {}; expected one of bool, as \"uint1x4\"", name_of(dtype)));
  const ScalarOperand one = reader_.plain_number(1, expr_.span);
  ScalarOperand places{reader_.ramp(reader_.operand(*arguments_[1]), one, lanes, expr_.span)};
  return reader_.combine(ast::Operator::Lt, places, reader_.operand(*arguments_[2]), expr_.span);
}

}  // namespace relish
