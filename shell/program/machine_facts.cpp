// Measuring, and the file of what was measured. It holds one object by processor and number of threads; one
// that is damaged, or of another machine, counts as none.
#include "shell/program/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontend/reader.h"
#include "shell/program/user_files.h"
#include "support/atomic_file.h"
#include "support/failure.h"

namespace relish {
namespace {

constexpr int file_version = 1;
constexpr std::uint64_t most_file_bytes = 1 << 16;
constexpr std::int64_t rounds = 1 << 16, tasks = 8, copied_floats = 1 << 24;
constexpr int repetitions = 5;

// As many sums as hide the latency of one, in vectors of this machine; and a copy.
std::string program(const Target& target) {
  const std::int64_t lanes = std::max<std::int64_t>(1, target.vector_bytes / 4);
  const std::int64_t chains = std::clamp<std::int64_t>(target.vector_registers - 4, 4, 12);
  return fmt::format(R"(@I.ir_module
class Speed:
    @T.prim_func
    def sums(A: T.Buffer((2, {lanes}), "float32"), C: T.Buffer(({tasks}, {chains}, {lanes}), "float32")):
        for task in T.parallel({tasks}):
            with T.sblock("task"):
                held = T.alloc_buffer(({chains}, {lanes}), "float32", scope="local")
                for chain in T.unroll({chains}):
                    for lane in T.vectorized({lanes}):
                        held[chain, lane] = T.float32(0)
                for turn in range({rounds}):
                    for chain in T.unroll({chains}):
                        for lane in T.vectorized({lanes}):
                            held[chain, lane] = held[chain, lane] + A[0, lane] * A[1, lane]
                for chain in T.unroll({chains}):
                    for lane in T.vectorized({lanes}):
                        C[task, chain, lane] = held[chain, lane]

    @T.prim_func
    def copy(A: T.Buffer(({floats},), "float32"), C: T.Buffer(({floats},), "float32")):
        for i in T.parallel({floats}):
            C[i] = A[i]
)",
                     fmt::arg("lanes", lanes), fmt::arg("chains", chains), fmt::arg("tasks", tasks),
                     fmt::arg("rounds", rounds), fmt::arg("floats", copied_floats));
}

double least_seconds(Evaluator& evaluator, const ModulePtr& module, const char* function,
                     const Value& argument) {
  evaluator.call(module, function, {argument});  // compiles
  double least = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Value result = evaluator.call(module, function, {argument});
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

std::string key_of(const MachineDescription& machine) {
  return fmt::format("{} x{} v{}", machine.processor, machine.threads, machine.target.vector_bytes);
}

std::optional<MachineSpeed>& speed_here() {
  static std::optional<MachineSpeed> speed;
  return speed;
}

nlohmann::json file_contents() {
  const std::string path = machine_file();
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return {};
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path, most_file_bytes, ""), nullptr, false);
    if (json.is_object() && json.value("version", 0) == file_version) return json;
  } catch (const Failure&) {
  } catch (const nlohmann::json::exception&) {
  }
  return {};
}

}  // namespace

std::string machine_file() { return user_file("XDG_CACHE_HOME", ".cache", "machine.json"); }

MachineSpeed measure_machine(const MachineDescription& machine) {
  const ModulePtr module = read_module("<machine>", program(machine.target));
  const std::unique_ptr<Evaluator> one = make_jit({.threads = 1});
  const std::unique_ptr<Evaluator> all = on_threads(*one, machine.threads);
  const std::int64_t lanes = std::max<std::int64_t>(1, machine.target.vector_bytes / 4);
  const std::int64_t chains = std::clamp<std::int64_t>(machine.target.vector_registers - 4, 4, 12);
  const double operations = 2.0 * static_cast<double>(lanes * chains * rounds * tasks);
  const double bytes = 2.0 * 4.0 * static_cast<double>(copied_floats);
  const Value factors(Tensor::zeros(DType::Float32, {2, lanes}));
  const Value numbers(Tensor::zeros(DType::Float32, {copied_floats}));
  MachineSpeed speed;
  speed.gflops_one = operations / least_seconds(*one, module, "sums", factors) / 1e9;
  speed.gflops_all = operations / least_seconds(*all, module, "sums", factors) / 1e9;
  speed.gbs_one = bytes / least_seconds(*one, module, "copy", numbers) / 1e9;
  speed.gbs_all = bytes / least_seconds(*all, module, "copy", numbers) / 1e9;
  return speed;
}

std::optional<MachineSpeed> known_speed(const MachineDescription& machine) {
  if (speed_here()) return speed_here();
  const nlohmann::json json = file_contents();
  const auto found = json.is_object() ? json.find(key_of(machine)) : json.end();
  if (found == json.end() || !found->is_object()) return std::nullopt;
  MachineSpeed speed;
  const auto read = [&](const char* name, double& into) {
    const auto value = found->find(name);
    if (value == found->end() || !value->is_number()) return false;
    into = value->get<double>();
    return std::isfinite(into) && into > 0;
  };
  if (!read("gflops_one", speed.gflops_one) || !read("gflops_all", speed.gflops_all) ||
      !read("gbs_one", speed.gbs_one) || !read("gbs_all", speed.gbs_all))
    return std::nullopt;
  return speed_here() = speed;
}

void keep_speed(const MachineDescription& machine, const MachineSpeed& speed) {
  speed_here() = speed;
  const std::string path = machine_file();
  if (path.empty()) return;
  nlohmann::json json = file_contents();
  json["version"] = file_version;
  json[key_of(machine)] = {{"gflops_one", speed.gflops_one},
                           {"gflops_all", speed.gflops_all},
                           {"gbs_one", speed.gbs_one},
                           {"gbs_all", speed.gbs_all}};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  try {
    write_file_atomically(path, json.dump(1) + "\n");
  } catch (const Failure&) {
  }
}

}  // namespace relish
