// What a pass does not change keeps its handle: functions beside the one that it works on, with an if, a loop
// and a nested function in them, and a whole module in which there is nothing to do.
#include "tests/unit/transform/helpers.h"
#include "transform/bind_params.h"
#include "transform/dead_code.h"
#include "transform/gradient.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"
#include "transform/setup_trainer.h"

using namespace relish;
using namespace relish::test;

namespace {

// `beside` has regions and a nested function, and no operator; `flat` no region either.
ModulePtr two_models() {
  return read(R"(@I.ir_module
class M:
    @T.prim_func
    def twice(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] * T.float32(2)

    @R.function
    def beside(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        cls = M
        @R.function
        def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            z = R.call_tir(cls.twice, (y,), out_ty=R.Tensor((2,), "float32"))
            return z
        a = x
        if c:
            b = inner(x)
        else:
            b = x
        for i in range(3):
            a = inner(b)
        return a

    @R.function
    def flat(x: R.Tensor((2,), "float32")):
        cls = M
        y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((2,), "float32"))
        return y

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")):
        y = R.matmul(x, w)
        return y
)");
}

void check_kept(const Module& before, const Module& after, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    INFO(name);
    CHECK(after.function(name) == before.function(name));
  }
  CHECK(after.prim_func("twice") == before.prim_func("twice"));
}

}  // namespace

TEST_CASE("handles: passes that work on one function keep the others") {
  const ModulePtr module = two_models();
  AppendLossOptions loss;
  loss.loss = parse_named_spec("mse");
  const Module with_loss = append_loss(*module, "main", loss);
  check_kept(*module, with_loss, {"beside", "flat", "main"});
  check_kept(with_loss, gradient(with_loss, "main_loss", {.wrt = {"w"}}),
             {"beside", "flat", "main", "main_loss"});
  SetupTrainerOptions trainer;
  trainer.loss = loss;
  trainer.optimizer = parse_named_spec("sgd(lr=0.1)");
  check_kept(*module, setup_trainer(*module, "main", trainer), {"beside", "flat", "main"});
  check_kept(*module, bind_params(*module, "main", {{"w", Tensor::zeros(DType::Float32, {3, 2})}}),
             {"beside", "flat"});
}

TEST_CASE("handles: passes over all functions keep those without anything to do") {
  const ModulePtr module = two_models();
  check_kept(*module, eliminate_dead_code(*module), {"beside", "flat", "main"});
  const Module lowered = legalize(*module);
  check_kept(*module, lowered, {"beside", "flat"});
  CHECK(lowered.function("main") != module->function("main"));
  const Module again = legalize(lowered);
  for (const GlobalFunction& each : lowered.functions) {
    INFO(name_of(each));
    CHECK(again.function(name_of(each)) == lowered.function(name_of(each)));
    CHECK(again.prim_func(name_of(each)) == lowered.prim_func(name_of(each)));
  }
  check_kept(*module, lift_bodies(*module).module, {"flat", "main"});
}
