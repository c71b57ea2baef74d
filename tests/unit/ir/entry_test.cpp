// Entry of calls: solving symbolic dims, refusing what does not fit.
#include <catch2/catch.hpp>

#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/ir/float_type.h"

namespace relish {
namespace {

using testing::failure_of;

Value zeros(Shape shape, DType dtype = DType::Float32) { return Tensor::zeros(dtype, std::move(shape)); }
TEST_CASE("symbols are solved from bare dims, expressions are checked") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  const std::vector<Var> params = {Var("x", f32({use(n) + 1})), Var("y", f32({use(n), use(m)})),
                                   Var("t", TupleType{{f32({use(m)}), ShapeType{.dims = {{use(n)}}}}})};
  const Value t = Value::tuple({zeros({5}), ShapeValue{{3}}});
  const std::vector<Value> args = {zeros({4}), zeros({3, 5}), t};
  const SymbolValues symbols = bind_arguments("main", params, args);
  CHECK(symbols.at(n.id()) == 3);
  CHECK(symbols.at(m.id()) == 5);
  const std::vector<Value> wrong = {zeros({3}), zeros({3, 5}), t};
  CHECK(failure_of([&] { bind_arguments("main", params, wrong); }) ==
        "DataError: main: x has float32 (3,); parameter is R.Tensor((n + 1,), dtype=\"float32\"); "
        "dimension 0 of x must be 4");
}

TEST_CASE("a value of another type is refused with both") {
  const std::vector<Var> params = {Var("x", f32({4, 3}))};
  auto refused = [&](Value value) {
    const std::vector<Value> args = {std::move(value)};
    return failure_of([&] { bind_arguments("main", params, args); });
  };
  const std::string parameter = "; parameter is R.Tensor((4, 3), dtype=\"float32\")";
  CHECK(refused(zeros({2, 3})) == "DataError: main: x has float32 (2, 3)" + parameter);
  CHECK(refused(zeros({4, 3}, DType::Int64)) == "DataError: main: x has int64 (4, 3)" + parameter);
  CHECK(refused(zeros({4})) == "DataError: main: x has float32 (4,)" + parameter);
  CHECK(refused(ShapeValue{{4, 3}}) == "DataError: main: x has a shape (4, 3)" + parameter);
  CHECK(refused(zeros({4, 3})) == "no failure");
  CHECK(failure_of([&] { bind_arguments("main", params, {}); }) ==
        "DataError: main: 0 arguments are given; it takes 1");
}

TEST_CASE("a conflict names both places") {
  const ScalarVar n("n", DType::Int64);
  const std::vector<Var> params = {Var("x", f32({use(n)})), Var("y", f32({use(n)}))};
  const std::vector<Value> args = {zeros({4}), zeros({5})};
  try {
    bind_arguments("main", params, args);
    FAIL("no failure");
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    CHECK(first.message ==
          "main: y has float32 (5,); parameter is R.Tensor((n,), dtype=\"float32\"); dimension 0 of y must "
          "be 4");
    REQUIRE(first.notes.size() == 1);
    CHECK(first.notes[0].text == "n is 4, from dimension 0 of x");
  }
}

TEST_CASE("a scalar parameter stands for the dimension of its name") {
  const ScalarVar n("n", DType::Int64), k("k", DType::Int64);
  Function function;
  function.name = "main";
  function.params = {Var("n", ScalarType{DType::Int64}), Var("k", ScalarType{DType::Int64}),
                     Var("x", f32({use(n) * 2}))};
  function.result = shape_literal({use(k)});
  function.result_type = function.result.type();
  const std::vector<Value> args = {ScalarValue::of_int(3), ScalarValue::of_int(7), zeros({6})};
  const SymbolValues symbols = bind_arguments(function, args);
  CHECK(symbols.at(n.id()) == 3);
  CHECK(symbols.at(k.id()) == 7);
}

TEST_CASE("match_value binds new symbols and checks known ones") {
  const ScalarVar n("n", DType::Int64);
  SymbolValues symbols;
  match_value(zeros({4, 4}), f32({use(n), use(n)}), symbols, ErrorClass::Runtime, {}, "match_cast");
  CHECK(symbols.at(n.id()) == 4);
  CHECK(failure_of([&] {
          match_value(zeros({5}), f32({use(n)}), symbols, ErrorClass::Runtime, {}, "match_cast");
        }) ==
        "RuntimeError: match_cast has float32 (5,); expected R.Tensor((n,), dtype=\"float32\"); "
        "dimension 0 of the value must be 4");
}

TEST_CASE("concrete types hold literals only") {
  const ScalarVar n("n", DType::Int64);
  const Type concrete = concrete_type(f32({use(n) * 2, Scalar(3)}), {{n.id(), 4}});
  CHECK(concrete_shape(*concrete.tensor()) == Shape{8, 3});
  CHECK(failure_of([&] { concrete_type(f32({use(n) * 2}), {}); }) ==
        "RuntimeError: dimension n * 2 has no value; n is not known");
  CHECK(same_type(type_of(Value::tuple({zeros({2}), ScalarValue::of_int(1)})),
                  TupleType{{f32({2}), ScalarType{DType::Int64}}}));
}

}  // namespace
}  // namespace relish
