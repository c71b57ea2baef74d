// Argument lists from columns of data.
#include "train/program.h"

#include <algorithm>

#include "ir/calls/argument_fault.h"
#include "ir/calls/own_keys.h"
#include "support/counted.h"
#include "support/suggest.h"
#include "train/preparation.h"

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

ColumnBinding::ColumnBinding(const ModulePtr& module, std::string_view function, const TensorsByName& named,
                             const DataSet& data, std::size_t columns)
    : function_(function_to_call(module, function)) {
  const std::optional<RoleSignature> roles = roles_of(*function_);
  std::size_t own_keys = 0, inputs = 0;
  for (std::size_t i = 0; i < function_->params.size(); ++i) {
    const Var& parameter = function_->params[i];
    Origin& origin = origins_.emplace_back();
    const Role role = roles ? roles->params.at(i).role : Role::Input;
    if (role != Role::Input && role != Role::Target && role != Role::Buffer) {
      origin.role = role;
    } else if (auto found = named.find(parameter.name()); found != named.end()) {
      origin.named = found->second;
    } else if (is_random_key(parameter.type())) {
      origin.own_key = own_keys++;
    } else {
      column_parameters_.push_back(parameter);
      if (role == Role::Input) ++inputs;
    }
  }
  if (column_parameters_.size() == columns) return;
  std::vector<DiagnosticNote> notes;
  // The first that gets nothing: one of those behind the targets, such as the weights of classes; else an
  // input, the targets left aside, which are the last column.
  const bool with_targets = columns > data.inputs.size();
  const bool behind = column_parameters_.size() - inputs > column_parameters_.size() - columns;
  const std::size_t without = with_targets && !behind ? data.inputs.size() : columns;
  if (columns < column_parameters_.size()) {
    const Var& parameter = column_parameters_[without];
    notes.push_back(
        {parameter.span(),
         fmt::format("parameter '{}' takes a tensor of {}, or a value in params{}", parameter.name(),
                     data.name, roles ? "" : ", as params=t[\"params\"] of what train returned")});
  }
  fail(ErrorClass::Usage, data.place, "train.columns",
       fmt::format("{}: found {}; expected {} for the parameters {}that have no value: {}", data.name,
                   counted(columns, with_targets ? "tensor" : "input"), column_parameters_.size(),
                   roles ? "" : fmt::format("of {} ", function), name_list(column_parameters_)),
       std::move(notes));
}

std::string hint_of_shape(const Shape& found, const Type& wanted, bool targets, std::string_view name) {
  const TensorType* type = wanted.tensor();
  if (!type || !type->shape) return "";
  const auto& dims = *type->shape;
  const auto is_one = [](const Scalar& dim) { return dim.as_int() == 1; };
  if (found.size() == 1 && dims.size() == 2 && is_one(dims.back()))
    return fmt::format("; {}.reshape((-1, 1)) of it has that shape{}", name,
                       targets ? ", or the model gives R.squeeze(…, axis=[1]) of its result" : "");
  if (found.size() == 2 && found[1] == 1 && dims.size() == 1)
    return fmt::format("; {}.reshape((-1,)) of it has that shape", name);
  // Weights of PyTorch's layers.
  if (found.size() == 2 && dims.size() == 2 && found[0] != found[1] && dims[0].as_int() == found[1] &&
      dims[1].as_int() == found[0])
    return fmt::format("; {}.T has that shape", name);
  // Labels of positions, whose classes are where PyTorch's losses have them.
  if (targets && type->dtype == DType::Int64 && found.size() > 1 && dims.size() == found.size())
    return "; the predictions have their classes on axis 1: where they are on the last one, "
           "R.permute_dims(y, [0, 2, 1]) puts them there";
  return "";
}

void ColumnBinding::check_fit(std::span<const Tensor> columns, const DataSet& data, Span named_place) const {
  const RoleValue any_key[] = {{Role::Key, tensor_of_key(key_from_seed(0))}};
  const std::vector<Value> values = arguments(columns, any_key);
  const std::vector<Var>& parameters = function_->params;
  std::optional<ArgumentFault> fault = find_argument_fault(data.name, parameters, values);
  if (!fault) return;
  const bool named = origins_[fault->argument].named.has_value();
  if (named) fault = find_argument_fault("params", parameters, values);
  Diagnostic& first = fault->failure.diagnostics().front();
  const std::string& name = parameters[fault->argument].name();
  const bool targets =
      !named && columns.size() > data.inputs.size() && !data.inputs.empty() &&
      std::any_of(column_parameters_.begin() + static_cast<std::ptrdiff_t>(data.inputs.size()),
                  column_parameters_.end(), [&](const Var& param) { return param.name() == name; });
  first.notes.insert(first.notes.begin(),
                     {first.span, targets ? std::string("the targets are compared with this result")
                                          : fmt::format("parameter '{}' of the model", name)});
  first.span = named ? named_place : data.place;
  const std::int64_t rows = columns.empty() ? 0 : columns.front().shape().front();
  if (!named && rows != data.rows())
    first.note(fmt::format("a batch has {} of the {} rows", rows, data.rows()));
  if (const Value& value = values[fault->argument]; value.is_tensor())
    first.message += hint_of_shape(value.tensor().shape(), parameters[fault->argument].type(), targets,
                                   named ? std::string_view(name) : "y");
  throw std::move(fault->failure);
}

std::vector<Value> ColumnBinding::arguments(std::span<const Tensor> columns,
                                            std::span<const RoleValue> given) const {
  RELISH_CHECK(columns.size() == column_parameters_.size());
  const auto value_of = [&](Role role) -> const Value& {
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const RoleValue& each) { return each.role == role; });
    RELISH_CHECK(found != given.end(), name_of(role));
    return found->value;
  };
  std::vector<Value> result;
  result.reserve(origins_.size());
  std::size_t column = 0;
  for (const Origin& origin : origins_) {
    if (origin.named) {
      result.emplace_back(*origin.named);
    } else if (origin.own_key) {
      const RandomKey key = key_of_tensor(value_of(Role::Key).tensor());
      result.emplace_back(
          tensor_of_key(fold_in(key, static_cast<std::uint64_t>(own_key_site(*origin.own_key)))));
    } else if (!origin.role) {
      result.emplace_back(columns[column++]);
    } else {
      result.push_back(value_of(*origin.role));
    }
  }
  return result;
}

const Var* ColumnBinding::fixed_parameter() const {
  for (const Var& parameter : column_parameters_) {
    const TensorType* type = parameter.type().tensor();
    if (type == nullptr || !type->has_shape() || type->shape->empty()) continue;
    const std::optional<std::int64_t> rows = type->shape->front().as_int();
    if (rows && *rows > 0) return &parameter;
  }
  return nullptr;
}

std::optional<std::int64_t> ColumnBinding::fixed_rows() const {
  const Var* parameter = fixed_parameter();
  if (parameter == nullptr) return std::nullopt;
  return parameter->type().tensor()->shape->front().as_int();
}

DiagnosticNote ColumnBinding::note_of_fixed_rows() const {
  const Var* parameter = fixed_parameter();
  RELISH_CHECK(parameter != nullptr);
  return {parameter->span(),
          fmt::format("parameter '{}' fixes the number of rows; \"n\" in place of the {} takes "
                      "batches of any",
                      parameter->name(), *fixed_rows())};
}

}  // namespace relish
