// Steps of ifs and loops: lists around the calls of lifted bodies.
#include <algorithm>

#include "jit/steps/lifetimes.h"
#include "jit/steps/step_maker.h"

namespace relish::jit {

// What a lifted region captured, as its function takes it; sizes, which the region may change, are empty.
// What is converted for the call belongs to the binding, so it is made before the lists.
StepMaker::Captured StepMaker::captured_of(const Region& region) {
  const FunctionCall& call = lifted_call(region);
  const Function& callee = *program_.module().function(call.callee.as<GlobalRef>()->name);
  Captured captured;
  for (std::size_t i = region.params.size(); i < call.args.size(); ++i) {
    captured.emplace_back();
    if (!call.args[i].as<ShapeLiteral>()) captured.back() = argument(call.args[i], callee, i);
  }
  return captured;
}

// The call of a region's function: what is carried, then what it captured. Its result.
ValueTree StepMaker::call_region(const Region& region, const Captured& captured, const ValueTree& carried,
                                 step::Donated donated) {
  const FunctionCall& call = lifted_call(region);
  const FunctionPtr callee = program_.module().function(call.callee.as<GlobalRef>()->name);
  std::vector<ValueTree> args = carried.fields;
  for (std::size_t i = 0; i < captured.size(); ++i)
    args.push_back(captured[i] ? *captured[i] : value(call.args[region.params.size() + i]));
  ValueTree made = tree(callee->result_type, Place::Returned);
  if (std::find(donated.begin(), donated.end(), true) == donated.end()) {
    donated.clear();
  } else {
    std::size_t stored = 0;
    for (const ValueTree& arg : args)
      for_each_leaf(arg, [&](const ValueTree& leaf) { stored += leaf.has_storage() ? 1 : 0; });
    donated.resize(stored, false);
  }
  emit(step::CallFunction{callee, std::move(args), made, std::move(donated),
                          &region.blocks[0].bindings[0].value().node()});
  return made;
}

bool StepMaker::calls_itself(const Region& region) const {
  const auto* callee = lifted_call(region).callee.as<GlobalRef>();
  return lifted_function(program_.functions(), callee->name).recursive;
}

ValueTree StepMaker::if_value(const If& branch, const Expr& expr) {
  step::Branch made;
  made.condition = truth(value(branch.condition));
  const Captured then = captured_of(*branch.then_region);
  const Captured otherwise = captured_of(*branch.else_region);
  made.then = apart([&] { give(made.then_value = call_region(*branch.then_region, then, {})); });
  made.otherwise =
      apart([&] { give(made.otherwise_value = call_region(*branch.else_region, otherwise, {})); });
  ValueTree result = made.result = tree(expr.type(), Place::Returned);
  emit(std::move(made));
  return result;
}

ValueTree StepMaker::loop_value(const Loop& loop, const Expr& expr) {
  step::Loop made;
  // Every value of the loop belongs to it, so each round may free those of the round before.
  for (std::size_t i = 0; i < loop.initial.size(); ++i) {
    const Var& param = loop.body->params[i];
    const ValueTree first =
        convert(value(loop.initial[i]), param.type(), param.span(), [&] { return param.name(); });
    made.initial.fields.push_back(shared(first));
  }
  if (loop.index.defined()) {
    made.range =
        step::Loop::Range{loop.index, value(loop.begin).place, value(loop.end).place, value(loop.step).place};
  }
  const Captured condition = loop.condition ? captured_of(*loop.condition) : Captured();
  const Captured body = captured_of(*loop.body);
  if (loop.condition) {
    made.condition = apart([&] {
      for (const Var& param : loop.body->params)
        made.carried.fields.push_back(tree(param.type(), Place::Carried));
      const ValueTree held = call_region(*loop.condition, condition, made.carried);
      made.goes_on = truth(held.is_leaf() ? held : held.fields.at(0));
    });
  }
  made.body = apart([&] {
    if (!loop.condition)
      for (const Var& param : loop.body->params)
        made.carried.fields.push_back(tree(param.type(), Place::Carried));
    // A round ends what the round before left: its function may write to it.
    step::Donated donated;
    for_each_leaf(made.carried, [&](const ValueTree& leaf) {
      if (!leaf.has_storage()) return;
      donated.push_back(leaf.kind == ValueTree::TensorLeaf && !calls_itself(*loop.body));
      made_.places[leaf.place].given = donated.back();
    });
    give(made.next = call_region(*loop.body, body, made.carried, donated));
    std::size_t next = 0;
    for_each_leaf(made.carried, [&](const ValueTree& leaf) {
      if (leaf.has_storage() && !donated[next++]) emit(step::Release{leaf.place});
    });
  });
  ValueTree result = made.result = tree(expr.type(), Place::Returned);
  emit(std::move(made));
  return result;
}

}  // namespace relish::jit
