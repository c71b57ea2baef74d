// What a job is told beside its model and its data, read from options.
#include "shell/commands/training/job_settings.h"

#include <algorithm>

#include "shell/commands/training/training.h"
#include "shell/script/script.h"
#include "stdlib/catalog.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

std::int64_t at_least_one(const Invocation& invocation, std::string_view option, std::int64_t value) {
  if (value < 1) invocation.refuse_value(option, fmt::format("found {}; expected at least 1", value));
  return value;
}

bool skips_not_finite(const Invocation& invocation) {
  const std::string policy = invocation.given("nan") ? invocation.text("nan") : "stop";
  if (policy != "stop" && policy != "skip")
    invocation.refuse_value("nan", fmt::format("found '{}'; expected stop or skip", printable(policy)));
  return policy == "skip";
}

// Whether each epoch takes the rows in an order of its own; a word of the command line says so by its text.
bool shuffles(const Invocation& invocation) {
  const ScriptValue* value = invocation.find("shuffle");
  if (!value) return true;
  if (const bool* flag = value->as<bool>()) return *flag;
  const std::string* text = value->string();
  if (text && (*text == "True" || *text == "true")) return true;
  if (text && (*text == "False" || *text == "false")) return false;
  invocation.misuse("shuffle", fmt::format("found {}; expected True or False", brief_text(*value)));
}

}  // namespace

double learning_rate_for(const OptimizerOptions& options) {
  // An unknown optimizer is refused by setup_trainer, with the nearest name.
  if (!options.update && !find_optimizer(options.spec.name)) return 0;
  if (const std::optional<double> rate = learning_rate_of(options)) return *rate;
  if (options.update) {
    fail(ErrorClass::Usage, {}, "optimizer.lr",
         fmt::format("optimizer {}: the learning rate is missing; write lr=0.1 beside it",
                     options.update->name));
  }
  fail(ErrorClass::Usage, {}, "optimizer.lr",
       fmt::format("optimizer {0}: the option lr is missing; write {0}(lr=0.1)", options.spec.name));
}

std::optional<TrainOptions::ScheduleLength> length_of_schedule(const Invocation& invocation,
                                                               const NamedSpec& schedule) {
  const auto value = [&](const char* option) {
    const Attribute* given = find_attribute(schedule.options, option);
    const std::int64_t* steps = given ? given->as<std::int64_t>() : nullptr;
    return steps ? *steps : std::int64_t{0};
  };
  std::int64_t steps = 0;
  for (const char* option : {"T_max", "total_iters", "step_size"}) steps = std::max(steps, value(option));
  const std::int64_t warmup = value("warmup");
  if (warmup > INT64_MAX - steps) return std::nullopt;
  steps += warmup;
  if (steps <= 0) return std::nullopt;
  return TrainOptions::ScheduleLength{printable(invocation.text("schedule")), steps};
}

TrainOptions job_settings(const Invocation& invocation) {
  if (invocation.given("steps") && invocation.given("epochs")) {
    fail(ErrorClass::Usage, invocation.span, "train.length",
         "epochs and steps contradict each other; give one of them");
  }
  TrainOptions wanted;
  wanted.epochs = at_least_one(invocation, "epochs", invocation.integer("epochs", 1));
  if (invocation.given("steps"))
    wanted.steps = at_least_one(invocation, "steps", invocation.integer("steps", 1));
  if (invocation.given("batch_size"))
    wanted.batch_size = at_least_one(invocation, "batch_size", invocation.integer("batch_size", 1));
  wanted.accumulate = at_least_one(invocation, "accumulate", invocation.integer("accumulate", 1));
  wanted.seed = static_cast<std::uint64_t>(
      invocation.integer("seed", static_cast<std::int64_t>(invocation.session.settings().seed)));
  wanted.shuffle = shuffles(invocation);
  wanted.parameters_place = invocation.span_of("params");
  wanted.batch_size_place = invocation.span_of("batch_size");
  wanted.log_every = job_interval(invocation, "log_every", wanted.log_every);
  wanted.checkpoint_every = job_interval(invocation, "checkpoint_every", wanted.checkpoint_every);
  wanted.early_stopping = early_stopping_option(invocation);
  wanted.skip_not_finite = skips_not_finite(invocation);
  return wanted;
}

std::optional<double> validation_share(const Invocation& invocation) {
  const ScriptValue* value = invocation.find("validation");
  if (!value) return std::nullopt;
  std::optional<double> share;
  if (const double* real = value->as<double>()) share = *real;
  if (invocation.surface == Surface::Shell && invocation.names("validation").size() == 1)
    share = real_number(invocation.names("validation").front());
  if (share && !(*share > 0 && *share < 1)) {
    invocation.refuse_value(
        "validation", fmt::format("found {}; expected data, or a share of rows between 0 and 1", *share));
  }
  return share;
}

}  // namespace relish
