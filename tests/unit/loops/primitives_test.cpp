// Splitting, unroll and jam, copies with variables of their own: as text.
#include "loops/primitives.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// The function with another body, verified as read back, printed without its header.
std::string text_with(const PrimFuncPtr& function, const Stmt& body) {
  auto changed = std::make_shared<PrimFunc>(*function);
  changed->body = body;
  Module module;
  module.name = "M";
  module.set(PrimFuncPtr(changed));
  const std::string text = print(module);
  CHECK(print(*read_module("again.relish", text)) == text);
  return text.substr(text.find("        for"));
}

}  // namespace

TEST_CASE("split: rounds of a literal number, the last one shorter") {
  const PrimFuncPtr function = prim_func("        for i in range(8): C[i] = A[0, i]\n");
  const auto made = [&](std::int64_t factor) {
    return text_with(function, split(*function->body.as<For>(), {}, factor,
                                     [](const For& inner) { return make_stmt(inner); }));
  };
  CHECK(made(4) ==
        "        for i_0, i_1 in T.grid(2, 4):\n            C[i_0 * 4 + i_1] = A[0, i_0 * 4 + i_1]\n");
  CHECK(made(3) ==
        "        for i_0 in range(3):\n            for i_1 in range(T.min(3, 8 - i_0 * 3)):\n"
        "                C[i_0 * 3 + i_1] = A[0, i_0 * 3 + i_1]\n");
}

TEST_CASE("unroll and jam: whole sweeps, and what remains") {
  const PrimFuncPtr function = prim_func("        for k, j in T.grid(n, 8): C[j] = C[j] + A[k, j]\n");
  CHECK(text_with(function, unroll_and_jam(*function->body.as<For>(), {}, 4)) ==
        "        for k_0, j in T.grid(n // T.int64(4), 8):\n"
        "            for k_1 in T.unroll(T.int64(4)):\n"
        "                C[j] = C[j] + A[k_0 * T.int64(4) + k_1, j]\n"
        "        for k_1, j in T.grid(n - n // T.int64(4) * T.int64(4), 8):\n"
        "            C[j] = C[j] + A[n // T.int64(4) * T.int64(4) + k_1, j]\n");
}

TEST_CASE("unroll and jam: fewer iterations than a sweep has") {
  const PrimFuncPtr function = prim_func("        for k, j in T.grid(3, 8): C[j] = C[j] + A[k, j]\n");
  CHECK(text_with(function, unroll_and_jam(*function->body.as<For>(), {}, 4)) ==
        text_with(function, function->body));
}

TEST_CASE("unroll and jam: what remains of an open number has no sweeps of its own") {
  const PrimFuncPtr function =
      prim_func("        for k, j in T.grid(n - n // T.int64(4) * T.int64(4), 8): C[j] = C[j] + A[k, j]\n");
  CHECK(text_with(function, unroll_and_jam(*function->body.as<For>(), {}, 4)) ==
        text_with(function, function->body));
}

TEST_CASE("a fresh copy binds variables and buffers of its own") {
  const PrimFuncPtr function = prim_func(
      "        for i in range(8):\n            with T.sblock(\"b\"):\n"
      "                vi = T.axis.spatial(8, i)\n                t = T.sblock_alloc_buffer((4,))\n"
      "                t[0] = A[0, vi]\n                C[vi] = t[0]\n");
  const Stmt copy = fresh_copy(function->body);
  CHECK_FALSE(copy.as<For>()->var == function->body.as<For>()->var);
  // Both in one function: nothing is bound twice.
  const std::string text = text_with(function, seq({function->body, copy}));
  CHECK(text.substr(0, text.size() / 2) == text.substr(text.size() / 2));
}
