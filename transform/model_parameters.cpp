// Which parameters of a model, and of the loss on it, its trainer trains, keeps as running values, or
// freezes.
#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/own_keys.h"
#include "ir/printer/printer.h"
#include "support/choices.h"
#include "support/counted.h"
#include "support/glob.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"
#include "transform/setup_trainer.h"

namespace relish {
namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A name that is no parameter, or one that training cannot change by a gradient.
void check_trained(const Function& function, const std::vector<std::string>& names,
                   const std::vector<std::string>& buffers) {
  std::vector<std::string> all;
  for (const Var& param : function.params) all.push_back(param.name());
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end()) {
      fail(ErrorClass::Usage, function.span, "parameter.unknown",
           fmt::format("{} has no parameter '{}'{}", function.name, name, among_choices(name, all)));
    }
    const Var& param = function.params[static_cast<std::size_t>(found - all.begin())];
    if (is_one_of(buffers, name)) {
      fail(ErrorClass::Type, param.span(), "setup_trainer.buffer",
           fmt::format("'{}' is a running statistic, which a step sets without a gradient; leave it out of "
                       "the trained parameters",
                       name));
    }
    if (may_be_trained(param.type())) continue;
    fail(ErrorClass::Type, param.span(), "setup_trainer.parameters",
         fmt::format("'{}' is {}; only floating tensors are trained, others are data or have a value in "
                     "params",
                     name, print(param.type())));
  }
}

}  // namespace

std::vector<std::string> trained_parameters(const Function& function, const std::vector<std::string>& wrt,
                                            const std::vector<std::string>& buffers,
                                            const std::vector<std::string>& data) {
  if (!wrt.empty()) {
    check_trained(function, wrt, buffers);
    return wrt;
  }
  if (std::optional<std::vector<std::string>> marked = marked_parameters(function)) {
    // A count counts the buffers too.
    if (!find_attribute(function.attributes, trained_attribute))
      std::erase_if(*marked, [&](const std::string& name) { return is_one_of(buffers, name); });
    if (marked->empty()) {
      fail(ErrorClass::Type, function.span, "setup_trainer.parameters",
           fmt::format("{} says of none of its parameters that it is trained; name them by wrt",
                       function.name));
    }
    check_trained(function, *marked, buffers);
    return *marked;
  }
  std::vector<std::string> trained;
  // The first is the input, keys left aside.
  std::size_t first = 0;
  while (data.empty() && first < function.params.size() && is_random_key(function.params[first].type()))
    ++first;
  for (std::size_t i = data.empty() ? first + 1 : 0; i < function.params.size(); ++i) {
    const Var& param = function.params[i];
    if (may_be_trained(param.type()) && !is_one_of(buffers, param.name()) && !is_one_of(data, param.name()))
      trained.push_back(param.name());
  }
  if (trained.empty()) {
    fail(ErrorClass::Type, function.span, "setup_trainer.parameters",
         fmt::format("{} has no {}parameter after its input; nothing could be trained", function.name,
                     function.params.size() < 2 ? "" : "floating "));
  }
  return trained;
}

namespace {

// Takes those that the patterns name out of the trained ones.
void freeze(ModelParameters& model, const Function& function, const std::vector<std::string>& frozen) {
  const std::vector<std::string> all = model.trained;
  for (const std::string& pattern : frozen) {
    bool any = false;
    for (const std::string& name : all) {
      if (!matches_glob(pattern, name)) continue;
      any = true;
      if (!is_one_of(model.frozen, name)) model.frozen.push_back(name);
    }
    if (any) continue;
    fail(ErrorClass::Usage, {}, "frozen.pattern",
         fmt::format("frozen: no trained parameter is called '{}'; they are {}{}", printable(pattern),
                     fmt::join(all, ", "), did_you_mean(pattern, all)));
  }
  std::erase_if(model.trained, [&](const std::string& name) { return is_one_of(model.frozen, name); });
  if (model.trained.empty()) {
    fail(ErrorClass::Usage, {}, "frozen.pattern",
         fmt::format("frozen: all parameters of {} are frozen; nothing could be trained, so leave one out",
                     function.name));
  }
}

// The parameters of the user's loss that wrt or its own mark names.
std::vector<std::string> trained_by_loss(const AppendLossOptions& loss, const Function& model,
                                         const std::vector<std::string>& wrt) {
  std::vector<std::string> trained;
  if (!loss.loss_function) return trained;
  const Function& function = *loss.loss_function;
  std::vector<std::string> marked;
  if (find_attribute(function.attributes, trained_attribute)) marked = *marked_parameters(function);
  for (std::size_t i = static_cast<std::size_t>(std::max(loss.outputs, 1)); i < function.params.size(); ++i) {
    const std::string& name = function.params[i].name();
    const bool of_model = std::any_of(model.params.begin(), model.params.end(),
                                      [&](const Var& param) { return param.name() == name; });
    if (is_one_of(marked, name) || (!of_model && is_one_of(wrt, name))) trained.push_back(name);
  }
  return trained;
}

// The steps, states and files of a job know parameters by their names, each a tensor.
void refuse_tuples(const Function& function, const std::vector<std::string>& trained) {
  for (const Var& param : function.params) {
    const TupleType* fields = param.type().tuple();
    if (!fields || !is_one_of(trained, param.name())) continue;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < fields->fields.size(); ++i)
      names.push_back(fmt::format("{}_{}", param.name(), i));
    const bool few = names.size() <= 3;
    fail(ErrorClass::Type, param.span(), "setup_trainer.tuple",
         fmt::format(
             "'{0}' is a tuple of {1}; the parameters of a trainer are tensors: take {2} as parameters, "
             "and begin the body with {0} = ({3}{4})",
             param.name(), counted(names.size(), "field"),
             few ? fmt::format("{}", fmt::join(names, ", "))
                 : fmt::format("{} to {}", names.front(), names.back()),
             few ? fmt::format("{}", fmt::join(names, ", ")) : names.front() + ", …",
             names.size() == 1 ? "," : ""));
  }
}

}  // namespace

ModelParameters parameters_of_model(const Module& module, const Function& function,
                                    const std::vector<std::string>& wrt,
                                    const std::vector<std::string>& frozen,
                                    const std::vector<std::string>& data) {
  ModelParameters result;
  result.buffers = buffers_of_model(module, function);
  std::vector<std::string> wanted = wrt;
  if (const auto counts = backbone_counts(module, function); counts && wanted.empty()) {
    const std::size_t end = function.params.size() - counts->states;
    for (std::size_t i = end - counts->trained; i < end; ++i) wanted.push_back(function.params[i].name());
  }
  result.trained = trained_parameters(function, wanted, result.buffers, data);
  refuse_tuples(function, result.trained);
  freeze(result, function, frozen);
  return result;
}

ModelParameters parameters_of_trainer(const Module& module, const Function& function,
                                      const SetupTrainerOptions& options) {
  const std::vector<std::string> of_loss = trained_by_loss(options.loss, function, options.wrt);
  std::vector<std::string> wrt = options.wrt;
  std::erase_if(wrt, [&](const std::string& name) { return is_one_of(of_loss, name); });
  ModelParameters result = parameters_of_model(module, function, wrt, {}, options.data);
  result.trained.insert(result.trained.end(), of_loss.begin(), of_loss.end());
  freeze(result, function, options.frozen);
  return result;
}

ParameterHolder holder_of_parameters(const Module& module, const Function& function,
                                     const SetupTrainerOptions& options) {
  if (trained_by_loss(options.loss, function, options.wrt).empty())
    return {std::make_shared<const Module>(module), module.function(function.name)};
  AppendLossOptions loss = options.loss;
  loss.new_name = module.fresh_name(function.name + "_loss");
  auto with = std::make_shared<const Module>(append_loss(module, function.name, loss));
  return {with, with->function(loss.new_name)};
}

}  // namespace relish
