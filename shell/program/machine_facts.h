// What is known of this machine: the description that loops are scheduled by, and how fast it computes and
// moves, which is measured once and kept in a file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>

#include "jit/jit.h"

namespace relish {

struct MachineSpeed {
  double gflops_one = 0,
         gflops_all = 0;            // fused multiply-adds of float32 in registers: on one thread, on all
  double gbs_one = 0, gbs_all = 0;  // of a copy that no cache holds, bytes read and written
};

// Takes about a tenth of a second.
MachineSpeed measure_machine(const MachineDescription& machine);

// What was measured of this machine, if that is known: by this process, or from the file.
std::optional<MachineSpeed> known_speed(const MachineDescription& machine);
// Keeps it in the file; where that cannot be written, only in this process.
void keep_speed(const MachineDescription& machine, const MachineSpeed& speed);

// The file: below XDG_CACHE_HOME, else below .cache in the home folder; empty when there is neither.
std::string machine_file();

}  // namespace relish
