// Who comes to call himself.
#include "transform/call_cycles.h"

#include "tests/unit/transform/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

using Names = std::unordered_set<std::string>;

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
