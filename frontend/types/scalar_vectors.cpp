// Vectors in scalar expressions: ramps, broadcasts, slices and shuffles. A vector is read as the scalar of
// one of its lanes; the statement that it stands in becomes a loop over the lanes.
#include <fmt/format.h>

#include "frontend/types/scalar_reader.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::int64_t most_lanes = 65536;

}  // namespace

ScalarVar ScalarReader::lane(int lanes) {
  return lanes_.try_emplace(lanes, "lane", DType::Int32).first->second;
}

int ScalarReader::lanes_of(const Scalar& scalar, Span at) const {
  if (lanes_.empty() || !scalar.defined()) return 1;
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  int found = 1;
  for (const auto& [lanes, variable] : lanes_) {
    for (const ScalarVar& var : vars) {
      if (!(var == variable)) continue;
      if (found > 1) {
        type_error(
            at, "vector.lanes",
            fmt::format("found a vector of {} lanes beside one of {}; expected as many", found, lanes));
      }
      found = lanes;
      break;
    }
  }
  return found;
}

void ScalarReader::refuse_vector(const Scalar& scalar, Span at) const {
  int lanes = lanes_of(scalar, at);
  if (lanes == 1) return;
  type_error(at, "vector.place", fmt::format("found a vector of {} lanes; expected a scalar", lanes));
}

std::int64_t ScalarReader::lanes_argument(const ast::Expr& expr) {
  auto lanes = read(expr).as_int();
  if (!lanes || *lanes < 1 || *lanes > most_lanes) {
    type_error(expr.span, "vector.lanes",
               fmt::format("found {} as a number of lanes; expected a literal from 1 to {}",
                           ast::describe(expr), most_lanes));
  }
  return *lanes;
}

// base + lane * stride.
Scalar ScalarReader::ramp(const ScalarOperand& base, const ScalarOperand& stride, std::int64_t lanes,
                          Span at) {
  if (lanes == 1) return settled(base).value;
  for (const ScalarOperand* part : {&base, &stride}) {
    expect_index(part->value, at);
    refuse_vector(part->value, at);
  }
  ScalarOperand place{use(lane(static_cast<int>(lanes)), at)};
  const bool close = stride.value.as_int() == 1;
  ScalarOperand offset = close ? place : combine(ast::Operator::Mul, place, stride, at);
  if (base.value.as_int() == 0) return convert(settled(base).value.dtype(), offset, at).value;
  return combine(ast::Operator::Add, base, offset, at).value;
}

// A[begin:end:step] as an index. The number of elements must be known when the text is read.
Scalar ScalarReader::slice_index(const ast::Slice& slice, const Scalar& dim, Span at) {
  ScalarOperand begin = slice.begin ? operand(*slice.begin) : ScalarOperand{int_literal(dim.dtype(), 0, at)};
  ScalarOperand end = slice.end ? operand(*slice.end) : ScalarOperand{dim};
  std::int64_t step = 1;
  if (slice.step) step = read(*slice.step).as_int().value_or(0);
  if (step < 1) type_error(slice.step->span, "buffer.slice", "found a step that is no positive literal");
  expect_index(begin.value, at);
  expect_index(end.value, at);
  auto length = canonical(combine(ast::Operator::Sub, end, begin, at).value).as_int();
  if (!length || *length < 1 || (*length - 1) / step >= most_lanes) {
    type_error(
        at, "buffer.slice",
        fmt::format("found a slice of {} elements; expected a number known when the text is read, from "
                    "1 to {}",
                    length ? std::to_string(*length) : "unknown", most_lanes));
  }
  return ramp(begin, {int_literal(DType::Int32, step, at), true}, (*length - 1) / step + 1, at);
}

// Lanes picked out of vectors written one behind the other.
ScalarOperand ScalarReader::shuffle(const ast::Expr& expr, const ast::Expr& vectors,
                                    const ast::Expr& places) {
  auto* list = vectors.as<ast::ListValue>();
  if (!list || list->items.empty())
    type_error(vectors.span, "vector.shuffle", "T.Shuffle takes a list of vectors and a list of lanes");
  std::vector<Scalar> elements;
  for (const ast::ExprPtr& item : list->items) {
    Scalar vector = value(*item);
    int lanes = lanes_of(vector, item->span);
    for (int i = 0; i < lanes; ++i) {
      elements.push_back(lanes == 1 ? vector
                                    : substitute(vector, {{lane(lanes).id(), int_literal(DType::Int32, i)}}));
    }
  }
  std::vector<Scalar> chosen;
  for (const Scalar& place : read_list(places)) {
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
    Scalar here = compare(CompareOp::Eq, use(lane(static_cast<int>(chosen.size()))),
                          int_literal(DType::Int32, static_cast<std::int64_t>(i)), expr.span);
    result = if_then_else(here, chosen[i], result, expr.span);
  }
  return {result};
}

// "float32", or "float32x4": the dtype of a lane and the number of lanes.
std::pair<DType, int> ScalarReader::dtype_and_lanes(const ast::Expr& expr) const {
  auto* name = expr.as<ast::StringValue>();
  std::size_t times = name ? name->value.rfind('x') : std::string::npos;
  if (times == std::string::npos || times == 0) return {dtype_argument(expr), 1};
  auto element = dtype_from_name(name->value.substr(0, times));
  std::string_view count = std::string_view(name->value).substr(times + 1);
  if (!element || count.empty() || count.size() > 5 ||
      count.find_first_not_of("0123456789") != std::string_view::npos)
    return {dtype_argument(expr), 1};
  return {*element, std::stoi(std::string(count))};
}

}  // namespace relish
