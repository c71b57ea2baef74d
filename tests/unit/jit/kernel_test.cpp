// Kernels of prim_funcs against the interpreter: elementwise work, reductions in symbolic sizes, all dtypes
// and operators, control flow and temporaries.
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

PrimFunc matmul(DType dtype, const Scalar& n, const Scalar& k, const Scalar& m) {
  LoopBuilder b;
  const Buffer a = b.input("A", tensor_type({n, k}, dtype));
  const Buffer x = b.input("B", tensor_type({k, m}, dtype));
  const Buffer c = b.output("C", tensor_type({n, m}, dtype));
  b.spatial_reduce(
      "C", {n, m}, {k},
      [&](const auto& s, const auto& r) {
        return b.store(c, {s[0], s[1]},
                       b.load(c, {s[0], s[1]}) + b.load(a, {s[0], r[0]}) * b.load(x, {r[0], s[1]}));
      },
      [&](const auto& s) { return b.store(c, {s[0], s[1]}, zero(dtype)); });
  return b.finish("matmul");
}

// One output element for each input element (or pair).
PrimFunc elementwise(DType in, DType out, const std::function<Scalar(const Scalar&, const Scalar&)>& f) {
  const ScalarVar n("n", DType::Int64);
  LoopBuilder b;
  const Buffer x = b.input("X", tensor_type({n}, in));
  const Buffer y = b.input("Y", tensor_type({n}, in));
  const Buffer z = b.output("Z", tensor_type({n}, out));
  b.spatial("Z", {n},
            [&](const auto& s) { return b.store(z, {s[0]}, f(b.load(x, {s[0]}), b.load(y, {s[0]}))); });
  return b.finish("f");
}

constexpr DType all_dtypes[] = {DType::Bool,     DType::Int8,    DType::Int16,  DType::Int32,  DType::Int64,
                                DType::UInt8,    DType::UInt16,  DType::UInt32, DType::UInt64, DType::Float16,
                                DType::BFloat16, DType::Float32, DType::Float64};

// Values at the edges of a dtype, each against each.
std::pair<Tensor, Tensor> edge_pairs(DType dtype, bool divisors) {
  std::vector<double> reals = {0.0,    -0.0, 1.0,      -1.0,      0.5, -2.5, 3.0,
                               100.25, 1e-7, INFINITY, -INFINITY, NAN, 6e4,  1e-40};
  std::vector<std::int64_t> ints = {0, 1, 2, 3, 7, 100, -1, -2, -7, -100, INT64_MAX, INT64_MIN};
  const std::size_t n = is_float(dtype) ? reals.size() : ints.size();
  Tensor a = Tensor::empty(dtype, {static_cast<std::int64_t>(n * n)}), b = a.copy();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::int64_t>(i * n + j);
      if (is_float(dtype)) {
        a.set_double(at, reals[i]);
        b.set_double(at, reals[j]);
      } else {
        const auto edge = [&](std::size_t k) {  // extremes of the dtype itself
          if (k == 10) return is_signed_int(dtype) ? INT64_MAX >> (64 - 8 * size_of(dtype)) : INT64_MAX;
          if (k == 11) return is_signed_int(dtype) ? INT64_MIN >> (64 - 8 * size_of(dtype)) : INT64_MIN;
          return ints[k];
        };
        a.set_int(at, edge(i));
        b.set_int(at, edge(j));
        if (divisors && b.get_int(at) == 0) b.set_int(at, 1);
      }
    }
  }
  return {a, b};
}

}  // namespace

TEST_CASE("a very long unrolled loop equals the interpreter", "[jit]") {
  // Over 16,000 instructions in one block: LLVM does not order them.
  constexpr std::int64_t statements = 3000, size = 4096;
  const Buffer x("X", DType::Float32, {Scalar(size)}), y("Y", DType::Float32, {Scalar(size)});
  std::vector<Stmt> body;
  for (std::int64_t i = 0; i < statements; ++i) {
    const Scalar old = load(y, {Scalar(5 * i % size)});
    body.push_back(make_stmt(
        Store{y, {Scalar(7 * i % size)}, load(x, {Scalar(i)}) * float_literal(DType::Float32, 2.0) + old}));
  }
  PrimFunc function;
  function.name = "f";
  function.params = {{x}, {y}};
  function.body = seq(std::move(body));
  in_both_tiers(module_of(std::move(function)), "f",
                {numbers(DType::Float32, {size}), numbers(DType::Float32, {size}, 3)});
}

TEST_CASE("a matmul in symbolic sizes equals the interpreter", "[jit]") {
  const ScalarVar n("n", DType::Int64), k("k", DType::Int64), m("m", DType::Int64);
  const ModulePtr module = module_of(matmul(DType::Float64, n, k, m));
  for (const std::int64_t rows : {0, 1, 7, 8, 9})
    for (const std::int64_t inner : {1, 7, 8, 9, 33})
      for (const std::int64_t columns : {0, 1, 7, 8, 9, 65})
        in_both_tiers(module, "matmul",
                      {numbers(DType::Float64, {rows, inner}), numbers(DType::Float64, {inner, columns}, 3)});
  // An empty sum is zero, as the operator says.
  const Value empty = compiled_tier().call(
      module, "matmul", {numbers(DType::Float64, {2, 0}), numbers(DType::Float64, {0, 3})});
  for (std::int64_t i = 0; i < 6; ++i) CHECK(empty.tensor().get_double(i) == 0);
}

TEST_CASE("matmuls of every dtype equal the interpreter", "[jit]") {
  const DType dtype =
      GENERATE(DType::Int8, DType::Int32, DType::UInt64, DType::Float16, DType::BFloat16, DType::Float32);
  const ModulePtr module = module_of(matmul(dtype, 19, 21, 37));
  // The numbers are so few-bit that sums are exact where precision allows; halves round at every store in
  // both tiers.
  in_both_tiers(module, "matmul", {numbers(dtype, {19, 21}), numbers(dtype, {21, 37}, 5)});
}

TEST_CASE("binary operations at the edges of every dtype", "[jit]") {
  const DType dtype = GENERATE(from_range(std::begin(all_dtypes), std::end(all_dtypes)));
  const auto op = static_cast<BinaryOp>(GENERATE(range(0, 14)));
  const bool integer_only = op >= BinaryOp::BitAnd;
  if (is_float(dtype) && integer_only) return;
  if (is_bool(dtype) && !(op == BinaryOp::Min || op == BinaryOp::Max || op == BinaryOp::BitAnd ||
                          op == BinaryOp::BitOr || op == BinaryOp::BitXor))
    return;
  const bool shift = op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight;
  INFO(name_of(dtype) << " operation " << static_cast<int>(op));
  ModulePtr module;
  try {
    module = module_of(
        elementwise(dtype, dtype, [&](const Scalar& a, const Scalar& b) { return binary(op, a, b); }));
  } catch (const Failure&) {
    return;  // the dtype does not have the operation
  }
  auto [a, b] = edge_pairs(dtype, true);
  if (shift) {
    for (std::int64_t i = 0; i < b.size(); ++i)
      if (b.get_int(i) < 0 && is_signed_int(dtype)) b.set_int(i, i % 70);
  }
  in_both_tiers(module, "f", {a, b});
}

TEST_CASE("casts between all dtypes", "[jit]") {
  const DType from = GENERATE(from_range(std::begin(all_dtypes), std::end(all_dtypes)));
  const DType to = GENERATE(from_range(std::begin(all_dtypes), std::end(all_dtypes)));
  INFO(name_of(from) << " to " << name_of(to));
  const ModulePtr module =
      module_of(elementwise(from, to, [&](const Scalar& a, const Scalar&) { return cast(to, a); }));
  const auto [a, b] = edge_pairs(from, false);
  in_both_tiers(module, "f", {a, b});
}

TEST_CASE("comparisons and selection", "[jit]") {
  const DType dtype =
      GENERATE(DType::Int8, DType::UInt32, DType::UInt64, DType::Float16, DType::Float32, DType::Float64);
  const auto op = static_cast<CompareOp>(GENERATE(range(0, 6)));
  const ModulePtr module = module_of(elementwise(dtype, dtype, [&](const Scalar& a, const Scalar& b) {
    return select(logical(LogicalOp::Or, compare(op, a, b), logical_not(compare(CompareOp::Le, b, a))), a, b);
  }));
  const auto [a, b] = edge_pairs(dtype, false);
  in_both_tiers(module, "f", {a, b});
}

TEST_CASE("math functions are within 4 units in the last place", "[jit]") {
  const Intrinsic which =
      GENERATE(Intrinsic::Exp, Intrinsic::Log, Intrinsic::Sqrt, Intrinsic::Rsqrt, Intrinsic::Tanh,
               Intrinsic::Sigmoid, Intrinsic::Erf, Intrinsic::Sin, Intrinsic::Cos, Intrinsic::Tan,
               Intrinsic::Floor, Intrinsic::Ceil, Intrinsic::Round, Intrinsic::Trunc, Intrinsic::Abs,
               Intrinsic::Exp2, Intrinsic::Log2, Intrinsic::Log1p, Intrinsic::Expm1);
  const DType dtype = GENERATE(DType::Float32, DType::Float64, DType::Float16);
  INFO(info_of(which).name << " " << name_of(dtype));
  const ModulePtr module = module_of(
      elementwise(dtype, dtype, [&](const Scalar& a, const Scalar&) { return intrinsic(which, {a}); }));
  Tensor x = Tensor::empty(dtype, {401});
  for (std::int64_t i = 0; i < 401; ++i)
    x.set_double(i, 0.0625 * static_cast<double>(i - 200) * (i % 3 == 0 ? 7.3 : 0.37));
  x.set_double(0, NAN);
  x.set_double(1, INFINITY);
  x.set_double(2, -INFINITY);
  x.set_double(3, -0.0);
  const double unit = dtype == DType::Float64 ? 0x1p-52 : dtype == DType::Float32 ? 0x1p-23 : 0x1p-10;
  in_both_tiers(module, "f", {x, x}, 4 * unit);
}

TEST_CASE("integer functions and float tests", "[jit]") {
  const ModulePtr absolute =
      module_of(elementwise(DType::Int8, DType::Int8,
                            [](const Scalar& a, const Scalar&) { return intrinsic(Intrinsic::Abs, {a}); }));
  const auto [a, b] = edge_pairs(DType::Int8, false);
  in_both_tiers(absolute, "f", {a, b});
  for (const Intrinsic which : {Intrinsic::IsNan, Intrinsic::IsInf, Intrinsic::IsFinite}) {
    const ModulePtr test = module_of(elementwise(
        DType::Float32, DType::Bool, [&](const Scalar& x, const Scalar&) { return intrinsic(which, {x}); }));
    const auto [x, y] = edge_pairs(DType::Float32, false);
    in_both_tiers(test, "f", {x, y});
  }
}

TEST_CASE("row sums and maxima along memory and across it", "[jit]") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  const bool rows = GENERATE(true, false);
  const bool sum = GENERATE(true, false);
  LoopBuilder b;
  const Buffer x = b.input("X", f32({n, m}));
  const Buffer y = b.output("Y", f32({rows ? Scalar(n) : Scalar(m)}));
  b.spatial_reduce(
      "Y", {rows ? Scalar(n) : Scalar(m)}, {rows ? Scalar(m) : Scalar(n)},
      [&](const auto& s, const auto& r) {
        const Scalar e = rows ? b.load(x, {s[0], r[0]}) : b.load(x, {r[0], s[0]});
        const Scalar old = b.load(y, {s[0]});
        return b.store(y, {s[0]}, sum ? old + e : maximum_ieee(old, e));
      },
      [&](const auto& s) {
        return b.store(y, {s[0]}, sum ? zero(DType::Float32) : min_value(DType::Float32));
      });
  const ModulePtr module = module_of(b.finish("reduce"));
  for (const std::int64_t i : {1, 5, 64})
    for (const std::int64_t j : {1, 3, 16, 17, 70000 / 64})
      in_both_tiers(module, "reduce", {numbers(DType::Float32, {i, j})});
}

TEST_CASE("padding by if_then_else reads only what is there", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  LoopBuilder b;
  const Buffer x = b.input("X", f32({n}));
  const Buffer y = b.output("Y", f32({n + Scalar(4)}));
  b.spatial("Y", {n + Scalar(4)}, [&](const auto& s) {
    const Scalar inside = logical(LogicalOp::And, s[0] >= Scalar(2), s[0] < n + Scalar(2));
    return b.store(y, {s[0]},
                   if_then_else(inside, b.load(x, {s[0] - Scalar(2)}), float_literal(DType::Float32, -1)));
  });
  const ModulePtr module = module_of(b.finish("pad"));
  for (const std::int64_t size : {0, 1, 5, 100})
    in_both_tiers(module, "pad", {numbers(DType::Float32, {size})});
}

TEST_CASE("several nests share a temporary, and an index is read from memory", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  LoopBuilder b;
  const Buffer x = b.input("X", f32({n}));
  const Buffer at = b.input("At", tensor_type({n}, DType::Int32));
  const Buffer y = b.output("Y", f32({n}));
  const Buffer t = b.temporary("T", {n}, DType::Float32);
  b.spatial("T", {n},
            [&](const auto& s) { return b.store(t, {s[0]}, b.load(x, {s[0]}) * b.load(x, {s[0]})); });
  b.spatial("Y", {n}, [&](const auto& s) {
    return b.store(y, {s[0]}, b.load(t, {b.load(at, {s[0]})}) - b.load(x, {s[0]}));
  });
  const ModulePtr module = module_of(b.finish("gather"));
  for (const std::int64_t size : {1, 9, 40000}) {
    Tensor where = Tensor::empty(DType::Int32, {size});
    for (std::int64_t i = 0; i < size; ++i) where.set_int(i, (i * 17) % size);
    in_both_tiers(module, "gather", {numbers(DType::Float32, {size}), where});
  }
}

TEST_CASE("locals, while, if and asserts run in program order", "[jit]") {
  // Collatz lengths: for i: local c = i + 1, steps = 0; while c != 1: ...; Y[i] = steps
  const Buffer y("Y", DType::Int64, {Scalar(50)});
  const ScalarVar i("i", DType::Int64), c("c", DType::Int64), steps("steps", DType::Int64);
  const Scalar one(1);
  const Stmt body = seq({
      make_stmt(DefineScalar{c, use(i) + one}),
      make_stmt(DefineScalar{steps, Scalar(0)}),
      make_stmt(While{compare(CompareOp::Ne, use(c), one),
                      seq({make_stmt(IfStmt{equal(floor_mod(use(c), Scalar(2)), Scalar(0)),
                                            make_stmt(AssignScalar{c, floor_div(use(c), Scalar(2))}),
                                            make_stmt(AssignScalar{c, use(c) * Scalar(3) + one})}),
                           make_stmt(AssignScalar{steps, use(steps) + one})})}),
      make_stmt(AssertStmt{use(steps) < Scalar(200), "too long"}),
      make_stmt(Store{y, {use(i)}, use(steps)}),
  });
  PrimFunc function;
  function.name = "collatz";
  function.params = {{y}};
  function.body = make_stmt(For{i, Scalar(0), Scalar(50), LoopKind::Serial, body, {}});
  const Value result = in_both_tiers(module_of(std::move(function)), "collatz", {});
  CHECK(result.tensor().get_int(26) == 111);
}

TEST_CASE("loop variables of 32 bits, tiled by arithmetic, address the same elements", "[jit]") {
  // for i, j, k in grid(4, 8, 16): vi = i * 8 + j; C[vi // 2, vi % 2 * 16 + k] = float(vi - k)
  const Buffer c("C", DType::Float32, {Scalar(16), Scalar(32)});
  const ScalarVar i("i", DType::Int32), j("j", DType::Int32), k("k", DType::Int32), v("v", DType::Int32);
  const auto lit = [](int value) { return int_literal(DType::Int32, value); };
  BlockStmt block;
  block.name = "C";
  block.iters = {{v, IterKind::Spatial, lit(0), lit(32), use(i) * lit(8) + use(j)}};
  block.body = make_stmt(Store{c,
                               {floor_div(use(v), lit(2)), floor_mod(use(v), lit(2)) * lit(16) + use(k)},
                               cast(DType::Float32, use(v) - use(k))});
  Stmt nest = make_stmt(std::move(block));
  nest = make_stmt(For{k, lit(0), lit(16), LoopKind::Vectorized, nest, {}});
  nest = make_stmt(For{j, lit(0), lit(8), LoopKind::Serial, nest, {}});
  nest = make_stmt(For{i, lit(0), lit(4), LoopKind::Parallel, nest, {}});
  PrimFunc function;
  function.name = "tiled";
  function.params = {{c}};
  function.body = nest;
  in_both_tiers(module_of(std::move(function)), "tiled", {});
}

TEST_CASE("elements that nothing writes are zero", "[jit]") {
  const Buffer y("Y", DType::Float32, {Scalar(10)});
  const ScalarVar i("i", DType::Int64);
  PrimFunc function;
  function.name = "half";
  function.params = {{y}};
  function.body = make_stmt(For{i,
                                Scalar(0),
                                Scalar(5),
                                LoopKind::Serial,
                                make_stmt(Store{y, {use(i) * Scalar(2)}, float_literal(DType::Float32, 3)}),
                                {}});
  in_both_tiers(module_of(std::move(function)), "half", {});
}

TEST_CASE("an argument that is written is copied first", "[jit]") {
  const Buffer x("X", DType::Float32, {Scalar(8)});
  const ScalarVar i("i", DType::Int64);
  PrimFunc function;
  function.name = "twice";
  function.params = {{x}};
  function.body = make_stmt(For{i,
                                Scalar(0),
                                Scalar(8),
                                LoopKind::Serial,
                                make_stmt(Store{x, {use(i)}, load(x, {use(i)}) + load(x, {use(i)})}),
                                {}});
  const Tensor input = numbers(DType::Float32, {8});
  const Tensor before = input.copy();
  in_both_tiers(module_of(std::move(function)), "twice", {input});
  CHECK(identical(input, before));
}

TEST_CASE("scalar parameters of every kind", "[jit]") {
  const DType dtype =
      GENERATE(DType::Int8, DType::UInt32, DType::Int64, DType::Float32, DType::Float64, DType::Float16);
  LoopBuilder b;
  const Buffer x = b.input("X", tensor_type({Scalar(6)}, dtype));
  const ScalarVar s = b.scalar_input("s", dtype);
  const Buffer y = b.output("Y", tensor_type({Scalar(6)}, dtype));
  b.spatial("Y", {Scalar(6)}, [&](const auto& v) { return b.store(y, {v[0]}, b.load(x, {v[0]}) * use(s)); });
  const ModulePtr module = module_of(b.finish("scale"));
  const ScalarValue value =
      is_float(dtype) ? ScalarValue::of_real(-1.5, dtype) : ScalarValue::of_int(3, dtype);
  in_both_tiers(module, "scale", {numbers(dtype, {6}), value});
}

TEST_CASE("indices that wrap within a vector", "[jit]") {
  const std::int64_t stride = GENERATE(1, 2, 3, 5), start = GENERATE(0, 5);
  const std::int64_t size = GENERATE(4, 8, 16, 17, 64);
  LoopBuilder b;
  const Buffer x = b.input("X", f32({Scalar(size)}));
  const Buffer y = b.output("Y", f32({Scalar(size)}));
  b.spatial("Y", {Scalar(size)}, [&](const auto& s) {
    return b.store(y, {s[0]}, b.load(x, {floor_mod(s[0] * Scalar(stride) + Scalar(start), Scalar(size))}));
  });
  in_both_tiers(module_of(b.finish("wrap")), "wrap", {numbers(DType::Float32, {size})});
}

TEST_CASE("kernels: loops are scheduled for the widest vectors of the processor") {
  const std::int64_t bytes = this_machine().vector_bytes;
#if defined(__x86_64__)
  CHECK(bytes == (__builtin_cpu_supports("avx512vl") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16));
#else
  CHECK(bytes >= 16);
#endif
}

TEST_CASE("kernels: a sum along memory has 32 lanes, whatever vectors the processor has", "[jit]") {
  const std::int64_t n = GENERATE(7, 31, 32, 101, 160);
  const std::int64_t lanes = n < 8 ? 1 : n < 32 ? 8 : 32;
  const DType dtype = GENERATE(DType::Float32, DType::Float64);
  LoopBuilder b;
  const Buffer x = b.input("X", tensor_type({Scalar(n)}, dtype));
  const Buffer y = b.output("Y", tensor_type({}, dtype));
  b.spatial_reduce(
      "Y", {}, {Scalar(n)},
      [&](const auto&, const auto& r) { return b.store(y, {}, b.load(y, {}) + b.load(x, {r[0]})); },
      [&](const auto&) { return b.store(y, {}, zero(dtype)); });
  Tensor terms = Tensor::empty(dtype, {n});
  for (std::int64_t i = 0; i < n; ++i)
    terms.set_double(i, std::sin(static_cast<double>(i * i + 1)) * (i % 9 + 1));
  const auto rounded = [&](double value) {
    return dtype == DType::Float32 ? static_cast<float>(value) : value;
  };
  // Whole rows of lanes, then halves onto halves, then the rest one by one.
  std::vector<double> sums(static_cast<std::size_t>(lanes), 0.0);
  std::int64_t at = 0;
  for (; at + lanes <= n; at += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[static_cast<std::size_t>(lane)] =
          rounded(sums[static_cast<std::size_t>(lane)] + terms.get_double(at + lane));
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] = rounded(sums[lane] + sums[lane + half]);
  for (; at < n; ++at) sums[0] = rounded(sums[0] + terms.get_double(at));
  const Value found = compiled_tier().call(module_of(b.finish("sum")), "sum", {terms});
  INFO(n << " terms of " << name_of(dtype));
  CHECK(found.tensor().get_double(0) == sums[0]);
}
