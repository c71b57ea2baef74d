// Functions of a module by name, whatever was done to the list since the last question.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {
namespace {

GlobalFunction named(const std::string& name) {
  Function function;
  function.name = name;
  return std::make_shared<const Function>(std::move(function));
}

Module module_of_functions(int count) {
  Module module;
  for (int i = 0; i < count; ++i) module.functions.push_back(named("f" + std::to_string(i)));
  return module;
}

std::string found(const Module& module, const std::string& name) {
  const GlobalFunction* function = module.find(name);
  return function ? name_of(*function) : "none";
}

}  // namespace

TEST_CASE("a module finds its functions behind every change of its list", "[module]") {
  for (const int count : {3, 40}) {
    Module module = module_of_functions(count);
    CHECK(found(module, "f2") == "f2");
    CHECK(found(module, "g") == "none");
    module.functions.replace(1, named("g"));
    CHECK(found(module, "g") == "g");
    CHECK(found(module, "f1") == "none");
    module.remove("f0");
    CHECK(found(module, "f2") == "f2");
    CHECK(module.find("f2") == &module.functions[1]);
    CHECK(found(module, "f0") == "none");
    module.functions.push_back(named("last"));
    CHECK(module.find("last") == &module.functions.back());
    const Module copy = module;
    CHECK(copy.find("last") == &copy.functions.back());
    module.set(named("f2"));
    CHECK(module.functions.size() == static_cast<std::size_t>(count));
    module.remove("f2");
    CHECK(found(module, "f2") == "none");
    CHECK(found(copy, "f2") == "f2");
  }
}

TEST_CASE("a list that is moved from is empty and finds nothing", "[module]") {
  Module module = module_of_functions(40);
  CHECK(found(module, "f30") == "f30");
  const Module moved = std::move(module);
  CHECK(found(moved, "f30") == "f30");
  module = Module{};
  for (int i = 39; i >= 0; --i) module.functions.push_back(named("f" + std::to_string(i)));
  CHECK(module.find("f30") == &module.functions[9]);
  module.functions.sort(
      [](const GlobalFunction& a, const GlobalFunction& b) { return name_of(a) < name_of(b); });
  CHECK(found(module, "f30") == "f30");
  CHECK(module.find("f0") == &module.functions.front());
}

// Against a plain list of names, with many lists that come from each other.
TEST_CASE("lists that share functions and names change apart from each other", "[module]") {
  struct Pair {
    Module module;
    std::vector<std::string> names;
  };
  std::mt19937 random(11);
  std::vector<Pair> pairs(1);
  for (int i = 0; i < 40; ++i) {
    pairs[0].module.functions.push_back(named("f" + std::to_string(i)));
    pairs[0].names.push_back("f" + std::to_string(i));
  }
  const auto check = [&](const Pair& pair) {
    REQUIRE(pair.module.names() == pair.names);
    for (int i = 0; i < 120; i += 7) {
      const std::string name = "f" + std::to_string(i);
      const auto wanted = std::find(pair.names.begin(), pair.names.end(), name);
      REQUIRE(pair.module.functions.position(name) == static_cast<std::size_t>(wanted - pair.names.begin()));
      REQUIRE(found(pair.module, name) == (wanted == pair.names.end() ? "none" : name));
    }
  };
  for (int step = 0; step < 4000; ++step) {
    Pair& pair = pairs[random() % pairs.size()];
    const std::string name = "f" + std::to_string(random() % 120);
    const auto known = std::find(pair.names.begin(), pair.names.end(), name);
    switch (random() % 6) {
      case 0:
      case 1:
        pair.module.set(named(name));
        if (known == pair.names.end()) pair.names.push_back(name);
        break;
      case 2:
        if (random() % 8 != 0) break;
        pair.module.remove(name);
        if (known != pair.names.end()) pair.names.erase(known);
        break;
      case 3:
        if (known != pair.names.end() || pair.names.empty()) break;
        pair.module.functions.replace(pair.names.size() / 2, named(name));
        pair.names[pair.names.size() / 2] = name;
        break;
      case 4: {
        Pair copy = pair;
        if (pairs.size() < 12)
          pairs.push_back(std::move(copy));
        else
          pairs[random() % pairs.size()] = std::move(copy);
        break;
      }
      default:
        check(pair);
    }
  }
  for (const Pair& pair : pairs) check(pair);
}

TEST_CASE("a copy holds the very functions of its original", "[module]") {
  const Module module = module_of_functions(100);
  REQUIRE(module.find("f99"));
  Module copy = module;
  copy.set(named("f50"));
  CHECK(&copy.functions[3] == &module.functions[3]);
  CHECK(&copy.functions[99] == &module.functions[99]);
  CHECK(&copy.functions[50] != &module.functions[50]);
  CHECK(copy.functions[50] != module.functions[50]);
  std::size_t count = 0;
  for (auto i = copy.functions.begin(); i != copy.functions.end(); i += 10) ++count;
  CHECK(count == 10);
  CHECK(copy.functions.end() - copy.functions.begin() == 100);
}

TEST_CASE("fresh names have the least number that is free", "[module]") {
  for (const int others : {0, 40}) {
    Module module = module_of_functions(others);
    CHECK(module.fresh_name("g") == "g");
    module.set(named("g"));
    module.functions.push_back(named("g1"));
    CHECK(module.fresh_name("g") == "g2");
    CHECK(module.fresh_name("g") == "g2");  // until it is taken
    module.set(named("g2"));
    CHECK(module.fresh_name("g") == "g3");
    module.remove("g1");
    CHECK(module.fresh_name("g") == "g1");
    const GlobalFunction other = named("g2");
    module.set(other);
    CHECK(module.functions.size() == static_cast<std::size_t>(others) + 2);
    CHECK(*module.find("g2") == other);
    CHECK(module.prim_func("g2") == nullptr);
  }
}

TEST_CASE("names taken behind a mark are given back, and only those", "[builder]") {
  FunctionBuilder builder;
  builder.reserve_name("a");
  CHECK(builder.fresh_name("a") == "a1");
  const std::size_t outer = builder.mark_names();
  CHECK(builder.fresh_name("a") == "a2");
  CHECK(builder.fresh_name("b") == "b");
  const std::size_t inner = builder.mark_names();
  CHECK(builder.fresh_name("b") == "b1");
  builder.free_names(inner);
  CHECK(builder.fresh_name("b") == "b1");
  builder.drop_mark();
  builder.free_names(outer);
  CHECK(builder.fresh_name("b") == "b");
  CHECK(builder.fresh_name("a") == "a2");
  builder.drop_mark();
  CHECK(builder.fresh_name("a") == "a3");

  FunctionBuilder other;
  other.swap_names(builder);
  CHECK(other.fresh_name("a") == "a4");
  CHECK(builder.fresh_name("a") == "a");
}

}  // namespace relish
