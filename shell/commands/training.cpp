// Data of training commands.
#include "shell/commands/training.h"

#include <algorithm>
#include <cmath>

#include "runtime/files.h"
#include "shell/commands/loss_option.h"
#include "shell/program/literal_text.h"
#include "shell/script/script.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

void add_columns(const Invocation& invocation, std::string_view option, const ScriptValue& value,
                 std::vector<Tensor>& into) {
  if (value.tensor()) {
    into.push_back(*value.tensor());
    return;
  }
  if (value.string()) {
    const std::string path = invocation.allowed_path(option, *value.string());
    NamedTensors entries = read_tensors(path);
    if (entries.size() != 1) {
      invocation.refuse_value(option, fmt::format("{} holds {} tensors; name one as FILE:ENTRY",
                                                  printable(path), entries.size()));
    }
    into.push_back(entries.front().second);
    return;
  }
  invocation.misuse(option, fmt::format("found {}; expected tensors (inputs…, targets)", describe(value)));
}

// {"w*": normal(std=0.1), "b*": zeros} of the command line, where rules need no quotes.
ScriptValue dictionary_of_text(const std::string& written) {
  ValueText text(written, "init");
  return script_value_of(text, text.value("names with rules"));
}

}  // namespace

DataSet data_set(const Invocation& invocation, std::string_view option) {
  std::vector<Tensor> columns;
  const ScriptValue* value = invocation.find(option);
  if (!value) invocation.refuse_value(option, "the data are missing");
  if (invocation.surface == Surface::Shell) {
    for (const std::string& path : invocation.names(option)) add_columns(invocation, option, path, columns);
  } else if (const ScriptList* list = value->sequence()) {
    for (const ScriptValue& item : list->items) add_columns(invocation, option, item, columns);
  } else {
    invocation.misuse(option, fmt::format("found {}; expected a tuple (inputs…, targets)", describe(*value)));
  }
  if (columns.size() < 2) {
    invocation.refuse_value(option,
                            fmt::format("found {} tensors; expected inputs and targets", columns.size()));
  }
  for (const Tensor& column : columns) {
    if (column.rank() == 0) invocation.refuse_value(option, "found a tensor of rank 0; expected rows");
  }
  DataSet data;
  data.targets = columns.back();
  columns.pop_back();
  data.inputs = std::move(columns);
  data.name = option;
  data.place = invocation.span_of(option);
  return data;
}

std::vector<std::string> metrics_option(const Invocation& invocation, Judgement& judgement) {
  std::vector<std::string> names;
  for (const std::string& text : invocation.names("metrics")) {
    const NamedSpec spec = spec_in_option(invocation, "metrics", text);
    for (const auto& [name, value] : spec.options) {
      const double* real = value.as<double>();
      const std::int64_t* integer = value.as<std::int64_t>();
      if (spec.name != "accuracy" || name != "threshold" || (!real && !integer)) {
        invocation.refuse_value("metrics", fmt::format("found '{}'; expected a name of a metric, or "
                                                       "accuracy(threshold=NUMBER)",
                                                       printable(text)));
      }
      judgement.threshold = real ? *real : static_cast<double>(*integer);
    }
    names.push_back(spec.name);
  }
  return names;
}

InitialRules init_option(const Invocation& invocation) {
  InitialRules rules;
  const ScriptValue* value = invocation.find("init");
  if (!value) return rules;
  ScriptValue read = *value;
  if (value->string() && value->string()->starts_with('{')) read = dictionary_of_text(*value->string());
  const ScriptDict* patterns = read.dictionary();
  if (!patterns) {
    rules.weights = spec_option(invocation, "init");
    return rules;
  }
  for (const auto& [pattern, rule] : patterns->items) {
    if (!pattern.string() || !rule.string()) {
      invocation.misuse("init", fmt::format("found {}: {}; expected names with rules as str",
                                            quoted_text_of(pattern), describe(rule)));
    }
    rules.patterns.emplace_back(*pattern.string(), spec_in_option(invocation, "init", *rule.string()));
  }
  return rules;
}

std::optional<double> average_option(const Invocation& invocation) {
  if (!invocation.given("average")) return std::nullopt;
  const double decay = invocation.real("average", 0);
  if (!(decay > 0 && decay < 1)) {
    invocation.refuse_value("average",
                            fmt::format("found {}; expected a number between 0 and 1, such as 0.999", decay));
  }
  return decay;
}

std::optional<EarlyStopping> early_stopping_option(const Invocation& invocation) {
  if (!invocation.given("early_stopping")) return std::nullopt;
  const NamedSpec spec = spec_option(invocation, "early_stopping");
  EarlyStopping result;
  result.metric = spec.name;
  for (const auto& [name, value] : spec.options) {
    const double* real = value.as<double>();
    const std::int64_t* integer = value.as<std::int64_t>();
    if (name == "patience" && integer && *integer >= 1) {
      result.patience = *integer;
    } else if (name == "min_delta" &&
               (integer ? *integer >= 0 : real && *real >= 0 && std::isfinite(*real))) {
      result.min_delta = integer ? static_cast<double>(*integer) : *real;
    } else {
      invocation.refuse_value(
          "early_stopping",
          fmt::format(
              "found '{}'; expected METRIC(patience=N, min_delta=X) with an int N of at least 1 and a "
              "number X of at least 0",
              printable(invocation.text("early_stopping"))));
    }
  }
  return result;
}

TensorsByName start_values(const Invocation& invocation, const std::vector<std::string>& weights,
                           const std::vector<std::string>& others) {
  TensorsByName values = parameter_values(invocation);
  const auto is_among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> extra, missing, known = weights;
  known.insert(known.end(), others.begin(), others.end());
  for (const auto& [name, tensor] : values)
    if (!is_among(known, name)) extra.push_back(name);
  if (!extra.empty() && !invocation.flag("ignore_extra")) {
    fail(ErrorClass::Usage, invocation.span_of("params"), "train.params",
         fmt::format("params: no parameter '{}'{}; ignore_extra leaves such values out",
                     printable(fmt::format("{}", fmt::join(extra, "', '"))),
                     extra.size() == 1 ? did_you_mean(extra.front(), known) : ""));
  }
  for (const std::string& name : extra) values.erase(name);
  bool has_weights = false;
  for (const std::string& name : weights) {
    has_weights = has_weights || values.contains(name);
    if (!values.contains(name)) missing.push_back(name);
  }
  if (has_weights && !missing.empty() && !invocation.flag("init_missing")) {
    fail(ErrorClass::Usage, invocation.span_of("params"), "train.missing",
         fmt::format("params: there is no value of '{}'; init_missing draws such values",
                     fmt::join(missing, "', '")));
  }
  return values;
}

TensorsByName parameter_values(const Invocation& invocation) {
  TensorsByName values;
  for (auto& [name, tensor] : invocation.tensors("params")) values[name] = tensor;
  return values;
}

}  // namespace relish
