// jobs [--rows 1,2,5] [--times N] [--kills N] [--signals N] [--seed S] [--full]: what a training job must
// survive, tried on the program as a process. Each row is a kind of disturbance, under the number that it has
// among the project's faults; without a choice a few of them run, with `--full` all, and with the patience of
// a night.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "tests/jobs/trials.h"

namespace relish::testing {
namespace {

struct Row {
  const char* name;
  void (*run)(const RowOptions&);
  bool always = false;  // also without --full
};

int kills = 4, signals = 3;

void row_1(const RowOptions& options) { try_kills(options, kills); }
void row_5(const RowOptions& options) {
  try_signals(options, signals);
  try_signals_in_phases(options);
}

constexpr Row rows[] = {
    {"1", row_1, true},
    {"2", try_named_points, true},
    {"3", try_kills_of_one_job},
    {"5", row_5, true},
    {"6", try_stops_and_clocks},
    {"7", try_full_disk, true},
    {"8", try_limits},
    {"9", try_folders},
    {"10", try_damaged_checkpoints, true},
    {"11", try_other_programs, true},
    {"12", try_numbers_not_finite, true},
    {"13", try_changed_data},
    {"14", try_outputs},
    {"15", try_two_jobs},
    {"16", try_links, true},
    {"18", try_threads, true},
    {"tiers", try_tiers},
};

// Of all processes so far that have ended: what a busy machine does not change.
double seconds_of_processes() {
  rusage used = {};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int run(const RowOptions& options, std::string_view wanted) {
  const std::string list = fmt::format(",{},", wanted);
  for (const Row& row : rows) {
    if (wanted.empty() && !row.always && !options.full) continue;
    if (!wanted.empty() && list.find(fmt::format(",{},", row.name)) == std::string::npos) continue;
    const auto start = std::chrono::steady_clock::now();
    const int before = problems_found();
    const double used = seconds_of_processes();
    row.run(options);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    fmt::print("row {}: {} problems, {:.1f} s, of processors {:.1f} s\n", row.name, problems_found() - before,
               time.count(), seconds_of_processes() - used);
    std::fflush(stdout);
  }
  fmt::print("{} problems\n", problems_found());
  return problems_found() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relish::testing

int main(int count, char** words) {
  using namespace relish::testing;
  RowOptions options;
  std::string_view wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = words[i];
    if (option == "--full") options.full = true;
    if (i + 1 >= count) break;
    const std::string_view value = words[i + 1];
    const auto number = [&](auto& into) { std::from_chars(value.begin(), value.end(), into); };
    if (option == "--rows") wanted = value;
    if (option == "--times") number(options.times);
    if (option == "--kills") number(kills);
    if (option == "--signals") number(signals);
    if (option == "--seed") number(options.seed);
  }
  return run(options, wanted);
}
