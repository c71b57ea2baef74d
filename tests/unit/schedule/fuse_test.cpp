// Fusion: which calls become one, which stay apart, and that the interpreter computes the same by the text
// that comes of it, to the bit where nothing is summed.
#include "schedule/fusion/fuse.h"

#include <fmt/format.h>

#include <cmath>

#include "interp/interpreter.h"
#include "jit/jit.h"
#include "schedule/schedule.h"
#include "stdlib/stdlib.h"
#include "tests/unit/loops/helpers.h"
#include "transform/legalize.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr read_function(const std::string& params, const std::string& body) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  return read_module("test.relish",
                     "@I.ir_module\nclass M:\n    @R.function\n    def main(" + params + "):\n" + body);
}

// "float32" parameters of a shape.
std::string tensors(const std::string& names, const std::string& shape,
                    const std::string& dtype = "float32") {
  std::string params;
  for (const char name : names)
    params +=
        (params.empty() ? "" : ", ") + std::string(1, name) + ": R.Tensor(" + shape + ", \"" + dtype + "\")";
  return params;
}

int calls_of(const Module& module, const std::string& name = "main") {
  int calls = 0;
  for_each_expr(*module.function(name), [&](const Expr& expr) { calls += expr.as<CallTir>() != nullptr; });
  return calls;
}

Tensor numbers(DType dtype, const std::vector<std::int64_t>& shape, int seed) {
  Tensor tensor = Tensor::empty(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_double(i, std::sin(static_cast<double>(i * 7 + seed)) * 2.5);
  return tensor;
}

int row_blocks(const Module& module) {
  int rows = 0;
  for (const GlobalFunction& each : module.functions)
    if (const auto* function = std::get_if<PrimFuncPtr>(&each))
      for (const auto* block : all_of<BlockStmt>(**function)) rows += block->name == "row";
  return rows;
}

// The fused module, after a look at its text and at its results. `tolerance`: 0 for the same bits, of
// interpreted code.
Module check_fused(const ModulePtr& module, const std::vector<Value>& args, double tolerance = 0) {
  Module fused = fuse(legalize(*module));
  const std::string text = print(fused);
  CHECK(print(*read_module("again.relish", text)) == text);
  const Value wanted =
      make_interpreter()->call(std::make_shared<const Module>(legalize(*module)), "main", args);
  const auto compare = [&](const Value& found) {
    const std::vector<Value> expected = wanted.is_tuple() ? wanted.fields() : std::vector<Value>{wanted};
    const std::vector<Value> results = found.is_tuple() ? found.fields() : std::vector<Value>{found};
    REQUIRE(results.size() == expected.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Tensor &a = expected[k].tensor(), &b = results[k].tensor();
      REQUIRE(a.shape() == b.shape());
      for (std::int64_t i = 0; i < a.size(); ++i) {
        const double x = a.get_double(i), y = b.get_double(i);
        if (x == y) continue;
        if (std::isnan(x)) {
          REQUIRE(std::isnan(y));
        } else if (tolerance == 0) {
          REQUIRE(x == y);
        } else {
          REQUIRE(std::abs(x - y) <= tolerance * (1 + std::abs(x)));
        }
      }
    }
  };
  compare(make_interpreter()->call(std::make_shared<const Module>(fused), "main", args));
  compare(make_interpreter()->call(std::make_shared<const Module>(schedule(fused)), "main", args));
  const double exact = std::exchange(tolerance, std::max(tolerance, 1e-5));
  compare(make_jit()->call(module, "main", args));
  tolerance = exact;
  return fused;
}

}  // namespace

TEST_CASE("fuse: a chain of elementwise calls is one call, each line with its span") {
  const ModulePtr module =
      read_function(tensors("x", "(5, 7)"),
                    "        a = R.multiply(x, R.const(1.5, \"float32\"))\n        b = R.tanh(a)\n"
                    "        c = R.sigmoid(x)\n        return R.add(R.multiply(b, c), x)\n");
  const Module fused = check_fused(module, {Value(numbers(DType::Float32, {5, 7}, 1))});
  REQUIRE(calls_of(fused) == 1);
  const PrimFuncPtr function = fused.prim_func("fused_multiply_tanh_sigmoid_multiply1");
  REQUIRE(function != nullptr);
  CHECK(fused.prim_func("tanh") == nullptr);
  std::vector<int> lines;
  for_each_stmt(function->body, [&](const Stmt& stmt) {
    if (!stmt.as<DefineScalar>() && !stmt.as<Store>()) return;
    lines.push_back(Sources::instance().find(stmt->span.file)->position(stmt->span.begin).line);
  });
  CHECK(lines == std::vector<int>{5, 6, 7, 8, 8});
}

TEST_CASE("fuse: 16-bit floats round after every operator") {
  for (const DType dtype : {DType::Float16, DType::BFloat16}) {
    const std::string name(name_of(dtype));
    const ModulePtr module =
        read_function(tensors("xy", "(64,)", name),
                      "        a = R.multiply(x, y)\n        b = R.add(a, x)\n        c = R.multiply(b, b)\n"
                      "        return R.subtract(c, y)\n");
    const Module fused =
        check_fused(module, {Value(numbers(dtype, {64}, 1)), Value(numbers(dtype, {64}, 2))}, 0);
    CHECK(calls_of(fused) == 1);
  }
}

TEST_CASE("fuse: what others use is written too") {
  const ModulePtr module =
      read_function(tensors("xy", "(3, 4)"),
                    "        a = R.add(x, y)\n        b = R.nn.relu(a)\n"
                    "        return (R.multiply(b, y), a, R.matmul(a, R.permute_dims(b)))\n");
  const Module fused = check_fused(
      module, {Value(numbers(DType::Float32, {3, 4}, 1)), Value(numbers(DType::Float32, {3, 4}, 5))}, 1e-6);
  CHECK(calls_of(fused) == 2);  // the product with its transposed factor is one
}

TEST_CASE("fuse: a diamond is computed once") {
  std::string body = "        v0 = R.tanh(x)\n";
  for (int i = 1; i < 25; ++i) {
    const std::string before = "v" + std::to_string(i - 1);
    body += "        v" + std::to_string(i) + " = R.multiply(" + before + ", R.add(" + before + ", x))\n";
  }
  const ModulePtr module = read_function(tensors("x", "(6,)"), body + "        return v24\n");
  const Module fused = check_fused(module, {Value(numbers(DType::Float32, {6}, 3))});
  CHECK(calls_of(fused) == 2);  // 49 calls, of which a group takes 32
  int tanhs = 0;
  for (const GlobalFunction& each : fused.functions)
    if (const auto* function = std::get_if<PrimFuncPtr>(&each))
      for_each_scalar((*function)->body,
                      [&](const Scalar& scalar) { tanhs += scalar.as<IntrinsicCall>() != nullptr; });
  CHECK(tanhs == 1);
}

TEST_CASE("fuse: long chains are groups of one function") {
  std::string body = "        v0 = R.add(x, x)\n";
  for (int i = 1; i < 321; ++i)
    body += "        v" + std::to_string(i) + " = R.add(v" + std::to_string(i - 1) + ", x)\n";
  const ModulePtr module = read_function(tensors("x", "(4,)"), body + "        return v320\n");
  const Module fused = check_fused(module, {Value(numbers(DType::Float32, {4}, 3))});
  CHECK(calls_of(fused) == 11);
  CHECK(fused.functions.size() <= 5);
}

TEST_CASE("fuse: symbolic sizes, also such as no tensor tells") {
  const ModulePtr module = read_function(
      "x: R.Tensor((\"n\", \"m\"), \"float32\"), b: R.Tensor((\"m\",), \"float32\"), k: R.Prim(\"int64\")",
      "        y = R.nn.relu(R.add(x, b))\n"
      "        z = R.broadcast_to(R.sum(R.multiply(y, y)), R.shape([k, 2]))\n"
      "        return (R.nn.softmax(R.permute_dims(y)), R.exp(z))\n");
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {1, 1}, {0, 2}, {2, 0}, {17, 33}}) {
    INFO(n << " " << m);
    check_fused(module,
                {Value(numbers(DType::Float32, {n, m}, 1)), Value(numbers(DType::Float32, {m}, 2)),
                 Value(ScalarValue::of_int(3))},
                1e-5);
  }
}

TEST_CASE("fuse: rows share their loop where that keeps them in the cache") {
  const auto fused = [&](const char* shape, const char* body) {
    return row_blocks(fuse(legalize(*read_function(tensors("x", shape), body))));
  };
  CHECK(fused("(64, 32)", "        return R.nn.softmax(x)\n") == 1);
  CHECK(fused("(64, 32)", "        return R.nn.softmax(R.multiply(x, x))\n") == 1);
  CHECK(fused("(64, 32)", "        return R.subtract(x, R.mean(x, axis=1, keepdims=True))\n") == 1);
  CHECK(fused("(\"n\", \"m\")", "        return R.variance(x, axis=[1])\n") == 1);
  // Sums of columns go along memory; few long rows are parallel inside.
  CHECK(fused("(64, 32)", "        return R.subtract(x, R.mean(x, axis=0, keepdims=True))\n") == 0);
  CHECK(fused("(2, 100000)", "        return R.nn.softmax(x)\n") == 0);
  CHECK(fused("(2, 100)", "        return R.nn.softmax(x)\n") == 1);
}

TEST_CASE("fuse: row kernels and their gradients compute the same") {
  const ModulePtr module = read_function(
      tensors("xg", "(9, 33)"),
      "        y = R.nn.softmax(x)\n        s = R.sum(R.multiply(g, y), axis=[1], keepdims=True)\n"
      "        d = R.multiply(R.subtract(g, s), y)\n        l = R.nn.log_softmax(R.add(x, g))\n"
      "        n = R.nn.rms_norm(R.multiply(x, g), R.ones((33,), \"float32\"), axes=[-1])\n"
      "        return (y, d, l, n)\n");
  check_fused(module,
              {Value(numbers(DType::Float32, {9, 33}, 1)), Value(numbers(DType::Float32, {9, 33}, 4))}, 1e-5);
}

TEST_CASE("fuse: the gradient of a norm by its data is one loop over rows") {
  // By sums that the norm has handed on: its mean and its deviation come from different ones.
  const ModulePtr module = read_function(
      tensors("xa", "(64, 96)") + ", " + tensors("g", "(1, 96)") + ", " + tensors("mv", "(64, 1)"),
      "        mean = R.divide(m, R.const(96.0, \"float32\"))\n"
      "        scale = R.divide(R.const(1.0, \"float32\"), R.sqrt(R.divide(v, R.const(96.0, \"float32\"))))\n"
      "        h = R.multiply(R.subtract(x, mean), scale)\n        w = R.multiply(a, g)\n"
      "        s = R.mean(R.multiply(w, h), axis=[1], keepdims=True)\n"
      "        t = R.mean(w, axis=[1], keepdims=True)\n"
      "        r = R.multiply(R.subtract(R.subtract(w, t), R.multiply(h, s)), scale)\n"
      "        return (r, R.sum(R.multiply(a, h), axis=[0]))\n");
  const Module fused = fuse(legalize(*module));
  INFO(print(fused));
  CHECK(row_blocks(fused) == 1);
  CHECK(calls_of(fused) == 2);  // the sum over all rows is the other one
  const Value data(numbers(DType::Float32, {64, 96}, 1)), slopes(numbers(DType::Float32, {64, 96}, 5));
  Tensor squares = Tensor::empty(DType::Float32, {64, 1});
  for (std::int64_t i = 0; i < 64; ++i) squares.set_double(i, 60.0 + static_cast<double>(i));
  check_fused(module,
              {data, slopes, Value(numbers(DType::Float32, {1, 96}, 2)),
               Value(numbers(DType::Float32, {64, 1}, 3)), Value(squares)},
              1e-5);
}

TEST_CASE("fuse: movement is done by the indices of its reader") {
  const ModulePtr module =
      read_function(tensors("xy", "(6, 8)"),
                    "        a = R.reshape(R.exp(x), (6, 2, 4))\n        b = R.permute_dims(a, [2, 0, 1])\n"
                    "        c = R.strided_slice(y, axes=[0], begin=[1], end=[5])\n"
                    "        d = R.nn.pad(R.negative(c), [1, 1, 0, 0])\n"
                    "        return (R.negative(b), R.concat((R.add(d, x), R.abs(y)), axis=1))\n");
  const Module fused = check_fused(
      module, {Value(numbers(DType::Float32, {6, 8}, 1)), Value(numbers(DType::Float32, {6, 8}, 2))});
  CHECK(calls_of(fused) == 2);
}

TEST_CASE("fuse: a reshape that joins dimensions goes through a row, as its reader would divide") {
  const ModulePtr module =
      read_function(tensors("x", "(6, 2, 4)"), "        return R.negative(R.reshape(R.exp(x), (6, 8)))\n");
  const Module fused = check_fused(module, {Value(numbers(DType::Float32, {6, 2, 4}, 1))});
  CHECK(calls_of(fused) == 2);
  CHECK(row_blocks(fused) == 1);
}

TEST_CASE("fuse: a contraction keeps its nest, with what follows behind each element") {
  const ModulePtr module = read_function(
      "x: R.Tensor((32, 48), \"float32\"), w: R.Tensor((48, 40), \"float32\"), b: R.Tensor((40,), \"float32\")",
      "        y = R.matmul(x, w)\n        return R.nn.relu(R.add(y, b))\n");
  const Module fused =
      check_fused(module,
                  {Value(numbers(DType::Float32, {32, 48}, 1)), Value(numbers(DType::Float32, {48, 40}, 2)),
                   Value(numbers(DType::Float32, {40}, 3))},
                  1e-5);
  REQUIRE(calls_of(fused) == 1);
  const Module scheduled = schedule(fused);
  const PrimFuncPtr function = scheduled.prim_func("fused_matmul_add_relu");
  REQUIRE(function != nullptr);
  CHECK(function->allocations.empty());
  CHECK(function->body.as<SeqStmt>() == nullptr);
  // Too small for blocks: rows.
  CHECK(calls_of(fuse(legalize(
            *read_function(tensors("xw", "(4, 4)"), "        return R.nn.relu(R.matmul(x, w))\n")))) == 1);
}

TEST_CASE("fuse: faults, effects and calls in place stay where they are") {
  const auto calls = [](const std::string& params, const std::string& body) {
    return calls_of(fuse(legalize(*read_function(params, body))));
  };
  CHECK(calls(tensors("xy", "(4,)", "int64"),
              "        a = R.add(x, y)\n        b = R.floor_divide(a, y)\n        return R.add(b, x)\n") ==
        3);
  CHECK(calls(tensors("x", "(4,)") + ", i: R.Tensor((4,), \"int64\")",
              "        a = R.exp(x)\n        return R.negative(R.take(a, i, axis=0))\n") == 3);
  const ModulePtr printed = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @R.function(pure=False)\n    def main(x: R.Tensor((4,), \"float32\")):\n"
      "        a = R.exp(x)\n        R.print(x, format=\"{}\")\n        return R.negative(a)\n");
  CHECK(calls_of(fuse(legalize(*printed))) == 2);
}

TEST_CASE("fuse: a result that others need before the group is complete closes it") {
  const ModulePtr module = read_function(
      tensors("xy", "(4, 4)"),
      "        a = R.exp(x)\n        b = R.sort(a)\n        c = R.negative(a)\n        return R.add(b, c)\n");
  CHECK(calls_of(check_fused(module, {Value(numbers(DType::Float32, {4, 4}, 1)),
                                      Value(numbers(DType::Float32, {4, 4}, 2))})) == 2);  // sort is none
}

TEST_CASE("fuse: nothing changes where there is nothing to fuse") {
  const Module lowered = legalize(*read_function(tensors("x", "(4,)"), "        return R.exp(x)\n"));
  const Module fused = fuse(lowered);
  REQUIRE(fused.functions.size() == lowered.functions.size());
  CHECK(fused.function("main") == lowered.function("main"));
  CHECK(fused.prim_func("exp") == lowered.prim_func("exp"));
}

TEST_CASE("fuse: of several results the one that is taken is computed alone, in the call that takes it") {
  const std::string params =
      tensors("x", "(2, 3, 8, 8)") + ", " + tensors("w", "(3, 3, 3, 3)") + ", " + tensors("gbmv", "(3,)");
  const std::string norm =
      "        c = R.nn.conv2d(x, w, padding=1)\n"
      "        n = R.nn.batch_norm(c, g, b, m, v, axis=1, training=False)\n";
  const auto values = [] {
    std::vector<Value> args{Value(numbers(DType::Float32, {2, 3, 8, 8}, 1)),
                            Value(numbers(DType::Float32, {3, 3, 3, 3}, 2))};
    for (int i = 0; i < 3; ++i) args.emplace_back(numbers(DType::Float32, {3}, 3 + i));
    Tensor variances = numbers(DType::Float32, {3}, 6);
    for (std::int64_t i = 0; i < 3; ++i) variances.set_double(i, 1 + static_cast<double>(i));
    args.emplace_back(variances);
    return args;
  };
  const ModulePtr one = read_function(params, norm + "        r = n[0]\n        return R.nn.relu(r)\n");
  const Module joined = check_fused(one, values(), 1e-5);
  CHECK(calls_of(joined) == 1);
  CHECK(joined.prim_func("batch_norm") == nullptr);
  // Another result, or all of them, are seen: the call keeps them.
  for (const char* rest : {"        r = n[0]\n        s = n[2]\n        return (R.nn.relu(r), s)\n",
                           "        r = n[0]\n        return (R.nn.relu(r), n)\n"}) {
    const ModulePtr several = read_function(params, norm + rest);
    const Module kept = fuse(legalize(*several));
    CHECK(calls_of(kept) == 3);
    CHECK(kept.prim_func("batch_norm") != nullptr);
  }
  // A variable of another dataflow block stays there.
  const ModulePtr apart = read_function(
      params,
      "        with R.dataflow():\n            n = R.nn.batch_norm(x, g, b, m, v, axis=1, training=False)\n"
      "            R.output(n)\n        with R.dataflow():\n            r = n[0]\n            y = R.nn.relu(r)\n"
      "            R.output(y)\n        return y\n");
  CHECK(calls_of(check_fused(apart, values(), 1e-5)) == 2);
  // A result that the others are made of goes with them: these are not needed.
  const ModulePtr last = read_function(params, norm + "        r = n[1]\n        return R.negative(r)\n");
  CHECK(calls_of(fuse(legalize(*last))) == 2);
}

TEST_CASE("fusion tells why calls stay apart") {
  const auto told = [](const std::string& params, const std::string& body) {
    FusionNotes notes;
    fuse(legalize(*read_function(params, body)), &notes);
    std::string text;
    for (const auto& [name, each] : notes)
      for (const FusionNote& note : each)
        text += fmt::format("{}: {}{}\n", name, note.reader.known() ? "" : "(nobody) ", note.why);
    return text;
  };
  const std::string x = tensors("x", "(64, 64)");
  CHECK(told(x, "        return R.exp(x)\n") == "exp: (nobody) nothing else reads its result\n");
  // What is read twice stays, and its second reader says so.
  CHECK(told(x,
             "        y = R.matmul(x, x)\n        z = R.sort(y)\n        w = R.matmul(y, z)\n"
             "        return w\n") ==
        "matmul: R.sort is no loop nest\n"
        "matmul: it is read before that, too\n"
        "matmul: (nobody) nothing else reads its result\n");
  CHECK(told(x, "        y = R.matmul(x, x)\n        return R.matmul(y, y)\n") ==
        "matmul: what it gives would be stored all the same\n"
        "matmul: (nobody) nothing else reads its result\n");
  CHECK(told(x + ", i: R.Tensor((4,), \"int64\")",
             "        y = R.exp(x)\n        z = R.take(y, i, axis=0)\n        return z\n")
            .find("exp: what reads it may fail") == 0);
  CHECK(told(x,
             "        y = R.exp(x)\n        if R.less(R.sum(y), R.const(1.0)):\n            z = y\n"
             "        else:\n            z = x\n        return z\n")
            .find("a branch reads it") != std::string::npos);
}

TEST_CASE("fuse: a convolution behind a convolution has blocks of its own") {
  // Sums of the size of 1, from terms of the size of 0.01.
  const auto weights = [](int seed) {
    Tensor tensor = numbers(DType::Float32, {16, 16, 3, 3}, seed);
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.set_double(i, tensor.get_double(i) / 64);
    return Value(tensor);
  };
  for (const char* between : {"a", "R.nn.relu(a)"}) {
    CAPTURE(between);
    const ModulePtr module =
        read_function(tensors("x", "(2, 16, 16, 16)") + ", " + tensors("vw", "(16, 16, 3, 3)"),
                      std::string("        a = R.nn.conv2d(x, v, padding=1)\n        return R.nn.conv2d(") +
                          between + ", w, padding=1)\n");
    const std::vector<Value> args{Value(numbers(DType::Float32, {2, 16, 16, 16}, 1)), weights(2), weights(3)};
    CHECK(calls_of(check_fused(module, args, 1e-5)) == 2);
  }
}
