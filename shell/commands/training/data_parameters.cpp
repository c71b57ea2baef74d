// Names and numbers of the tensors of data, against parameters.
#include "shell/commands/training/data_parameters.h"

#include <algorithm>

#include "ir/calls/own_keys.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"

namespace relish {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether rows of the column have the rank, the sizes and the kind of numbers of the parameter, as far as it
// fixes them.
bool may_go_to(const Column& column, const Type& type) {
  const TensorType* tensor = type.tensor();
  if (!tensor || (tensor->dtype && is_float(*tensor->dtype) != is_float(column.dtype()))) return false;
  if (!tensor->shape) return tensor->rank < 0 || tensor->rank == static_cast<int>(column.shape().size());
  if (tensor->shape->size() != column.shape().size()) return false;
  for (std::size_t i = 1; i < column.shape().size(); ++i)
    if (const auto fixed = (*tensor->shape)[i].as_int(); fixed && *fixed != column.shape()[i]) return false;
  return true;
}

// What a loss takes beside the results of the model, keys left aside.
std::vector<std::string> taken_by_loss(const SetupTrainerOptions& options) {
  if (options.model_returns_loss()) return {};
  const Function* own = options.loss.loss_function.get();
  if (!own && find_attribute(options.loss.loss.options, "weights")) return {"targets", "weights"};
  if (!own) return {"targets"};
  std::vector<std::string> names;
  for (std::size_t i = static_cast<std::size_t>(std::max(options.loss.outputs, 1)); i < own->params.size();
       ++i)
    if (!is_random_key(own->params[i].type())) names.push_back(own->params[i].name());
  return names;
}

// How many tensors of the data the loss takes.
std::size_t count_of_targets(const SetupTrainerOptions& options, const TensorsByName& values) {
  const Function* own = options.loss.loss_function.get();
  if (!own) {
    const Attribute* weights = find_attribute(options.loss.loss.options, "weights");
    const bool* wanted = weights ? weights->as<bool>() : nullptr;
    return 1 + (wanted && *wanted && !values.contains("weights") ? 1 : 0);
  }
  std::vector<std::string> trained;
  if (find_attribute(own->attributes, trained_attribute)) trained = *marked_parameters(*own);
  std::size_t count = 0;
  for (const std::string& name : taken_by_loss(options))
    if (!has(trained, name) && !values.contains(name)) ++count;
  return count;
}

}  // namespace

std::vector<std::string> inputs_by_count(const Module& module, const Function& model,
                                         const SetupTrainerOptions& options, const DataColumns& columns,
                                         const TensorsByName& values) {
  if (!options.wrt.empty() || marked_parameters(model) || backbone_counts(module, model)) return {};
  const std::size_t targets = count_of_targets(options, values);
  const std::size_t count = columns.columns.size(), wanted = count > targets ? count - targets : 0;
  if (wanted < 2) return {};
  const ModelParameters known = parameters_of_model(module, model, {}, {}, {});
  std::vector<std::string> inputs;
  for (const Var& param : model.params)
    if (!has(known.trained, param.name()) && !has(known.buffers, param.name()) &&
        !values.contains(param.name()) && !is_random_key(param.type()))
      inputs.push_back(param.name());
  if (inputs.size() >= wanted) return {};
  for (const std::string& name : known.trained)
    if (inputs.size() < wanted && !values.contains(name)) inputs.push_back(name);
  const bool some_are_trained = inputs.size() < model.params.size() - known.buffers.size();
  if (inputs.size() != wanted || !some_are_trained) return {};
  std::size_t column = 0;
  for (const Var& param : model.params)
    if (has(inputs, param.name()) && !may_go_to(columns.columns[column++], param.type())) return {};
  return inputs;
}

void refuse_given_keys(const Invocation& invocation, const Function& model,
                       const SetupTrainerOptions& options, const std::vector<std::string>& buffers,
                       TensorsByName& values) {
  std::vector<Var> params = model.params;
  if (const Function* own = options.loss.loss_function.get())
    params.insert(params.end(), own->params.begin(), own->params.end());
  for (const Var& param : params) {
    if (!is_random_key(param.type()) || has(buffers, param.name()) || !values.contains(param.name()))
      continue;
    if (!invocation.flag("ignore_extra")) {
      fail(ErrorClass::Usage, invocation.span_of("params"), "train.key",
           fmt::format(
               "params: '{0}' is a key, which each step draws anew from the seed and the number of the "
               "step; leave it out, or bind_params(…, params={{\"{0}\": key(0)}}) gives one that stays",
               param.name()),
           {{param.span(), fmt::format("parameter '{}'", param.name())}});
    }
    values.erase(param.name());
  }
}

void check_data_names(const Invocation& invocation, const DataColumns& columns, const Function& model,
                      const SetupTrainerOptions& options) {
  std::vector<std::string> known;
  for (const Var& param : model.params) known.push_back(param.name());
  for (const std::string& name : taken_by_loss(options))
    if (!has(known, name)) known.push_back(name);
  for (const std::string& name : columns.names) {
    // A name that the model has too gets a number behind it.
    const std::string plain = name.substr(0, name.find_last_not_of("0123456789") + 1);
    if (has(known, name) || has(known, plain)) continue;
    invocation.refuse_value("data", fmt::format("no data go to '{}'; expected some of {}{}", printable(name),
                                                fmt::join(known, ", "), did_you_mean(name, known)));
  }
}

}  // namespace relish
