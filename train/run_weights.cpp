// A checkpoint holds more than weights: states of the optimizer, and averages beside the parameters.
#include "train/run_weights.h"

#include <map>

#include "support/failure.h"
#include "support/file_access.h"
#include "support/render.h"
#include "train/checkpoint.h"
#include "train/run_folder_files.h"

namespace relish {

NamedTensors weights_of_run(const std::string& folder) {
  const auto refuse = [&](std::string_view message) {
    fail_at(ErrorClass::Data, printable(folder), "run.weights", std::string(message));
  };
  if (!file_exists(folder + "/report.json") && !is_folder_of_jobs(folder))
    refuse("found a folder without the report of a job; expected a file of tensors, or a run folder");
  std::string file = folder + "/final.safetensors";
  if (!file_exists(file)) {
    const std::vector<std::int64_t> steps = checkpoint_steps(folder);
    if (steps.empty())
      refuse("the job of this run folder has saved no weights yet; expected a file of tensors");
    file = folder + "/" + checkpoint_name(steps.back());
  }
  const NamedTensors all = read_safetensors(file);
  NamedTensors weights;
  std::map<std::string, Tensor> averages;
  for (const auto& [name, tensor] : all)
    if (name.starts_with(averages_prefix)) averages.emplace(name.substr(averages_prefix.size()), tensor);
  for (const auto& [name, tensor] : all) {
    if (name.starts_with(states_prefix) || name.starts_with(averages_prefix)) continue;
    const auto average = averages.find(name);
    weights.emplace_back(name, average == averages.end() ? tensor : average->second);
  }
  return weights;
}

}  // namespace relish
