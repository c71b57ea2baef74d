// Calls that find their code again: by function, by what is given up, by the types of arguments, and only as
// long as their module is there.
#include "jit/runtime/known_calls.h"

#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;
using namespace relish::jit;

namespace {

Value tensor(Shape shape, DType dtype = DType::Float32) { return Tensor::zeros(dtype, std::move(shape)); }

CallCode code_at(std::uint32_t place) { return {nullptr, {}, at(place)}; }

}  // namespace

TEST_CASE("known calls: tensors and tuples of them by dtype, sizes and nesting", "[jit]") {
  const auto module = std::make_shared<const Module>();
  KnownCalls calls;
  const auto knows = [&](const std::vector<Value>& args) {
    return calls.find(module, "f", args, {}) != nullptr;
  };
  const Value a = tensor({2, 3}), b = tensor({4});
  calls.note(module, "f", {a, Value::tuple({b, Value::tuple({}), b})}, {}, code_at(1));
  CHECK(knows({tensor({2, 3}), Value::tuple({b, Value::tuple({}), tensor({4})})}));
  CHECK_FALSE(knows({a}));
  CHECK_FALSE(knows({a, b}));
  CHECK_FALSE(knows({a, Value::tuple({b, Value::tuple({}), b}), b}));
  CHECK_FALSE(knows({a, Value::tuple({b, Value::tuple({}), tensor({5})})}));
  CHECK_FALSE(knows({a, Value::tuple({b, Value::tuple({}), tensor({4}, DType::Int32)})}));
  CHECK_FALSE(knows({a, Value::tuple({b, Value::tuple({b}), b})}));
  CHECK_FALSE(knows({a, Value::tuple({b, Value::tuple({})})}));
  CHECK_FALSE(knows({a, Value::tuple({b, b, b})}));
  CHECK_FALSE(knows({Value::tuple({}), Value::tuple({b, Value::tuple({}), b})}));
  CHECK_FALSE(knows({a, ShapeValue{{4}}}));
  calls.note(module, "f", {Value::tuple({b, b}), b}, {}, code_at(2));
  CHECK(knows({Value::tuple({b, b}), b}));
  CHECK_FALSE(knows({Value::tuple({b}), b, b}));
  CHECK_FALSE(knows({Value::tuple({b, b, b})}));
}

TEST_CASE("known calls: values that are no tensors are not noted", "[jit]") {
  const auto module = std::make_shared<const Module>();
  KnownCalls calls;
  for (const Value& value : {Value(ScalarValue::of_int(3)), Value(ShapeValue{{3}}), Value("text"), Value()})
    for (const std::vector<Value>& args :
         {std::vector<Value>{value}, std::vector<Value>{Value::tuple({tensor({1}), value})}}) {
      calls.note(module, "f", args, {}, code_at(1));
      CHECK(calls.find(module, "f", args, {}) == nullptr);
    }
}

TEST_CASE("known calls: of one function, what is given, and a module that is there", "[jit]") {
  auto module = std::make_shared<const Module>();
  const auto other = std::make_shared<const Module>();
  KnownCalls calls;
  const std::vector<Value> args = {tensor({2})};
  calls.note(module, "f", args, {}, code_at(1));
  calls.note(module, "f", args, {0}, code_at(2));
  calls.note(module, "g", args, {}, code_at(3));
  calls.note(other, "f", args, {}, code_at(4));
  REQUIRE(calls.find(module, "f", args, {}) != nullptr);
  CHECK(calls.find(module, "f", args, {})->entry.begin == 1);
  CHECK(calls.find(module, "f", args, {0})->entry.begin == 2);
  CHECK(calls.find(module, "g", args, {})->entry.begin == 3);
  CHECK(calls.find(other, "f", args, {})->entry.begin == 4);
  CHECK(calls.find(other, "g", args, {}) == nullptr);
  CHECK(calls.find(module, "f", args, {0, 1}) == nullptr);
  // Another module at the address of one that has gone is another one.
  const Module* const address = module.get();
  module.reset();
  const ModulePtr at_its_address(std::shared_ptr<void>(), address);
  CHECK(calls.find(at_its_address, "f", args, {}) == nullptr);
}

TEST_CASE("known calls: the latest sixteen, and no code of modules that have gone", "[jit]") {
  const auto module = std::make_shared<const Module>();
  KnownCalls calls;
  const std::shared_ptr<const void> code = std::make_shared<int>(0);
  auto short_lived = std::make_shared<const Module>();
  calls.note(short_lived, "f", {}, {}, {nullptr, {nullptr, code, {}}, {}});
  CHECK(code.use_count() == 2);
  short_lived.reset();
  calls.note(module, "g", {}, {}, code_at(1));
  CHECK(code.use_count() == 1);
  for (int i = 0; i < 17; ++i) calls.note(module, "f", {tensor({i})}, {}, code_at(1));
  CHECK(calls.find(module, "f", {tensor({0})}, {}) == nullptr);
  for (int i = 1; i < 17; ++i) CHECK(calls.find(module, "f", {tensor({i})}, {}) != nullptr);
}

TEST_CASE("a module in the place of one that has gone runs its own code", "[jit]") {
  const auto engine = make_jit({.threads = 1});
  for (int round = 0; round < 40; ++round) {
    const ModulePtr module = module_from(
        "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.multiply(x, R.const(" +
        std::to_string(round) + ".0, \"float32\"))\n");
    const Value x = Tensor::from<float>({2}, std::vector<float>{1, 2});
    for (int again = 0; again < 2; ++again)
      CHECK(engine->call(module, "main", {x}).tensor().get_double(1) == 2 * round);
  }
}

TEST_CASE("a function that is called with other sizes and other functions between gives each its own",
          "[jit]") {
  const auto engine = make_jit({.threads = 1});
  const ModulePtr module = module_from(
      "@R.function\ndef f(x: R.Tensor((\"n\",), \"float32\")):\n    return R.sum(x)\n"
      "@R.function\ndef g(x: R.Tensor((\"n\",), \"float32\")):\n    return R.max(x)\n"
      "@R.function\ndef h(t: R.Tuple(R.Tensor((\"n\",), \"float32\"), R.Tensor((\"n\",), \"float32\"))):\n"
      "    return R.sum(R.add(t[0], t[1]))\n");
  for (int round = 0; round < 3; ++round)
    for (const std::int64_t n : {1, 2, 30}) {
      const Tensor ones = Tensor::from<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 1));
      CHECK(engine->call(module, "f", {ones}).tensor().get_double(0) == static_cast<double>(n));
      CHECK(engine->call(module, "g", {ones}).tensor().get_double(0) == 1);
      CHECK(engine->call(module, "h", {Value::tuple({ones, ones})}).tensor().get_double(0) ==
            static_cast<double>(2 * n));
      CHECK_THROWS(engine->call(module, "h", {Value::tuple({ones, Tensor::zeros(DType::Float32, {n + 1})})}));
    }
}
