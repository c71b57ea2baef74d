// Argument lists from columns of data.
#include "train/program.h"

#include "support/counted.h"
#include "support/suggest.h"

namespace relish {
namespace {

std::string name_list(const std::vector<Var>& parameters) {
  std::string text;
  for (const Var& parameter : parameters) text += (text.empty() ? "" : ", ") + parameter.name();
  return text.empty() ? "none" : text;
}

}  // namespace

FunctionPtr function_to_call(const ModulePtr& module, std::string_view name) {
  RELISH_CHECK(module != nullptr);
  FunctionPtr function = module->function(name);
  if (function == nullptr) {
    fail(ErrorClass::Usage, {}, "name.unknown",
         fmt::format("module {} has no function '{}'{}", module->name, name,
                     did_you_mean(name, module->names())));
  }
  return function;
}

ColumnBinding::ColumnBinding(const ModulePtr& module, std::string_view function, std::size_t leading,
                             const TensorsByName& named, std::size_t columns, std::string_view data_name)
    : function_(function_to_call(module, function)) {
  RELISH_CHECK(function_->params.size() >= leading);
  for (std::size_t i = leading; i < function_->params.size(); ++i) {
    const Var& parameter = function_->params[i];
    if (auto found = named.find(parameter.name()); found != named.end()) {
      named_.emplace_back(found->second);
    } else {
      named_.emplace_back(std::nullopt);
      column_parameters_.push_back(parameter);
    }
  }
  if (column_parameters_.size() != columns) {
    fail(ErrorClass::Usage, {}, "train.columns",
         fmt::format("{}: found {}; expected {} for the parameters of {} that have no value: {}", data_name,
                     counted(columns, "tensor"), column_parameters_.size(), function,
                     name_list(column_parameters_)));
  }
}

std::vector<Value> ColumnBinding::arguments(std::vector<Value> leading,
                                            std::span<const Tensor> columns) const {
  RELISH_CHECK(columns.size() == column_parameters_.size());
  std::vector<Value> result = std::move(leading);
  std::size_t column = 0;
  for (const std::optional<Tensor>& value : named_) result.emplace_back(value ? *value : columns[column++]);
  return result;
}

std::optional<std::int64_t> ColumnBinding::fixed_rows() const {
  for (const Var& parameter : column_parameters_) {
    const TensorType* type = parameter.type().tensor();
    if (type == nullptr || !type->has_shape() || type->shape->empty()) continue;
    std::optional<std::int64_t> rows = type->shape->front().as_int();
    if (rows && *rows > 0) return rows;
  }
  return std::nullopt;
}

}  // namespace relish
