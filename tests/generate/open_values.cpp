// Values of every kind into parameters of every open type, and on into operators, prim_funcs, casts,
// conditions and calls: the tiers must give the same value, or the same fault at the same place in the same
// words.
#include <array>

#include "tests/generate/checks.h"
#include "tests/generate/values.h"

namespace relish::generate {
namespace {

constexpr std::array types = {
    "R.Any",
    "R.Object",
    "R.Tensor",
    "R.Tensor(\"float32\")",
    "R.Tensor(ndim=2)",
    "R.Tensor(\"float32\", ndim=1)",
    "R.Tensor((\"n\",))",
    "R.Tensor((\"n\", 3), \"float32\")",
    "R.Tensor((3,), \"float32\")",
    "R.Tensor((), \"bool\")",
    "R.Tuple(R.Any, R.Any)",
    "R.Tuple(R.Tensor(\"float32\"), R.Any)",
    "R.Tuple",
    "R.Shape",
    "R.Shape(ndim=2)",
    "R.Shape([\"n\", 3])",
    "R.Prim(\"int64\")",
    "R.Prim(\"float32\")",
    "R.Prim(\"bool\")",
    "R.Str",
    "R.Callable",
};

// What is done with x. TYPE stands for one of the types.
constexpr std::array open_uses = {
    "return x",
    "return (x, x)",
    "z = R.match_cast(x, TYPE)\n        return z",
    "k = T.int64()\n        z = R.match_cast(x, R.Tensor((k, 3)))\n        return R.zeros(R.shape([k]), "
    "\"float32\")",
    "k = T.int64()\n        z = R.match_cast(x, R.Shape([k, 3]))\n        return R.prim_value(k * 2)",
    "k = T.int64()\n        z = R.match_cast(x, R.Tensor((3, k), \"float64\"))\n        return R.add(z, z)",
    "z = R.match_cast(x, R.Prim(\"int64\"))\n        return z",
    "z = R.match_cast(x, R.Tuple(R.Tensor((3,), \"float32\"), R.Any))\n        return z",
    "return R.call_tir(cls.fixed, (x,), out_ty=R.Tensor((3,), \"float32\"))",
    "return R.call_tir(cls.open, (x,), out_ty=R.Tensor((3,), \"float32\"))",
    "return R.call_tir(cls.square, (x,), out_ty=R.Tensor((2, 2), \"int64\"))",
    "return R.call_tir(cls.scaled, (R.const([1, 2, 3], \"float32\"), x), out_ty=R.Tensor((3,), \"float32\"))",
    "z = cls.take(x)\n        return z",
    "z = cls.take(x)\n        return (z, x)",
    "if x:\n            z = R.const(1)\n        else:\n            z = R.const(2)\n        return z",
    "z = R.const(0)\n        while x:\n            z = R.add(z, R.const(1))\n        return z",
    "return R.add(x, x)",
    "return R.concat([x, x])",
    "return R.arange(x)",
    "return R.arange(0, x, 2)",
    "_ = R.assert_op(x)\n        return x",
    "return R.shape_of(x)",
    "return R.sum(x)",
    "return R.matmul(x, x)",
    "return R.reshape(x, (3,))",
    "return R.astype(x, \"int32\")",
    "return R.zeros(x, \"float32\")",
    "return R.take(R.const([1, 2, 3]), x)",
    "return R.expand_dims(x, 0)",
    "z = x[0]\n        return z",
    "_ = R.print(x)\n        return x",
    "return x(R.const(1.0))",
    "return R.invoke_closure(x, (R.const(1.0),), sinfo_args=R.Any)",
    "return R.make_closure(x, (R.const(1.0),))",
    "return R.full((2,), x, \"float32\")",
    "return R.broadcast_to(x, (2, 3))",
    "return R.tensor_to_shape(x)",
    "return R.call_dps_packed(\"not_there\", (x,), out_sinfo=R.Tensor((3,), \"float32\"))",
    "return R.call_pure_packed(\"not_there\", x, sinfo_args=R.Any)",
};

constexpr std::string_view others = R"(
    @T.prim_func
    def fixed(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i] + T.float32(1)

    @T.prim_func
    def open(a: T.handle, B: T.Buffer((3,), "float32")):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(3):
            B[i] = T.if_then_else(i < n, A[i], T.float32(7))

    @T.prim_func
    def square(A: T.Buffer((2, 2), "int64"), B: T.Buffer((2, 2), "int64")):
        for i, j in T.grid(2, 2):
            B[i, j] = A[j, i]

    @T.prim_func
    def scaled(A: T.Buffer((3,), "float32"), s: T.float32, B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i] * s
)";

std::string with_words_replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Value some_value(Random& random) {
  constexpr std::array dtypes = {DType::Float32, DType::Float32,  DType::Float64,
                                 DType::Float16, DType::BFloat16, DType::Int64,
                                 DType::Int32,   DType::UInt8,    DType::Bool};
  const auto some = [&](const auto& all) {
    return all[static_cast<std::size_t>(random.below(std::ssize(all)))];
  };
  const auto tensor = [&] {
    const std::array<std::vector<Scalar>, 7> shapes = {{{Scalar(3)},
                                                        {Scalar(3)},
                                                        {},
                                                        {Scalar(2), Scalar(3)},
                                                        {Scalar(2), Scalar(2)},
                                                        {Scalar(0)},
                                                        {Scalar(1), Scalar(2), Scalar(3)}}};
    return value_of(random, tensor_type(some(shapes), some(dtypes)));
  };
  switch (random.below(16)) {
    case 0:
      return ShapeValue{{2, 3}};
    case 1:
      return random.below(2) ? ShapeValue{{}} : ShapeValue{{4}};
    case 2:
      return ScalarValue::of_int(random.below(7) - 2);
    case 3:
      return ScalarValue::of_real(1.5, random.below(2) ? DType::Float64 : DType::Float32);
    case 4:
      return ScalarValue::of_bool(false);
    case 5:
      return std::string("text");
    case 6:
      return {};
    case 7:
      return Value::tuple({});
    case 8:
      return Value::tuple({tensor(), tensor()});
    case 9:
      return Value::tuple({tensor(), random.below(2) ? Value(std::string("s")) : Value()});
    case 10:
      return Value::tuple({Value::tuple({tensor(), ScalarValue::of_int(3)}), ShapeValue{{2}}});
    default:
      return tensor();
  }
}

struct OpenTold {
  std::optional<Value> value;
  std::string fault;
  bool broken = false;  // a fault of ours
};

OpenTold told_of_program(Evaluator& engine, const Program& program) {
  try {
    return {engine.call(program.module, "main", program.inputs), {}};
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    std::string place = "nowhere";
    if (first.span.known()) {
      const SourceFile* file = Sources::instance().find(first.span.file);
      const auto position = file->position(first.span.begin);
      place = fmt::format("{}:{}", position.line, position.column);
    }
    return {{},
            fmt::format("{}: {}: {} [{}]", place, name_of(first.error_class), first.message, first.id),
            first.error_class == ErrorClass::Internal};
  } catch (const std::exception& error) {
    return {{}, error.what(), true};
  }
}

bool same_value(const Value& a, const Value& b) {
  if (a.is_string() || b.is_string()) return a.is_string() && b.is_string() && a.string() == b.string();
  if (a.is_void() || b.is_void()) return a.is_void() == b.is_void();
  if (a.is_tuple() && b.is_tuple()) {
    if (a.fields().size() != b.fields().size()) return false;
    for (std::size_t i = 0; i < a.fields().size(); ++i)
      if (!same_value(a.fields()[i], b.fields()[i])) return false;
    return true;
  }
  const bool objects = std::holds_alternative<std::shared_ptr<const ObjectValue>>(a.kind());
  return objects ? describe(a) == describe(b) : same_bits(a, b);
}

}  // namespace

Program open_program(std::uint64_t seed) {
  Random random(seed ^ 0x6f70656e);
  const auto some = [&](const auto& all) {
    return std::string(all[static_cast<std::size_t>(random.below(std::ssize(all)))]);
  };
  const std::string param = some(types), taken = some(types), cast = some(types);
  const std::string body = with_words_replaced(some(open_uses), "TYPE", cast);
  // A function is a value that only a text can name.
  const bool function = random.below(12) == 0;
  Program program;
  program.options.seed = seed;
  program.text = fmt::format(
      "@I.ir_module\nclass Module:{}\n    @R.function\n    def take(y: {}):\n        return y\n\n"
      "    @R.function(pure=False)\n    def {}(x: {}):\n        cls = Module\n        {}\n",
      others, taken, function ? "inner" : "main", param, body);
  if (function) {
    program.text +=
        "\n    @R.function(pure=False)\n    def main():\n        cls = Module\n"
        "        return cls.inner(cls.take)\n";
  } else {
    program.inputs.push_back(some_value(random));
  }
  std::vector<std::string> refused;
  program.module = read_back(program.text, "", refused);
  return program;
}

std::vector<std::string> open_findings(const Program& program, Tally& tally) {
  if (!program.module) {
    ++tally["refused when read"];
    return {};
  }
  const OpenTold wanted = told_of_program(reference(), program);
  const OpenTold found = told_of_program(compiled(1), program);
  ++tally[wanted.value ? "values" : "faults"];
  const std::string given = program.inputs.empty() ? "a function" : describe(program.inputs[0]);
  if (wanted.broken || found.broken || wanted.fault != found.fault) {
    return {fmt::format("{}: interp {}\n    jit {}\n{}", given, wanted.value ? "a value" : wanted.fault,
                        found.value ? "a value" : found.fault,
                        program.text.substr(program.text.find("def take")))};
  }
  if (wanted.value && !same_value(*wanted.value, *found.value)) {
    return {fmt::format("{}: interp gives {}, jit {}\n{}", given, describe(*wanted.value),
                        describe(*found.value), program.text.substr(program.text.find("def take")))};
  }
  return {};
}

}  // namespace relish::generate
