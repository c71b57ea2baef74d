// Who comes to call himself, and the index of a module that grows.
#include "transform/call_cycles.h"

#include "tests/unit/transform/helpers.h"
#include "transform/function_index.h"

using namespace relish;
using namespace relish::test;

namespace {

using Names = std::unordered_set<std::string>;

GlobalFunction function_named(const std::string& name) {
  Function function;
  function.name = name;
  return std::make_shared<const Function>(std::move(function));
}

}  // namespace

TEST_CASE("names on cycles of calls are found, callers of cycles are not") {
  CHECK(on_cycles({}).empty());
  CHECK(on_cycles({{"a", {"b"}}, {"b", {"c"}}}).empty());
  CHECK(on_cycles({{"a", {"a"}}}) == Names{"a"});
  CHECK(on_cycles({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {"b"}}, {"d", {"d", "a"}}}) ==
        Names{"b", "c", "d"});
  // Two cycles that share a name, and one behind them.
  CHECK(on_cycles({{"a", {"b"}}, {"b", {"a", "c"}}, {"c", {"b", "d"}}, {"d", {"e"}}, {"e", {"d", "f"}}}) ==
        Names{"a", "b", "c", "d", "e"});
}

TEST_CASE("a chain of 100,000 callers takes one walk") {
  CallGraph chain;
  for (int i = 0; i < 100000; ++i) chain["f" + std::to_string(i)] = {"f" + std::to_string(i + 1)};
  CHECK(on_cycles(chain).empty());
  chain["f100000"] = {"f50000"};
  CHECK(on_cycles(chain).size() == 50001);
}

TEST_CASE("the index of a module follows what is added and replaced") {
  Module module;
  FunctionIndex functions(module);
  CHECK(functions.find("f") == nullptr);
  CHECK(functions.fresh_name("f") == "f");
  functions.set(function_named("f"));
  module.functions.push_back(function_named("f1"));  // by others
  CHECK(functions.fresh_name("f") == "f2");
  CHECK(functions.fresh_name("f") == "f2");  // until it is taken
  functions.set(function_named("f2"));
  CHECK(functions.fresh_name("f") == "f3");
  const GlobalFunction other = function_named("f1");
  functions.set(other);
  CHECK(module.functions.size() == 3);
  CHECK(*functions.find("f1") == other);
  CHECK(functions.function("f1") == std::get<FunctionPtr>(other));
  CHECK(functions.prim_func("f1") == nullptr);
}
