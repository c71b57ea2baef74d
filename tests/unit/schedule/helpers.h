// Schedules held to what every rule promises.
#pragma once

#include <fmt/format.h>

#include "interp/interpreter.h"
#include "ir/printer/printer.h"
#include "jit/jit.h"
#include "schedule/schedule.h"
#include "tests/small_tiles.h"
#include "tests/unit/loops/helpers.h"

namespace relish::test {

// Targets on which every tail and every round occurs in small texts.
inline const std::vector<Target>& many_targets() {
  static const std::vector<Target> targets{
      small_tiles,
      {.vector_bytes = 64, .vector_registers = 32, .least_products = 0, .least_moved = 0},
      {.vector_bytes = 32,
       .vector_registers = 16,
       .private_cache_bytes = 1 << 15,
       .line_bytes = 64,
       .least_products = 0,
       .least_moved = 0}};
  return targets;
}

// Small integers, whose sums are exact.
inline Value small_numbers(DType dtype, const std::vector<std::int64_t>& shape, std::int64_t seed) {
  Tensor tensor = Tensor::empty(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_double(i, static_cast<double>((seed * i) % 11 - 5));
  return Value(tensor);
}

inline bool has_block(const Module& module, std::string_view name) {
  bool found = false;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    found = found || (block && block->name == name);
  });
  return found;
}

// Both hold the same numbers; what is said of them is the first place where they do not. One assertion, not
// one an element: those took longer than the kernels.
inline void require_same(const Tensor& found, const Tensor& wanted) {
  REQUIRE(found.size() == wanted.size());
  std::int64_t at = 0;
  while (at < wanted.size() && found.get_double(at) == wanted.get_double(at)) ++at;
  if (at == wanted.size()) return;
  INFO("element " << at);
  REQUIRE(found.get_double(at) == wanted.get_double(at));
}

// The schedule of the module's prim_func f for every target reads back, is left as it is by another one, and
// both tiers compute by it what the text says, for each of these sets of arguments. `block`: a block of that
// name is in it, if any is named. One text and one code serve all sizes, as they do for whoever calls them;
// the results of one size are looked at before the next one is computed.
inline void check_schedules_for(const ModulePtr& module, const std::vector<std::vector<Value>>& sets,
                                std::string_view block) {
  const auto interpreter = make_interpreter();
  std::vector<Tensor> wanted;
  for (const std::vector<Value>& args : sets) wanted.push_back(interpreter->call(module, "f", args).tensor());
  for (const Target& target : many_targets()) {
    const auto after = std::make_shared<const Module>(schedule(*module, target));
    const std::string text = print(*after);
    INFO(text);
    if (!block.empty()) CHECK(has_block(*after, block));
    CHECK(print(*read_module("again.relish", text)) == text);
    CHECK(print(schedule(*after, target)) == text);
    const auto jit = make_jit({.threads = 2, .target = target});
    for (std::size_t i = 0; i < sets.size(); ++i) {
      std::string sizes;
      for (const Value& arg : sets[i]) sizes += fmt::format("({}) ", fmt::join(arg.tensor().shape(), ", "));
      INFO(sizes);
      require_same(interpreter->call(after, "f", sets[i]).tensor(), wanted[i]);
      require_same(jit->call(module, "f", sets[i]).tensor(), wanted[i]);
    }
  }
}

inline void check_schedules(const ModulePtr& module, const std::vector<Value>& args, std::string_view block) {
  check_schedules_for(module, {args}, block);
}

}  // namespace relish::test
