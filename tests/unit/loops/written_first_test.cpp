// What is written whole before it is read, which loops are independent, and how much a loop counts as.
#include "loops/written_first.h"

#include "loops/iterations.h"
#include "loops/work.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// Whether a buffer of 24 elements, which the body allocates, is written before it is read.
bool all_written(const std::string& stores) {
  const PrimFuncPtr function = prim_func(
      "        with T.sblock(\"b\"):\n"
      "            held = T.sblock_alloc_buffer((24,), \"float32\")\n" +
      stores +
      "            for j in range(8):\n"
      "                C[j] = held[j]\n");
  RangeProver prover;
  const BlockStmt* block = nullptr;
  for_each_stmt(function->body, [&](const Stmt& stmt) {
    const auto* found = stmt.as<BlockStmt>();
    if (found && !found->allocations.empty()) block = found;
  });
  REQUIRE(block != nullptr);
  return written_first(block->body, block->allocations, prover).size() == 1;
}

// The same of a buffer that only the body sees, of (4, 6) elements; `reads` stands behind the stores.
bool reads_written(const std::string& stores, const std::string& reads) {
  const PrimFuncPtr function = prim_func(
      "        with T.sblock(\"b\"):\n"
      "            held = T.sblock_alloc_buffer((4, 6), \"float32\")\n" +
      stores + reads);
  RangeProver prover;
  const BlockStmt* block = nullptr;
  for_each_stmt(function->body, [&](const Stmt& stmt) {
    const auto* found = stmt.as<BlockStmt>();
    if (found && !found->allocations.empty()) block = found;
  });
  REQUIRE(block != nullptr);
  return written_before_reads(block->body, block->allocations, prover).size() == 1;
}

}  // namespace

TEST_CASE("written first: of a buffer that nobody else sees the elements that are read count") {
  const std::string part =
      "            for i, j in T.grid(4, 5):\n                held[i, j] = T.float32(0)\n";
  const auto read = [](const char* loops, const char* at) {
    return std::string("            for ") + loops + ":\n                C[0] = held[" + at + "]\n";
  };
  CHECK(reads_written(part, read("i, j in T.grid(4, 5)", "i, j")));
  CHECK(reads_written(part, read("i, j in T.grid(2, 2)", "i + 2, j * 2 + 1")));
  CHECK(reads_written(part, read("i, j in T.grid(4, 5)", "i, j") + read("j in range(5)", "3, 4 - j")));
  // A loop that may not run once, around what writes: only what stands in it finds all written.
  const std::string rounds = "            for k in range(n):\n    ";
  const auto inside = [](std::string lines) {
    for (std::size_t at = lines.find("\n "); at != std::string::npos; at = lines.find("\n ", at + 1))
      lines.insert(at + 1, "    ");
    return lines;
  };
  CHECK(reads_written(rounds + inside(part), inside("    " + read("i, j in T.grid(4, 5)", "i, j"))));
  CHECK_FALSE(reads_written(rounds + inside(part), read("i, j in T.grid(4, 5)", "i, j")));
  CHECK_FALSE(reads_written(rounds + inside(part), inside("    " + read("i, j in T.grid(4, 6)", "i, j"))));
  // So many elements of each part of n, wherever the part begins.
  const std::string parts =
      "            for k in range((n + 3) // 4):\n"
      "                for i, j in T.grid(T.min(4, n - k * 4), 6):\n"
      "                    held[i, j] = T.float32(0)\n";
  const std::string taken = "                for i, j in T.grid(T.min(4, n - k * 4), 6):\n";
  CHECK(reads_written(parts, taken + "                    C[0] = held[i, j]\n"));
  CHECK_FALSE(reads_written(parts, taken + "                    C[0] = held[i + 1, j]\n"));
  // Of a dimension that several loops count one may be of any length.
  const std::string pairs =
      "            for i, j, l in T.grid(4, n, 2):\n                held[i, j * 2 + l] = T.float32(0)\n";
  CHECK(reads_written(pairs, read("i, j in T.grid(4, n)", "i, j * 2 + 1")));
  CHECK(reads_written(pairs, read("i, j in T.grid(4, n * 2)", "i, j")));
  CHECK_FALSE(reads_written(pairs, read("i, j in T.grid(4, n * 2 + 1)", "i, j")));
  CHECK_FALSE(reads_written(pairs, read("i, j in T.grid(4, n)", "i, j * 2 + 2")));
  CHECK_FALSE(reads_written(
      "            for i, j, l in T.grid(4, n, n):\n                held[i, j * n + l] = T.float32(0)\n",
      read("i, j in T.grid(4, n * n)", "i, j")));
  CHECK_FALSE(reads_written(part, read("i, j in T.grid(4, 6)", "i, j")));
  CHECK_FALSE(reads_written(part, read("i, j in T.grid(4, 5)", "i, j + 1")));
  CHECK_FALSE(reads_written(part, read("i, j in T.grid(4, 5)", "i, j") + read("j in range(6)", "3, j")));
  // One that is written in rounds is not whole when the first of them reads.
  CHECK_FALSE(
      reads_written("            for i in range(5):\n                for j in range(4):\n"
                    "                    held[j, i] = T.float32(0)\n"
                    "                for j, k in T.grid(4, 5):\n"
                    "                    C[j] = held[j, k]\n",
                    ""));
}

TEST_CASE("written first: an index that counts several loops covers the product of their extents") {
  const auto in_loops = [](const char* index, const char* loops) {
    return std::string("            for ") + loops + ":\n                held[" + index +
           "] = T.float32(0)\n";
  };
  CHECK(all_written(in_loops("i", "i in range(24)")));
  CHECK(all_written(in_loops("a * 8 + b", "a, b in T.grid(3, 8)")));
  CHECK(all_written(in_loops("b * 3 + a", "a, b in T.grid(3, 8)")));
  CHECK(all_written(in_loops("(a * 4 + b) * 2 + c", "a, b, c in T.grid(3, 4, 2)")));
  // A loop of one round adds nothing, however far it would reach.
  CHECK(all_written(in_loops("a * 100 + b", "a, b in T.grid(1, 24)")));
  CHECK_FALSE(all_written(in_loops("a * 100 + b", "a, b in T.grid(1, 23)")));
  CHECK_FALSE(all_written(in_loops("a * 12 + b", "a, b in T.grid(2, 24)")));
  // Rounds whose last one is shorter.
  CHECK(
      all_written("            for a in range(4):\n                for b in range(T.min(7, 24 - a * 7)):\n"
                  "                    held[a * 7 + b] = T.float32(0)\n"));
  CHECK(
      all_written("            for a in range(2):\n                for b in range(T.min(5, 8 - a * 5)):\n"
                  "                    for c in range(3):\n"
                  "                        held[a * 15 + (b * 3 + c)] = T.float32(0)\n"));
  for (const char* wrong : {"(7, 24 - a * 7)):\n                    held[a * 7 + b + 1]",
                            "(7, 24 - a * 6)):\n                    held[a * 7 + b]",
                            "(6, 24 - a * 7)):\n                    held[a * 7 + b]",
                            "(7, 23 - a * 7)):\n                    held[a * 7 + b]"})
    CHECK_FALSE(
        all_written(std::string("            for a in range(4):\n                for b in range(T.min") +
                    wrong + " = T.float32(0)\n"));
  CHECK_FALSE(
      all_written("            for a in range(3):\n                for b in range(T.min(7, 24 - a * 7)):\n"
                  "                    held[a * 7 + b] = T.float32(0)\n"));
  // Elements are left out, or stored twice.
  CHECK_FALSE(all_written(in_loops("i", "i in range(23)")));
  CHECK_FALSE(all_written(in_loops("a * 8 + b", "a, b in T.grid(3, 7)")));
  CHECK_FALSE(all_written(in_loops("a * 8 + b", "a, b in T.grid(2, 8)")));
  CHECK_FALSE(all_written(in_loops("a * 7 + b", "a, b in T.grid(3, 8)")));
  CHECK_FALSE(all_written(in_loops("a * 8 + b + 1", "a, b in T.grid(2, 8)")));
  CHECK_FALSE(all_written(in_loops("a + b", "a, b in T.grid(3, 8)")));
}

TEST_CASE("written first: both branches of a condition that does not read it") {
  const auto branches = [](const char* condition, const char* other) {
    return std::string("            if ") + condition +
           ":\n                for i in range(24):\n                    held[i] = T.float32(1)\n" + other;
  };
  const char* all =
      "            else:\n                for i in range(24):\n                    held[i] = T.float32(0)\n";
  const char* some =
      "            else:\n                for i in range(23):\n                    held[i] = T.float32(0)\n";
  CHECK(all_written(branches("C[0] == T.float32(0)", all)));
  CHECK_FALSE(all_written(branches("C[0] == T.float32(0)", some)));
  CHECK_FALSE(all_written(branches("C[0] == T.float32(0)", "")));
  CHECK_FALSE(all_written(branches("held[0] == T.float32(0)", all)));
}

TEST_CASE("independent iterations: what loops around count moves no store") {
  const auto inner = [](const std::string& store) {
    const PrimFuncPtr function = prim_func(
        "        for o in range(2):\n            for i in range(4):\n                " + store + "\n");
    RangeProver prover;
    const For& outer = *function->body.as<For>();
    prover.enter_loop(outer.var, outer.begin, outer.extent);
    return independent_iterations(*outer.body.as<For>(), prover);
  };
  CHECK(inner("C[o * 4 + i] = T.float32(1)"));
  CHECK(inner("C[o + i] = C[o + i] + T.float32(1)"));
  CHECK_FALSE(inner("C[o * 4 + i // 2] = T.float32(1)"));
  CHECK_FALSE(inner("C[o * 4 + i] = C[o * 4] + T.float32(1)"));
}

TEST_CASE("work: vectors of registers count once for sixteen of their elements") {
  const auto counted = [](const std::string& scope) {
    const PrimFuncPtr function = prim_func(
        "        with T.sblock(\"b\"):\n"
        "            held = T.sblock_alloc_buffer((40,), \"float32\", scope=\"" +
        scope +
        "\")\n"
        "            for i in T.vectorized(40):\n                held[i] = T.float32(0)\n");
    return counted_iterations(*all_of<For>(*function).front());
  };
  CHECK(counted("local") == 3);
  CHECK(counted("global") == 40);
}

TEST_CASE("written first: loops that never run write nothing, and looking for them ends") {
  const auto flat = [](const char* loops, const char* at) {
    return all_written(std::string("            for ") + loops + ":\n                held[" + at +
                       "] = T.float32(0)\n");
  };
  CHECK(flat("i, j in T.grid(4, 6)", "i * 6 + j"));
  CHECK_FALSE(flat("i, j in T.grid(4, 0)", "i * 6 + j"));
  CHECK_FALSE(flat("i, j in T.grid(0, 6)", "i * 6 + j"));
  CHECK_FALSE(flat("i, j, k in T.grid(0, 0, 24)", "i * 6 + j * 2 + k"));
}
