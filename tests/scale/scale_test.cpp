// Texts of every kind of tests/scale/texts.h: what becomes of them, that the work is linear in their size
// (counted in allocations, never in time), and the limits on literals and names.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "frontend/reader.h"
#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/stdlib.h"
#include "support/limits.h"
#include "support/render.h"
#include "tests/scale/texts.h"

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Counts what the whole program allocates.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace relish {
namespace {

using scale::Outcome;
using scale::TextKind;

void start() {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
}

struct Checked {
  std::vector<ModulePtr> modules;
  Diagnostics diagnostics;
  std::size_t allocations = 0;
};

// Reads and checks as `relish check` does.
Checked check(std::string text) {
  start();
  Checked result;
  std::size_t before = allocations.load();
  std::uint32_t file = Sources::instance().add("<scale>", std::move(text));
  result.modules = read_source(file, {}, result.diagnostics).all_modules();
  for (const ModulePtr& module : result.modules) verify(*module, result.diagnostics);
  result.allocations = allocations.load() - before;
  return result;
}

std::string first_error(const Checked& checked) {
  for (const Diagnostic& diagnostic : checked.diagnostics.all()) {
    if (diagnostic.severity != Severity::Error) continue;
    LineColumn at = Sources::instance().find(diagnostic.span.file)->position(diagnostic.span.begin);
    return fmt::format("{}:{} {}: {}", at.line, at.column, name_of(diagnostic.error_class),
                       diagnostic.message);
  }
  return {};
}

void check_outcome(const TextKind& kind, const Checked& checked) {
  INFO(kind.name << ": " << first_error(checked).substr(0, 300));
  CHECK(checked.diagnostics.has_errors() == (kind.outcome != Outcome::Good));
  if (!checked.diagnostics.has_errors()) return;
  for (const Diagnostic& diagnostic : checked.diagnostics.all())
    CHECK(diagnostic.error_class != ErrorClass::Internal);
  if (kind.outcome != Outcome::Limit) return;
  bool limit = std::any_of(checked.diagnostics.all().begin(), checked.diagnostics.all().end(),
                           [](const Diagnostic& d) { return d.error_class == ErrorClass::ResourceLimit; });
  CHECK(limit);
}

TEST_CASE("Texts that grow in one dimension have the outcome that their kind says") {
  for (const TextKind& kind : scale::growths()) check_outcome(kind, check(kind.make(12000)));
}

TEST_CASE("Reading takes a number of allocations that is linear in the text") {
  // Once before, so that what is made at first use is not counted.
  for (const TextKind& kind : scale::modules()) {
    check(kind.make(10000));
    std::size_t small = check(kind.make(50000)).allocations;
    std::size_t large = check(kind.make(200000)).allocations;
    INFO(kind.name << ": " << small << " allocations, then " << large);
    CHECK(large < 5 * small);
  }
  for (const TextKind& kind : scale::growths()) {
    check(kind.make(1000));
    std::size_t small = check(kind.make(2000)).allocations;
    std::size_t large = check(kind.make(4000)).allocations;
    INFO(kind.name << ": " << small << " allocations, then " << large);
    CHECK(large < 3 * small + 1000);
  }
}

TEST_CASE("Chains of 100,000 terms read, verify, print and read back") {
  for (std::string_view name : {"sum", "casts"}) {
    Checked checked = check(scale::find_kind(name)->make(100000));
    INFO(name << ": " << first_error(checked));
    REQUIRE_FALSE(checked.diagnostics.has_errors());
    std::string text = print(*checked.modules.at(0));
    Checked again = check(text);
    REQUIRE_FALSE(again.diagnostics.has_errors());
    CHECK(equal_modulo_names(*checked.modules.at(0), *again.modules.at(0)));
  }
}

TEST_CASE("Scalar expressions of prim_funcs nest to 10,000") {
  Checked checked = check(scale::find_kind("sum_of_scalars")->make(9990));
  INFO(first_error(checked));
  REQUIRE_FALSE(checked.diagnostics.has_errors());
  Checked again = check(print(*checked.modules.at(0)));
  REQUIRE_FALSE(again.diagnostics.has_errors());
  CHECK(equal_modulo_names(*checked.modules.at(0), *again.modules.at(0)));
  CHECK(
      first_error(check(scale::find_kind("sum_of_scalars")->make(10001))) ==
      "4:16 ResourceLimit: found a scalar expression nested deeper than 10000; expected a local scalar for a "
      "part of it, or raise --max-scalar-nesting");
}

TEST_CASE("Limits on names and literals") {
  auto error_of = [](const std::string& text) { return first_error(check(text)); };
  auto digits = [](std::size_t n) { return std::string(n, '0') + "1"; };
  CHECK(error_of(std::string(4096, 'a') + " = 1\n").empty());
  CHECK(error_of(std::string(4097, 'a') + " = 1\n") ==
        "1:1 ResourceLimit: found a name of 4097 bytes; expected at most 4096, raise --max-identifier-size");
  const std::size_t most = limits().max_string_bytes;
  CHECK(error_of("x = \"" + std::string(most, 'a') + "\"\n").empty());
  CHECK(error_of("x = \"" + std::string(most + 1, 'a') + "\"\n") ==
        fmt::format(
            "1:5 ResourceLimit: found a string of {} bytes; expected at most {}, raise --max-string-size",
            most + 1, most));
  CHECK(error_of("x = 0x" + digits(4297) + "\n").empty());
  CHECK(error_of("x = 0x" + digits(4298) + "\n").find("ResourceLimit") != std::string::npos);
  CHECK(error_of("x = 9223372036854775807\n").empty());
  CHECK(error_of("x = 9223372036854775808\n") ==
        "1:5 SyntaxError: found the integer 9223372036854775808, which does not fit int64");
  CHECK(error_of("x = 1e308\n").empty());
  CHECK(error_of("x = 1e309\n").find("1:5 SyntaxError: found the number 1e309") == 0);
}

TEST_CASE("A text above the limit names the flag") {
  const std::uint64_t before = limits().max_source_bytes;
  limits().max_source_bytes = 100;
  std::string error = first_error(check("x = 1" + std::string(96, ' ')));
  std::string accepted = first_error(check("x = 1" + std::string(95, ' ')));
  limits().max_source_bytes = before;
  CHECK(error ==
        "1:1 ResourceLimit: found a text of 101 bytes; expected at most 100, raise --max-source-size");
  CHECK(accepted.empty());
}

}  // namespace
}  // namespace relish
