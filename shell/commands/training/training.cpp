// Data of training commands.
#include "shell/commands/training/training.h"

#include <algorithm>
#include <cmath>

#include "shell/commands/subject.h"
#include "shell/commands/training/trainer_options.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/option_text.h"
#include "shell/program/call_values.h"
#include "shell/program/literal_text.h"
#include "shell/script/script.h"
#include "support/choices.h"
#include "support/render.h"
#include "transform/bind_symbols.h"
#include "transform/import_function.h"

namespace relish {
namespace {

// {"w*": normal(std=0.1), "b*": zeros} of the command line, where rules need no quotes.
ScriptValue dictionary_of_text(const std::string& written) {
  ValueText text(written, "init");
  return script_value_of(text, text.value("names with rules"));
}

}  // namespace

void bind_dims(Invocation& invocation) {
  if (!invocation.given("dim")) return;
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, size] : given_dims(invocation)) sizes[name] = size;
  invocation.module =
      std::make_shared<const Module>(bind_symbols(*invocation.module, function_of(invocation), sizes));
}

namespace {

// accuracy(threshold=0.3), top_k(k=3).
Metric metric_of_text(const Invocation& invocation, const std::string& text, Judgement& judgement) {
  const NamedSpec spec = spec_in_option(invocation, "metrics", text);
  Metric metric(spec.name);
  for (const auto& [name, value] : spec.options) {
    const double* real = value.as<double>();
    const std::int64_t* integer = value.as<std::int64_t>();
    if (spec.name == "accuracy" && name == "threshold" && (real || integer)) {
      judgement.threshold = real ? *real : static_cast<double>(*integer);
    } else if (spec.name == "top_k" && name == "k" && integer && *integer >= 1) {
      metric.k = *integer;
    } else {
      invocation.refuse_value(
          "metrics", fmt::format("found '{}'; expected a name of a metric, "
                                 "accuracy(threshold=NUMBER) or top_k(k=N) with an int N of at least 1",
                                 printable(text)));
    }
  }
  return metric;
}

Metric metric_of_function(const UserFunction& own, Module& module) {
  Metric metric(own.function->name);
  const Attribute* better = find_attribute(own.function->attributes, better_attribute);
  const std::string* word = better ? better->as<std::string>() : nullptr;
  if (better && (!word || (*word != "less" && *word != "more"))) {
    fail(ErrorClass::Type, own.function->span, "metric.better",
         fmt::format("metric {}: {} says which values are better; expected \"less\" or \"more\"",
                     own.function->name, better_attribute));
  }
  metric.less_is_better = word && *word == "less";
  metric.function = import_function(module, *own.module, *own.function, own.function->name);
  return metric;
}

}  // namespace

std::vector<Metric> metrics_option(const Invocation& invocation, Judgement& judgement, Module& module) {
  std::vector<Metric> metrics;
  for (const ScriptValue& each : values_of_option(invocation, "metrics")) {
    const std::string* text = each.string();
    UserFunction own;
    if (!text) {
      own = user_function(invocation, "metrics", each);
    } else if (std::find(metric_names().begin(), metric_names().end(), text->substr(0, text->find('('))) ==
               metric_names().end()) {
      own = find_user_function(invocation, *text);
    }
    metrics.push_back(own.function ? metric_of_function(own, module)
                                   : metric_of_text(invocation, *text, judgement));
  }
  return metrics;
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

void leave_out_extra(const Invocation& invocation, const std::vector<std::string>& known,
                     TensorsByName& values) {
  std::vector<std::string> extra;
  for (const auto& [name, tensor] : values)
    if (std::find(known.begin(), known.end(), name) == known.end()) extra.push_back(name);
  if (!extra.empty() && !invocation.flag("ignore_extra")) {
    fail(ErrorClass::Usage, invocation.span_of("params"), "train.params",
         fmt::format("params: no parameter '{}'{}; {} leaves such values out",
                     printable(fmt::format("{}", fmt::join(extra, "', '"))),
                     extra.size() == 1 ? among_choices(extra.front(), known) : "",
                     option_text(invocation.surface, "ignore_extra")));
  }
  for (const std::string& name : extra) values.erase(name);
}

TensorsByName start_values(const Invocation& invocation, const std::vector<std::string>& weights,
                           const std::vector<std::string>& others, TensorsByName values) {
  std::vector<std::string> missing, known = weights;
  known.insert(known.end(), others.begin(), others.end());
  leave_out_extra(invocation, known, values);
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
