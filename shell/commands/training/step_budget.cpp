// Sizes of batches, and the steps for them.
#include "shell/commands/training/step_budget.h"

#include <algorithm>

#include "shell/commands/transform/memory_budget.h"

namespace relish {

std::map<std::string, std::int64_t> sizes_of_batches(const TrainingProgram& program,
                                                     const TrainOptions& options, const DataSet& data,
                                                     const DataParameters& parameters) {
  const FunctionPtr step = function_to_call(program.module, program.step);
  std::vector<std::string> names = parameters.inputs;
  names.insert(names.end(), parameters.targets.begin(), parameters.targets.end());
  const std::vector<Column> columns = data.columns();
  const std::int64_t rows = options.batch_size.value_or(std::min(default_batch_size, data.rows()));
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t i = 0; i < names.size() && i < columns.size(); ++i) {
    const auto param = std::find_if(step->params.begin(), step->params.end(),
                                    [&](const Var& each) { return each.name() == names[i]; });
    const TensorType* type = param == step->params.end() ? nullptr : param->type().tensor();
    if (!type || !type->shape) continue;
    const Shape& shape = columns[i].shape();
    for (std::size_t d = 0; d < type->shape->size(); ++d) {
      const auto symbol = (*type->shape)[d].as_var();
      if (symbol && d == 0) sizes.emplace(symbol->name(), rows);
      // What prepares the data may change the other sizes.
      if (symbol && d > 0 && program.prepare.empty() && shape.size() == type->shape->size())
        sizes.emplace(symbol->name(), shape[d]);
    }
  }
  return sizes;
}

void hold_budget(const Invocation& invocation, const Module& source, const std::string& function,
                 SetupTrainerOptions setup, const std::map<std::string, std::int64_t>& sizes,
                 Module& module) {
  BudgetReport report;
  setup.budget = memory_budget_option(invocation, sizes);
  setup.budget_report = &report;
  const Module within = setup_trainer(source, function, setup);
  for (const GlobalFunction& each : within.functions) module.set(each);
  tell_budget(invocation, report);
}

}  // namespace relish
