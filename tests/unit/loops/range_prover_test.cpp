// Range proofs of the indices that splits, paddings and tails of loops make, and of those that leave their
// buffer by one.
#include <tuple>

#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// Whether the first index of the only store is shown to be in range, under the given loops.
bool in_range(const std::string& loops, const std::string& index) {
  const PrimFuncPtr function = prim_func(loops + "B[" + index + ", 0] = T.float32(0)\n");
  RangeProver prover = inside_loops(*function);
  const Store& store = *all_of<Store>(*function).at(0);
  return prover.in_range(store.indices[0], store.buffer.shape()[0]);
}

}  // namespace

TEST_CASE("range prover: sizes, shifts and reversals") {
  const auto [loops, index, good] = GENERATE(table<const char*, const char*, bool>({
      {"        for i in range(n): ", "i", true},
      {"        for i in range(n): ", "i + 1", false},
      {"        for i in range(n): ", "n - 1 - i", true},
      {"        for i in range(n): ", "n - i", false},
      {"        for i in range(n): ", "0", true},  // the loop runs, so n is at least 1
      {"        for i in range(n): ", "1", false},
      {"        for i in range(1, n): ", "i - 1", true},
      {"        for i in range(n - 2): ", "i + 2", true},
      {"        for i in range(n - 2): ", "i + 3", false},
      {"        for i in T.serial(n // 2): ", "i", true},
      {"        for i in T.serial(n // 2): ", "i * 2", true},
      {"        for i in T.serial(n // 2): ", "i * 2 + 1", true},
      {"        for i in T.serial(n // 2): ", "i * 2 + 2", false},
      {"        for i in range(n): ", "i // 3", true},
      {"        for i in range(n): ", "i % 3", false},  // n may be 1
  }));
  INFO(loops << index);
  CHECK(in_range(loops, index) == good);
}

TEST_CASE("range prover: what a split of a symbolic loop makes") {
  const char* rounds = "        for k, u in T.grid(n // 4, 4): ";
  CHECK(in_range(rounds, "k * 4 + u"));
  CHECK_FALSE(in_range(rounds, "k * 4 + u + 1"));
  // A loop that runs has something to divide.
  CHECK(in_range("        for k in range((n + 31) // 32): ", "n - 1"));
  CHECK(in_range(rounds, "n - 4"));
  CHECK_FALSE(in_range(rounds, "n - 5"));
  CHECK(in_range(rounds, "3"));
  CHECK_FALSE(in_range(rounds, "4"));
  CHECK_FALSE(in_range("        for k in range((n + 32) // 32): ", "n - 1"));
  const char* rest = "        for u in range(n - n // 4 * 4): ";
  CHECK(in_range(rest, "n // 4 * 4 + u"));
  CHECK_FALSE(in_range(rest, "n // 4 * 4 + u + 1"));
  const char* blocks =
      "        for k in range((n + 31) // 32):\n            for u in range(T.min(32, n - k * 32)): ";
  CHECK(in_range(blocks, "k * 32 + u"));
  CHECK_FALSE(in_range(blocks, "k * 32 + u + 1"));
  const char* both =
      "        for k in range((n + 31) // 32):\n"
      "            for u, v in T.grid(T.min(32, n - k * 32) // 4, 4): ";
  CHECK(in_range(both, "k * 32 + (u * 4 + v)"));
  CHECK_FALSE(in_range(both, "k * 32 + (u * 4 + v) + 1"));
}

TEST_CASE("range prover: quotients and remainders of literal loops") {
  const auto index_of = [](const char* index) {
    const PrimFuncPtr function =
        prim_func(std::string("        for i in range(32): C[") + index + "] = T.float32(0)\n");
    RangeProver prover = inside_loops(*function);
    return prover.in_range(all_of<Store>(*function).at(0)->indices[0], Scalar(8));
  };
  CHECK(index_of("i // 4"));
  CHECK(index_of("i % 8"));
  CHECK(index_of("T.min(i, 7)"));
  CHECK_FALSE(index_of("T.min(i, 8)"));
  CHECK_FALSE(index_of("T.min(i - 1, 7)"));
  CHECK_FALSE(index_of("T.min(7, i - 1)"));
  CHECK_FALSE(index_of("i % 9"));
  CHECK_FALSE(index_of("i // 3"));
  CHECK_FALSE(index_of("i"));
}

TEST_CASE("range prover: bounds that are maxima and minima") {
  const auto index_of = [](const char* index) {
    const PrimFuncPtr function =
        prim_func(std::string("        for i in range(8):\n"
                              "            for k in range(T.max(0, 2 - i), T.min(3, 10 - i)):\n"
                              "                C[") +
                  index + "] = T.float32(0)\n");
    RangeProver prover = inside_loops(*function);
    return prover.in_range(all_of<Store>(*function).at(0)->indices[0], Scalar(8));
  };
  CHECK(index_of("i + k - 2"));
  CHECK_FALSE(index_of("i + k - 3"));
  CHECK_FALSE(index_of("i + k - 1"));
  CHECK(index_of("k"));
  CHECK(index_of("k + 5"));
  CHECK_FALSE(index_of("k + 6"));
  CHECK_FALSE(index_of("k - 1"));
  CHECK(index_of("T.max(0, i - 3)"));
  CHECK(index_of("T.max(i - 3, 0)"));
  CHECK_FALSE(index_of("T.max(0, i + 1)"));
  CHECK_FALSE(index_of("T.max(i - 9, -1)"));
  CHECK_FALSE(index_of("7 - T.max(0, i + 1)"));
}

TEST_CASE("range prover: strides") {
  const PrimFuncPtr function =
      prim_func("        for i, j in T.grid(n, 8):\n            B[i, j] = A[n - 1 - i, (j * 3) % 8]\n");
  RangeProver prover = inside_loops(*function);
  const auto loops = all_of<For>(*function);
  const auto& load = *all_of<Store>(*function).at(0)->value.as<Load>();
  CHECK(prover.stride(load.indices[0], loops[0]->var)->constant() == -1);
  CHECK(prover.stride(load.indices[0], loops[1]->var)->constant() == 0);
  CHECK_FALSE(prover.stride(load.indices[1], loops[1]->var));
  CHECK(prover.depends_on(load.indices[1], loops[1]->var));
  CHECK_FALSE(prover.depends_on(load.indices[1], loops[0]->var));
}

TEST_CASE("range prover: what was shown counts where it was shown alone") {
  const PrimFuncPtr function = prim_func("        for i in range(8): C[i] = T.float32(0)\n");
  const For& loop = *all_of<For>(*function).at(0);
  const Scalar index = all_of<Store>(*function).at(0)->indices[0], eight(8), nine(9);
  RangeProver prover;
  const auto inside = [&](const Scalar& begin, const Scalar& extent) {
    prover.enter_loop(loop.var, begin, extent);
    const bool shown = prover.in_range(index, eight);
    prover.leave_loop();
    return shown;
  };
  const Scalar zero(0), one(1);
  CHECK_FALSE(prover.in_range(index, eight));
  CHECK(inside(zero, eight));
  CHECK(inside(zero, eight));
  CHECK_FALSE(prover.in_range(index, eight));
  CHECK_FALSE(inside(zero, nine));
  CHECK_FALSE(inside(one, eight));
  CHECK(inside(zero, eight));

  // Under a condition, and behind it.
  const Scalar less = compare(CompareOp::Lt, index, eight);
  prover.enter_loop(loop.var, zero, nine);
  for (int round = 0; round < 2; ++round) {
    const std::size_t facts = prover.assume(less);
    CHECK(prover.in_range(index, eight));
    prover.forget(facts);
    CHECK_FALSE(prover.in_range(index, eight));
  }

  // Behind a variable, whose value is another one later.
  const ScalarVar place("place", DType::Int64);
  const Scalar at(place);
  prover.bind(place, zero);
  CHECK(prover.in_range(at, eight));
  prover.bind(place, nine);
  CHECK_FALSE(prover.in_range(at, eight));
}

TEST_CASE("range prover: what is known under a condition or in a loop is not known behind it") {
  const PrimFuncPtr function =
      prim_func("        for j in range(n): B[T.min((n - 1) // 2, 5), 0] = T.float32(0)\n");
  const Store& store = *all_of<Store>(*function).at(0);
  const For& loop = *all_of<For>(*function).at(0);
  const Scalar n = store.buffer.shape()[0], least = store.indices[0];
  RangeProver prover;
  assume_sizes(*function, prover);
  const Scalar quotient = least.as<Binary>()->a, one = int_literal(DType::Int64, 1);
  prover.enter_loop(ScalarVar("o", DType::Int64), int_literal(DType::Int64, 0), int_literal(DType::Int64, 3));
  SECTION("a loop") {
    prover.enter_loop(loop.var, loop.begin, loop.extent);
    CHECK(prover.nonnegative(quotient));  // it runs, so n is at least 1
    prover.leave_loop();
  }
  SECTION("conditions") {
    const std::size_t before = prover.assume(n >= one);
    CHECK(prover.nonnegative(quotient));
    const std::size_t inner = prover.assume(compare(CompareOp::Ne, n, one));  // says nothing of ranges
    prover.forget(inner);
    CHECK(prover.nonnegative(quotient));
    prover.forget(before);
  }
  CHECK_FALSE(prover.nonnegative(quotient));
}
