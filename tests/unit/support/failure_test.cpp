// Failures, the sink of diagnostics, exit codes, interrupts and the big stack.
#include "support/failure.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "support/big_stack.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/memory_share.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;

TEST_CASE("every class has its name and exit code") {
  CHECK(name_of(ErrorClass::Runtime) == "RuntimeError");
  CHECK(name_of(ErrorClass::ResourceLimit) == "ResourceLimit");
  CHECK(name_of(ErrorClass::Interrupted) == "Interrupted");
  int codes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 70, 75, 130};
  for (int i = 0; i < 13; ++i) CHECK(exit_code_of(static_cast<ErrorClass>(i)) == codes[i]);
}

TEST_CASE("a place is given only to what has none") {
  try {
    fail_at(ErrorClass::Data, "a.npy", "", "bad");
  } catch (Failure& failure) {
    failure.at({1, 2, 3}).note({}, "while loading");
    CHECK_FALSE(failure.diagnostics()[0].span.known());
    CHECK(failure.diagnostics()[0].notes.at(0).text == "while loading");
    CHECK(failure.exit_code() == 5);
  }
  try {
    fail(ErrorClass::Type, {}, "id", "bad");
  } catch (Failure& failure) {
    CHECK(failure.at({1, 2, 3}).diagnostics()[0].span == Span{1, 2, 3});
    CHECK(std::string(failure.what()) == "TypeError: bad");
  }
}

TEST_CASE("the sink sorts and throws") {
  Diagnostics sink;
  sink.warning({1, 0, 1}, "", "unused");
  CHECK_NOTHROW(throw_if_errors(sink));
  sink.error(ErrorClass::Type, {1, 9, 10}, "", "second");
  sink.error(ErrorClass::Syntax, {1, 5, 6}, "", "first");
  CHECK(sink.error_count() == 2);
  CHECK(sink.first_error_class() == ErrorClass::Syntax);
  try {
    throw_if_errors(sink);
    FAIL("no failure");
  } catch (Failure& failure) {
    CHECK(failure.diagnostics()[1].message == "first");
    CHECK(failure.error_class() == ErrorClass::Syntax);
  }
}

TEST_CASE("a broken internal check is an InternalError") {
  std::string text = failure_of([] { RELISH_CHECK(1 == 2, "arithmetic"); });
  CHECK(text.starts_with("InternalError: support/failure_test.cpp:"));
  CHECK(text.ends_with("'1 == 2' does not hold: arithmetic"));
}

TEST_CASE("sizes of options") {
  CHECK(parse_size("1048576", "--memory-limit") == 1048576);
  CHECK(parse_size("2GiB", "--memory-limit") == 2ull << 30);
  CHECK(parse_size("500MB", "--memory-limit") == 500'000'000);
  CHECK(parse_size("1.5KiB", "--memory-limit") == 1536);
  std::uint64_t half = parse_size("50%", "--memory-limit");
  CHECK((half > 0 && half <= available_memory()));
  for (const char* bad : {"", "x", "-1", "1XB", "101%", "1e40", "nan", "99999999TiB"}) {
    INFO(bad);
    CHECK(failure_of([&] { parse_size(bad, "--memory-limit"); }).starts_with("UsageError: --memory-limit: "));
  }
  CHECK(memory_limit() > 0);
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  CHECK(default_memory_limit(1000 * mebibyte) == 800 * mebibyte);
  CHECK(default_memory_limit(320 * mebibyte) == 256 * mebibyte);
  // A job in a group of little memory is refused by it, not ended by the system.
  CHECK(default_memory_limit(150 * mebibyte) == 86 * mebibyte);
  CHECK(default_memory_limit(60 * mebibyte) == 30 * mebibyte);
}

int use_stack(int depth) {
  volatile char page[4096] = {};
  page[0] = static_cast<char>(depth);
  return depth == 0 ? page[0] : use_stack(depth - 1) + 1;
}

TEST_CASE("deep recursion fits the big stack, and failures pass through it") {
  int result = 0;
  with_big_stack([&] { with_big_stack([&] { result = use_stack(20000); }); });
  CHECK(result == 20000);
  CHECK(failure_of([] { with_big_stack([] { fail(ErrorClass::Type, {}, "", "deep"); }); }) ==
        "TypeError: deep");
}

// Runs `work` in a child process and gives its wait status.
template <class Work>
int status_of_child(Work work) {
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_CASE("a signal sets the flag and polling turns it into a failure") {
  int status = status_of_child([] {
    install_signal_handlers();
    raise(SIGPIPE);
    poll_interrupt();
    raise(SIGTERM);
    if (interrupt_flag.load() != SIGTERM) _exit(1);
    try {
      poll_interrupt();
    } catch (Failure& failure) {
      _exit(interrupt_flag.load() == 0 ? failure.exit_code() : 2);
    }
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 143);
}

TEST_CASE("a second signal that nobody acted upon ends the process") {
  int status = status_of_child([] {
    install_signal_handlers();
    raise(SIGINT);
    raise(SIGHUP);
    // What follows at once is taken for the same.
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    raise(SIGINT);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}

}  // namespace
}  // namespace relish
