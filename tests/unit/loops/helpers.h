// prim_funcs written as text, and what stands in them, for tests of loop nests.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "loops/range_prover.h"
#include "tests/unit/catch_failure.h"

namespace relish::test {

// The prim_func f of n, A: (n, 8), B: (n, 8), C: (8,) with `body` indented by eight blanks.
inline PrimFuncPtr prim_func(const std::string& body) {
  const std::string text =
      "@I.ir_module(check_well_formed=False)\nclass M:\n    @T.prim_func\n"
      "    def f(a: T.handle, b: T.handle, c: T.handle):\n        n = T.int64()\n"
      "        A = T.match_buffer(a, (n, 8), \"float32\")\n        B = T.match_buffer(b, (n, 8), "
      "\"float32\")\n"
      "        C = T.match_buffer(c, (8,), \"float32\")\n" +
      body;
  return read_module("test.relish", text)->prim_func("f");
}

// The statements of a kind, in the order of the text.
template <class K>
std::vector<const K*> all_of(const PrimFunc& function) {
  std::vector<const K*> found;
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const K* one = stmt.as<K>()) found.push_back(one);
  });
  return found;
}

// A prover that knows the sizes of the function's buffers, inside all of its loops.
inline RangeProver inside_loops(const PrimFunc& function) {
  RangeProver prover;
  for (const PrimParam& param : function.params)
    for (const Scalar& dim : param.buffer()->shape())
      if (const auto var = dim.as_var()) prover.assume_dimension(*var);
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* loop = stmt.as<For>()) prover.enter_loop(loop->var, loop->begin, loop->extent);
    if (const auto* block = stmt.as<BlockStmt>())
      for (const IterVar& iter : block->iters) prover.bind(iter.var, iter.binding);
  });
  return prover;
}

}  // namespace relish::test
