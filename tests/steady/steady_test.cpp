// What is called again and again in the same way takes no memory: results, the rounds of a loop, and what
// callers give up is used again. Counted in blocks of the tensor allocator, for loops also in operator new.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <set>

#include "ir/rewriting/rewrite.h"
#include "runtime/storage.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"
#include "tests/steady/counts.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"
#include "transform/setup_trainer.h"

namespace relish::test {

std::atomic<std::uint64_t> news{0};

}  // namespace relish::test

namespace relish::test {

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t whole_pages = 0, resident_pages = 0;
  file >> whole_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace relish::test

using relish::test::news;

// Counts what the whole program allocates. Not inlined: what is seen to come from malloc is warned about
// where it goes by delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  news.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  news.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace relish;
using namespace relish::test;

namespace {

const std::string whole = "@I.ir_module\nclass M:\n";

// A model of two layers with its training step, for Adam.
ModulePtr trainer() {
  const ModulePtr model = module_from(
      whole +
      "    @R.function\n"
      "    def main(x: R.Tensor((16, 64), \"float32\"), w0: R.Tensor((64, 128), \"float32\"), b0: "
      "R.Tensor((128,), \"float32\"), w1: R.Tensor((128, 10), \"float32\")):\n"
      "        h = R.nn.relu(R.add(R.matmul(x, w0), b0))\n"
      "        return R.matmul(h, w1)\n");
  SetupTrainerOptions options;
  options.loss.loss.name = "cross_entropy";
  options.optimizer = parse_named_spec("adam(lr=0.01)");
  return std::make_shared<const Module>(setup_trainer(*model, "main", options));
}

std::vector<Value> start_values() {
  std::vector<Value> params, states = {Tensor::scalar_int(DType::Int64, 0), Tensor::scalar(DType::Float32, 1),
                                       Tensor::scalar(DType::Float32, 1)};
  for (const Shape& shape : {Shape{64, 128}, Shape{128}, Shape{128, 10}})
    params.emplace_back(numbers(DType::Float32, shape));
  for (int i = 0; i < 2; ++i)
    for (const Value& param : params)
      states.emplace_back(Tensor::zeros(DType::Float32, param.tensor().shape()));
  return {Value::tuple(params), Value::tuple(states), Tensor::scalar(DType::Float32, 0.01),
          numbers(DType::Float32, {16, 64}), Tensor::zeros(DType::Int64, {16})};
}

// One step; its parameters and states become the arguments of the next. `taken`: what the call took, without
// the list of arguments.
Value stepped(Evaluator& engine, const ModulePtr& module, std::vector<Value>& args, bool give,
              std::uint64_t* taken = nullptr) {
  static const GivenParams state = {0, 1};
  std::vector<Value> now = {std::move(args[0]), std::move(args[1]), args[2], args[3], args[4]};
  args[0] = args[1] = Value();
  const std::uint64_t before = news;
  const Value result = give ? call_giving(engine, module, "train_step", std::move(now), state)
                            : engine.call(module, "train_step", std::move(now));
  if (taken != nullptr) *taken += news - before;
  args[0] = result.fields()[1];
  args[1] = result.fields()[2];
  return result.fields()[0];
}

std::vector<const void*> addresses(const Value& value) {
  if (value.is_tensor()) return {value.tensor().data()};
  std::vector<const void*> found;
  for (const Value& field : value.fields())
    for (const void* each : addresses(field)) found.push_back(each);
  return found;
}

bool same(const Value& a, const Value& b) {
  if (a.is_tensor()) return identical(a.tensor(), b.tensor());
  for (std::size_t i = 0; i < a.fields().size(); ++i)
    if (!same(a.fields()[i], b.fields()[i])) return false;
  return a.fields().size() == b.fields().size();
}

}  // namespace

TEST_CASE("100 steps of training take no block from the system", "[jit][steady]") {
  if (!keeps_storage()) return;
  const ModulePtr module = trainer();
  for (const bool give : {false, true}) {
    const auto engine = make_jit({.threads = 1});
    std::vector<Value> args = start_values();
    for (int i = 0; i < 3; ++i) stepped(*engine, module, args, give);
    const std::uint64_t taken = storage_counts().taken, held = memory_held();
    const std::uint64_t blocks = code_counts().blocks;
    std::uint64_t of_one = 0, of_all = 0;
    stepped(*engine, module, args, give, &of_one);
    for (int i = 0; i < 100; ++i) stepped(*engine, module, args, give, &of_all);
    // As many in each step, and none for what compiled code does. The tuple of the results with its fields is
    // new; of parameters and states all that is given up comes back in the results, else each of the 9 that
    // have a shape has a new one, in two tuples.
    CHECK(of_all == 100 * of_one);
    INFO("given " << give << ", taken " << of_one);
    CHECK(of_one <= (give ? 2u : 15u));
    CHECK(storage_counts().taken == taken);
    CHECK(code_counts().blocks == blocks);
    CHECK(memory_held() == held);
  }
}

TEST_CASE("what is given up is written to in its place, with the same bits", "[jit][steady]") {
  const ModulePtr module = trainer();
  const auto engine = make_jit({.threads = 2});
  std::vector<Value> given = start_values(), kept = start_values();
  const std::vector<Value> before = {given[0], given[1]};
  // Somebody else sees these: they are copied.
  stepped(*engine, module, given, true);
  CHECK(same(before[0], start_values()[0]));
  CHECK(same(before[1], start_values()[1]));
  stepped(*engine, module, kept, false);
  std::set<const void*> places;
  for (const std::size_t i : {0, 1})
    for (const void* address : addresses(given[i])) places.insert(address);
  for (int i = 0; i < 5; ++i) {
    const Value loss = stepped(*engine, module, given, true), other = stepped(*engine, module, kept, false);
    CHECK(same(loss, other));
    CHECK(same(given[0], kept[0]));
    CHECK(same(given[1], kept[1]));
    // Scalars of the optimizer may be new.
    std::size_t found = 0;
    for (const std::size_t k : {0, 1})
      for (const void* address : addresses(given[k])) found += places.contains(address) ? 1 : 0;
    CHECK(found >= 9);
  }
}

TEST_CASE("one tensor for two parameters that are given up", "[jit][steady]") {
  const ModulePtr module =
      module_from(whole +
                  "    @R.function\n"
                  "    def main(a: R.Tensor((100,), \"float32\"), b: R.Tensor((100,), \"float32\")):\n"
                  "        c = R.add(R.multiply(a, R.const(2.0, \"float32\")), R.const(1.0, \"float32\"))\n"
                  "        d = R.subtract(R.multiply(b, b), R.const(1.0, \"float32\"))\n"
                  "        return c, d, R.sum(R.add(a, b))\n");
  const auto engine = make_jit({.threads = 1});
  const Value expected =
      engine->call(module, "main", {numbers(DType::Float32, {100}), numbers(DType::Float32, {100})});
  const Tensor both = numbers(DType::Float32, {100});
  CHECK(same(call_giving(*engine, module, "main", {both, both}, {0, 1}), expected));
  CHECK(identical(both, numbers(DType::Float32, {100})));
  CHECK(same(call_giving(*engine, module, "main", {both, both}, {1}), expected));
  CHECK(identical(both, numbers(DType::Float32, {100})));
  std::vector<Value> own;
  own.emplace_back(numbers(DType::Float32, {100}));
  own.push_back(own[0]);
  CHECK(same(call_giving(*engine, module, "main", std::move(own), {0, 1}), expected));
}

TEST_CASE("an interrupt before anything is written gives the arguments back", "[jit][steady]") {
  const ModulePtr module = trainer();
  const auto engine = make_jit({.threads = 1});
  std::vector<Value> args = start_values();
  prepare_giving(*engine, module, "train_step", args, {0, 1});
  interrupt_flag = SIGINT;
  CHECK_THROWS_AS(call_giving(*engine, module, "train_step", args, {0, 1}), Failure);
  clear_interrupt();
  REQUIRE(args.size() == 5);
  CHECK(same(args[0], start_values()[0]));
  CHECK(same(args[1], start_values()[1]));
  std::vector<Value> kept = start_values();
  const Value given = call_giving(*engine, module, "train_step", args, {0, 1});
  CHECK(args.empty());
  CHECK(same(given, engine->call(module, "train_step", std::move(kept))));
}

TEST_CASE("rounds of a loop take nothing from the system, and the bits are the interpreter's",
          "[jit][steady]") {
  if (!keeps_storage()) return;
  const ModulePtr module =
      module_from(whole +
                  "    @R.function\n"
                  "    def step(w: R.Tensor((64, 64), \"float32\"), x: R.Tensor((64, 64), \"float32\")):\n"
                  "        g = R.multiply(w, x)\n"
                  "        s = R.sum(g, axis=[0])\n"
                  "        v = R.subtract(w, R.multiply(R.const(0.125, \"float32\"), g))\n"
                  "        return v, s\n"
                  "    @R.function\n"
                  "    def main(w: R.Tensor((64, 64), \"float32\"), x: R.Tensor((64, 64), \"float32\"), "
                  "n: R.Shape([\"n\"])):\n"
                  "        n = T.int64()\n"
                  "        v = w\n"
                  "        t = R.zeros((64,), \"float32\")\n"
                  "        for i in range(n):\n"
                  "            r = M.step(v, x)\n"
                  "            v = r[0]\n"
                  "            t = R.add(t, r[1])\n"
                  "        return v, t\n");
  const Tensor w = numbers(DType::Float32, {64, 64}), x = numbers(DType::Float32, {64, 64}, 3);
  const auto engine = make_jit({.threads = 1});
  const auto call = [&](std::int64_t rounds) {
    return engine->call(module, "main", {w, x, Value(ShapeValue{{rounds}})});
  };
  for (int i = 0; i < 3; ++i) call(10);
  std::uint64_t most = 0;
  for (const std::int64_t rounds : {10, 110}) {
    const StorageCounts before = storage_counts();
    const std::uint64_t news_before = news;
    call(rounds);
    CHECK(storage_counts().taken == before.taken);
    // What a call takes does not depend on its rounds.
    const std::uint64_t wanted = storage_counts().reused - before.reused + news - news_before;
    if (rounds == 10) most = wanted;
    CHECK(wanted == most);
  }
  const Value expected = make_interpreter()->call(module, "main", {w, x, Value(ShapeValue{{7}})});
  CHECK(identical(call(7).fields()[0].tensor(), expected.fields()[0].tensor()));
}

TEST_CASE("kept blocks make room before anything is refused", "[jit][steady]") {
  if (!keeps_storage()) return;
  give_reserves_back();
  constexpr std::int64_t bytes = 8 << 20;
  {
    const Tensor one = Tensor::empty(DType::UInt8, {bytes});
  }
  const StorageCounts before = storage_counts();
  {
    const Tensor again = Tensor::empty(DType::UInt8, {bytes - 1});
  }
  CHECK(storage_counts().taken == before.taken);
  CHECK(storage_counts().reused == before.reused + 1);
  const std::uint64_t limit = limits().memory_bytes;
  limits().memory_bytes = memory_held() + bytes + 64;
  CHECK_NOTHROW(Tensor::empty(DType::UInt8, {bytes + 64}));
  CHECK_THROWS_AS(Tensor::empty(DType::UInt8, {bytes + 128}), Failure);
  limits().memory_bytes = limit;
}

namespace {

// The function anew, so that it is compiled again.
ModulePtr copied(const ModulePtr& module) {
  auto made = std::make_shared<Module>(*module);
  for (const GlobalFunction& each : module->functions)
    if (const auto* function = std::get_if<FunctionPtr>(&each))
      made->set(std::make_shared<const Function>(copy_with_fresh_vars(**function)));
  return made;
}

ModulePtr small() {
  return module_from(whole +
                     "    @R.function\n"
                     "    def main(x: R.Tensor((4, 8), \"float32\"), w: R.Tensor((8, 3), \"float32\")):\n"
                     "        return R.nn.softmax(R.matmul(x, w))\n");
}

// What so many rounds of compiling, running and dropping leave in memory.
double megabytes_left(int warm, int rounds) {
  const ModulePtr module = small();
  const auto engine = make_jit({.threads = 1});
  const std::vector<Value> args = {numbers(DType::Float32, {4, 8}), numbers(DType::Float32, {8, 3})};
  const auto round = [&] { engine->call(copied(module), "main", args); };
  for (int i = 0; i < warm; ++i) round();
  const std::uint64_t before = resident_bytes();
  for (int i = 0; i < rounds; ++i) round();
  return (static_cast<double>(resident_bytes()) - static_cast<double>(before)) / (1 << 20);
}

}  // namespace

TEST_CASE("no page is writable and executable at once", "[jit][steady]") {
  const auto engine = make_jit({.threads = 2});
  const ModulePtr module = small();
  engine->call(module, "main", {numbers(DType::Float32, {4, 8}), numbers(DType::Float32, {8, 3})});
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0, executable = 0;
  for (std::string line; std::getline(maps, line); ++lines) {
    const std::string rights = line.substr(line.find(' ') + 1, 3);
    INFO(line);
    CHECK(rights != "rwx");
    executable += rights == "r-x" ? 1 : 0;
  }
  CHECK(lines > 0);
  CHECK(executable > 1);
}

TEST_CASE("code that nobody needs goes", "[jit][steady]") { CHECK(megabytes_left(20, 60) < 4); }

TEST_CASE("10,000 rounds of compiling, running and dropping grow by less than 50 MB", "[.][full]") {
  CHECK(megabytes_left(100, 10'000) < 50);
}
