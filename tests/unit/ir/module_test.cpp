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
    module.functions[1] = named("g");
    CHECK(found(module, "g") == "g");
    CHECK(found(module, "f1") == "none");
    module.functions.erase(module.functions.begin());
    CHECK(found(module, "f2") == "f2");
    CHECK(module.find("f2") == &module.functions[1]);
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
