// The command `machine`: what loops are scheduled for, and what this machine can do.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shell/commands/subject.h"
#include "shell/program/machine_facts.h"

namespace relish::commands_machine {
namespace {

constexpr Option options[] = {
    {"again", OptionKind::Flag, "", "measures anew"},
    {"json", OptionKind::Flag, "", "one JSON object", 0, in_shell},
};
constexpr Example examples[] = {{"relish machine", "print(machine()[\"gflops_one\"])"}};

ScriptValue run(Invocation& invocation) {
  const MachineDescription machine = describe_machine();
  std::optional<MachineSpeed> speed;
  if (!invocation.flag("again")) speed = known_speed(machine);
  if (!speed) {
    speed = measure_machine(machine);
    keep_speed(machine, *speed);
  }
  const Target& target = machine.target;
  if (invocation.surface == Surface::Script) {
    return ScriptValue::dict({{"processor", machine.processor},
                              {"threads", std::int64_t{machine.threads}},
                              {"fused_multiply_add", machine.fused_multiply_add},
                              {"vector_bytes", target.vector_bytes},
                              {"vector_registers", target.vector_registers},
                              {"first_cache_bytes", target.first_cache_bytes},
                              {"private_cache_bytes", target.private_cache_bytes},
                              {"line_bytes", target.line_bytes},
                              {"gflops_one", speed->gflops_one},
                              {"gflops_all", speed->gflops_all},
                              {"gbs_one", speed->gbs_one},
                              {"gbs_all", speed->gbs_all}});
  }
  if (invocation.flag("json")) {
    nlohmann::ordered_json json;
    json["processor"] = machine.processor;
    json["threads"] = machine.threads;
    json["fused_multiply_add"] = machine.fused_multiply_add;
    json["vector_bytes"] = target.vector_bytes;
    json["vector_registers"] = target.vector_registers;
    json["first_cache_bytes"] = target.first_cache_bytes;
    json["private_cache_bytes"] = target.private_cache_bytes;
    json["line_bytes"] = target.line_bytes;
    json["gflops_one"] = speed->gflops_one;
    json["gflops_all"] = speed->gflops_all;
    json["gbs_one"] = speed->gbs_one;
    json["gbs_all"] = speed->gbs_all;
    return json.dump();
  }
  return fmt::format(
      "processor      {}, {} thread{}{}\n"
      "vectors        {} bytes, {} registers\n"
      "caches         {} and {} KiB of a core, lines of {} bytes\n"
      "float32        {:.1f} GFLOP/s on 1 thread, {:.1f} on {}\n"
      "memory         {:.1f} GB/s on 1 thread, {:.1f} on {}",
      machine.processor, machine.threads, machine.threads == 1 ? "" : "s",
      machine.fused_multiply_add ? ", fused multiply-add" : "", target.vector_bytes, target.vector_registers,
      target.first_cache_bytes / 1024, target.private_cache_bytes / 1024, target.line_bytes,
      speed->gflops_one, speed->gflops_all, machine.threads, speed->gbs_one, speed->gbs_all, machine.threads);
}

}  // namespace

extern const Command command_machine;
const Command command_machine{
    .name = "machine",
    .summary = "prints what loops are scheduled for here, and how fast this machine is",
    .subject = Subject::None,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Vectors, registers and caches decide how loops are cut; no result depends on the rest, which is "
        "measured once and kept in relish/machine.json below XDG_CACHE_HOME. GFLOP/s are fused multiply-adds "
        "in registers, GB/s what a copy of 64 MiB reads and writes.",
};

}  // namespace relish::commands_machine
