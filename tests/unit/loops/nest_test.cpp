// Facts of nests: perfect ones, updates of reductions, what may fault, how much work, what is written first.
#include "loops/nest.h"
#include "loops/faults.h"
#include "loops/iterations.h"
#include "loops/reduction.h"
#include "loops/work.h"
#include "loops/written_first.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

const char* column_sums =
    "        for j, i in T.grid(8, n):\n            with T.sblock(\"C\"):\n"
    "                vj, vi = T.axis.remap(\"SR\", [j, i])\n                with T.init():\n"
    "                    C[vj] = T.float32(0)\n                C[vj] = C[vj] + A[vi, vj]\n";

// Names of the buffers that need not be cleared.
std::string first_written(const std::string& body) {
  const PrimFuncPtr function = prim_func(body);
  RangeProver prover;
  std::vector<Buffer> buffers;
  for (const PrimParam& param : function->params) {
    buffers.push_back(*param.buffer());
    for (const Scalar& dim : param.buffer()->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
  }
  const auto found = written_first(function->body, buffers, prover);
  std::string names;
  for (const Buffer& buffer : buffers)
    if (found.contains(buffer.id())) names += buffer.name();
  return names;
}

}  // namespace

TEST_CASE("nests: the axes of a block, which of them are stored, and its init") {
  const PrimFuncPtr function = prim_func(column_sums);
  auto nest = perfect_nest(function->body);
  REQUIRE(nest);
  REQUIRE(nest->axes.size() == 2);
  CHECK(nest->axes[0].var.name() == "vj");
  REQUIRE(find_stored_axes(*nest));
  CHECK(nest->axes[0].stored);
  CHECK_FALSE(nest->axes[1].stored);
  CHECK(matching_init(*nest) != nullptr);
}

TEST_CASE("nests: what is not perfect, or stores to a diagonal") {
  CHECK_FALSE(perfect_nest(prim_func("        C[0] = T.float32(0)\n")->body));
  CHECK_FALSE(perfect_nest(prim_func("        for i in range(1, 8): C[i] = T.float32(0)\n")->body));
  CHECK_FALSE(perfect_nest(
      prim_func(
          "        for i in range(8):\n            C[i] = T.float32(0)\n            C[i] = T.float32(1)\n")
          ->body));
  auto diagonal = perfect_nest(prim_func("        for i in range(8): B[i, i] = T.float32(0)\n")->body);
  REQUIRE(diagonal);
  CHECK_FALSE(find_stored_axes(*diagonal));
}

TEST_CASE("nests: loops of one round leave them") {
  const auto without = [](const char* body) {
    const Stmt stmt = without_unit_loops(prim_func(body)->body);
    const auto nest = perfect_nest(stmt);
    REQUIRE(nest);
    std::string text = print(nest->store->indices[0]) + " = " + print(nest->store->value);
    for (const Axis& axis : nest->axes) text = axis.var.name() + " " + text;
    return text;
  };
  CHECK(without("        for i, j, k in T.grid(8, 1, 2): C[i] = A[k, j]\n") == "k i i = A[k, T.int32(0)]");
  CHECK(without("        for i in range(1): C[i] = A[i, 0]\n") == "i i = A[i, T.int32(0)]");
  CHECK(without(
            "        for j, i, k in T.grid(8, n, 1):\n            with T.sblock(\"C\"):\n"
            "                vj, vi, vk = T.axis.remap(\"SRR\", [j, i, k])\n                with T.init():\n"
            "                    C[vj] = T.float32(0)\n                C[vj] = C[vj] + A[vi, vk]\n") ==
        "vi vj vj = C[vj] + A[vi, T.int32(0)]");
  const auto along = [](std::vector<std::int64_t> extents) {
    std::vector<Scalar> shape;
    for (const std::int64_t extent : extents) shape.push_back(int_literal(DType::Int64, extent));
    return dimension_along_memory(Buffer("b", DType::Float32, std::move(shape)));
  };
  CHECK(along({4, 8}) == 1);
  CHECK(along({4, 8, 1, 1}) == 1);
  CHECK(along({1, 1}) == 1);
}

TEST_CASE("reductions: updates on either side, and what is none") {
  const auto update_of = [](const char* value) {
    const PrimFuncPtr function =
        prim_func(std::string("        for i, j in T.grid(n, 8): C[j] = ") + value + "\n");
    const Store& store = *all_of<Store>(*function).at(0);
    const auto update = as_update(store);
    return update ? print(update->addend) + (reassociable(store) ? "" : " in order") : "none";
  };
  CHECK(update_of("C[j] + A[i, j]") == "A[i, j]");
  CHECK(update_of("A[i, j] * C[j]") == "A[i, j]");
  CHECK(update_of("T.max(C[j], A[i, j])") == "A[i, j] in order");
  CHECK(update_of("C[j] - A[i, j]") == "none");
  CHECK(update_of("C[0] + A[i, j]") == "none");
}

TEST_CASE("faults: accesses that are not proved, and divisions by what may be zero") {
  const auto faults = [](const char* value) {
    const PrimFuncPtr function =
        prim_func(std::string("        for i, j in T.grid(n, 8): B[i, j] = ") + value + "\n");
    RangeProver prover = inside_loops(*function);
    return std::pair(may_fault(all_of<Store>(*function).at(0)->value, prover), may_fault(*function));
  };
  using Both = std::pair<bool, bool>;  // with accesses, without
  CHECK(faults("A[i, j]") == Both(false, false));
  CHECK(faults("A[i, j] / T.float32(0)") == Both(false, false));
  CHECK(faults("A[i, j + 1]") == Both(true, false));
  CHECK(faults("A[i // 2, j]") == Both(false, false));
  CHECK(faults("A[i, 8 % n]") == Both(true, true));
  CHECK(faults("T.Cast(\"float32\", i // n)") == Both(true, true));
  CHECK(faults("T.Cast(\"float32\", i // 0)") == Both(true, true));
  CHECK(faults("T.Cast(\"float32\", T.shift_left(i, 3))") == Both(false, false));
  // Neither loop counts below 0, nor can an unsigned number lie there.
  CHECK(faults("T.Cast(\"float32\", T.shift_left(i, j))") == Both(false, true));
  CHECK(faults("T.Cast(\"float32\", T.shift_left(i, j - 1))") == Both(true, true));
  CHECK(faults("T.Cast(\"float32\", T.shift_right(T.uint8(8), T.Cast(\"uint8\", j % 2 * 4)))") ==
        Both(false, false));
}

TEST_CASE("iterations: which loops may run at once") {
  const auto independent = [](const char* body) {
    const PrimFuncPtr function = prim_func(body);
    RangeProver prover;
    for (const Scalar& dim : function->params[0].buffer()->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
    return independent_iterations(*function->body.as<For>(), prover);
  };
  CHECK(independent("        for i in range(n): B[i, 0] = A[i, 0]\n"));
  CHECK(independent("        for i in range(n): B[i, 0] = B[i, 0] + A[0, 0]\n"));
  CHECK_FALSE(independent("        for i in range(n): B[i, 0] = B[i, 1] + B[0, 0]\n"));
  CHECK_FALSE(independent("        for i in range(n): C[0] = C[0] + A[i, 0]\n"));
  CHECK_FALSE(independent("        for i in range(n): B[i // 2, 0] = A[i, 0]\n"));
  // Blocks that touch and blocks that overlap.
  CHECK(independent("        for i in range(2):\n            for j in range(4): C[i * 4 + j] = A[0, j]\n"));
  CHECK_FALSE(
      independent("        for i in range(2):\n            for j in range(5): C[i * 4 + j] = A[0, j]\n"));
  CHECK_FALSE(
      independent("        for i in range(2):\n            for j in range(4): C[i * 4 + j] = C[j]\n"));
  // Blocks whose places are quotients and remainders of what the loops inside count.
  const auto by_digits = [&](const char* index, const char* rest) {
    return independent((std::string("        for i in range(2):\n            for j in range(36): B[") +
                        index + ", " + rest + "] = A[0, j]\n")
                           .c_str());
  };
  CHECK(by_digits("i * 4 + j // 9", "j // 3 % 3"));
  CHECK(by_digits("i * 3 + j % 3", "j // 9"));
  CHECK(by_digits("T.min(j // 9, 1) + j % 2 + i * 3", "0"));
  CHECK_FALSE(by_digits("i * 3 + j // 9", "j % 8"));
  CHECK_FALSE(by_digits("i * 3 + j % 4", "j // 9"));
  CHECK_FALSE(by_digits("i * 4 + j // 9 - 1", "j // 3 % 3"));
  CHECK_FALSE(by_digits("i * 4 + (j + i) // 9", "j // 3 % 3"));
  // Blocks that come around again in 32 bits.
  CHECK(independent(
      "        for i in range(4096):\n            for j in range(4): C[i * 1048576 + j] = A[0, j]\n"));
  CHECK_FALSE(independent(
      "        for i in range(4097):\n            for j in range(4): C[i * 1048576 + j] = A[0, j]\n"));
}

TEST_CASE("work: literal extents multiply, others are not known") {
  CHECK(constant_work(prim_func("        for i in range(8): C[i] = A[0, i]\n")->body) == 8);
  CHECK(constant_work(prim_func("        for i in range(8): C[i] = T.exp(A[0, i])\n")->body) == 32);
  CHECK_FALSE(constant_work(prim_func("        for i in range(n): B[i, 0] = A[i, 0]\n")->body));
  const PrimFuncPtr unrolled = prim_func("        for i in T.unroll(8): C[i] = A[0, i]\n");
  CHECK(unrolls(*unrolled->body.as<For>()));
  CHECK_FALSE(has_loop(unrolled->body));
  CHECK_FALSE(unrolls(*prim_func("        for i in T.unroll(n): C[0] = A[i, 0]\n")->body.as<For>()));
}

TEST_CASE("work: the time of vectors is that of what they compute, and of what goes to memory") {
  const auto time_of = [](const std::string& loop) {
    const PrimFuncPtr function = prim_func(
        "        with T.sblock(\"tile\"):\n            tile = T.alloc_buffer((64,), \"float32\", "
        "scope=\"local\")\n            for i in " +
        loop + "\n");
    return time_of_vectors(*all_of<For>(*function).front());
  };
  const std::string place = "T.min(n - 1, n // 2 * 3 + n % 7 * 2)";
  CHECK(time_of("T.vectorized(64): tile[i] = tile[i] + A[" + place + ", 0] * B[" + place + ", 1]") == 4);
  CHECK(time_of("T.vectorized(40): tile[i] = T.exp(A[0, 0])") == 12);
  CHECK(time_of("T.vectorized(8): C[i] = A[" + place + ", i]") == 2);
  CHECK(time_of("T.vectorized(8):\n                if i < n:\n                    C[i] = A[0, i]") == 2);
  CHECK_FALSE(time_of("range(64): tile[i] = A[0, 0]"));
  CHECK_FALSE(
      time_of("T.vectorized(8):\n                if i < n:\n                    C[i] = A[0, i]\n"
              "                else:\n                    C[i] = A[0, 0]"));
}

TEST_CASE("written first: whole buffers, before they are read") {
  CHECK(first_written(column_sums) == "");  // n may be 0, and then nothing is stored by this nest
  CHECK(first_written("        for j in range(8): C[j] = T.float32(0)\n") == "C");
  CHECK(first_written("        for j in range(7): C[j] = T.float32(0)\n") == "");
  CHECK(first_written("        for i, j in T.grid(n, 8): B[i, j] = A[i, j]\n") == "B");
  CHECK(first_written("        for i, j in T.grid(n, 8): B[i, j] = B[i, j] + A[i, j]\n") == "");
  CHECK(first_written("        for i, j in T.grid(n, 8): B[i, 7 - j] = A[i, j]\n") == "");
}

TEST_CASE("written first: a clearing and what is added behind it, in one loop") {
  const auto summed = [](const char* read) {
    return first_written(
        std::string("        for i in range(n):\n            for j in range(8):\n"
                    "                B[i, j] = T.float32(0)\n            for j in range(8):\n"
                    "                B[i, j] = ") +
        read + " + A[i, j]\n");
  };
  CHECK(summed("B[i, j]") == "B");
  CHECK(summed("B[i, 7 - j]") == "B");     // the row is written
  CHECK(summed("B[n - 1 - i, j]") == "");  // another row is not
  CHECK(first_written("        for i in range(n):\n            for j in range(8): C[j] = T.float32(0)\n") ==
        "");
}
