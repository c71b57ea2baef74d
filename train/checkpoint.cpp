// The manifest as JSON, and the tensors by path.
#include "train/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/format.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

using Manifest = nlohmann::ordered_json;

constexpr const char* manifest_key = "relish";
constexpr const char* checksum_key = "relish.sha256";

std::string_view byte_order() { return std::endian::native == std::endian::little ? "little" : "big"; }

[[noreturn]] void checkpoint_failure(const std::string& path, std::string_view rule, std::string message) {
  fail_at(ErrorClass::Checkpoint, printable(path), rule, std::move(message));
}

// JSON has no NaN and no infinity.
Manifest number_to_json(double value) {
  return std::isfinite(value) ? Manifest(value) : Manifest(format_double(value));
}

double number_from_json(const Manifest& json) {
  if (!json.is_string()) return json.get<double>();
  return real_number(json.get<std::string>()).value();
}

Manifest metrics_to_json(const Metrics& metrics) {
  Manifest json = Manifest::object();
  for (const auto& [name, value] : metrics) json[name] = number_to_json(value);
  return json;
}

Metrics metrics_from_json(const Manifest& json) {
  Metrics metrics;
  for (const auto& [name, value] : json.items()) metrics[name] = number_from_json(value);
  return metrics;
}

Manifest told_to_json(const TrainingState& state) {
  Manifest json = {{"step", state.step},
                   {"epoch_loss_sum", number_to_json(state.epoch_loss_sum)},
                   {"learning_rate", number_to_json(state.learning_rate)},
                   {"epochs_told", state.epochs_told},
                   {"looks_for_zero", state.looks_for_zero},
                   {"seconds", state.seconds}};
  if (!state.metric_sums.empty()) {
    json["metric_sums"] = Manifest::array();
    for (const double sum : state.metric_sums) json["metric_sums"].push_back(number_to_json(sum));
  }
  if (state.skipped_steps > 0)
    json["skipped"] = {{"steps", state.skipped_steps}, {"rows", state.skipped_rows}};
  if (state.stopping) {
    json["stopping"] = {{"best", number_to_json(state.stopping->best)},
                        {"epochs_without", state.stopping->epochs_without}};
  }
  if (state.loss) json["loss"] = number_to_json(*state.loss);
  if (state.gradient_norm) json["grad_norm"] = number_to_json(*state.gradient_norm);
  if (state.best) json["best"] = {{"value", number_to_json(state.best->value)}, {"step", state.best->step}};
  if (state.last_epoch) {
    Manifest epoch = {{"loss", number_to_json(state.last_epoch->loss)},
                      {"metrics", metrics_to_json(state.last_epoch->metrics)}};
    if (state.last_epoch->validation) epoch["validation"] = metrics_to_json(*state.last_epoch->validation);
    json["last_epoch"] = epoch;
  }
  return json;
}

TrainingState told_from_json(const Manifest& json) {
  TrainingState state;
  state.step = json.at("step").get<std::int64_t>();
  state.epoch_loss_sum = number_from_json(json.at("epoch_loss_sum"));
  state.learning_rate = number_from_json(json.at("learning_rate"));
  state.epochs_told = json.at("epochs_told").get<std::int64_t>();
  state.looks_for_zero = json.at("looks_for_zero").get<bool>();
  state.seconds = json.at("seconds").get<double>();
  if (json.contains("metric_sums"))
    for (const Manifest& sum : json.at("metric_sums")) state.metric_sums.push_back(number_from_json(sum));
  if (json.contains("loss")) state.loss = number_from_json(json.at("loss"));
  if (json.contains("grad_norm")) state.gradient_norm = number_from_json(json.at("grad_norm"));
  if (json.contains("skipped")) {
    state.skipped_steps = json.at("skipped").at("steps").get<std::int64_t>();
    state.skipped_rows = json.at("skipped").at("rows").get<std::int64_t>();
  }
  if (json.contains("stopping")) {
    const Manifest& stopping = json.at("stopping");
    state.stopping = StoppingState{number_from_json(stopping.at("best")),
                                   stopping.at("epochs_without").get<std::int64_t>()};
  }
  if (json.contains("best")) {
    const Manifest& best = json.at("best");
    state.best = BestSoFar{number_from_json(best.at("value")), best.at("step").get<std::int64_t>()};
  }
  if (json.contains("last_epoch")) {
    const Manifest& saved = json.at("last_epoch");
    EpochReport epoch;
    epoch.loss = number_from_json(saved.at("loss"));
    epoch.metrics = metrics_from_json(saved.at("metrics"));
    if (saved.contains("validation")) epoch.validation = metrics_from_json(saved.at("validation"));
    state.last_epoch = epoch;
  }
  return state;
}

// The tensors of a value under the paths of tuple fields.
void append_tensors(const std::string& path, const Value& value, NamedTensors& into) {
  if (value.is_tensor()) {
    into.emplace_back(path, value.tensor());
    return;
  }
  RELISH_CHECK(value.is_tuple(), path);
  for (std::size_t i = 0; i < value.fields().size(); ++i)
    append_tensors(fmt::format("{}{}{}", path, path.ends_with('.') ? "" : ".", i), value.fields()[i], into);
}

// Tensors of a file, each taken once.
class TensorsOfFile {
 public:
  TensorsOfFile(const std::string& path, const NamedTensors& tensors) : path_(path) {
    for (const auto& [name, tensor] : tensors) left_.emplace(name, &tensor);
  }

  // The tensor of that name, with the dtype and shape of `like`.
  const Tensor& take(const std::string& name, const Tensor& like) {
    const auto found = left_.find(name);
    if (found == left_.end())
      checkpoint_failure(path_, "checkpoint.tensors",
                         fmt::format("there is no tensor '{}', which the job has", name));
    const Tensor& tensor = *found->second;
    if (tensor.dtype() != like.dtype() || tensor.shape() != like.shape()) {
      checkpoint_failure(
          path_, "checkpoint.tensors",
          fmt::format("the tensor '{}' is {} {}; that of the job is {} {}", name, name_of(tensor.dtype()),
                      format_shape(tensor.shape()), name_of(like.dtype()), format_shape(like.shape())));
    }
    left_.erase(found);
    return tensor;
  }

  Value take_value(const std::string& path, const Value& like) {
    if (like.is_tensor()) return take(path, like.tensor());
    std::vector<Value> fields;
    for (std::size_t i = 0; i < like.fields().size(); ++i)
      fields.push_back(
          take_value(fmt::format("{}{}{}", path, path.ends_with('.') ? "" : ".", i), like.fields()[i]));
    return Value::tuple(std::move(fields));
  }

  // Of the states none may be left.
  void finish() const {
    for (const auto& [name, tensor] : left_) {
      if (name.starts_with(states_prefix))
        checkpoint_failure(path_, "checkpoint.tensors",
                           fmt::format("the job has no optimizer state '{}'", printable(name)));
    }
  }

 private:
  const std::string& path_;
  std::map<std::string, const Tensor*> left_;
};

// A file that cannot be a checkpoint's, in the words of its reader.
[[noreturn]] void refuse_damaged(const std::string& path, const std::string& why) {
  checkpoint_failure(path, "checkpoint.damaged", fmt::format("the checkpoint is damaged: {}", why));
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Manifest manifest = {
      {"format", checkpoint_format},
      {"byte_order", byte_order()},
      {"relish", RELISH_VERSION},
      {"program",
       {{"functions", checkpoint.identity.functions},
        {"options", checkpoint.identity.options},
        {"settings", checkpoint.identity.settings},
        {"trained", checkpoint.names.trained},
        {"buffers", checkpoint.names.buffers}}},
      {"state", told_to_json(checkpoint.state)},
      {"total_steps", checkpoint.total_steps},
      {"metrics_bytes", {{"jsonl", checkpoint.metrics.jsonl}, {"csv", checkpoint.metrics.csv}}}};
  NamedTensors tensors = checkpoint.parameters;
  append_tensors(std::string(states_prefix), checkpoint.state.optimizer_states, tensors);
  for (std::size_t i = 0; i < checkpoint.state.averages.size(); ++i)
    tensors.emplace_back(averages_prefix + checkpoint.names.trained[i], checkpoint.state.averages[i]);
  const std::string text = manifest.dump(-1, ' ', false, Manifest::error_handler_t::replace);
  write_safetensors(path, tensors, {{manifest_key, text}}, checksum_key);
}

SavedCheckpoint read_checkpoint(const std::string& path) {
  SavedCheckpoint saved;
  saved.path = path;
  std::map<std::string, std::string> metadata;
  bool whole = false;
  try {
    saved.tensors = read_safetensors(path, &metadata);
    whole = safetensors_checksum_holds(path, checksum_key);
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Data) throw;
    refuse_damaged(path, failure.diagnostics().front().message);
  }
  if (!metadata.contains(manifest_key) || !metadata.contains(checksum_key))
    checkpoint_failure(path, "checkpoint.manifest",
                       "the file is no checkpoint: its metadata have no entry 'relish' with a checksum");
  if (!whole) refuse_damaged(path, "its checksum does not agree with its bytes");
  try {
    const Manifest manifest = Manifest::parse(metadata.at(manifest_key));
    const int format = manifest.at("format").get<int>();
    if (format > checkpoint_format) {
      checkpoint_failure(
          path, "checkpoint.format",
          fmt::format("the checkpoint has format {}, of a newer Relish ({}); this one reads {}", format,
                      manifest.value("relish", "unknown"), checkpoint_format));
    }
    if (const auto order = manifest.at("byte_order").get<std::string>(); order != byte_order()) {
      checkpoint_failure(path, "checkpoint.format",
                         fmt::format("the checkpoint has the byte order '{}'; this machine has '{}'",
                                     printable(order), byte_order()));
    }
    const Manifest& program = manifest.at("program");
    saved.identity.functions = program.at("functions").get<std::map<std::string, std::string>>();
    saved.identity.options = program.at("options").get<std::map<std::string, std::string>>();
    if (program.contains("settings"))
      saved.identity.settings = program.at("settings").get<std::map<std::string, std::string>>();
    saved.told = told_from_json(manifest.at("state"));
    saved.step = saved.told.step;
    saved.total_steps = manifest.value("total_steps", std::int64_t{0});
    saved.metrics.jsonl = manifest.at("metrics_bytes").at("jsonl").get<std::uint64_t>();
    saved.metrics.csv = manifest.at("metrics_bytes").at("csv").get<std::uint64_t>();
  } catch (const nlohmann::json::exception&) {
    checkpoint_failure(path, "checkpoint.manifest", "the manifest, its metadata entry 'relish', is none");
  } catch (const std::bad_optional_access&) {
    checkpoint_failure(path, "checkpoint.manifest", "the manifest holds text in place of a number");
  }
  if (saved.step < 0 || saved.told.epochs_told < 0)
    checkpoint_failure(path, "checkpoint.manifest", "the manifest counts less than no steps");
  return saved;
}

TrainingState SavedCheckpoint::state_for(const JobIdentity& now, const StateNames& names,
                                         const TrainingState& start) const {
  if (const std::string found = difference(identity, now); !found.empty()) {
    checkpoint_failure(path, "checkpoint.program",
                       fmt::format("the checkpoint is of another program: {}; expected what it was written "
                                   "by, or a new run folder",
                                   found));
  }
  TrainingState state = told;
  TensorsOfFile file(path, tensors);
  for (std::size_t i = 0; i < names.trained.size(); ++i)
    state.parameters.push_back(file.take(names.trained[i], start.parameters[i]));
  for (std::size_t i = 0; i < names.buffers.size(); ++i)
    state.buffers.push_back(file.take(names.buffers[i], start.buffers[i]));
  for (std::size_t i = 0; i < start.averages.size(); ++i)
    state.averages.push_back(file.take(averages_prefix + names.trained[i], start.averages[i]));
  state.optimizer_states = file.take_value(std::string(states_prefix), start.optimizer_states);
  file.finish();
  return state;
}

bool begins_as_checkpoint(const std::string& path) {
  constexpr std::size_t length_bytes = 8, most = std::size_t{1} << 16;  // the metadata stand first
  std::string head(length_bytes + most, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.size() > length_bytes && head[length_bytes] == '{' &&
         head.find(fmt::format("\"{}\"", checksum_key)) != head.npos;
}

}  // namespace relish
