// Kills: at random moments, many in one job, and at each named point of a save.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "tests/jobs/trials.h"

namespace relish::testing {
namespace {

// Kills the job at moments that `moment` gives, letting it go on in between, and then lets it finish. One
// that came to its end meanwhile begins anew.
template <class Moment>
void kill_job(const JobFolder& job, const Undisturbed& whole, int kills, std::mt19937_64& random,
              const Moment& moment) {
  for (int done = 0; done < kills; ++done) {
    ProcessRequest request = job.resumed({"--threads", std::to_string(1 + random() % 3)});
    request.signal = SIGKILL;
    request.signal_after_ms = moment(done);
    const std::int64_t before = job.newest_step();
    const ProcessResult result = run_program(request);
    const std::string what = fmt::format("kill {} after {} ms", done, request.signal_after_ms);
    if (job.newest_step() < before) report(what, "a checkpoint is gone");
    if (result.killed_by_signal && result.exit_code == 128 + SIGKILL) continue;
    report(what, result.exit_code == 0 ? compare_with(job, whole) : ending_of(result));
    job.clear();
  }
  report("a killed job", rest_of(job, whole));
}

void kill_at_random(std::string_view text, int kills, std::mt19937_64& random, const Undisturbed& whole) {
  const auto range = static_cast<std::uint64_t>(std::max(whole.milliseconds * 0.7, 200.0));
  constexpr int kills_of_a_job = 5;
  for (int done = 0; done < kills; done += kills_of_a_job) {
    const JobFolder job(text, whole.settings);
    kill_job(job, whole, std::min(kills_of_a_job, kills - done), random,
             [&](int) { return static_cast<int>(random() % range); });
  }
}

struct Point {
  const char* name;
  std::string plan;
  bool while_resuming = false;
  bool once = false;  // happens once in a process
};

std::vector<Point> points_of_saves(std::size_t bytes) {
  const std::string open = "call=open file=checkpoints/.relish- ",
                    sync = "call=sync file=checkpoints/.relish- ",
                    rename = "call=rename file=checkpoints/step- ",
                    unlink = "call=unlink file=checkpoints/step- ", report = "call=rename file=report.json ";
  std::vector<Point> points = {
      {"the temporary file is open", open + "after=1"},
      {"the file is not synced yet", sync},
      {"the file is synced", sync + "after=1"},
      {"the file has its name", rename + "after=1"},
      {"the folder is not synced yet", "call=sync file=/checkpoints$"},
      {"the folder is synced", "call=sync file=/checkpoints$ after=1"},
      {"the report does not name it yet", report},
      {"the report names it", report + "after=1"},
      {"an old one is about to go", unlink},
      {"an old one is gone", unlink + "after=1"},
      {"within a line of the metrics", "call=write file=metrics.jsonl bytes=1000", false, true},
      {"the metrics are about to be synced", "call=sync file=metrics.csv"},
      {"the best weights have no name yet", "call=rename file=best.safetensors"},
      {"the last weights have no name yet", "call=rename file=final.safetensors", false, true},
      {"the last weights are there", "call=rename file=final.safetensors after=1", false, true},
      {"the page is about to be written", "call=rename file=report.md", false, true},
      {"a resume takes the lock", "call=open file=out/lock", true, true},
      {"a resume cuts the metrics", "call=cut file=metrics.jsonl", true, true},
      {"a resume has cut the metrics", "call=cut file=metrics.csv after=1", true, true},
      {"a resume writes its first report", "call=rename file=report.json", true, true},
  };
  const std::pair<const char*, std::size_t> parts[] = {
      {"1 byte", 1}, {"a quarter", bytes / 4}, {"half", bytes / 2}, {"three quarters", bytes / 4 * 3}};
  for (const auto& [name, at] : parts)
    points.push_back({name, fmt::format("call=write file=checkpoints/.relish- bytes={}", at)});
  return points;
}

// Empty when the job survives a kill at the point; `number`: at the how-manieth time that it gets there.
std::string failing_point(const JobFolder& job, const Point& point, int number, const Undisturbed& whole) {
  job.clear();
  if (point.while_resuming) {
    const std::string early =
        fmt::format("call=rename file=checkpoints/step- number={} after=1 action=kill", number);
    run_program(job.disturbed(early));
    if (job.newest_step() == 0) return "the job was not killed before";
  }
  const std::int64_t before = job.newest_step();
  const ProcessResult killed = run_program(job.disturbed(
      fmt::format("{} number={} action=kill", point.plan, point.once ? 1 : number), {"--resume", "auto"}));
  if (job.marks().count != 1) return "the point was not reached: " + ending_of(killed);
  if (job.newest_step() < before) return "a checkpoint is gone";
  return rest_of(job, whole);
}

}  // namespace

void try_kills(const RowOptions& options, int kills) {
  std::mt19937_64 random(options.seed);
  // Early stopping ends this one before its last epoch; each step goes over two batches.
  const Undisturbed whole =
      run_undisturbed(whole_job, {"--set", "accumulate=2", "--set", "patience=8", "--set", "least=0.02"});
  constexpr std::int64_t steps_of_all_epochs = 960;
  report("early stopping",
         whole.steps.empty() || whole.steps.back() == steps_of_all_epochs ? "did not end the job" : "");
  fmt::print("a job takes {:.0f} ms and {} logged steps\n", whole.milliseconds, whole.steps.size());
  kill_at_random(whole_job, kills, random, whole);
  // A loss scale among the states, and none of all that.
  const int others = (kills + 2) / 3;
  kill_at_random(whole_job, others, random,
                 run_undisturbed(whole_job, {"--set", "precision=fp16", "--set", "epochs=20"}));
  kill_at_random(small_job, others, random, run_undisturbed(small_job, {"--set", "epochs=400"}));
  fmt::print("{} kills\n", kills + 2 * others);
}

void try_named_points(const RowOptions& options) {
  if (!can_disturb()) return skip("kills at named points", "the library that kills cannot be loaded");
  const std::vector<std::string> few = {"--set", "epochs=14"};
  const Undisturbed whole = run_undisturbed(small_job, options.full ? std::vector<std::string>{} : few);
  const JobFolder job(small_job, whole.settings);
  const ProcessResult first = run_program(job.request());
  report("the job", first.exit_code != 0 ? ending_of(first) : compare_with(job, whole));
  const auto points = points_of_saves(bytes_of(job.newest_checkpoint()).size());
  int kills = 0;
  for (const Point& point : points) {
    for (int number = 1; number <= options.times; ++number, ++kills)
      report(fmt::format("killed when {} ({})", point.name, number),
             failing_point(job, point, 2 * number, whole));
  }
  fmt::print("{} kills at {} points\n", kills, points.size());
}

void try_kills_of_one_job(const RowOptions& options) {
  std::mt19937_64 random(options.seed + 3);
  const Undisturbed whole = run_undisturbed(whole_job, {"--set", "epochs=30"});
  constexpr int kills = 10;
  const int times = options.full ? 5 : options.times;
  for (int i = 0; i < times; ++i) {
    const JobFolder job(whole_job, whole.settings);
    // Half of them come within a second of the start.
    kill_job(job, whole, kills, random, [&](int done) {
      const double range = done % 2 == 0 ? std::min(1000.0, whole.milliseconds) : whole.milliseconds;
      return static_cast<int>(random() % static_cast<std::uint64_t>(range));
    });
  }
  fmt::print("{} jobs of {} kills\n", times, kills);
}

void try_threads(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(whole_job, {"--set", options.full ? "epochs=6" : "epochs=3"});
  const JobFolder job(whole_job, whole.settings);
  for (const char* threads : {"1", "2", "3"}) {
    const ProcessResult result = run_program(job.request({"--threads", threads}));
    report(fmt::format("{} threads", threads),
           result.exit_code != 0 ? ending_of(result) : compare_with(job, whole));
    job.clear();
  }
  if (!can_disturb())
    return skip("threads changed between resumes", "the library that kills cannot be loaded");
  const char* orders[][3] = {
      {"2", "1", "2"}, {"1", "3", "1"}, {"3", "2", "1"}, {"1", "2", "3"}, {"2", "3", "2"}};
  const int times = options.full ? 5 : options.times;
  for (int i = 0; i < times; ++i) {
    const auto& order = orders[i % std::size(orders)];
    // Each of the first two processes gets two checkpoints further.
    for (int part = 0; part < 2; ++part)
      run_program(job.disturbed("call=rename file=checkpoints/step- number=2 after=1 action=kill",
                                {"--resume", "auto", "--threads", order[part]}));
    const ProcessResult result = run_program(job.resumed({"--threads", order[2]}));
    report(fmt::format("resumed with {}, {}, {} threads", order[0], order[1], order[2]),
           result.exit_code != 0 ? ending_of(result) : compare_with(job, whole));
    job.clear();
  }
  fmt::print("3 numbers of threads, {} changes between resumes\n", times);
}

}  // namespace relish::testing
