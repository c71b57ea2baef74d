// Printing of scalars and prim_funcs.
#include <catch2/catch.hpp>

#include <limits>

#include "graph_samples.h"
#include "ir/printer/printer.h"

using namespace relish;
using namespace relish::samples;

namespace {

// The value's text. Calls stand as statements by themselves, other values in T.evaluate(...).
std::string value_text(const Scalar& value) {
  std::string text = print(make_stmt(Evaluate{value}));
  REQUIRE(text.ends_with("\n"));
  text.pop_back();
  if (!text.starts_with("T.evaluate(")) return text;
  return text.substr(11, text.size() - 12);
}

Scalar int32(std::int64_t value) { return int_literal(DType::Int32, value); }

}  // namespace

TEST_CASE("scalars print with as few parentheses as precedence allows") {
  Scalar a(ScalarVar("a", DType::Int32)), b(ScalarVar("b", DType::Int32)), c(ScalarVar("c", DType::Int32));
  CHECK(value_text(a + b - c) == "a + b - c");
  CHECK(value_text(a - (b - c)) == "a - (b - c)");
  CHECK(value_text(a * (b + c)) == "a * (b + c)");
  CHECK(value_text((a + b) * c) == "(a + b) * c");
  CHECK(value_text(a * b + c) == "a * b + c");
  CHECK(value_text(a + b * c) == "a + b * c");
  CHECK(value_text(floor_div(a, b) * c) == "a // b * c");
  CHECK(value_text(floor_mod(a, floor_div(b, c))) == "a % (b // c)");
  CHECK(value_text(a / b) == "T.Div(a, b)");
  CHECK(value_text(binary(BinaryOp::TruncMod, a, b + c)) == "T.truncmod(a, b + c)");
  CHECK(value_text(min(a, max(b, c))) == "T.min(a, T.max(b, c))");
  CHECK(value_text(logical(LogicalOp::And, a < b, logical(LogicalOp::Or, b < c, a >= c))) ==
        "a < b and (b < c or a >= c)");
  CHECK(value_text(logical(LogicalOp::And, logical(LogicalOp::And, a < b, b < c), logical_not(a > c))) ==
        "a < b and b < c and not a > c");
  CHECK(value_text(logical_not(logical(LogicalOp::And, a < b, b < c))) == "not (a < b and b < c)");
  CHECK(value_text(equal(cast(DType::Int32, a < b), cast(DType::Int32, b < c))) ==
        "T.Cast(\"int32\", a < b) == T.Cast(\"int32\", b < c)");
  CHECK(value_text(a + int32(-1)) == "a + -1");
  CHECK(value_text(int32(-1) * a) == "-1 * a");
  CHECK(value_text(if_then_else(a < b, a, b)) == "T.if_then_else(a < b, a, b)");
  CHECK(value_text(select(a < b, a, b)) == "T.Select(a < b, a, b)");
}

TEST_CASE("literals show their dtype unless it is the plain one") {
  CHECK(value_text(int32(4)) == "4");
  CHECK(value_text(Scalar(4)) == "T.int64(4)");
  CHECK(print(Scalar(4)) == "4");
  CHECK(value_text(int_literal(DType::UInt64, -1)) == "T.max_value(\"uint64\")");
  CHECK(value_text(bool_literal(true)) == "T.bool(True)");
  CHECK(value_text(float_literal(DType::Float32, 1)) == "T.float32(1.0)");
  CHECK(value_text(float_literal(DType::Float32, 0.1f)) == "T.float32(0.1)");
  CHECK(value_text(float_literal(DType::Float32, 0.1)) == "T.float32(0.1)");
  CHECK(value_text(float_literal(DType::Float16, 0.1)) == "T.float16(0.1)");
  CHECK(value_text(float_literal(DType::BFloat16, 1.0 / 3)) == "T.bfloat16(0.334)");
  CHECK(value_text(float_literal(DType::Float32, std::numeric_limits<float>::lowest())) ==
        "T.float32(-3.4028235e+38)");
  CHECK(value_text(float_literal(DType::Float64, 1e-5)) == "T.float64(1e-05)");
  CHECK(value_text(float_literal(DType::Float32, -std::numeric_limits<double>::infinity())) ==
        "T.float32(\"-inf\")");
  CHECK(value_text(intrinsic(Intrinsic::Exp, {float_literal(DType::Float32, 1)})) == "T.exp(T.float32(1.0))");
}

TEST_CASE("a long chain of operators prints without deep recursion") {
  Scalar a(ScalarVar("a", DType::Int32));
  Scalar sum = a;
  for (int i = 0; i < 100000; ++i) sum = sum + a;
  CHECK(value_text(sum).size() == 400001);
}

TEST_CASE("a spatial prim_func prints as grid and block") {
  PrimFunc function = add_one({2, 3});
  function.attributes = {{"op_pattern", 0}, {"noalias", true}};
  CHECK(print(function) == R"(@T.prim_func(private=True, s_tir=True)
def add_one(A: T.Buffer((T.int64(2), T.int64(3)), "float32"), B: T.Buffer((T.int64(2), T.int64(3)), "float32")):
    T.func_attr({"op_pattern": 0, "tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1 in T.grid(T.int64(2), T.int64(3)):
        with T.sblock("B"):
            v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
            T.reads(A[v_i0, v_i1])
            T.writes(B[v_i0, v_i1])
            B[v_i0, v_i1] = A[v_i0, v_i1] + T.float32(1.0)
)");
}

TEST_CASE(
    "symbolic buffers are matched in the body; reductions have an init; temporaries stand at the root") {
  ScalarVar n("n", DType::Int64);
  LoopBuilder builder;
  Buffer a = builder.input("A", floats({Scalar(n), 4}));
  Buffer c = builder.output("C", floats({}));
  Buffer t = builder.temporary("T", {Scalar(n)}, DType::Int32);  // as the namespace: renamed
  builder.spatial("T", {Scalar(n)},
                  [&](const std::vector<Scalar>& v) { return builder.store(t, v, int32(0)); });
  builder.spatial_reduce(
      "C", {}, {Scalar(n), 4},
      [&](const std::vector<Scalar>&, const std::vector<Scalar>& k) {
        return builder.store(c, {}, builder.load(c, {}) + builder.load(a, k));
      },
      [&](const std::vector<Scalar>&) { return builder.store(c, {}, float_literal(DType::Float32, 0)); });
  CHECK(print(builder.finish("total")) == R"(@T.prim_func(s_tir=True)
def total(var_A: T.handle, C: T.Buffer((), "float32")):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    A = T.match_buffer(var_A, (n, T.int64(4)))
    # with T.sblock("root"):
    T_1 = T.sblock_alloc_buffer((n,), "int32")
    for i0 in range(n):
        with T.sblock("T"):
            v_i0 = T.axis.spatial(n, i0)
            T.reads()
            T.writes(T_1[v_i0])
            T_1[v_i0] = 0
    for k0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("C"):
            v_k0, v_k1 = T.axis.remap("RR", [k0, k1])
            T.reads(A[v_k0, v_k1])
            T.writes(C[()])
            with T.init():
                C[()] = T.float32(0.0)
            C[()] = C[()] + A[v_k0, v_k1]
)");
}

TEST_CASE("statements of every kind print") {
  Buffer a("A", DType::Int32, {int32(16)});
  ScalarVar i("i", DType::Int32), j("j", DType::Int32), x("x", DType::Int32), v("v", DType::Int32);
  BlockStmt block{.name = "tile",
                  .iters = {{v, IterKind::Spatial, int32(0), int32(16), Scalar(i) * int32(4) + Scalar(j)}},
                  .predicate = Scalar(i) < int32(3),
                  .reads = std::nullopt,
                  .writes = std::vector<BufferRegion>{{a, {{int32(0), int32(16)}}}},
                  .allocations = {Buffer("L", DType::Float32, {int32(2)}, "local")},
                  .init = {},
                  .body = make_stmt(Store{a, {v}, load(a, {v})}),
                  .attributes = {{"axis", 1}}};
  Stmt tile = make_stmt(For{i,
                            int32(0),
                            int32(4),
                            LoopKind::Parallel,
                            make_stmt(For{j, int32(1), int32(3), LoopKind::Vectorized, make_stmt(block), {}}),
                            {}});
  Stmt chain =
      make_stmt(IfStmt{Scalar(x) < int32(1), make_stmt(AssignScalar{x, int32(2)}),
                       make_stmt(IfStmt{Scalar(x) > int32(5), seq({}), make_stmt(Evaluate{int32(0)})})});
  Stmt body = seq({make_stmt(DefineScalar{x, load(a, {int32(0)})}),
                   make_stmt(AllocateStmt{Buffer("S", DType::Float32, {int32(8)})}),
                   make_stmt(While{Scalar(x) > int32(0), make_stmt(AssignScalar{x, Scalar(x) - int32(1)})}),
                   chain, make_stmt(AssertStmt{equal(x, int32(0)), "x is left"}), tile});
  CHECK(print(body) == R"(x: T.int32 = A[0]
S = T.alloc_buffer((8,))
while x > 0:
    x = x - 1
if x < 1:
    x = 2
elif x > 5:
    T.evaluate(0)
else:
    T.evaluate(0)
assert x == 0, "x is left"
for i in T.parallel(4):
    for j in T.vectorized(1, 4):
        with T.sblock("tile"):
            v = T.axis.spatial(16, i * 4 + j)
            T.where(i < 3)
            T.reads(A[v])
            T.writes(A[0:16])
            T.sblock_attr({"axis": 1})
            L = T.sblock_alloc_buffer((2,), scope="local")
            A[v] = A[v]
)");
}

TEST_CASE("an empty prim_func and names in nests that follow each other") {
  PrimFunc function;
  function.name = "nothing";
  function.params = {{ScalarVar("n", DType::Int64)}};
  CHECK(print(function) == "@T.prim_func(s_tir=True)\ndef nothing(n: T.int64):\n    T.evaluate(0)\n");
  Buffer a("A", DType::Int32, {int32(4)});
  auto nest = [&] {
    ScalarVar i("i", DType::Int32), inner("i", DType::Int32);
    return make_stmt(
        For{i,
            int32(0),
            int32(4),
            LoopKind::Serial,
            make_stmt(For{
                inner, int32(0), Scalar(i), LoopKind::Serial, make_stmt(Store{a, {i}, Scalar(inner)}), {}}),
            {}});
  };
  CHECK(print(seq({nest(), nest()})) == R"(for i in range(4):
    for i_1 in range(i):
        A[i] = i_1
for i in range(4):
    for i_1 in range(i):
        A[i] = i_1
)");
}
