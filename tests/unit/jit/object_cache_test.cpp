// Code that another engine made: a program that was compiled before is not compiled again, and computes the
// same bits; addresses of this process are those of the engine that runs.
#include <fmt/format.h>

#include "jit/object_store.h"
#include "runtime/native.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using namespace relish::test;
using relish::testing::TemporaryFolder;

namespace {

struct Counted {
  Value value;
  std::uint64_t compiled = 0, found = 0, programs = 0;
};

// The call in an engine of its own, as another process has one.
Counted call(const std::shared_ptr<ObjectStore>& store, const std::string& text, std::string_view name,
             const std::vector<Value>& args) {
  const auto engine = make_jit({.threads = 2, .objects = store});
  const CodeCounts before = code_counts();
  Counted counted{engine->call(module_from(text), name, args)};
  counted.compiled = code_counts().compiled - before.compiled;
  counted.found = code_counts().found - before.found;
  counted.programs = code_counts().programs - before.programs;
  return counted;
}

Tensor three() {
  Tensor tensor = Tensor::zeros(DType::Int64, {});
  tensor.set_int(0, 3);
  return tensor;
}

bool same_bits(const Value& a, const Value& b) {
  if (!a.is_tuple()) return identical(a.tensor(), b.tensor());
  for (std::size_t i = 0; i < a.fields().size(); ++i)
    if (!same_bits(a.fields()[i], b.fields().at(i))) return false;
  return true;
}

// All of a value, bit by bit.
std::string written(const Value& value) {
  std::string text;
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    text.assign(static_cast<const char*>(tensor.data()), static_cast<std::size_t>(tensor.byte_size()));
  } else if (value.is_tuple()) {
    for (const Value& field : value.fields()) text += written(field) + ";";
  } else if (value.is_scalar()) {
    text = std::to_string(value.scalar().integer);
  }
  return describe(value) + " " + text;
}

// Kernels, constants, a loop, a branch, a function value and checks.
const std::string program = R"(@I.ir_module
class M:
    @R.function
    def half(x: R.Tensor((8, 8), "float32")) -> R.Tensor((8, 8), "float32"):
        return R.multiply(x, R.const([[0.5]], "float32"))

    @R.function
    def main(x: R.Tensor((8, 8), "float32"), n: R.Tensor((), "int64")):
        w = R.const([[0.25, 1.5, -2.0, 3.0, 0.5, -1.0, 2.0, 0.125]], "float32")
        y = R.nn.softmax(R.matmul(R.add(x, w), R.permute_dims(x)))
        for i in range(5):
            y = R.add(R.tanh(y), M.half(x))
        if R.greater(n, R.const(2, "int64")):
            z = R.sort(y)
        else:
            z = y
        return z, R.sum(y)
)";

}  // namespace

TEST_CASE("large kernels are compiled beside each other, small ones together", "[jit]") {
  // Units: of kernels, and one of what is between them.
  const std::string products = R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((64, 784), "float32"), w: R.Tensor((784, 128), "float32"), v: R.Tensor((128, 10), "float32")):
        return R.matmul(R.tanh(R.matmul(x, w)), v)
)";
  const Counted large = call(nullptr, products, "main",
                             {numbers(DType::Float32, {64, 784}), numbers(DType::Float32, {784, 128}),
                              numbers(DType::Float32, {128, 10})});
  CHECK(large.compiled >= 3);
  const std::string sums = R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "int64"), y: R.Tensor((5,), "int64")):
        return R.add(x, x), R.multiply(y, y), R.negative(y)
)";
  const Counted small = call(nullptr, sums, "main", {numbers(DType::Int64, {3}), numbers(DType::Int64, {5})});
  CHECK(small.compiled == 2);
  // Of many, only the first few.
  std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((64, 64), \"float32\")";
  std::string body, results;
  std::vector<Value> args{numbers(DType::Float32, {64, 64})};
  constexpr int kernels = 12;
  for (int i = 0; i < kernels; ++i) {
    const std::int64_t columns = 48 + i;
    text += fmt::format(", w{}: R.Tensor((64, {}), \"float32\")", i, columns);
    body += fmt::format("        y{0} = R.matmul(x, w{0})\n", i);
    results += fmt::format("{}y{}", i > 0 ? ", " : "", i);
    args.push_back(numbers(DType::Float32, {64, columns}));
  }
  const Counted many = call(nullptr, text + "):\n" + body + "        return " + results + "\n", "main", args);
  CHECK(many.compiled > 4);
  CHECK(many.compiled < kernels);
}

TEST_CASE("a program that was compiled before is found, with the same bits", "[jit]") {
  TemporaryFolder folder;
  const std::string objects = folder.file("objects");
  const auto store = [&] { return std::make_shared<ObjectStore>(objects); };
  const std::vector<Value> args{numbers(DType::Float32, {8, 8}), three()};
  const Counted without = call(nullptr, program, "main", args);
  CHECK(without.compiled > 0);
  CHECK(without.found == 0);
  const Counted first = call(store(), program, "main", args);
  CHECK(first.compiled == without.compiled);
  CHECK(first.found == 0);
  CHECK(store()->contents().entries >= first.compiled);
  const Counted second = call(store(), program, "main", args);
  CHECK(second.compiled == 0);
  CHECK(second.found == first.compiled);
  CHECK(same_bits(first.value, without.value));
  CHECK(same_bits(first.value, second.value));

  // Another number in the text has other code or another constant, never the code of the first.
  std::string other = program;
  other.replace(other.find("range(5)"), 8, "range(6)");
  const Counted changed = call(store(), other, "main", args);
  CHECK(changed.compiled > 0);
  CHECK_FALSE(same_bits(changed.value, first.value));
  other = program;
  other.replace(other.find("3.0, 0.5"), 8, "3.0, 0.7");
  const Counted constant = call(store(), other, "main", args);
  CHECK(same_bits(constant.value, call(nullptr, other, "main", args).value));
  CHECK_FALSE(same_bits(constant.value, first.value));
}

TEST_CASE("a program that was compiled before is not lowered again", "[jit]") {
  TemporaryFolder folder;
  const auto again = [&](const std::string& text, const std::vector<Value>& args) {
    return call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main", args);
  };
  // Kernels, large and small constants, one of them a result, a loop, a branch, a sort, symbolic sizes, a
  // tuple, a scalar, an argument among the results.
  const std::string whole = R"(@I.ir_module
class M:
    @R.function
    def half(x: R.Tensor(("n", 8), "float32")):
        return R.multiply(x, R.const([[0.5]], "float32"))

    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), t: R.Tuple(R.Tensor((), "int64"), R.Shape(ndim=2)), k: R.Prim("int64")):
        w = R.const([[0.25, 1.5, -2.0, 3.0, 0.5, -1.0, 2.0, 0.125]], "float32")
        y = R.nn.softmax(R.matmul(R.add(x, w), R.permute_dims(x)))
        for i in range(5):
            y = R.add(R.tanh(y), R.const(0.125, "float32"))
        if R.greater(t[0], R.const(2, "int64")):
            z = R.sort(y)
        else:
            z = y
        return (z, w), R.max(M.half(x)), x, R.shape_of(y), k, t[1]
)";
  const auto args = [](std::int64_t rows) {
    return std::vector<Value>{numbers(DType::Float32, {rows, 8}),
                              Value::tuple({three(), Value(ShapeValue{{4, 5}})}),
                              Value(ScalarValue::of_int(7))};
  };
  const Counted first = again(whole, args(8)), second = again(whole, args(8));
  CHECK(first.programs == 0);
  CHECK(second.programs == 1);
  CHECK(second.compiled == 0);
  CHECK(second.found == first.compiled);
  CHECK(written(first.value) == written(second.value));
  CHECK(written(again(whole, args(3)).value) == written(call(nullptr, whole, "main", args(3)).value));

  // The bytes of a constant, the name of a function and a type are part of the text.
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"3.0, 0.5", "3.0, 0.7"},
                                 {"[[0.5]]", "[[0.6]]"},
                                 {"range(5)", "range(4)"}}) {
    std::string other = whole;
    other.replace(other.find(from), from.size(), to);
    const Counted changed = again(other, args(8));
    CHECK(changed.programs == 0);
    CHECK(written(changed.value) == written(call(nullptr, other, "main", args(8)).value));
    CHECK(written(changed.value) != written(first.value));
    CHECK(again(other, args(8)).programs == 1);
  }

  // Large ones do not stand in the text.
  const auto with_table = [](int last) {
    std::string table;
    for (int i = 0; i < 400; ++i) table += fmt::format("{}.0, ", i == 399 ? last : i);
    return "@R.function\ndef main(x: R.Tensor((400,), \"float32\")):\n    return R.add(x, R.const([" + table +
           "], \"float32\"))\n";
  };
  const std::vector<Value> four_hundred{numbers(DType::Float32, {400})};
  const Counted table = again(with_table(1), four_hundred), other_table = again(with_table(2), four_hundred);
  CHECK(other_table.programs == 0);
  CHECK(written(table.value) != written(other_table.value));
  CHECK(again(with_table(2), four_hundred).programs == 1);

  // Function values belong to their process.
  const std::string value = R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def twice(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        f = twice
        if R.greater(R.sum(x), R.const(0.0, "float32")):
            g = f
        else:
            g = twice
        return g(x)
)";
  (void)again(value, {numbers(DType::Float32, {3})});
  const Counted valued = again(value, {numbers(DType::Float32, {3})});
  CHECK(valued.compiled == 0);
  CHECK(valued.programs == 0);
  CHECK(written(valued.value) == written(call(nullptr, value, "main", {numbers(DType::Float32, {3})}).value));
}

TEST_CASE("what a caller gives up is another program", "[jit]") {
  TemporaryFolder folder;
  const std::string text = R"(@R.function
def main(x: R.Tensor((1000,), "float32")):
    return R.add(x, R.const(1.0, "float32"))
)";
  const auto again = [&](const GivenParams& given) {
    const auto engine =
        make_jit({.threads = 1, .objects = std::make_shared<ObjectStore>(folder.file("objects"))});
    const std::uint64_t before = code_counts().programs;
    const ModulePtr module = module_from(text);
    Tensor x = numbers(DType::Float32, {1000});
    const void* const place = x.data();
    std::vector<Value> args;
    args.emplace_back(std::move(x));
    std::vector<Value> kept = given.empty() ? args : std::vector<Value>{};
    const Value result = call_giving(*engine, module, "main", args, given);
    CHECK((result.tensor().data() == place) == !given.empty());
    if (!kept.empty()) CHECK(identical(kept[0].tensor(), numbers(DType::Float32, {1000})));
    return code_counts().programs - before;
  };
  CHECK(again({0}) == 0);
  CHECK(again({}) == 0);
  CHECK(again({0}) == 1);
  CHECK(again({}) == 1);
}

TEST_CASE("constants of which the text has only a name are told apart by all that they are", "[jit]") {
  TemporaryFolder folder;
  const auto list = [](int count, const std::string& element) {
    std::string text;
    for (int i = 0; i < count; ++i) text += element + ", ";
    return "[" + text + "]";
  };
  const auto rows = [&](int count, int columns, const std::string& element) {
    return list(count, list(columns, element));
  };
  const auto function = [](const std::string& body) { return "@R.function\ndef main():\n" + body; };
  const auto two_sums = [&](int first, int second) {
    return function(
        fmt::format("    return R.sum(R.const({}, \"float32\")), R.sum(R.const({}, \"float32\"))\n",
                    list(first, "1.0"), list(second, "1.0")));
  };
  const auto matched = [&](const std::string& table) {
    return function("    y = R.match_cast(R.const(" + table +
                    ", \"float32\"), R.Tensor((\"n\", \"m\"), \"float32\"))\n"
                    "    return R.sum(y, axis=1), R.shape_of(y)\n");
  };
  const auto as_int64 = [&](const std::string& element, const std::string& dtype) {
    return function("    return R.astype(R.const(" + list(20, element) + ", \"" + dtype +
                    "\"), \"int64\")\n");
  };
  // Each pair has the same text but for that, and the same bytes one behind the other.
  const std::vector<std::pair<std::string, std::string>> pairs{
      {as_int64("1065353216", "int32"), as_int64("1.0", "float32")},
      {two_sums(20, 30), two_sums(30, 20)},
      {two_sums(5000, 100), two_sums(100, 5000)},
      {matched(rows(4, 5, "1.0")), matched(rows(5, 4, "1.0"))},
      {matched(rows(3, 0, "")), matched(rows(2, 0, ""))},
  };
  for (const auto& [first, second] : pairs) {
    const auto store = [&] { return std::make_shared<ObjectStore>(folder.file("objects")); };
    (void)call(store(), first, "main", {});
    const Counted found = call(store(), second, "main", {});
    INFO(second);
    CHECK(found.programs == 0);
    CHECK(written(found.value) == written(call(nullptr, second, "main", {}).value));
    CHECK(written(found.value) != written(call(nullptr, first, "main", {}).value));
  }
}

TEST_CASE("a kept program of which an object is gone is compiled again", "[jit]") {
  TemporaryFolder folder;
  const std::string text = R"(@R.function
def main(x: R.Tensor((64, 784), "float32"), w: R.Tensor((784, 64), "float32")):
    return R.matmul(R.tanh(R.matmul(x, w)), R.permute_dims(w))
)";
  const std::vector<Value> args{numbers(DType::Float32, {64, 784}), numbers(DType::Float32, {784, 64})};
  const auto again = [&] {
    return call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main", args);
  };
  const Counted first = again();
  REQUIRE(again().programs == 1);
  std::vector<std::filesystem::path> objects;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("objects")))
    objects.push_back(entry.path());
  for (const std::filesystem::path& object : objects) {
    std::filesystem::remove(object);
    const Counted without = again();
    CHECK(without.programs == 0);
    CHECK(without.compiled <= 1);  // none when it was the program's own
    CHECK(same_bits(without.value, first.value));
    CHECK(again().programs == 1);
  }
}

TEST_CASE("a fault in code that was found is told where it stands", "[jit]") {
  TemporaryFolder folder;
  const std::string text =
      "@R.function\ndef main(x: R.Tensor((4,), \"float32\"), i: R.Tensor((2,), \"int64\")):\n"
      "    y = R.add(x, x)\n    return R.take(y, i)\n";
  Tensor indices = Tensor::zeros(DType::Int64, {2});
  indices.set_int(1, 9);
  std::vector<std::string> told;
  for (int round = 0; round < 2; ++round) {
    const auto store = std::make_shared<ObjectStore>(folder.file("objects"));
    try {
      call(store, text, "main", {numbers(DType::Float32, {4}), indices});
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      told.push_back(fmt::format("{} {} {}", first.id, first.message, first.span.begin));
    }
  }
  REQUIRE(told.size() == 2);
  CHECK(told[0] == told[1]);
}

TEST_CASE("faults of several units keep their places when their code was found", "[jit]") {
  TemporaryFolder folder;
  // The products are units of their own; checks of both takes are numbered within theirs.
  const std::string text =
      "@R.function\ndef main(x: R.Tensor((64, 784), \"float32\"), w: R.Tensor((784, 64), \"float32\"), "
      "i: R.Tensor((2,), \"int64\"), j: R.Tensor((3,), \"int64\")):\n"
      "    y = R.matmul(x, w)\n    a = R.take(y, i, axis=0)\n    z = R.matmul(w, x)\n"
      "    b = R.take(z, j, axis=1)\n    return a, b\n";
  const auto told = [&](int bad) {
    Tensor i = Tensor::zeros(DType::Int64, {2}), j = Tensor::zeros(DType::Int64, {3});
    if (bad == 0) i.set_int(1, 64);
    if (bad == 1) j.set_int(2, -785);
    try {
      call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main",
           {numbers(DType::Float32, {64, 784}), numbers(DType::Float32, {784, 64}), i, j});
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      return fmt::format("{} {} {}", first.id, first.message,
                         text.substr(first.span.begin, first.span.end - first.span.begin));
    }
    return std::string("nothing");
  };
  const std::vector<std::string> made{told(0), told(1)};
  CHECK(made[0].find("64") != std::string::npos);
  CHECK(made[0].find("R.take(y, i, axis=0)") != std::string::npos);
  CHECK(made[1].find("R.take(z, j, axis=1)") != std::string::npos);
  CHECK(std::vector{told(0), told(1)} == made);
  CHECK(told(2) == "nothing");
}

TEST_CASE("sites of prim_funcs in several units of a kept program keep their places", "[jit]") {
  TemporaryFolder folder;
  const std::string text = R"(@I.ir_module
class M:
    @T.prim_func
    def before(a: T.Buffer((4,), "int64"), o: T.Buffer((4,), "int64")):
        for i in range(4):
            o[i] = T.int64(12) // a[i]
    @T.prim_func
    def behind(a: T.Buffer((4,), "int64"), o: T.Buffer((4,), "int64")):
        for i in range(4):
            o[i] = a[i] + T.int64(1)
        for i in range(4):
            o[i] = o[i] + T.int64(7) % a[i]
    @R.function
    def main(x: R.Tensor((64, 784), "float32"), w: R.Tensor((784, 64), "float32"), a: R.Tensor((4,), "int64"), b: R.Tensor((4,), "int64")):
        cls = M
        p = R.call_tir(cls.before, (a,), out_ty=R.Tensor((4,), "int64"))
        y = R.matmul(x, w)
        q = R.call_tir(cls.behind, (b,), out_ty=R.Tensor((4,), "int64"))
        z = R.matmul(w, x)
        return p, y, q, z
)";
  const auto told = [&](std::int64_t a0, std::int64_t b3, bool kept = true) {
    Tensor a = numbers(DType::Int64, {4}), b = numbers(DType::Int64, {4});
    for (std::int64_t i = 0; i < 4; ++i) {
      a.set_int(i, i == 0 ? a0 : 5);
      b.set_int(i, i == 3 ? b3 : 5);
    }
    try {
      call(kept ? std::make_shared<ObjectStore>(folder.file("objects")) : nullptr, text, "main",
           {numbers(DType::Float32, {64, 784}), numbers(DType::Float32, {784, 64}), a, b});
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      return fmt::format("{} {} {}", first.id, first.message,
                         text.substr(first.span.begin, first.span.end - first.span.begin));
    }
    return std::string("nothing");
  };
  const std::vector<std::string> made{told(0, 5, false), told(5, 0, false)};
  CHECK(told(5, 5) == "nothing");
  CHECK(made[0].find("//") != std::string::npos);
  CHECK(made[1].find("%") != std::string::npos);
  CHECK(made[0] != made[1]);
  const std::uint64_t before = code_counts().programs;
  CHECK(std::vector{told(0, 5), told(5, 0)} == made);
  CHECK(code_counts().programs == before + 2);
}

TEST_CASE("damaged objects are made again, and native calls find their functions", "[jit]") {
  TemporaryFolder folder;
  NativeFunctions::instance().opt_in(RELISH_NATIVE_FOLDER "/linear.so");
  const std::string text =
      "@R.function(pure=False)\ndef main(x: R.Tensor((1, 784), \"float32\"), w: R.Tensor((784, 128), "
      "\"float32\"), b: R.Tensor((128,), \"float32\")):\n"
      "    y = R.call_dps_packed(\"env.linear\", (x, w, b), out_ty=R.Tensor((1, 128), \"float32\"))\n"
      "    return R.add(y, R.const([1.0], \"float32\"))\n";
  const std::vector<Value> args{numbers(DType::Float32, {1, 784}), numbers(DType::Float32, {784, 128}),
                                numbers(DType::Float32, {128})};
  const auto again = [&] {
    return call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main", args);
  };
  const Counted first = again();
  CHECK(again().compiled == 0);
  std::size_t number = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("objects"))) {
    if (number++ % 2 == 0)
      std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
    else
      std::ofstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(500) << '!';
  }
  const Counted second = again();
  CHECK(second.compiled == first.compiled);
  CHECK(same_bits(first.value, second.value));
  const Counted third = again();
  CHECK(third.compiled == 0);
  CHECK(same_bits(first.value, third.value));
  NativeFunctions::instance().clear();
}

// Without the bits in the message of a test that fails.
static bool same_written(const Value& a, const Value& b) { return written(a) == written(b); }

TEST_CASE("a program that calls native functions is never kept whole", "[jit]") {
  TemporaryFolder folder;
  const std::string text =
      "@R.function(pure=False)\ndef main(x: R.Tensor((64, 784), \"float32\"), w: R.Tensor((784, 64), "
      "\"float32\")):\n"
      "    n = R.call_packed(\"env.n\", x, ty_args=R.Prim(\"int64\"))\n"
      "    return R.matmul(x, w), n\n";
  const std::vector<Value> args{numbers(DType::Float32, {64, 784}), numbers(DType::Float32, {784, 64})};
  const auto kept = [&] {
    return call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main", args);
  };
  // The same text, whose function another process may find elsewhere.
  std::vector<std::string> results;
  for (const char* symbol : {"__tvm_ffi_env_count", "other_name", "__tvm_ffi_env_count"}) {
    NativeFunctions::instance().clear();
    NativeFunctions::instance().opt_in(std::string("env.n=") + RELISH_NATIVE_FOLDER "/forms.so:" + symbol);
    const Counted alone = call(nullptr, text, "main", args);
    CHECK(alone.compiled > 0);
    for (int round = 0; round < 2; ++round) {
      const Counted found = kept();
      CHECK(same_written(found.value, alone.value));
      CHECK(found.programs == 0);
      CHECK((found.compiled == 0) == (!results.empty() || round > 0));  // its objects are kept all the same
    }
    results.push_back(written(alone.value));
  }
  const bool told_apart = results[0] != results[1] && results[0] == results[2];
  CHECK(told_apart);
  NativeFunctions::instance().clear();
}

TEST_CASE("a program that makes function values is never kept whole", "[jit]") {
  TemporaryFolder folder;
  const auto text_with = [](const char* operation) {
    return fmt::format(R"(@R.function
def main(x: R.Tensor((3,), "float32"), n: R.Tensor((), "int64")):
    @R.function
    def inner(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.{}(x, y)
    g = inner
    return R.invoke_pure_closure(g, (R.exp(x),), sinfo_args=R.Tensor((3,), "float32"))
)",
                       operation);
  };
  const std::vector<Value> args{numbers(DType::Float32, {3}), three()};
  std::vector<std::string> results;
  for (const char* operation : {"add", "subtract"}) {
    const std::string text = text_with(operation);
    const Counted alone = call(nullptr, text, "main", args);
    CHECK(alone.compiled > 0);
    for (int round = 0; round < 2; ++round) {
      const Counted found = call(std::make_shared<ObjectStore>(folder.file("objects")), text, "main", args);
      CHECK(same_written(found.value, alone.value));
      CHECK(found.programs == 0);
      CHECK((found.compiled == 0) == (round > 0));
    }
    results.push_back(written(alone.value));
  }
  const bool told_apart = results[0] != results[1];
  CHECK(told_apart);
  // What has neither is kept.
  const std::string plain =
      "@R.function\ndef main(x: R.Tensor((3,), \"float32\"), n: R.Tensor((), \"int64\")):\n"
      "    return R.exp(x)\n";
  const Value wanted = call(nullptr, plain, "main", args).value;
  for (const std::uint64_t programs : {0, 1}) {
    const Counted found = call(std::make_shared<ObjectStore>(folder.file("objects")), plain, "main", args);
    CHECK(same_written(found.value, wanted));
    CHECK(found.programs == programs);
  }
}
