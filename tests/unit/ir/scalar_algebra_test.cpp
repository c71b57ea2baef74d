// Canonical forms: what they prove, how they print, that they keep the value, and what they cost.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "ir/nodes/scalar.h"
#include "ir/nodes/type.h"
#include "ir/printer/printer.h"
#include "support/big_stack.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;

struct Vars {
  ScalarVar n_var{"n", DType::Int64}, m_var{"m", DType::Int64}, k_var{"k", DType::Int64};
  Scalar n = use(n_var), m = use(m_var), k = use(k_var);

  std::string text(const Scalar& s) const { return print(canonical(s)); }
};

TEST_CASE("canonical forms read as people write them") {
  Vars v;
  CHECK(v.text(Scalar(2) * v.n) == "n * 2");
  CHECK(v.text(Scalar(1) + v.n) == "n + 1");
  CHECK(v.text(v.m * v.n) == "n * m");  // variables by age
  CHECK(v.text(v.m - v.n) == "m - n");
  CHECK(v.text(v.n - 3) == "n - 3");
  CHECK(v.text(Scalar(4) - v.n) == "4 - n");
  CHECK(v.text((v.n + 1) - 1) == "n");
  CHECK(v.text(v.n - v.n) == "0");
  CHECK(v.text((v.n + 1) * (v.n - 1)) == "n * n - 1");
  CHECK(v.text(floor_div(v.n * 4 + 6, 4)) == "n + 1");
  CHECK(v.text(floor_div(v.n + 5, 2)) == "(n + 1) // 2 + 2");
  CHECK(v.text(floor_div(v.n * 2 + 1, 4)) == "n // 2");
  CHECK(v.text(floor_div(floor_div(v.n, 2), 3)) == "n // 6");
  CHECK(v.text(floor_div(v.n * v.m, v.n)) == "m");
  CHECK(v.text(floor_div(v.n * v.m + v.m, v.n + 1)) == "m");
  CHECK(v.text(floor_div(v.n, v.m)) == "n // m");
  CHECK(v.text(floor_mod(v.n * 3 + 7, 2)) == "(n + 1) % 2");
  CHECK(v.text(floor_mod(v.n * 4, 2)) == "0");
  CHECK(v.text(min(Scalar(4), v.n)) == "T.min(n, 4)");
  CHECK(v.text(min(v.n + 1, v.n)) == "n");
  CHECK(v.text(max(v.m, v.m)) == "m");
  CHECK(v.text(select(v.n + 1 > v.n, v.m, v.k)) == "m");
}

TEST_CASE("equal and different are proved, the rest is open") {
  Vars v;
  CHECK(prove_equal(v.n * 2, Scalar(2) * v.n));
  CHECK(prove_equal(v.n + v.n, v.n * 2));
  CHECK(prove_equal(min(v.n, v.m), min(v.m, v.n)));
  CHECK(prove_equal((v.n + v.m) * (v.n + v.m), v.n * v.n + Scalar(2) * v.n * v.m + v.m * v.m));
  CHECK(!prove_equal(v.n, v.m));
  CHECK(!prove_different(v.n, v.m));
  CHECK(prove_different(v.n, v.n + 1));
  CHECK(!prove_different(v.n, v.n * 2));
  CHECK(prove_different(Scalar(3), Scalar(4)));
  CHECK(product({}).as_int() == 1);
  CHECK(print(product({v.n, Scalar(2), Scalar(3)})) == "n * 6");
}

TEST_CASE("floats are not reassociated") {
  const Scalar x = use(ScalarVar("x", DType::Float32)), y = use(ScalarVar("y", DType::Float32));
  CHECK(!prove_equal(x + y, y + x));
  CHECK(prove_equal(x + y, x + y));
  CHECK(!prove_equal((x + y) - y, x));
}

TEST_CASE("division by zero stays, and evaluates to a fault") {
  Vars v;
  CHECK(v.text(floor_div(Scalar(4), Scalar(0))) == print(floor_div(Scalar(4), Scalar(0))));
  auto zero_everywhere = [](const ScalarVar&) -> std::optional<std::int64_t> { return 0; };
  CHECK(failure_of([&] { evaluate_int(floor_div(v.n, v.m), zero_everywhere); }) ==
        "RuntimeError: integer division by zero");
  CHECK(failure_of([&] { evaluate_int(binary(BinaryOp::ShiftLeft, v.n, v.n - 1), zero_everywhere); }) ==
        "RuntimeError: shift by -1, which is negative");
  auto nothing = [](const ScalarVar&) -> std::optional<std::int64_t> { return std::nullopt; };
  CHECK(evaluate_int(v.n + 1, nothing) == std::nullopt);
}

TEST_CASE("evaluation wraps and rounds as the dtype says") {
  auto value = [](const Scalar& s) {
    return evaluate_int(s, [](const ScalarVar&) -> std::optional<std::int64_t> { return std::nullopt; });
  };
  const Scalar low = int_literal(DType::Int8, -128), one = int_literal(DType::Int8, 1);
  CHECK(value(low - one) == 127);
  CHECK(value(binary(BinaryOp::Div, Scalar(-7), Scalar(2))) == -3);
  CHECK(value(binary(BinaryOp::TruncMod, Scalar(-7), Scalar(2))) == -1);
  CHECK(value(floor_div(Scalar(-7), Scalar(2))) == -4);
  CHECK(value(floor_mod(Scalar(-7), Scalar(2))) == 1);
  CHECK(value(floor_mod(Scalar(7), Scalar(-2))) == -1);
  CHECK(value(int_literal(DType::UInt64, -1) > int_literal(DType::UInt64, 1)) == 1);
  CHECK(value(cast(DType::UInt8, Scalar(300))) == 44);
  CHECK(value(if_then_else(bool_literal(true), Scalar(1), floor_div(Scalar(1), Scalar(0)))) == 1);
}

TEST_CASE("sizes that do not fit int64 are never folded to smaller ones") {
  Vars v;
  const auto at = [&](const Scalar& s, std::int64_t n) {
    return evaluate_int(s, [n](const ScalarVar&) { return std::optional(n); });
  };
  const Scalar most = Scalar(INT64_MAX), least = Scalar(INT64_MIN);
  const Scalar around = v.n * most + v.n * most + v.n * 3;  // n in arithmetic that wraps
  for (const Scalar& form : {around, canonical(around)}) {
    CHECK(failure_of([&] { at(form, 4); }).starts_with("ResourceLimit: the size "));
    CHECK(at(form, 0) == 0);
    CHECK(structurally_equal(canonical(canonical(form)), canonical(form)));
    CHECK(prove_equal(around, form));
  }
  CHECK_FALSE(prove_equal(around, v.n));
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  for (const Scalar& size : {Scalar(4) * Scalar(large), most + 1, least - 1, least * Scalar(-1),
                             floor_div(least, Scalar(-1)), Scalar(0) - least, most * 2 - most * 3 * most}) {
    INFO(print(size));
    const Scalar form = canonical(size);
    CHECK(form.as_int() == std::nullopt);
    CHECK(structurally_equal(canonical(form), form));
    CHECK(prove_equal(size, form));
    CHECK(failure_of([&] { at(form, 0); }).starts_with("ResourceLimit: the size "));
    CHECK(failure_of([&] { tensor_type({size}, DType::Float32); }).starts_with("ResourceLimit: the size "));
  }
  CHECK(failure_of([&] { at(Scalar(4) * Scalar(large), 0); }) ==
        "ResourceLimit: the size 4 * 4611686018427387905 does not fit 64 bits");
  // What stays within the ends is folded as ever, and narrower integers wrap.
  CHECK(canonical(most - 1 + 1).as_int() == INT64_MAX);
  CHECK(canonical(least + 1 - 1).as_int() == INT64_MIN);
  CHECK(canonical(int_literal(DType::Int32, INT32_MAX) + int_literal(DType::Int32, 1)).as_int() == INT32_MIN);
}

// Random trees over three variables; every canonical form has the value of its expression, is a fixed point,
// and proves equal to it.
class TreeMaker {
 public:
  explicit TreeMaker(const Vars& vars) : vars_(vars) {}

  Scalar make(int depth) {
    if (depth == 0 || pick(4) == 0) {
      switch (pick(4)) {
        case 0:
          return vars_.n;
        case 1:
          return vars_.m;
        case 2:
          return vars_.k;
        default:
          return Scalar(static_cast<int>(pick(9)) - 4);
      }
    }
    const Scalar a = make(depth - 1), b = make(depth - 1);
    switch (pick(10)) {
      case 0:
      case 1:
        return a + b;
      case 2:
        return a - b;
      case 3:
      case 4:
        return a * b;
      case 5:
        return floor_div(a, Scalar(static_cast<int>(pick(6)) + 1));
      case 6:
        return floor_mod(a, Scalar(static_cast<int>(pick(6)) + 1));
      case 7:
        return pick(2) ? min(a, b) : max(a, b);
      case 8:
        return select(a < b, a, make(depth - 1));
      default:
        return binary(pick(2) ? BinaryOp::Div : BinaryOp::TruncMod, a, Scalar(static_cast<int>(pick(3)) + 1));
    }
  }
  std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

 private:
  const Vars& vars_;
  std::mt19937_64 random_{7};
};

TEST_CASE("canonical forms keep the value") {
  Vars v;
  TreeMaker maker(v);
  for (int round = 0; round < 2000; ++round) {
    const Scalar tree = maker.make(4);
    const Scalar form = canonical(tree);
    INFO(print(tree) << "   ->   " << print(form));
    for (int trial = 0; trial < 8; ++trial) {
      std::unordered_map<std::uint64_t, std::int64_t> values;
      for (const ScalarVar& var : {v.n_var, v.m_var, v.k_var}) {
        values[var.id()] = static_cast<std::int64_t>(maker.pick(41)) - 20;
      }
      auto value_of = [&](const ScalarVar& var) -> std::optional<std::int64_t> {
        return values.at(var.id());
      };
      REQUIRE(evaluate_int(tree, value_of) == evaluate_int(form, value_of));
    }
    CHECK(prove_equal(tree, form));
    CHECK(structurally_equal(canonical(form), form));
  }
}

TEST_CASE("forms of sizes that do not fit are fixed points") {
  Vars v;
  std::mt19937_64 random{11};
  const std::vector<Scalar> leaves{v.n,
                                   v.m,
                                   Scalar(3),
                                   Scalar(-2),
                                   Scalar(INT64_MAX),
                                   Scalar(INT64_MIN),
                                   Scalar((std::int64_t{1} << 62) + 1)};
  for (int round = 0; round < 3000; ++round) {
    std::vector<Scalar> parts;
    for (int i = 0; i < 6; ++i) parts.push_back(leaves[random() % leaves.size()]);
    while (parts.size() > 1) {
      const Scalar b = parts.back();
      parts.pop_back();
      Scalar& a = parts[random() % parts.size()];
      a = random() % 3 == 0 ? a * b : random() % 2 == 0 ? a + b : a - b;
    }
    const Scalar form = canonical(parts[0]);
    INFO(print(parts[0]) << "   ->   " << print(form) << "   ->   " << print(canonical(form)));
    CHECK(structurally_equal(canonical(form), form));
    CHECK(prove_equal(parts[0], form));
  }
}

TEST_CASE("deep expressions cost no more than their size") {
  with_big_stack([] {
    Vars v;
    const auto start = std::chrono::steady_clock::now();
    Scalar sum = v.n, divided = v.n, product = v.n, minimum = v.n, names = v.n, both = v.n;
    for (int i = 0; i < 10000; ++i) {
      sum = sum + v.m;
      divided = floor_div(divided + v.n, 2);
      product = product * v.m;
      minimum = min(minimum + 1, v.m);
      names = names + use(ScalarVar("x", DType::Int64));
      both = (both + v.m) * (v.n + 1);
    }
    CHECK(print(canonical(sum)) == "n + m * 10000");
    for (const Scalar* deep : {&divided, &product, &minimum, &names, &both}) {
      const Scalar form = canonical(*deep);
      CHECK(form.defined());
      CHECK(prove_equal(*deep, *deep + 0));
      std::vector<ScalarVar> vars;
      collect_vars(form, vars);
      CHECK(!vars.empty());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(seconds.count() < 5);
  });
}

TEST_CASE("substitution keeps handles that did not change") {
  Vars v;
  const Scalar e = v.n * 2 + v.m;
  CHECK(substitute(e, {{v.k_var.id(), Scalar(1)}}).same_as(e));
  CHECK(print(substitute(e, {{v.n_var.id(), v.m + 1}})) == "(m + 1) * 2 + m");
  const ScalarVar i("i", DType::Int32);
  CHECK(substitute(use(i) + 1, {{i.id(), Scalar(5)}}).dtype() == DType::Int32);
  CHECK(print(canonical(substitute(use(i) + 1, {{i.id(), v.n}}))).find('n') != std::string::npos);
  const Buffer a("A", DType::Float32, {Scalar(4)}), b("B", DType::Float32, {Scalar(4)});
  const Scalar loaded = load(a, {v.n});
  CHECK(substitute(loaded, {}, {{a.id(), b}}).as<Load>()->buffer->id() == b.id());
}

TEST_CASE("variables are collected once, in order of first use") {
  Vars v;
  std::vector<ScalarVar> vars;
  collect_vars(v.m + v.n * v.m + load(Buffer("A", DType::Int64, {Scalar(4)}), {v.k}), vars);
  REQUIRE(vars.size() == 3);
  CHECK(vars[0] == v.m_var);
  CHECK(vars[1] == v.n_var);
  CHECK(vars[2] == v.k_var);
}

}  // namespace
}  // namespace relish
