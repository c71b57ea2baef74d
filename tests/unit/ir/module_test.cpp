// Functions of a module by name, whatever was done to the list since the last question.
#include <memory>
#include <string>

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
