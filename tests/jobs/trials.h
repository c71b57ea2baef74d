// A training job as a process, in a folder of its own, and what it must leave however often it is disturbed:
// the bytes of one that nobody disturbed, with each step in its metrics once.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/process.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {

// Problems found so far by this process; a line for each.
int problems_found();
// An empty problem is none.
void report(const std::string& what, const std::string& problem);
// What cannot be tried on this machine, with the reason.
void skip(const std::string& what, const std::string& reason);

// All at once: batch_norm, dropout, augmentation, a schedule, Adam with a group of its own, bounded
// gradients, steps in bfloat16, moving averages, shuffled rows, validation and early stopping; a few seconds.
// By --set: epochs, precision, accumulate, patience.
extern const std::string_view whole_job;
// A perceptron with dropout, Adam and shuffled rows: 200 steps, soon done. By --set: epochs, lr, width,
// optimizer, rows (NaN or infinite values in the data).
extern const std::string_view small_job;

class JobFolder {
 public:
  // `settings`: what the command line sets, "--set" and its values.
  explicit JobFolder(std::string_view text, std::vector<std::string> settings = {});

  // A run with a checkpoint every so many steps.
  ProcessRequest request(std::vector<std::string> more = {}, int every = 20) const;
  // One that goes on where another stopped.
  ProcessRequest resumed(std::vector<std::string> more = {}) const;
  // The run that is disturbed as tests/jobs/disturbance.cpp says.
  ProcessRequest disturbed(const std::string& plan, std::vector<std::string> more = {}) const;
  // How often it was, and when last, in seconds of the monotonic clock.
  struct Marks {
    int count = 0;
    double last = 0;
  };
  Marks marks() const;

  const std::string& path() const { return folder_.path(); }
  std::string beside(std::string_view name) const { return folder_.file(name); }
  std::string file(std::string_view name) const { return folder_.file("out/" + std::string(name)); }
  // The next run begins anew; what was compiled stays.
  void clear() const;
  // Of the newest checkpoint by its name; 0 for none.
  std::int64_t newest_step() const;
  std::string newest_checkpoint() const;  // its path

 private:
  TemporaryFolder folder_;
  std::vector<std::string> settings_;
};

// Where the library of disturbances cannot be loaded, or the build has sanitizers, which come first: false.
bool can_disturb();

struct Undisturbed {
  std::vector<std::string> settings;
  std::string weights;
  std::vector<std::int64_t> steps;
  double milliseconds = 0;
};

std::vector<std::int64_t> steps_in_metrics(const JobFolder& job);
Undisturbed run_undisturbed(std::string_view text, const std::vector<std::string>& settings = {});
// What differs from it; empty for nothing. A job that was disturbed leaves no unfinished file either, but
// where `left` says how many may be.
std::string compare_with(const JobFolder& job, const Undisturbed& whole, int left = 0);
// Lets it go on to its end, and compares.
std::string rest_of(const JobFolder& job, const Undisturbed& whole);
// "exit code 3: …", with what was said.
std::string ending_of(const ProcessResult& result);
// The newest checkpoint can be read, and no number in it is lost; what is wrong, or empty.
std::string fault_of_newest_checkpoint(const JobFolder& job);
int unfinished_files(const JobFolder& job);

// How often a row is tried, and whether with all the patience that a night has.
struct RowOptions {
  int times = 1;
  std::uint64_t seed = 1;
  bool full = false;
};

// The rows of the table of faults: each says by `report` what does not hold.
void try_kills(const RowOptions& options, int kills);      // 1
void try_named_points(const RowOptions& options);          // 2
void try_kills_of_one_job(const RowOptions& options);      // 3
void try_signals(const RowOptions& options, int signals);  // 5
void try_signals_in_phases(const RowOptions& options);     // 5
void try_stops_and_clocks(const RowOptions& options);      // 6
void try_full_disk(const RowOptions& options);             // 7
void try_limits(const RowOptions& options);                // 8
void try_folders(const RowOptions& options);               // 9
void try_damaged_checkpoints(const RowOptions& options);   // 10
void try_other_programs(const RowOptions& options);        // 11
void try_numbers_not_finite(const RowOptions& options);    // 12
void try_changed_data(const RowOptions& options);          // 13
void try_outputs(const RowOptions& options);               // 14
void try_two_jobs(const RowOptions& options);              // 15
void try_links(const RowOptions& options);                 // 16
void try_threads(const RowOptions& options);               // 18
// Beside the table: any number of threads, and both tiers.
void try_tiers(const RowOptions& options);

}  // namespace relish::testing
