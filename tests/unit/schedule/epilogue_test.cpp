// What follows a contraction and stores it in another order: the factor that lies along that order gives the
// columns.
#include <fmt/format.h>

#include "loops/accesses.h"
#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// The products P (2, 19, 21) of A and B by items, then `behind` for each element P[b, i, j].
ModulePtr followed(const std::string& result, const std::string& behind) {
  return read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((2, 19, 12), \"float32\"), "
      "B: T.Buffer((2, 12, 21), \"float32\"), D: T.Buffer((21, 2, 19), \"float32\"), C: T.Buffer(" +
          result +
          ", \"float32\")):\n        P = T.alloc_buffer((2, 19, 21), \"float32\")\n"
          "        Q = T.alloc_buffer((21, 2, 19), \"float32\")\n"
          "        for b, i, j, l in T.grid(2, 19, 21, 12):\n            with T.sblock(\"P\"):\n"
          "                vb, vi, vj, vl = T.axis.remap(\"SSSR\", [b, i, j, l])\n"
          "                with T.init():\n                    P[vb, vi, vj] = T.float32(0)\n"
          "                P[vb, vi, vj] = P[vb, vi, vj] + A[vb, vi, vl] * B[vb, vl, vj]\n"
          "        for b, i, j in T.grid(2, 19, 21):\n            " +
          behind + "\n");
}

std::vector<Value> arguments() {
  return {small_numbers(DType::Float32, {2, 19, 12}, 7), small_numbers(DType::Float32, {2, 12, 21}, 5),
          small_numbers(DType::Float32, {21, 2, 19}, 3)};
}

// Whether the innermost loop around every store to C runs along its memory.
bool stores_along_memory(const Module& module) {
  int stores = 0, along = 0;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (!loop) return;
    bool innermost = true;
    for_each_stmt(loop->body, [&](const Stmt& inside) { innermost = innermost && !inside.as<For>(); });
    if (!innermost) return;
    for_each_stmt(loop->body, [&](const Stmt& inside) {
      const auto* store = inside.as<Store>();
      if (!store || store->buffer.name() != "C") return;
      ++stores;
      std::vector<ScalarVar> vars;
      collect_vars(store->indices.back(), vars);
      along += std::find(vars.begin(), vars.end(), loop->var) != vars.end();
    });
  });
  return stores > 0 && stores == along;
}

bool asks(const Module& module) {
  bool found = false;
  for_each_stmt(module.prim_func("f")->body,
                [&](const Stmt& stmt) { found = found || stmt.as<Evaluate>() != nullptr; });
  return found;
}

}  // namespace

TEST_CASE("epilogue: columns are what the result of it has along memory") {
  for (const auto& [result, behind] :
       {std::pair<std::string, std::string>{"(21, 2, 19)", "C[j, b, i] = T.max(P[b, i, j], T.float32(0))"},
        {"(2, 21, 1, 19)", "C[b, j, 0, i] = P[b, i, j] * T.float32(2)"},
        {"(2, 19, 21)", "C[b, i, j] = P[b, i, j] * T.float32(2)"},
        {"(19, 2, 21)", "C[i, b, j] = P[b, i, j] * T.float32(2)"}}) {
    const ModulePtr module = followed(result, behind);
    check_schedules(module, arguments(), "tile");
    for (const Target& target : many_targets()) CHECK(stores_along_memory(schedule(*module, target)));
  }
}

TEST_CASE("epilogue: what is read along the memory of the result is asked for, in whatever order that is") {
  const ModulePtr along = followed("(21, 2, 19)", "C[j, b, i] = P[b, i, j] + D[j, b, i]");
  check_schedules(along, arguments(), "tile");
  const ModulePtr across = followed("(2, 19, 21)", "C[b, i, j] = P[b, i, j] + D[j, b, i]");
  check_schedules(across, arguments(), "tile");
  for (const Target& target : many_targets()) {
    CHECK(asks(schedule(*along, target)));
    CHECK(stores_along_memory(schedule(*along, target)));
    CHECK_FALSE(asks(schedule(*across, target)));
  }
}

TEST_CASE("epilogue: what is stored in two orders is computed in that of the product") {
  const std::string text =
      "C[b, i, j] = P[b, i, j]\n            Q[j, b, i] = P[b, i, j] + T.float32(1)\n"
      "        for b, i, j in T.grid(2, 19, 21):\n"
      "            C[b, i, j] = C[b, i, j] * Q[j, b, i] + D[j, b, i]";
  const ModulePtr module = followed("(2, 19, 21)", text);
  check_schedules(module, arguments(), "tile");
  for (const Target& target : many_targets()) CHECK(stores_along_memory(schedule(*module, target)));
}

TEST_CASE("epilogue: a product that others read too keeps its order, as it is stored") {
  const std::string text =
      "Q[j, b, i] = P[b, i, j] + D[j, b, i]\n        for b, i, j in T.grid(2, 19, 21):\n"
      "            C[b, i, j] = P[b, i, j] * Q[j, b, i]";
  check_schedules(followed("(2, 19, 21)", text), arguments(), "tile");
}

TEST_CASE("epilogue: dimensions that are joined where it stores are stored along memory") {
  for (const auto& [result, behind] :
       {std::pair<std::string, std::string>{"(2, 19 * 21)", "C[b, i * 21 + j] = P[b, i, j] * T.float32(2)"},
        {"(19, 2 * 21 + 5)", "C[i, b * 21 + j + 5] = P[b, i, j]"},
        {"(21, 2 * 19)", "C[j, b * 19 + i] = P[b, i, j]"},
        {"(2, 19 * 21)", "C[b, j * 19 + i] = P[b, i, j]"}}) {
    INFO(behind);
    const ModulePtr module = followed(result, behind);
    check_schedules(module, arguments(), "tile");
    for (const Target& target : many_targets()) CHECK(stores_along_memory(schedule(*module, target)));
  }
}
