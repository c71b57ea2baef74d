// Types: equality by provable dims, fit, join, substitution.
#include <catch2/catch.hpp>

#include "ir/nodes/type.h"
#include "ir/printer/printer.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/ir/float_type.h"

namespace relish {
namespace {

using testing::failure_of;

Type ranked(int rank) { return TensorType{.dtype = DType::Float32, .shape = std::nullopt, .rank = rank}; }

TEST_CASE("dimensions are int64 and set the rank") {
  const Type type = f32({int_literal(DType::Int32, 3), use(ScalarVar("i", DType::Int32))});
  CHECK(type.tensor()->rank == 2);
  for (const Scalar& dim : *type.tensor()->shape) CHECK(dim.dtype() == DType::Int64);
  CHECK(failure_of([] { f32({float_literal(DType::Float32, 1.5)}); }) ==
        "TypeError: dimension has dtype float32; expected an integer");
}

TEST_CASE("equal types have provably equal dims") {
  const Scalar n = use(ScalarVar("n", DType::Int64)), m = use(ScalarVar("m", DType::Int64));
  CHECK(same_type(f32({n * 2}), f32({Scalar(2) * n})));
  CHECK(!same_type(f32({n}), f32({m})));
  CHECK(!same_type(f32({n}), ranked(1)));
  CHECK(same_type(TupleType{{f32({n}), Type()}}, TupleType{{f32({n}), Type()}}));
  CHECK(!same_type(ScalarType{DType::Int64}, ScalarType{DType::Int32}));
  CHECK(same_type(TypeKind(ErrorType{}), f32({n})));
}

TEST_CASE("fit is always, maybe or never") {
  const Scalar n = use(ScalarVar("n", DType::Int64)), m = use(ScalarVar("m", DType::Int64));
  const Type unknown_dtype = TensorType{.dtype = std::nullopt, .shape = {{n}}, .rank = 1};
  CHECK(fits(f32({n}), f32({n})) == Fit::Always);
  CHECK(fits(f32({n}), f32({m})) == Fit::Maybe);
  CHECK(fits(f32({n}), f32({n + 1})) == Fit::Never);
  CHECK(fits(f32({3}), f32({4})) == Fit::Never);
  CHECK(fits(f32({3}), f32({3, 1})) == Fit::Never);
  CHECK(fits(f32({3}), tensor_type({3}, DType::Float64)) == Fit::Never);
  CHECK(fits(f32({n}), ranked(1)) == Fit::Always);
  CHECK(fits(ranked(1), f32({n})) == Fit::Maybe);
  CHECK(fits(ranked(-1), ranked(2)) == Fit::Maybe);
  CHECK(fits(unknown_dtype, f32({n})) == Fit::Maybe);
  CHECK(fits(f32({n}), unknown_dtype) == Fit::Always);
  CHECK(fits(f32({n}), Type()) == Fit::Always);
  CHECK(fits(Type(), f32({n})) == Fit::Maybe);
  CHECK(fits(ScalarType{DType::Float32}, f32({})) == Fit::Never);
  CHECK(fits(TupleType{{f32({n}), f32({3})}}, TupleType{{f32({n}), f32({4})}}) == Fit::Never);
  CHECK(fits(ShapeType{.dims = {{Scalar(2)}}}, ShapeType{.dims = std::nullopt, .rank = 1}) == Fit::Always);
  const Type impure = FunctionType{.params = {f32({n})}, .result = f32({n}), .pure = false};
  const Type pure = FunctionType{.params = {f32({n})}, .result = f32({n})};
  CHECK(fits(impure, pure) == Fit::Never);
  CHECK(fits(pure, impure) == Fit::Always);
  CHECK(fits(pure, FunctionType{.params = {}, .result = Type(), .opaque = true}) == Fit::Always);
}

TEST_CASE("a join keeps what both know") {
  const Scalar n = use(ScalarVar("n", DType::Int64)), m = use(ScalarVar("m", DType::Int64));
  CHECK(same_type(join(f32({n * 2}), f32({Scalar(2) * n})), f32({n * 2})));
  CHECK(same_type(join(f32({n}), f32({m})), ranked(1)));
  CHECK(same_type(join(f32({n}), f32({n, m})), ranked(-1)));
  CHECK(!join(f32({n}), tensor_type({n}, DType::Int64)).tensor()->dtype);
  CHECK(same_type(join(TupleType{{f32({n})}}, TupleType{{f32({m})}}), TupleType{{ranked(1)}}));
  CHECK(join(f32({n}), ScalarType{DType::Int64}).as<AnyType>());
  const auto on = [&](const char* device, const Scalar& dim) {
    TensorType type = *f32({dim}).tensor();
    type.vdevice = device;
    return Type(type);
  };
  CHECK(join(on("llvm:0", n), on("llvm:0", n)).tensor()->vdevice == "llvm:0");
  CHECK(join(on("llvm:0", n), on("llvm:0", m)).tensor()->vdevice == "llvm:0");
  CHECK(join(on("llvm:0", n), on("llvm:1", n)).tensor()->vdevice.empty());
}

TEST_CASE("substitution folds dims and keeps unchanged handles") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  const Type type = TupleType{{f32({use(n) * 2, use(m)}), ShapeType{.dims = {{use(m)}}}}};
  CHECK(substitute(type, {{n.id() + 1000, Scalar(1)}}).same_as(type));
  CHECK(print(substitute(type, {{n.id(), Scalar(3)}})) ==
        "R.Tuple(R.Tensor((6, m), dtype=\"float32\"), R.Shape([m]))");
  std::vector<ScalarVar> vars;
  collect_vars(type, vars);
  CHECK(vars == std::vector<ScalarVar>{n, m});
  CHECK(fully_known(type));
  CHECK(!fully_known(TupleType{{ranked(2)}}));
  CHECK(!fully_known(Type()));
}

}  // namespace
}  // namespace relish
