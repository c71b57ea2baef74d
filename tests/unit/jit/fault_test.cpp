// Faults in compiled code: the class, message and place of the interpreter; interrupts; the memory of code.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "support/interrupt.h"
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// for i in range(n): Y[i] = value(i)
PrimFunc fill(const std::function<Scalar(const Scalar&, const Buffer&)>& value, std::int64_t n = 1000000) {
  const Buffer x("X", DType::Int32, {Scalar(n)}), y("Y", DType::Int32, {Scalar(n)});
  const ScalarVar i("i", DType::Int64);
  PrimFunc function;
  function.name = "f";
  function.params = {{x}, {y}};
  function.body = make_stmt(For{i,
                                Scalar(0),
                                Scalar(n),
                                LoopKind::Serial,
                                make_stmt(Store{y, {use(i)}, value(use(i), x)}, at(40)),
                                {}});
  return function;
}

Tensor ints(std::int64_t n, std::int64_t value) {
  Tensor tensor = Tensor::empty(DType::Int32, {n});
  for (std::int64_t i = 0; i < n; ++i) tensor.set_int(i, value);
  return tensor;
}

}  // namespace

TEST_CASE("an index out of range is reported at its line", "[jit]") {
  const ModulePtr module =
      module_of(fill([](const Scalar& i, const Buffer& x) { return load(x, {i + Scalar(1)}, at(50)); }, 10));
  const Failure failure = failure_in_both_tiers(module, "f", {ints(10, 1)});
  CHECK(failure.error_class() == ErrorClass::Runtime);
  CHECK(failure.diagnostics()[0].span == at(50));
  CHECK(failure.diagnostics()[0].message ==
        "index 10 is out of range for dimension 0 of X, which has extent 10");
}

TEST_CASE("the first fault in program order is reported whatever the threads do", "[jit]") {
  const ModulePtr module = module_of(fill(
      [](const Scalar& i, const Buffer& x) { return load(x, {cast(DType::Int64, load(x, {i}))}, at(50)); }));
  Tensor x = ints(1000000, 5);
  x.set_int(700000, -3);
  x.set_int(300001, 1000000);
  x.set_int(999999, -1);
  for (int round = 0; round < 5; ++round) {
    const Failure failure = failure_in_both_tiers(module, "f", {x});
    CHECK(failure.diagnostics()[0].message ==
          "index 1000000 is out of range for dimension 0 of X, which has extent 1000000");
  }
}

TEST_CASE("integer division by zero, negative shifts and failed asserts", "[jit]") {
  const auto zero_divisor = module_of(fill([](const Scalar& i, const Buffer& x) {
    return binary(BinaryOp::FloorDiv, int_literal(DType::Int32, 7), load(x, {i}), at(60));
  }));
  Tensor x = ints(1000000, 2);
  x.set_int(12345, 0);
  CHECK(failure_in_both_tiers(zero_divisor, "f", {x}).diagnostics()[0].span == at(60));
  const auto shift = module_of(fill([](const Scalar& i, const Buffer& b) {
    return binary(BinaryOp::ShiftLeft, load(b, {i}), load(b, {i}), at(61));
  }));
  x.set_int(12345, -4);
  CHECK(failure_in_both_tiers(shift, "f", {x}).diagnostics()[0].message == "shift by -4, which is negative");

  PrimFunc asserting = fill([](const Scalar& i, const Buffer& b) { return load(b, {i}); });
  const For& loop = *asserting.body.as<For>();
  const Stmt check = make_stmt(
      AssertStmt{load(*asserting.params[0].buffer(), {use(loop.var)}) > int_literal(DType::Int32, 0),
                 "positive"},
      at(70));
  asserting.body = make_stmt(For{loop.var, loop.begin, loop.extent, loop.kind, seq({check, loop.body}), {}});
  const Failure failure = failure_in_both_tiers(module_of(std::move(asserting)), "f", {x});
  CHECK(failure.diagnostics()[0].message == "assertion failed: positive");
}

TEST_CASE("arguments that do not fit are refused before anything runs", "[jit]") {
  const ModulePtr module = module_of(fill([](const Scalar& i, const Buffer& x) { return load(x, {i}); }, 10));
  CHECK(failure_in_both_tiers(module, "f", {ints(9, 1)}).error_class() == ErrorClass::Data);
  CHECK(failure_in_both_tiers(module, "f", {numbers(DType::Float32, {10})}).error_class() ==
        ErrorClass::Data);
  CHECK(failure_in_both_tiers(module, "f", {}).error_class() == ErrorClass::Usage);
  CHECK(failure_in_both_tiers(module, "g", {}).error_class() == ErrorClass::Usage);
}

TEST_CASE("an interrupt ends a long loop soon and leaves the evaluator usable", "[jit]") {
  const bool serial = GENERATE(true, false);
  // Y[0 or i] = sum over k of X[(i * k) % n]: minutes of work.
  const std::int64_t n = 1 << 20;
  const Buffer x("X", DType::Int32, {Scalar(n)}), y("Y", DType::Int32, {Scalar(n)});
  const ScalarVar i("i", DType::Int64), k("k", DType::Int64);
  const Scalar target = serial ? Scalar(0) : use(i);
  const Stmt body =
      make_stmt(Store{y, {target}, load(y, {target}) + load(x, {floor_mod(use(i) * use(k), Scalar(n))})});
  PrimFunc function;
  function.name = "f";
  function.params = {{x}, {y}};
  function.body = make_stmt(For{i,
                                Scalar(0),
                                Scalar(n),
                                LoopKind::Serial,
                                make_stmt(For{k, Scalar(0), Scalar(n), LoopKind::Serial, body, {}}),
                                {}});
  const ModulePtr module = module_of(std::move(function));
  const Tensor ones = ints(n, 1);
  // Processor time, and the best of a few tries: the machine of a test may be busy.
  const auto used = [] {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  std::int64_t least = INT64_MAX;
  for (int attempt = 0; attempt < 5 && least >= 100'000'000; ++attempt) {
    clear_interrupt();
    std::int64_t asked_at = 0;
    std::thread asker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      asked_at = used();
      interrupt_flag = 2;
    });
    bool interrupted = false;
    try {
      compiled_tier().call(module, "f", {ones, ints(n, 0)});
    } catch (const Failure& failure) {
      interrupted = failure.error_class() == ErrorClass::Interrupted;
      CHECK(failure.exit_code() == 130);
    }
    const std::int64_t end = used();
    asker.join();
    CHECK(interrupted);
    least = std::min(least, end - asked_at);
  }
  CHECK(least < 100'000'000);  // chunks and strips are about a millisecond long
  CHECK(interrupt_flag == 0);
  const ModulePtr small = module_of(fill([](const Scalar& j, const Buffer& b) { return load(b, {j}); }, 10));
  in_both_tiers(small, "f", {ints(10, 4)});
}

TEST_CASE("memory of code is never writable and executable", "[jit]") {
  for (int round = 0; round < 5; ++round) {
    const ModulePtr module = module_of(fill(
        [&](const Scalar& i, const Buffer& x) { return load(x, {i}) + int_literal(DType::Int32, round); },
        10));
    in_both_tiers(module, "f", {ints(10, round)});
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) CHECK(line.find(" rwx") == std::string::npos);
  }
}

TEST_CASE("code is freed with its module", "[jit][slow]") {
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t size = 0, pages = 0;
    file >> size >> pages;
    return pages * 4096;
  };
  const auto round = [&](int i) {
    const ModulePtr module = module_of(fill(
        [&](const Scalar& v, const Buffer& x) { return load(x, {v}) * int_literal(DType::Int32, i); }, 10));
    compiled_tier().call(module, "f", {ints(10, 1)});
  };
  for (int i = 0; i < 50; ++i) round(i);
  // What is not freed grows in every part of the time; what the allocator takes once, in one of them.
  std::int64_t least = INT64_MAX;
  for (int part = 0; part < 4 && least >= (6 << 20); ++part) {
    const std::int64_t before = resident();
    for (int i = 0; i < 300; ++i) round(i);
    least = std::min(least, resident() - before);
  }
  CHECK(least < (6 << 20));
}
