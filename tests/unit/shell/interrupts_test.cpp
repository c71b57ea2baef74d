// Ctrl-C at every place of a session that may take long: each built-in, kernels in both tiers, compiling,
// reading, transforming, printing, files, jobs. The statement ends within 100 ms, and what it left is a state
// that its saved text comes to again.
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "shell/workspace/held_bytes.h"
#include "support/big_stack.h"
#include "support/interrupt.h"
#include "tests/signals/phases.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

using Clock = std::chrono::steady_clock;

struct InterruptedPlace {
  std::string name;
  std::vector<std::string> before;  // inputs
  std::string input;                // that is stopped
  std::string tier = "jit";
};

std::vector<InterruptedPlace> interrupted_places(const testing::TemporaryFolder& folder) {
  std::vector<InterruptedPlace> places;
  for (const auto& [name, script] : testing::scripts_of_builtins())
    if (name != "exit" && name != "fail") places.push_back({name + "()", {}, script});
  const std::string chain = testing::long_chain(80'000), spin = testing::spinning_program;
  const std::string large = "t = rand((40000000,), seed=1)", file = folder.file("t.npz");
  places.push_back({"reading", {}, chain});
  places.push_back({"transform", {chain}, ":gradient M.main"});
  places.push_back({"compile", {testing::long_chain(12'000)}, "M.main(ones((64,)))"});
  places.push_back({"kernel, interpreted", {spin}, "spin(ones((8,)))", "interp"});
  places.push_back({"kernel, compiled", {spin}, "spin(ones((8,)))"});
  places.push_back({"train", {}, testing::training_program});
  places.push_back({"print", {chain}, "while True:\n    s = str(M)\n"});
  places.push_back({"diff", {chain, "N = M"}, "while True:\n    b = M == N\n"});
  places.push_back({"save", {large}, "while True:\n    save({'t': t}, '" + file + "')\n"});
  places.push_back(
      {"load", {large, "save({'t': t}, '" + file + "')"}, "while True:\n    d = load('" + file + "')\n"});
  places.push_back({"operator", {large}, "while True:\n    s = R.exp(R.sin(t))\n"});
  places.push_back({"time", {spin}, ":time spin --arg A=ones"});
  return places;
}

// How long it takes behind the interrupt; less than nothing where the input ended by itself.
double stop_milliseconds(SessionHarness& session, const std::string& input) {
  constexpr int wait_ms = 250;
  Clock::time_point stopped;
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    stopped = Clock::now();
    interrupt_flag.store(2);  // SIGINT
  });
  bool interrupted = false;
  try {
    with_big_stack([&] { session.inputs().run("<in>", input + "\n"); });
  } catch (const Failure& failure) {
    interrupted = failure.error_class() == ErrorClass::Interrupted;
    UNSCOPED_INFO(failure.what());
  }
  const Clock::time_point end = Clock::now();
  signal.join();
  clear_interrupt();
  return interrupted ? std::chrono::duration<double, std::milli>(end - stopped).count() : -1;
}

bool is_small(const State& state) {
  bool small = true;
  state.names.for_each([&](const std::string&, const ScriptValue& value) {
    small &= held_bytes(value) < 10'000 && kind_name(value) != "module";
  });
  return small && !state.free_functions;
}

}  // namespace

TEST_CASE("Ctrl-C stops a session wherever it is", "[.][full]") {
  const testing::TemporaryFolder folder;
  const std::vector<InterruptedPlace> places = interrupted_places(folder);
  CHECK(places.size() >= 50);
  constexpr int tries = 3;
  std::string table;
  int ended = 0;
  for (const InterruptedPlace& place : places) {
    INFO(place.name);
    double best = 1e9;
    for (int i = 0; i < tries && best > 100; ++i) {
      SessionHarness session(place.tier);
      for (const std::string& input : place.before) session(input);
      const std::size_t states = session.workspace().log().size();
      const double milliseconds = stop_milliseconds(session, place.input);
      best = std::min(best, milliseconds);
      if (milliseconds < 0) continue;
      // One state at most, and by its text the same again.
      const Log& log = session.workspace().log();
      CHECK(log.size() <= states + 1);
      if (log.size() == states || !is_small(session.workspace().state())) continue;
      CHECK((log.node(log.present()).stopped || log.size() == states + 1));
      const auto text = session.workspace().statements().plain();
      if (!text) continue;
      SessionHarness again(place.tier);
      again(*text);
      CHECK(testing::content_of(again.workspace().state()) ==
            testing::content_of(session.workspace().state()));
    }
    ended += best < 0;
    table += fmt::format("{}: {:.0f} ms\n", place.name, best);
    CHECK(best <= 100);
  }
  WARN(table);
  // What is quicker than the interrupt shows nothing.
  CHECK(static_cast<std::size_t>(ended) + 50 <= places.size() + 3);
}
