// From a module to the steps of its functions.
#include "jit/steps/program_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/operators/op.h"
#include "jit/steps/compilable.h"
#include "jit/steps/step_maker.h"
#include "loops/written_first.h"
#include "schedule/schedule.h"
#include "support/failure.h"

namespace relish::jit {

LoweredProgram lowered_program(const Module& module, UnknownShapes unknown, const Target& target) {
  require_compilable(module.functions);
  LoweredProgram program{lift_bodies(module), {}, {}, target};
  program.unscheduled =
      fuse(legalize(program.lifted.module, unknown, &program.operators), &program.apart, &program.checking);
  program.lifted.module = schedule(program.unscheduled, target);
  return program;
}

const FunctionSteps& ProgramSteps::of(const Function& function, const step::Donated& donated) {
  const std::pair key(&function, donated);
  const auto known = steps_.find(key);
  if (known != steps_.end()) {
    RELISH_CHECK(known->second != nullptr, function.name);  // it is not among its own callees
    return *known->second;
  }
  steps_[key] = nullptr;
  auto made = std::make_unique<const FunctionSteps>(StepMaker(*this, function, donated).run());
  if (!donated.empty()) with_donations_.push_back(made.get());
  return *(steps_[key] = std::move(made));
}

void ProgramSteps::make_donated(const Function& function, const step::Donated& donated) {
  for_each_step(of(function, donated).steps, [&](const Step& step) {
    const auto* call = std::get_if<Apart<step::CallFunction>>(&step.kind);
    if (!call || (**call).donated.empty()) return;
    const Function& callee = *(**call).callee;
    if (!steps_.contains({&callee, (**call).donated}) || &callee != &function)
      make_donated(callee, (**call).donated);
  });
}

step::Donated ProgramSteps::of_use(const Function& callee, const step::Donated& donated) {
  const FunctionSteps& steps = of(callee, donated);
  std::unordered_set<PlaceId> used;
  for (const Step& step : steps.steps) {
    if (const auto* taken = std::get_if<step::TakeOver>(&step.kind)) used.insert(taken->from);
    const auto* call = std::get_if<Apart<step::CallFunction>>(&step.kind);
    if (!call || (**call).donated.empty()) continue;
    std::size_t next = 0;
    for (const ValueTree& arg : (**call).args)
      for_each_leaf(arg, [&](const ValueTree& leaf) {
        if (leaf.has_storage() && (**call).donated.at(next++)) used.insert(leaf.place);
      });
  }
  step::Donated found;
  for (const ValueTree& param : steps.params)
    for_each_leaf(param, [&](const ValueTree& leaf) {
      if (leaf.has_storage()) found.push_back(used.contains(leaf.place));
    });
  if (std::find(found.begin(), found.end(), true) == found.end()) found.clear();
  return found;
}

PrimFuncPtr ProgramSteps::unscheduled(const PrimFunc& function) const {
  return program_ ? program_->unscheduled.prim_func(function.name) : nullptr;
}

PrimFuncPtr ProgramSteps::written_over(const PrimFunc& kernel, const std::vector<WrittenOver>& pairs) {
  std::string key = kernel.name;
  for (const WrittenOver& pair : pairs) key += fmt::format(" {} {}", pair.argument, pair.result);
  const auto known = scheduled_in_place_.find(key);
  if (known != scheduled_in_place_.end()) return known->second;
  std::string name = kernel.name + "_in_place";
  for (int number = 1; lifted_.module.find(name) || in_place_.find(name); ++number)
    name = fmt::format("{}_in_place{}", kernel.name, number);
  const PrimFuncPtr written = relish::written_over(*unscheduled(kernel), pairs, name);
  in_place_.set(written);
  made_of_[name] = kernel.name;
  const PrimFuncPtr scheduled = schedule(written, program_->target);
  joined_.emplace(scheduled.get(), pairs);
  return scheduled_in_place_.emplace(std::move(key), scheduled).first->second;
}

std::vector<FusionNote> ProgramSteps::apart(const std::string& kernel) const {
  const auto made_of = made_of_.find(kernel);
  const auto found = program_->apart.find(made_of == made_of_.end() ? kernel : made_of->second);
  return found == program_->apart.end() ? std::vector<FusionNote>{} : found->second;
}

const std::vector<WrittenOver>* ProgramSteps::joined_in(const PrimFunc& kernel) const {
  const auto found = joined_.find(&kernel);
  return found == joined_.end() ? nullptr : &found->second;
}

const KernelFacts& ProgramSteps::kernel(const PrimFunc& function) {
  const auto known = kernels_.find(&function);
  if (known != kernels_.end()) return known->second;
  KernelFacts facts;
  facts.accesses = param_accesses(function);
  const std::vector<bool> written = parameters_written_first(function);
  // The same function before its loops were scheduled writes the same elements, and plainer.
  const PrimFuncPtr plain = unscheduled(function);
  const std::vector<bool> before =
      plain && plain->params.size() == written.size() ? parameters_written_first(*plain) : written;
  for (std::size_t i = 0; i < function.params.size(); ++i)
    facts.clear.push_back(function.params[i].buffer() && !written[i] && !before[i]);
  return kernels_.emplace(&function, std::move(facts)).first->second;
}

bool ProgramSteps::is_fused(const Expr& call_tir) const {
  return program_ && program_->checking.contains(&call_tir.node());
}

Expr ProgramSteps::operator_of(const Expr& call_tir) const {
  if (!operators_) return {};
  const Expr& failing = is_fused(call_tir) ? program_->checking.at(&call_tir.node()) : call_tir;
  const auto found = operators_->find(&failing.node());
  return found != operators_->end() && found->second.as<OpCall>()->op->eval ? found->second : Expr();
}

std::optional<std::string> packed_symbol(const Module& module, const Expr& callee) {
  if (const auto* external = callee.as<ExternFunc>()) return external->symbol;
  const auto* global = callee.as<GlobalRef>();
  const ExternFunctionPtr function = global ? module.extern_function(global->name) : nullptr;
  return function ? std::optional(function->symbol) : std::nullopt;
}

}  // namespace relish::jit
