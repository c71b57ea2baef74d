// Functions that wait for the statements before them: which of them do, where they are read, and that many
// of them take time in proportion.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <ctime>

#include "frontend/reader.h"
#include "stdlib/stdlib.h"
#include "tests/unit/frontend/helpers.h"

namespace relish {
namespace {

// The names of the declarations that are read together, with a bar between places.
std::string groups_of(const std::string& text) {
  install_stdlib();
  install_front_end();
  Diagnostics diagnostics;
  const ReadResult read = read_source(test::add_source(text), {}, diagnostics);
  INFO(test::short_text(diagnostics));
  CHECK(!diagnostics.has_errors());
  std::string groups;
  for (const ast::Statement& statement : read.script) {
    const auto* deferred = statement.as<ast::Deferred>();
    if (!deferred) continue;
    groups += groups.empty() ? "" : "|";
    for (const ast::Statement& member : deferred->definitions)
      groups += member.as<ast::FunctionDefinition>()->name;
  }
  return groups;
}

std::string function(const std::string& name, const std::string& call) {
  return fmt::format("@R.function\ndef {}(x: R.Any) -> R.Any:\n  return {}(x)\n", name, call);
}

TEST_CASE("what calls a function that waits is read with it, or behind it") {
  const std::string made = "G = make()\n";
  CHECK(groups_of(made + function("a", "G.f")) == "a");
  CHECK(groups_of(function("a", "b") + made + function("b", "G.f") + function("c", "a")) == "ab|c");
  CHECK(groups_of(function("a", "b") + made + function("b", "c") + function("c", "b") + function("d", "G.f") +
                  function("e", "d") + "x = 1\n" + function("f", "e")) == "d|e|f");
  CHECK(groups_of(made + function("a", "c") + function("b", "G.f") + made + function("c", "G.f")) == "b|ac");
  CHECK(groups_of("G = 3\n" + function("a", "b") + function("b", "a")) == "");
}

std::string chain_of_waiting(int n) {
  std::string text = "G = make()\n";
  for (int i = 0; i < n; ++i)
    text += function(fmt::format("f{}", i), i + 1 < n ? fmt::format("f{}", i + 1) : "G.f");
  return text;
}

std::string rebound(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "G = make()\n" + function("f", "G.f");
  return text;
}

double seconds_of(const std::string& text) {
  const std::clock_t before = std::clock();
  groups_of(text);
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

TEST_CASE("twenty thousand functions that wait, each for the one below, are found in linear time") {
  for (const auto& make : {chain_of_waiting, rebound}) {
    const double quarter = seconds_of(make(5000));
    CHECK(seconds_of(make(20000)) < 8 * quarter + 0.5);
  }
}

}  // namespace
}  // namespace relish
