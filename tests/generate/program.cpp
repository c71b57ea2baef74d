// Putting functions together to a program.
#include "tests/generate/program.h"

#include "interp/interpreter.h"
#include "ir/calls/entry.h"
#include "tests/generate/graph_generator.h"
#include "tests/generate/loop_generator.h"
#include "tests/generate/names.h"
#include "tests/generate/surface.h"
#include "tests/generate/values.h"

namespace relish::generate {

Evaluator& reference() {
  static const std::unique_ptr<Evaluator> engine = make_interpreter();
  return *engine;
}

Program generate_program(const Options& options) {
  if (options.surface) return surface_program(options);
  Program program;
  program.options = options;
  Random random(options.seed);
  Module module;
  module.name = class_name(random);
  ProgramState state{program, module, random};
  state.names = {"main", module.name};
  const std::int64_t loops = options.differentiable ? 0 : random.between(0, 2), graphs = random.between(0, 2);
  for (std::int64_t i = 0; i < loops + graphs; ++i) state.names.push_back(function_name(random, state.names));

  for (std::int64_t i = 0; i < loops; ++i) {
    GeneratedLoop loop =
        LoopGenerator(random, options, program.constructs).run(state.names[static_cast<std::size_t>(i) + 2]);
    module.set(loop.function);
    state.callees.push_back({loop.function->name, true, loop, {}, true});
  }
  for (std::int64_t i = 0; i < graphs; ++i) {
    const std::string& name = state.names[static_cast<std::size_t>(loops + i) + 2];
    std::vector<Value> samples = GraphGenerator(state).run(name, false);
    const bool pure = module.function(name)->pure;
    state.callees.push_back({name, false, {}, std::move(samples), pure});
  }
  program.inputs = GraphGenerator(state).run("main", true);
  if (options.special_values) {
    for (Value& input : program.inputs) {
      if (input.is_tensor()) input = special_value_of(random, type_of(input));
    }
  }
  if (random.chance(0.1)) {
    program.constructs.insert("module attributes");
    module.attributes = {{"input_num", Attribute(static_cast<std::int64_t>(1))}};
  }
  // The order of the functions means nothing.
  std::vector<GlobalFunction> order(module.functions.begin(), module.functions.end());
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  module.functions = std::move(order);
  if (options.comments && random.chance(0.2)) {
    Comments comments;
    comments.before.push_back(comment_text(random));
    module.comments = std::make_shared<const Comments>(std::move(comments));
  }
  program.module = std::make_shared<const Module>(std::move(module));
  return program;
}

}  // namespace relish::generate
