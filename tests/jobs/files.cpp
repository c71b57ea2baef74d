// Disks that are full, limits of the process, folders that cannot be used, data that change, two jobs in one
// folder, and links in the way.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/jobs/trials.h"
#include "tests/safety/program.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

// A refusal: this class, one line about it, and no step.
std::string fault_of_refusal(const ProcessResult& result, int code, std::string_view error_class) {
  if (result.exit_code != code || result.killed_by_signal) return ending_of(result);
  if (result.error_output.find(fmt::format("error[{}]: ", error_class)) == std::string::npos)
    return "no reason is told: " + result.error_output;
  if (result.output.find("step 1 ") != std::string::npos) return "it is refused behind the first step";
  return "";
}

// Behind a disk without room: the job went on or ended with 7, and what it saved before stands.
std::string fault_without_room(const JobFolder& job, const ProcessResult& result, const Undisturbed& whole) {
  constexpr int most_left = 1;
  if (result.killed_by_signal || (result.exit_code != 0 && result.exit_code != 7)) return ending_of(result);
  if (const int left = unfinished_files(job); left > most_left)
    return fmt::format("left {} .tmp files", left);
  if (result.exit_code == 0) return compare_with(job, whole, most_left);
  if (result.error_output.find("error[IOError]: ") == std::string::npos)
    return "no reason is told: " + result.error_output;
  if (job.newest_step() > 0) {
    if (const std::string fault = fault_of_newest_checkpoint(job); !fault.empty()) return fault;
  }
  return rest_of(job, whole);
}

// A disk of its own, with room for some checkpoints more or less.
void try_small_disk(const Undisturbed& whole, std::size_t bytes) {
  const JobFolder job(small_job);
  fs::create_directory(job.beside("out"));
  ProcessResult result;
  std::string fault;
  {
    const SmallDisk disk(job.beside("out"), bytes);
    if (!disk.available()) return skip("a small disk", "it needs the right to mount one");
    result = run_program(job.request({"--keep", "2"}));
    if (result.killed_by_signal || (result.exit_code != 0 && result.exit_code != 7)) {
      fault = ending_of(result);
    } else if (result.exit_code == 0) {
      fault = compare_with(job, whole);
    } else if (job.newest_step() > 0) {
      fault = fault_of_newest_checkpoint(job);
    }
    if (unfinished_files(job) > 1) fault = "left several .tmp files";
  }
  report(fmt::format("a disk of {} KiB", bytes / 1024), fault);
}

ProcessRequest limited(const JobFolder& job, int resource, rlim_t most) {
  ProcessRequest request = job.request();
  request.prepare = [resource, most] {
    const rlimit limit = {most, most};
    ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
  };
  return request;
}

// Ends well, or says what is missing: exit code 6 or 7.
std::string fault_under_limit(const JobFolder& job, const ProcessResult& result, const Undisturbed& whole) {
  if (result.timed_out || result.killed_by_signal) return ending_of(result);
  if (result.exit_code == 0) return compare_with(job, whole);
  if (result.exit_code != 6 && result.exit_code != 7) return ending_of(result);
  if (result.error_output.find("error[") == std::string::npos)
    return "no reason is told: " + result.error_output;
  return "";
}

// As somebody who may write nowhere but where all may.
void become_nobody() {
  if (::geteuid() != 0) return;
  if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0) ::_exit(126);
}

std::string failing_unwritable(const JobFolder& job) {
  fs::permissions(job.path(), fs::perms(0755));
  fs::create_directory(job.beside("kept"));
  fs::permissions(job.beside("kept"), fs::perms(0555));
  ProcessRequest request = job.request();
  request.arguments[3] = "kept/out";
  request.prepare = become_nobody;
  const ProcessResult result = run_program(request);
  if (result.exit_code == 126 || result.exit_code == 127) {
    skip("a folder that is read-only", "nobody else may run the program here");
    return "";
  }
  return fault_of_refusal(result, 7, "IOError");
}

// Larger than what is read whole (64 MiB); all zeros, so that the disk need not hold it.
constexpr std::int64_t rows_of_large_data = 300'000, columns_of_large_data = 64;

void put_large_data(const JobFolder& job) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   rows_of_large_data, columns_of_large_data);
  header.resize(117, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size());
  start += '\0';
  std::ofstream(job.beside("x.npy"), std::ios::binary) << start << header;
  fs::resize_file(job.beside("x.npy"),
                  start.size() + header.size() + rows_of_large_data * columns_of_large_data * sizeof(float));
}

const std::string_view large_data_job = R"job(@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 1), "float32")):
    return R.matmul(x, w)

t = train(main, data=("x.npy", ones((300000, 1))), loss="mse", optimizer="sgd(lr=0.01)", batch_size=64, epochs=20, log_every=5)
)job";

std::string failing_changed_data(const std::function<void(const std::string&)>& change, bool may_finish) {
  const JobFolder job(large_data_job);
  put_large_data(job);
  ProcessRequest request = job.request({}, 100);
  request.limit_seconds = 300;  // it may go over all of its data
  bool changed = false;
  request.watch = [&](int) {
    if (changed || job.newest_step() == 0) return;
    changed = true;
    change(job.beside("x.npy"));
  };
  const ProcessResult result = run_program(request);
  if (!changed) return "it was over before its data changed";
  if (result.exit_code == 0 && may_finish) return "";
  if (result.killed_by_signal || (result.exit_code != 5 && result.exit_code != 7)) return ending_of(result);
  if (result.error_output.find("x.npy: error[") == std::string::npos)
    return "the file is not named: " + result.error_output;
  return fault_of_newest_checkpoint(job);
}

// A second job in the same folder, started while the first runs.
std::string failing_second_job(const Undisturbed& whole) {
  const JobFolder job(small_job, whole.settings), other(small_job, whole.settings);
  std::optional<ProcessResult> second;
  ProcessRequest request = job.request();
  request.watch = [&](int) {
    if (second || job.newest_step() == 0) return;
    ProcessRequest same = other.resumed();
    same.arguments[3] = job.path() + "/out";
    second = run_program(same);
  };
  const ProcessResult result = run_program(request);
  if (!second) return "it was over before the second began";
  if (const std::string fault = fault_of_refusal(*second, 7, "IOError"); !fault.empty())
    return "the second: " + fault;
  if (second->error_output.find("the run folder is in use by process ") == std::string::npos)
    return "the second does not say who holds the folder: " + second->error_output;
  return result.exit_code != 0 ? ending_of(result) : compare_with(job, whole);
}

// Which calls find no room: once, and from then on.
std::vector<std::string> plans_without_room(bool full) {
  const std::string checkpoint = "file=checkpoints/.relish- ", ever = "times=1000000 ";
  std::vector<std::string> plans = {"call=write bytes=5000 " + checkpoint,
                                    "call=write file=metrics.jsonl bytes=700 " + ever};
  if (!full) return plans;
  for (const char* once : {"call=open ", "call=write bytes=0 ", "call=sync "}) {
    plans.push_back(once + checkpoint);
    plans.push_back(once + checkpoint + ever);
  }
  plans.push_back(plans.front() + ever);
  for (const char* rename : {"checkpoints/step-", "report.json", "best.safetensors"}) {
    plans.push_back(fmt::format("call=rename file={} ", rename));
    plans.push_back(plans.back() + ever);
  }
  plans.insert(plans.end(),
               {"call=write file=metrics.csv bytes=700 " + ever, "call=sync file=metrics.jsonl " + ever,
                "call=rename file=final.safetensors ", "call=rename file=report.md ",
                "call=write file=events.out.tfevents.relish bytes=700 " + ever});
  return plans;
}

}  // namespace

void try_full_disk(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  const std::vector<std::string> plans = plans_without_room(options.full);
  if (!can_disturb()) skip("no room at named moments", "the library that takes it cannot be loaded");
  for (const std::string& plan : can_disturb() ? plans : std::vector<std::string>{}) {
    for (int i = 0; i < options.times; ++i) {
      job.clear();
      const ProcessResult result =
          run_program(job.disturbed(fmt::format("number={} action=fail value={} {}", 1 + i, ENOSPC, plan)));
      report("no room: " + plan, job.marks().count == 0 && i == 0
                                     ? "it did not get there: " + ending_of(result)
                                     : fault_without_room(job, result, whole));
    }
  }
  fmt::print("{} moments without room\n", plans.size() * static_cast<std::size_t>(options.times));
  if (!options.full) return;
  constexpr std::size_t page = 4096;
  for (const std::size_t pages : {4u, 10u, 20u, 30u, 40u, 60u}) try_small_disk(whole, pages * page);
}

void try_limits(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  const auto tried = [&](const std::string& what, const ProcessRequest& request) {
    job.clear();
    report(what, fault_under_limit(job, run_program(request), whole));
  };
  for (int i = 0; i < options.times; ++i) {
    for (const rlim_t bytes : {1u << 20, 1u << 14, 1u << 10})
      tried(fmt::format("files of at most {} bytes", bytes), limited(job, RLIMIT_FSIZE, bytes));
    for (const rlim_t files : {16u, 12u, 9u})
      tried(fmt::format("at most {} open files", files), limited(job, RLIMIT_NOFILE, files));
    for (const rlim_t mebibytes : {1024u, 512u, 256u})
      tried(fmt::format("{} MiB of addresses", mebibytes), limited(job, RLIMIT_AS, mebibytes << 20));
  }
  // Of one who owns no other process; the system counts threads too.
  fs::permissions(job.path(), fs::perms(0777));
  for (const rlim_t threads : {1u, 2u, 4u}) {
    ProcessRequest request = job.request();
    request.prepare = [threads] {
      const rlimit limit = {threads, threads};
      ::setrlimit(RLIMIT_NPROC, &limit);
      become_nobody();
    };
    job.clear();
    const ProcessResult result = run_program(request);
    if (result.exit_code == 126 || result.exit_code == 127) {
      skip("few threads", "nobody else may run the program here");
      break;
    }
    report(fmt::format("at most {} threads", threads), fault_under_limit(job, result, whole));
  }
  job.clear();
  if (!can_disturb())
    return skip("threads that cannot start", "the library that forbids them cannot be loaded");
  for (int first = 1; first <= 3 + options.times; ++first) {
    tried(fmt::format("no thread from the {}th on", first),
          job.disturbed(
              fmt::format("call=thread number={} times=1000000 action=fail value={}", first, EAGAIN)));
  }
}

void try_folders(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job);
  for (int i = 0; i < options.times; ++i) {
    const JobFolder job(small_job);
    const auto refused = [&](const char* what, const std::string& folder) {
      ProcessRequest request = job.request();
      request.arguments[3] = folder;
      report(what, fault_of_refusal(run_program(request), 7, "IOError"));
    };
    job.beside("out");
    std::ofstream(job.beside("file")) << "x";
    refused("the run folder is a file", "file");
    refused("a file stands above the run folder", "file/out");
    fs::create_symlink("nowhere", job.beside("link"));
    refused("the run folder is a link to nowhere", "link");
    refused("the run folder cannot be made", "/proc/out");
    report("a folder that is read-only", failing_unwritable(job));
    // One that is not there is made, with those above it.
    ProcessRequest request = job.request();
    request.arguments[3] = "a/b/out";
    const ProcessResult made = run_program(request);
    report("a folder that is not there",
           made.exit_code != 0 || bytes_of(job.beside("a/b/out/final.safetensors")) != whole.weights
               ? ending_of(made)
               : "");
    // Removed while the job runs.
    const JobFolder longer(small_job, {"--set", "epochs=400"});
    request = longer.request();
    bool removed = false;
    request.watch = [&](int) {
      if (removed || longer.newest_step() == 0) return;
      removed = true;
      while (fs::exists(longer.file(""))) longer.clear();  // the job may just make a file
    };
    const ProcessResult result = run_program(request);
    const bool told = result.error_output.find("error[IOError]: ") != std::string::npos;
    report("a folder that is removed", result.exit_code == 7 && removed && told ? "" : ending_of(result));
  }
}

void try_changed_data(const RowOptions& options) {
  for (int i = 0; i < options.times; ++i) {
    report("data that are cut",
           failing_changed_data([](const std::string& path) { fs::resize_file(path, 1000); }, false));
    report("data that are emptied",
           failing_changed_data([](const std::string& path) { fs::resize_file(path, 0); }, false));
    // Who has the old file open goes on reading it.
    report("data that are replaced", failing_changed_data(
                                         [](const std::string& path) {
                                           std::ofstream(path + ".new") << "nothing";
                                           fs::rename(path + ".new", path);
                                         },
                                         true));
  }
}

void try_two_jobs(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job, {"--set", "epochs=400"});
  const int times = options.full ? 5 : options.times;
  for (int i = 0; i < times; ++i) report("two jobs in one folder", failing_second_job(whole));
  // The lock of a process that is gone is nobody's.
  const JobFolder job(small_job, whole.settings);
  for (int i = 0; i < times; ++i) {
    ProcessRequest request = job.request();
    request.watch = [&](int process) {
      if (job.newest_step() > 0) ::kill(process, SIGKILL);
    };
    const ProcessResult killed = run_program(request);
    report("the lock of a dead process", !killed.killed_by_signal || !fs::exists(job.file("lock"))
                                             ? ending_of(killed)
                                             : rest_of(job, whole));
    job.clear();
  }
}

void try_links(const RowOptions& options) {
  if (!can_disturb()) return skip("links in the way", "the library that makes them cannot be loaded");
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  const std::string precious = "precious";
  const std::string victim = job.beside("victim");
  std::ofstream(victim) << precious;
  int links = 0;
  const auto tried = [&](const char* what, const std::string& plan) {
    job.clear();
    const ProcessRequest request =
        job.disturbed(fmt::format("{} action=link to={} times=1000000", plan, victim));
    const ProcessResult result = run_program(request);
    links += job.marks().count;
    std::string fault;
    if (bytes_of(victim) != precious || fs::is_symlink(victim))
      fault = "the file that the link names has changed";
    else if (job.marks().count == 0)
      fault = "no link was made: " + ending_of(result);
    else if (result.exit_code != 0)
      fault = ending_of(result);
    else
      fault = compare_with(job, whole);
    report(what, fault);
  };
  const int fewest = options.full ? 1000 : 1, before = problems_found();
  while (links < fewest && problems_found() == before) {
    tried("a link in place of each temporary file", "call=open file=/.relish-");
    tried("a link in place of each file that is renamed to", "call=rename file=/out/");
  }
  // The folder of checkpoints becomes a link to another in the middle of a save.
  job.clear();
  fs::create_directory(job.beside("elsewhere"));
  const ProcessResult result =
      run_program(job.disturbed(fmt::format("call=sync file=metrics.jsonl number=2 action=swap path={} to={}",
                                            job.file("checkpoints"), job.beside("elsewhere"))));
  const bool kept = fs::is_empty(job.beside("elsewhere"));
  std::string fault;
  if (!kept)
    fault = "something was written where the link leads";
  else if (job.marks().count != 1)
    fault = "it did not get there: " + ending_of(result);
  else if (result.killed_by_signal || (result.exit_code != 0 && result.exit_code != 7))
    fault = ending_of(result);
  report("the folder of checkpoints becomes a link", fault);
  fmt::print("{} links\n", links);
}

}  // namespace relish::testing
