// Equality modulo names and the place of the first difference.
#include <catch2/catch.hpp>

#include "graph_samples.h"
#include "ir/equality/equal.h"
#include "ir/rewriting/rewrite.h"

using namespace relish;
using namespace relish::samples;

TEST_CASE("copies under other names are equal") {
  ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  CHECK(equal_modulo_names(doubled(floats({Scalar(n), 4})), doubled(floats({Scalar(m), 4}))));
  CHECK_FALSE(
      equal_modulo_names(doubled(floats({Scalar(n), Scalar(n)})), doubled(floats({Scalar(n), Scalar(m)}))));
  CHECK_FALSE(equal_modulo_names(doubled(floats({Scalar(n), 4})), doubled(floats({Scalar(n), 5}))));
  CHECK(equal_modulo_names(add_one({2, 3}), add_one({2, 3})));
  CHECK_FALSE(equal_modulo_names(add_one({2, 3}), add_one({3, 2})));
}

TEST_CASE("dimensions are compared by value where their variables are paired") {
  ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  Function a = doubled(floats({Scalar(n), Scalar(n) * Scalar(2)}));
  Function b = doubled(floats({Scalar(m), Scalar(2) * Scalar(m)}));
  CHECK(equal_modulo_names(a, b));
}

TEST_CASE("the first difference is told in words") {
  install();
  Module a = module_of({shared(doubled(floats({2})))});
  CHECK(first_difference(a, a).empty());
  Module b = module_of({shared(doubled(floats({2}), "other"))});
  CHECK(first_difference(a, b) == "function main is called other in the second");

  Function changed = doubled(floats({2}));
  Binding& second = changed.blocks[0].bindings[1];
  second.kind =
      VarBinding{second.var(), op_call("nn.softmax", {changed.blocks[0].bindings[0].var()}, {{"axis", 0}})};
  CHECK(first_difference(a, module_of({shared(changed)})) ==
        "function main: binding gv: attribute axis is -1 and 0");

  Module loops = module_of({shared(add_one({2, 3}))});
  PrimFunc other = add_one({2, 3});
  other.body = rewrite(
      other.body,
      [](const Scalar& scalar) -> std::optional<Scalar> {
        if (!scalar.as<FloatLiteral>()) return std::nullopt;
        return float_literal(DType::Float32, 2);
      },
      nullptr);
  CHECK(first_difference(loops, module_of({shared(other)})) ==
        "prim_func add_one: block B: T.float32(1.0) and T.float32(2.0)");
}

TEST_CASE("constants compare bit by bit") {
  auto constant_function = [](double value) {
    Function function;
    function.name = "f";
    function.result = constant(Tensor::scalar(DType::Float32, value));
    function.result_type = function.result.type();
    return function;
  };
  CHECK(equal_modulo_names(constant_function(1), constant_function(1)));
  CHECK_FALSE(equal_modulo_names(constant_function(0.0), constant_function(-0.0)));
}
