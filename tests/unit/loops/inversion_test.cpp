// Which iterations access an element.
#include "loops/inversion.h"

#include <functional>
#include <map>
#include <random>
#include <set>

#include "loops/digits.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

struct Domain {
  std::vector<DomainAxis> axes;
  std::vector<Scalar> vars;

  explicit Domain(std::initializer_list<std::int64_t> extents) {
    for (const std::int64_t extent : extents) {
      axes.push_back({ScalarVar("a" + std::to_string(axes.size()), DType::Int64), Scalar(0), Scalar(extent)});
      vars.push_back(use(axes.back().var));
    }
  }
};

std::int64_t value_of(const Scalar& scalar, const std::map<std::uint64_t, std::int64_t>& values) {
  return *evaluate_int(scalar, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
    const auto found = values.find(var.id());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

bool holds(const Scalar& condition, const std::map<std::uint64_t, std::int64_t>& values) {
  const auto* sides = condition.as<Compare>();
  REQUIRE(sides != nullptr);
  const std::int64_t a = value_of(sides->a, values), b = value_of(sides->b, values);
  return sides->op == CompareOp::Eq ? a == b : a <= b;
}

// Runs through all values of the axes.
void run(const std::vector<DomainAxis>& axes, std::map<std::uint64_t, std::int64_t>& values,
         const std::function<void()>& visit, std::size_t from = 0) {
  if (from == axes.size()) return visit();
  const std::int64_t begin = value_of(axes[from].begin, values), extent = value_of(axes[from].extent, values);
  for (std::int64_t i = begin; i < begin + extent; ++i) {
    values[axes[from].var.id()] = i;
    run(axes, values, visit, from + 1);
  }
}

// For every element, the iterations that the inversion gives are those that access it, each once. Gives how
// many rounds that took in all.
std::size_t check(const Domain& domain, const std::vector<Scalar>& indices,
                  const std::vector<std::int64_t>& shape) {
  std::vector<ScalarVar> targets;
  std::vector<DomainAxis> elements;
  std::vector<Scalar> extents;
  for (const std::int64_t size : shape) {
    targets.emplace_back("t" + std::to_string(targets.size()), DType::Int64);
    extents.emplace_back(size);
    elements.push_back({targets.back(), Scalar(0), Scalar(size)});
  }
  const auto inversion = invert(indices, targets, extents, domain.axes);
  REQUIRE(inversion.has_value());
  using Point = std::vector<std::int64_t>;
  std::multiset<std::pair<Point, Point>> wanted, found;
  std::map<std::uint64_t, std::int64_t> values;
  run(domain.axes, values, [&] {
    Point element, iteration;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      element.push_back(value_of(indices[d], values));
      if (element.back() < 0 || element.back() >= shape[d]) return;
    }
    for (const Scalar& var : domain.vars) iteration.push_back(value_of(var, values));
    wanted.emplace(element, iteration);
  });
  std::size_t rounds = 0;
  std::vector<DomainAxis> both = elements;
  both.insert(both.end(), inversion->free.begin(), inversion->free.end());
  run(both, values, [&] {
    ++rounds;
    for (const Scalar& condition : inversion->conditions)
      if (!holds(condition, values)) return;
    Point element, iteration;
    for (const ScalarVar& target : targets) element.push_back(values.at(target.id()));
    for (const DomainAxis& axis : domain.axes) {
      const auto solved = inversion->at.find(axis.var.id());
      iteration.push_back(solved == inversion->at.end() ? values.at(axis.var.id())
                                                        : value_of(solved->second, values));
    }
    found.emplace(element, iteration);
  });
  CHECK(found == wanted);
  return rounds;
}

}  // namespace

TEST_CASE("indices that are axes are solved without conditions") {
  Domain d{3, 4, 5};
  CHECK(check(d, {d.vars[0], d.vars[2]}, {3, 5}) == 60);
  const std::vector<Scalar> indices{d.vars[2], d.vars[0]}, extents{Scalar(5), Scalar(3)};
  const std::vector<ScalarVar> targets{{"s", DType::Int64}, {"t", DType::Int64}};
  const auto inversion = invert(indices, targets, extents, d.axes);
  REQUIRE(inversion.has_value());
  CHECK(inversion->conditions.empty());
  REQUIRE(inversion->free.size() == 1);
  CHECK(inversion->free[0].var == d.axes[1].var);
  CHECK_FALSE(injective(indices, extents, d.axes));
}

TEST_CASE("shifted, strided and padded indices") {
  Domain d{5, 3};
  // The axis with more iterations is the one that is solved for.
  CHECK(check(d, {d.vars[0] + d.vars[1]}, {7}) == 21);
  CHECK(check(d, {d.vars[0] * Scalar(2) + d.vars[1]}, {11}) == 33);
  CHECK(check(d, {d.vars[0] * Scalar(3) - Scalar(2)}, {11}) == 33);
  CHECK(check(d, {Scalar(4) - d.vars[0], d.vars[1]}, {5, 3}) == 15);
  CHECK(check(d, {d.vars[0] + d.vars[1] * Scalar(2) - Scalar(1)}, {6}) == 18);
  CHECK(check(d, {d.vars[0], d.vars[0]}, {5, 5}) == 75);
  CHECK(check(d, {Scalar(2), d.vars[1]}, {4, 3}) == 60);
}

TEST_CASE("flattened and folded indices fall apart into digits") {
  Domain d{4, 6};
  CHECK(check(d, {d.vars[0] * Scalar(6) + d.vars[1]}, {24}) == 24);
  CHECK(check(d, {floor_div(d.vars[1], Scalar(2)), d.vars[0]}, {3, 4}) == 24);
  CHECK(check(d, {floor_mod(d.vars[1], Scalar(2)), d.vars[0]}, {2, 4}) == 24);
  CHECK(check(d, {floor_div(d.vars[1], Scalar(4)), floor_mod(d.vars[1], Scalar(4)), d.vars[0]}, {2, 4, 4}) ==
        32);
  const Scalar flat = d.vars[0] * Scalar(6) + d.vars[1];
  CHECK(check(d, {floor_div(flat, Scalar(8)), floor_mod(flat, Scalar(8))}, {3, 8}) == 24);
  Domain three{2, 3, 4};
  CHECK(check(three, {three.vars[0] * Scalar(12) + three.vars[1] * Scalar(4) + three.vars[2]}, {24}) == 24);
}

TEST_CASE("random sums of axes, quotients and remainders") {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    Domain d{draw(1, 5), draw(1, 4), draw(1, 3)};
    std::vector<Scalar> indices;
    std::vector<std::int64_t> shape;
    const std::int64_t rank = draw(1, 3);
    for (std::int64_t k = 0; k < rank; ++k) {
      Scalar index(draw(-1, 2));
      for (const Scalar& var : d.vars)
        if (draw(0, 2) > 0) index = index + var * Scalar(draw(-1, 3));
      const std::int64_t form = draw(0, 5), divisor = draw(2, 4);
      if (form == 0) index = floor_div(index, Scalar(divisor));
      if (form == 1) index = floor_mod(index, Scalar(divisor)) + d.vars[0];
      indices.push_back(index);
      shape.push_back(draw(2, 6));
    }
    check(d, indices, shape);
  }
}

TEST_CASE("triangles: a bound that names an axis that is solved for") {
  Domain d{5};
  const ScalarVar inner("j", DType::Int64);
  d.axes.push_back({inner, Scalar(0), d.vars[0]});
  d.vars.push_back(use(inner));
  check(d, {d.vars[0], d.vars[1]}, {5, 5});
  check(d, {d.vars[1]}, {5});
}

TEST_CASE("what cannot be inverted") {
  Domain d{4, 6};
  const std::vector<ScalarVar> target{{"t", DType::Int64}};
  const std::vector<Scalar> extent{Scalar(24)};
  CHECK_FALSE(invert(std::vector<Scalar>{d.vars[0] * d.vars[1]}, target, extent, d.axes));
  CHECK_FALSE(invert(std::vector<Scalar>{max(d.vars[0], d.vars[1])}, target, extent, d.axes));
}

TEST_CASE("the two digits of a number are the number again") {
  const Scalar v = use(ScalarVar("v", DType::Int64)), w = use(ScalarVar("w", DType::Int64));
  const Scalar four(4);
  const Scalar both = floor_div(v, four) * four + floor_mod(v, four);
  CHECK(structurally_equal(rejoined(both), v));
  CHECK(prove_equal(rejoined(Scalar(7) - both + w), Scalar(7) - v + w));
  CHECK(prove_equal(rejoined(both * Scalar(3)), v * Scalar(3)));
  const Scalar apart = floor_div(v, four) * four + floor_mod(w, four);
  CHECK(structurally_equal(rejoined(apart), canonical(apart)));
  CHECK(structurally_equal(rejoined(floor_div(v, four) + floor_mod(v, four)),
                           canonical(floor_div(v, four) + floor_mod(v, four))));
}

TEST_CASE("digits: indices of a reshape are one place in memory") {
  const Scalar v = use(ScalarVar("v", DType::Int64)), w = use(ScalarVar("w", DType::Int64));
  const auto place = [](const std::vector<Scalar>& shape, const std::vector<Scalar>& indices) {
    return counted_place(Buffer("b", DType::Float32, shape), indices);
  };
  const Scalar number = v * Scalar(60) + w, by_five = floor_div(number, Scalar(5)),
               by_twenty = floor_div(by_five, Scalar(4));
  const std::vector<Scalar> digits{by_twenty, floor_mod(by_five, Scalar(4)), floor_mod(number, Scalar(5))};
  const auto found = place({Scalar(6), Scalar(4), Scalar(5)}, digits);
  REQUIRE(found);
  CHECK(prove_equal(*found, number));
  // Digits to other bases, of other numbers, of unknown sizes, or no digits at all.
  CHECK_FALSE(place({Scalar(6), Scalar(5), Scalar(5)}, digits));
  CHECK_FALSE(place({Scalar(6), Scalar(4), Scalar(5)}, {by_twenty, floor_mod(w, Scalar(4)), digits[2]}));
  CHECK_FALSE(place({Scalar(6), w, Scalar(5)}, digits));
  CHECK_FALSE(place({Scalar(6), Scalar(4)}, {v, w}));
}
