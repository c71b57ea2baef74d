// Large functions of the compiled tier: cut into parts, in units that are compiled beside each other,
// abandoned at an interrupt; sums of symbolic size.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "frontend/reader.h"
#include "stdlib/stdlib.h"
#include "support/interrupt.h"
#include "support/work_queue.h"
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr module_of_text(std::string text) {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
  Diagnostics diagnostics;
  const ReadResult read = read_source(Sources::instance().add("<large>", std::move(text)), {}, diagnostics);
  INFO((diagnostics.has_errors() ? diagnostics.all().front().message : std::string()));
  REQUIRE_FALSE(diagnostics.has_errors());
  return read.all_modules().at(0);
}

// How long a stop took: on the clock, and of the processor, which other programs on the machine do not
// change.
struct Stop {
  std::int64_t wall = 0, processor = 0;  // ms

  bool soon() const { return processor < 100 && wall < 2000; }
};

Stop now() {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(wall).count(),
          static_cast<std::int64_t>(used.tv_sec) * 1000 + used.tv_nsec / 1'000'000};
}

// From an interrupt, some milliseconds after `work` begins, to its end; the best of several tries.
template <class Work>
Stop time_to_stop(int tries, int before, Work&& work) {
  Stop least{INT64_MAX, INT64_MAX};
  for (int i = 0; i < tries && !least.soon(); ++i) {
    clear_interrupt();
    Stop asked;
    std::thread asker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(before));
      asked = now();
      interrupt_flag = 2;
    });
    bool stopped = false;
    try {
      work();
    } catch (const Failure& failure) {
      stopped = failure.error_class() == ErrorClass::Interrupted;
    }
    const Stop end = now();
    asker.join();
    CHECK(stopped);
    least = {std::min(least.wall, end.wall - asked.wall),
             std::min(least.processor, end.processor - asked.processor)};
  }
  clear_interrupt();
  return least;
}

}  // namespace

TEST_CASE("a function in many parts carries its values from part to part", "[jit]") {
  // Early values, sizes, constants, tuples and branches are used late.
  std::string text =
      "@R.function\ndef main(x: R.Tensor((\"n\", 3), \"float32\"), c: R.Tensor((), \"bool\")):\n"
      "    n = T.int64()\n"
      "    first = R.add(x, R.const([1.0, 2.0, 3.0], \"float32\"))\n"
      "    pair = (first, R.nn.relu(x))\n"
      "    wide = R.concat([x, first], axis=0)\n"
      "    lv0 = x\n";
  constexpr int count = 1200;
  for (int i = 1; i <= count; ++i) {
    const char* forms[] = {"R.add(lv{0}, first)", "R.multiply(lv{0}, R.const(0.5, \"float32\"))",
                           "R.subtract(lv{0}, pair[1])", "R.reshape(R.reshape(lv{0}, (3, n)), (n, 3))"};
    text += fmt::format("    lv{} = ", i) + fmt::format(fmt::runtime(forms[i % 4]), i - 1) + "\n";
    if (i % 400 == 0) {
      text += fmt::format(
          "    if c:\n        kept{0} = R.add(lv{0}, pair[0])\n    else:\n        kept{0} = lv{0}\n", i);
      text += fmt::format("    lv{0}_ = R.add(kept{0}, lv{0})\n", i);
    }
  }
  text += fmt::format("    return (lv{0}, wide, pair[0], lv400_, lv{0}_, R.sum(wide))\n", count);
  const ModulePtr module = module_of_text(text);
  for (const bool chosen : {true, false}) {
    Tensor condition = Tensor::zeros(DType::Bool, {});
    condition.set_int(0, chosen);
    in_both_tiers(module, "main", {numbers(DType::Float32, {5, 3}), condition});
    in_both_tiers(module, "main", {numbers(DType::Float32, {8, 3}), condition});
  }
}

TEST_CASE("a fault in a late part is reported at its line", "[jit]") {
  std::string text =
      "@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"m\",), \"float32\")):\n    "
      "lv0 = x\n";
  for (int i = 1; i <= 600; ++i) text += fmt::format("    lv{} = R.negative(lv{})\n", i, i - 1);
  text +=
      "    n = T.int64()\n    z = R.match_cast(y, R.Tensor((n,), \"float32\"))\n    return R.add(lv600, z)\n";
  const ModulePtr module = module_of_text(text);
  in_both_tiers(module, "main", {numbers(DType::Float32, {4}), numbers(DType::Float32, {4})});
  failure_in_both_tiers(module, "main", {numbers(DType::Float32, {4}), numbers(DType::Float32, {5})});
}

TEST_CASE("a kernel of very many statements is compiled in parts", "[jit]") {
  std::string pieces;
  for (int i = 0; i < 600; ++i) pieces += "x, ";
  const ModulePtr joined =
      module_of_text("@R.function\ndef main(x: R.Tensor((2, 3), \"float32\")):\n    return R.concat([" +
                     pieces + "], axis=1)\n");
  in_both_tiers(joined, "main", {numbers(DType::Float32, {2, 3})});

  // Local scalars and buffers, jumps of their own loops, and a loop around the sequence.
  std::string body;
  for (int i = 0; i < 400; ++i) {
    body += fmt::format(
        "        for j in range(8):\n            if j > {}:\n                break\n"
        "            S[j] = S[j] + A[j] * T.float32({}.0)\n",
        i % 8, i % 5);
    if (i % 50 == 0)
      body += fmt::format("        t{0} = T.float32({0}.0) + S[0]\n        C[r] = C[r] + t{0}\n", i);
  }
  const ModulePtr sequence = module_of_text(
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
      "    S = T.alloc_buffer((8,), \"float32\")\n"
      "    for j in range(8):\n        S[j] = T.float32(0)\n"
      "    for r in range(4):\n        C[r] = T.float32(0)\n" +
      body + "        C[r] = C[r] + S[7 - r]\n");
  in_both_tiers(sequence, "main", {numbers(DType::Float32, {8})});
}

TEST_CASE("compiling what is nested takes time in proportion to its depth", "[jit]") {
  const char* forms[] = {"T.if_then_else(A[i] > T.float32({0}), {1}, T.float32({0}) + A[i])",
                         "T.if_then_else(i > {0}, {1}, A[(i + {0}) % 64])",
                         "T.Cast(\"float32\", T.Cast(\"int32\", {1} * T.float32({0})))"};
  for (const char* form : forms) {
    const auto module = [&](int depth) {
      std::string value = "A[i]";
      for (int k = 0; k < depth; ++k) value = fmt::format(fmt::runtime(form), k, value);
      return module_of_text(
          "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(64):\n        B[i] = " +
          value + "\n");
    };
    const auto time = [&](int depth) {
      const ModulePtr made = module(depth);
      std::int64_t least = INT64_MAX;
      for (int i = 0; i < 3; ++i) {
        const Stop begin = now();
        make_jit({1})->call(made, "main", {numbers(DType::Float32, {64})});
        least = std::min(least, now().processor - begin.processor);
      }
      return least;
    };
    const std::int64_t once = time(40), eight_times = time(320);
    INFO(form << ": " << once << " ms, " << eight_times << " ms");
    CHECK(eight_times < 16 * std::max<std::int64_t>(once, 10));
    in_both_tiers(module(50), "main", {numbers(DType::Float32, {64})});
  }
}

TEST_CASE("compiling obeys an interrupt and can be begun again", "[jit]") {
  std::string text = "@R.function\ndef main(x: R.Tensor((4, 4), \"float32\")):\n    lv0 = x\n";
  for (int i = 1; i <= 30000; ++i) text += fmt::format("    lv{} = R.add(lv{}, x)\n", i, i - 1);
  text += "    return lv30000\n";
  const ModulePtr module = module_of_text(text);
  const auto evaluator = make_jit({2});
  const Tensor x = numbers(DType::Float32, {4, 4});
  // Several moments of what it takes on this machine, so that each of the passes is met by one.
  std::int64_t all = INT64_MAX;
  for (int i = 0; i < 2; ++i) {
    const Stop begin = now();
    make_jit({2})->call(module, "main", {x});
    all = std::min(all, now().wall - begin.wall);
  }
  for (const int percent : {3, 20, 35, 50, 65, 80}) {
    const auto before = static_cast<int>(all * percent / 100);
    const Stop stop = time_to_stop(5, before, [&] { evaluator->call(module, "main", {x}); });
    INFO(before << ": " << stop.wall << " ms, of the processor " << stop.processor);
    CHECK(stop.soon());
  }
  const ModulePtr small =
      module_of_text("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.add(x, x)\n");
  CHECK(evaluator->call(small, "main", {numbers(DType::Float32, {2})}).tensor().get_double(1) == 0.5);
}

TEST_CASE("a queue of work hands on failures and leaves what is under way", "[jit]") {
  WorkQueue queue(2);
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i) queue.add([&] { ++done; });
  queue.wait({});
  CHECK(done == 50);
  queue.add([] { fail(ErrorClass::Type, {}, "test.failure", "of a job"); });
  CHECK_THROWS_AS(queue.wait({}), Failure);

  const Stop stop = time_to_stop(5, 20, [] {
    WorkQueue slow(1);
    slow.add([] { std::this_thread::sleep_for(std::chrono::milliseconds(600)); });
    slow.wait({});
  });
  CHECK(stop.wall < 500);
}

TEST_CASE("sums of symbolic size keep to their class", "[jit]") {
  // Columns, rows and both: 0.1 is no sum of powers of two, and so many of them added one by one go astray.
  const std::int64_t n = 1 << 19;
  Tensor columns = Tensor::empty(DType::Float32, {n, 2});
  for (std::int64_t i = 0; i < columns.size(); ++i) columns.set_double(i, 0.1F);
  for (const char* sum : {"R.sum(x, axis=[0])", "R.sum(x, axis=[0, 1])", "R.mean(x, axis=[0])",
                          "R.matmul(R.permute_dims(x), x)"}) {
    INFO(sum);
    const ModulePtr module = module_of_text(
        fmt::format("@R.function\ndef main(x: R.Tensor((\"n\", 2), \"float32\")):\n    return {}\n", sum));
    const Value expected = make_interpreter()->call(module, "main", {columns});
    const Value found = compiled_tier().call(module, "main", {columns});
    // (1024 + n / 1024) u sum |terms|
    const double bound = (1024 + static_cast<double>(n) / 1024) * 0x1p-24;
    for (std::int64_t i = 0; i < expected.tensor().size(); ++i) {
      const double wanted = expected.tensor().get_double(i);
      CHECK(std::fabs(found.tensor().get_double(i) - wanted) <= bound * std::fabs(wanted));
    }
  }
}

TEST_CASE("what a parallel loop of no rounds has inside is not computed", "[jit]") {
  // Neither for the loops nor for how much work they would be.
  const ModulePtr module = module_of_text(
      "@T.prim_func\ndef main(a: T.handle, d: T.int64, b: T.handle):\n    n = T.int64()\n    m = T.int64()\n"
      "    A = T.match_buffer(a, (n, m), \"float32\")\n    B = T.match_buffer(b, (n, m), \"float32\")\n"
      "    for i in T.parallel(n):\n        for j in range(m):\n            B[i, j] = T.float32(0)\n"
      "        for k in range(d):\n            for j in range(m // (d - k)):\n"
      "                B[i, j] = B[i, j] + A[i, j]\n"
      "        for j in range(m // d):\n            B[i, j] = B[i, j] + A[i, j]\n");
  const auto arguments = [](std::int64_t rows, std::int64_t divisor) -> std::vector<Value> {
    return {numbers(DType::Float32, {rows, 3}), Value(ScalarValue::of_int(divisor))};
  };
  in_both_tiers(module, "main", arguments(0, 0));
  in_both_tiers(module, "main", arguments(4, 2));
  failure_in_both_tiers(module, "main", arguments(2, 0));
}
