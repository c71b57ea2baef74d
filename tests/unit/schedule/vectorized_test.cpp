// T.vectorized loops in compiled code: the same as one iteration after the other, whatever they read.
#include "interp/interpreter.h"
#include "jit/jit.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("vectorized: iterations that see what others store keep their order") {
  for (const char* statement : {"C[i] = A[0, i] * B[1, i] + T.float32(1)", "C[7 - i] = A[0, i]",
                                "C[i] = A[0, 7 - i] / B[0, i]", "C[i] = T.max(A[1, i], T.exp(B[1, i]))"}) {
    INFO(statement);
    const ModulePtr module = read_module(
        "test.relish", std::string("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((2, 8), "
                                   "\"float32\"), B: T.Buffer((2, 8), \"float32\"), C: T.Buffer((8,), "
                                   "\"float32\")):\n        for j in range(8):\n            C[j] = A[1, j]\n"
                                   "        for i in T.vectorized(8):\n            ") +
                           statement + "\n");
    Tensor a = Tensor::empty(DType::Float32, {2, 8}), b = Tensor::empty(DType::Float32, {2, 8});
    for (std::int64_t i = 0; i < 16; ++i) {
      a.set_double(i, static_cast<double>(i * i % 11));
      b.set_double(i, static_cast<double>(i % 3) / 4 + 0.5);
    }
    const std::vector<Value> args{Value(a), Value(b)};
    const Tensor wanted = make_interpreter()->call(module, "f", args).tensor();
    const Tensor found = make_jit()->call(module, "f", args).tensor();
    for (std::int64_t i = 0; i < 8; ++i)
      CHECK(found.get_double(i) == Approx(wanted.get_double(i)).epsilon(1e-6));
  }
}

TEST_CASE("vectorized: names, choices, roots and several stores of one iteration") {
  for (const char* lines :
       {"x: T.let[T.float32] = A[0, i] + B[1, i]\n            C[i] = x * x - C[i]",
        "C[i] = A[0, i]\n            C[i] = C[i] + T.sqrt(C[i])",
        "x: T.let[T.float32] = C[i]\n            y: T.let[T.float32] = T.Select(x > T.float32(3), "
        "T.sqrt(x), T.abs(T.float32(2) - x))\n            C[i] = y / (x + T.float32(1))",
        "x: T.let[T.float32] = T.max(A[0, i], B[0, i])\n            y: T.let[T.bool] = x > T.float32(1) and "
        "not (x == T.float32(4))\n            C[i] = T.Select(y, T.rsqrt(x), T.floor(x * T.float32(0.3)))",
        // What is not computed in lanes: a function, a conversion, a name in an index, the other way round.
        "x: T.let[T.float32] = T.exp(B[0, i])\n            C[i] = x + A[0, i]",
        "x: T.let[T.int32] = T.Cast(\"int32\", A[0, i])\n            C[i] = T.Cast(\"float32\", x)",
        "x: T.let[T.int32] = 7 - i\n            C[i] = A[0, x]",
        "x: T.let[T.int32] = 7 - i\n            C[i] = A[0, x % 8]",
        "x: T.let[T.float32] = A[0, i]\n            C[7 - i] = x"}) {
    INFO(lines);
    const ModulePtr module = read_module(
        "test.relish", std::string("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((2, 8), "
                                   "\"float32\"), B: T.Buffer((2, 8), \"float32\"), C: T.Buffer((8,), "
                                   "\"float32\")):\n        for j in range(8):\n            C[j] = A[1, j]\n"
                                   "        for i in T.vectorized(8):\n            ") +
                           lines + "\n");
    Tensor a = Tensor::empty(DType::Float32, {2, 8}), b = Tensor::empty(DType::Float32, {2, 8});
    for (std::int64_t i = 0; i < 16; ++i) {
      a.set_double(i, static_cast<double>(i * i % 11));
      b.set_double(i, static_cast<double>(i % 3) / 4 + 0.5);
    }
    const std::vector<Value> args{Value(a), Value(b)};
    const Tensor wanted = make_interpreter()->call(module, "f", args).tensor();
    const Tensor found = make_jit()->call(module, "f", args).tensor();
    for (std::int64_t i = 0; i < 8; ++i)
      CHECK(found.get_double(i) == Approx(wanted.get_double(i)).epsilon(1e-6));
  }
}

TEST_CASE("vectorized: iterations that meet by remainders and extremes are refused") {
  for (const char* lines : {"C[i] = C[(i + 7) % 8] + A[0, i]", "C[i] = C[T.max(i - 1, 0)] + A[0, i]",
                            "x: T.let[T.float32] = C[(i + 7) % 8]\n            C[i] = x + T.float32(1)"}) {
    INFO(lines);
    const std::string text = std::string(
                                 "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((2, 8), "
                                 "\"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                                 "        for i in T.vectorized(8):\n            ") +
                             lines + "\n";
    CHECK_THROWS_AS(read_module("test.relish", text), Failure);
  }
}

TEST_CASE("vectorized: a condition that holds for the first lanes, around a store or of what is loaded") {
  for (
      const char* lines :
      {"if i + k < m:\n                C[i + k] = A[0, i + k] + C[i + k]",
       "if i + k < m:\n                C[i + k] = A[0, i + k] * B[1, i] + A[1, 2]",
       "if i < m - k:\n                x: T.let[T.float32] = A[1, i + k]\n                C[i + k] = x * x - C[i + k]",
       "D[i] = T.if_then_else(i + k < m, A[0, i + k], T.float32(-1)) + B[0, i]",
       "D[i] = B[0, i] * T.if_then_else(i + k < m, C[i + k], B[1, 3])",
       // What is no such condition, or reads beside it.
       "if i < m and k < m:\n                C[i] = A[0, i]",
       "if i + k <= m - 1:\n                C[i + k] = A[0, i + k]",
       "if m - 1 - i >= 0:\n                C[m - 1 - i] = A[0, i]",
       "if i < m:\n                C[i] = A[1, m - 1]",
       "D[i] = T.if_then_else(i + k < m, A[0, m - 1 - i - k], T.float32(2))"}) {
    INFO(lines);
    const ModulePtr module = read_module(
        "test.relish",
        std::string("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, B: T.Buffer((2, 8), "
                    "\"float32\"), c: T.handle, D: T.Buffer((8,), \"float32\"), k: T.int64):\n"
                    "        m = T.int64()\n        A = T.match_buffer(a, (2, m), \"float32\")\n"
                    "        C = T.match_buffer(c, (m,), \"float32\")\n"
                    "        for j in range(m):\n            C[j] = A[1, j]\n"
                    "        for j in range(8):\n            D[j] = T.float32(0)\n"
                    "        for i in T.vectorized(T.int64(8)):\n            ") +
            lines + "\n");
    const auto interpreter = make_interpreter();
    const auto jit = make_jit();
    // Of no elements no lane runs, and nothing is read.
    for (std::int64_t m = 0; m <= 20; m += m == 0 ? 3 : 1) {
      for (const std::int64_t k : {0, 1, 4}) {
        INFO(m << " " << k);
        Tensor a = Tensor::empty(DType::Float32, {2, m}), b = Tensor::empty(DType::Float32, {2, 8});
        for (std::int64_t i = 0; i < 2 * m; ++i) a.set_double(i, static_cast<double>(i * i % 11) + 1);
        for (std::int64_t i = 0; i < 16; ++i) b.set_double(i, static_cast<double>(i % 3) / 4 + 0.5);
        const std::vector<Value> args{Value(a), Value(b), Value(ScalarValue{DType::Int64, k})};
        const Value wanted = interpreter->call(module, "f", args);
        const Value found = jit->call(module, "f", args);
        for (std::size_t out = 0; out < 2; ++out) {
          const Tensor one = wanted.fields()[out].tensor(), other = found.fields()[out].tensor();
          REQUIRE(one.size() == other.size());
          for (std::int64_t i = 0; i < one.size(); ++i)
            CHECK(other.get_double(i) == Approx(one.get_double(i)).epsilon(1e-6));
        }
      }
    }
  }
}
