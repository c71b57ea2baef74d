// Calls of native functions: each form gives the same value in both tiers, and is refused alike.
#include "ir/nodes/builder.h"
#include "runtime/native.h"
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

struct OptedIn {
  OptedIn() { NativeFunctions::instance().opt_in(RELISH_NATIVE_FOLDER "/forms.so"); }
  ~OptedIn() { NativeFunctions::instance().clear(); }
};

// main(x: (n,)): the value of `call(x)`, and x behind it to see that nobody changed it.
ModulePtr caller(const std::function<PackedCall(const Var&, const Scalar& n)>& call) {
  const ScalarVar n("n", DType::Int64);
  const Var x("x", f32({use(n)}));
  FunctionBuilder builder;
  builder.begin_block(false);
  const Var y = builder.bind(packed_call(call(x, use(n)), at(50)), "y");
  const Expr result = tuple({y, x});
  builder.end_block();
  Function function;
  function.name = "main";
  function.params = {x};
  function.pure = false;
  function.blocks = builder.take_blocks();
  function.result = result;
  function.result_type = result.type();
  return module_of({GlobalFunction(std::make_shared<const Function>(std::move(function)))});
}

PackedCall form(PackedForm kind, const char* name, std::vector<Expr> args, std::vector<Type> out_types) {
  return PackedCall{kind, extern_func(name), std::move(args), std::move(out_types)};
}

Value run(const ModulePtr& module, std::int64_t n = 3) {
  const Tensor x = numbers(DType::Float32, {n});
  const Tensor before = x.copy();
  const Value both = in_both_tiers(module, "main", {x});
  REQUIRE(identical(both.fields()[1].tensor(), before));
  return both.fields()[0];
}

std::string refusal(const ModulePtr& module) {
  const Failure failure = failure_in_both_tiers(module, "main", {numbers(DType::Float32, {3})});
  CHECK(failure.diagnostics()[0].span == at(50));
  return std::string(name_of(failure.error_class())) + ": " + failure.diagnostics()[0].message;
}

}  // namespace

TEST_CASE("native calls: destinations, of symbolic size and several", "[jit]") {
  OptedIn opted;
  const Expr half = scalar_value(float_literal(DType::Float64, 0.5));
  const Expr two = scalar_value(int_literal(DType::Int64, 2));
  const Expr yes = scalar_value(bool_literal(true));
  const ModulePtr affine = caller([&](const Var& x, const Scalar& n) {
    return form(PackedForm::Dps, "env.affine", {x, half, two, yes, string_literal("scale")}, {f32({n})});
  });
  for (std::int64_t n : {0, 1, 3, 100}) {
    const Tensor y = run(affine, n).tensor();
    const Tensor x = numbers(DType::Float32, {n});
    REQUIRE(y.shape() == Shape{n});
    for (std::int64_t i = 0; i < n; ++i) CHECK(y.get_double(i) == -0.5 * x.get_double(i));
  }
  const ModulePtr extremes = caller([&](const Var& x, const Scalar&) {
    PackedCall call = form(PackedForm::Dps, "env.extremes", {x}, {f32({}), f32({})});
    call.tuple_result = true;
    return call;
  });
  CHECK(run(extremes, 13).fields()[0].tensor().get_double(0) == -1.5);
  CHECK(run(extremes, 13).fields()[1].tensor().get_double(0) == 1.5);
}

TEST_CASE("native calls: what a function returns", "[jit]") {
  OptedIn opted;
  const Type real(ScalarType{DType::Float64});
  const Type whole(ScalarType{DType::Int64});
  CHECK(run(caller([&](const Var& x, const Scalar&) {
          return form(PackedForm::Pure, "env.total", {x}, {real});
        }))
            .scalar()
            .real == -2.5);
  CHECK(run(caller([&](const Var&, const Scalar& n) {
          return form(PackedForm::Impure, "env.volume", {shape_literal({n, n + Scalar(1)})}, {whole});
        }))
            .scalar()
            .integer == 12);
  CHECK(run(caller([&](const Var& x, const Scalar&) {
          return form(PackedForm::Impure, "env.count", {x, dtype_literal(DType::Int8)},
                      {Type(ScalarType{DType::Int32})});
        }))
            .scalar()
            .integer == 2);
  const Tensor row = run(caller([&](const Var&, const Scalar& n) {
                       return form(PackedForm::Pure, "env.row", {}, {f32({n})});
                     })).tensor();
  CHECK(row.get_double(2) == 3);
  CHECK(is_nothing(run(
      caller([&](const Var& x, const Scalar&) { return form(PackedForm::Impure, "env.total", {x}, {}); }))));
}

TEST_CASE("native calls: in place, on a copy of what somebody else sees", "[jit]") {
  OptedIn opted;
  const Tensor x = numbers(DType::Float32, {3});
  const Tensor y = run(caller([&](const Var& x, const Scalar& n) {
                     PackedCall call = form(PackedForm::Inplace, "env.double_inplace", {x}, {f32({n})});
                     call.inplace_indices = {0};
                     return call;
                   })).tensor();
  for (std::int64_t i = 0; i < 3; ++i) CHECK(y.get_double(i) == 2 * x.get_double(i));
}

TEST_CASE("native calls: refusals are the same in both tiers", "[jit]") {
  const auto named = [](const char* name, const std::vector<Type>& types = {}) {
    return caller(
        [name, types](const Var& x, const Scalar&) { return form(PackedForm::Impure, name, {x}, types); });
  };
  CHECK(refusal(named("env.total")) ==
        "PolicyError: native function 'env.total' is not opted in; expected its library with --native");
  OptedIn opted;
  CHECK(refusal(named("system")).starts_with("PolicyError: native function 'system' is not opted in"));
  CHECK(refusal(named("env.fail")) ==
        "RuntimeError: native function 'env.fail': RuntimeError: the device is on fire");
  CHECK(refusal(named("env.strange", {f32({Scalar(3)})}))
            .starts_with("RuntimeError: native function 'env.strange' "));
  // The result is not what the call says.
  CHECK(refusal(named("env.total", {f32({Scalar(3)})}))
            .starts_with("RuntimeError: native function 'env.total'"));
  CHECK(refusal(named("env.row", {f32({Scalar(4)})})).starts_with("RuntimeError: native function 'env.row'"));
  CHECK(refusal(named("env.row", {f32({Scalar(3), Scalar(1)})})).starts_with("RuntimeError"));
  CHECK(refusal(caller([](const Var& x, const Scalar&) {
          return form(PackedForm::Impure, "env.count", {tuple({x, x})}, {});
        })).starts_with("RuntimeError: native function 'env.count': argument 1 is a tuple"));
}
