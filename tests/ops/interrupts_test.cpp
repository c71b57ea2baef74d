// A signal ends the evaluation of one large operator: between rows, terms or comparisons, whichever it is
// made of.
#include <signal.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "support/interrupt.h"
#include "tests/ops/operator_case.h"

namespace relish::testing {
namespace {

struct Long {
  std::string_view op, args;
};

// Each takes longer than the signal's delay.
constexpr Long long_calls[] = {
    {"matmul", "rand((1200, 1200), \"float32\"), rand((1200, 1200), \"float32\")"},
    {"linear", "rand((1200, 1200), \"float32\"), rand((1200, 1200), \"float32\")"},
    {"nn.conv2d", "rand((1, 16, 128, 128), \"float32\"), rand((16, 16, 5, 5), \"float32\")"},
    {"nn.max_pool2d", "rand((1, 8, 256, 256), \"float32\"), pool_size=[9, 9]"},
    {"sort", "rand((6000000,), \"float32\")"},
    {"median", "rand((6000000,), \"float32\")"},
    {"unique", "rand((6000000,), \"float32\")"},
    {"nn.softmax", "rand((8000000,), \"float32\")"},
    {"einsum", "(rand((300, 300), \"float32\"), rand((300, 300), \"float32\")), subscripts=\"ij,jk->ik\""},
    {"bucketize", "rand((500000,), \"float32\"), rand((2000,), \"float32\")"},
    {"nn.attention",
     "rand((1, 1500, 2, 64), \"float32\"), rand((1, 1500, 2, 64), \"float32\"), rand((1, 1500, 2, 64), "
     "\"float32\")"},
};

constexpr auto delay = std::chrono::milliseconds(20);
constexpr double most_milliseconds = 300;
constexpr int tries = 3;  // a busy machine may be late

// Milliseconds from the signal to the end; -1 when the call was done before.
double time_to_end(const BuiltCall& call) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point sent;
  std::thread signal([&] {
    std::this_thread::sleep_for(delay);
    sent = Clock::now();
    interrupt_flag.store(SIGINT);
  });
  bool obeyed = false;
  try {
    interpreter().call(call.module, "main", call.values);
  } catch (const Failure& failure) {
    obeyed = failure.error_class() == ErrorClass::Interrupted;
  }
  const Clock::time_point end = Clock::now();
  signal.join();
  clear_interrupt();
  return obeyed ? std::chrono::duration<double, std::milli>(end - sent).count() : -1;
}

}  // namespace

TEST_CASE("a signal ends the evaluation of a large operator", "[ops][interrupts]") {
  operators_under_test();  // starts the language
  for (const Long& each : long_calls) {
    INFO(each.op << "(" << each.args << ")");
    const BuiltCall call = build_call(case_of_sample(*find_op(each.op), each.args, std::string(each.op)));
    double time = -1;
    for (int attempt = 0; attempt < tries && (time < 0 || time > most_milliseconds); ++attempt)
      time = time_to_end(call);
    CHECK(time >= 0);
    CHECK(time <= most_milliseconds);
  }
}

}  // namespace relish::testing
