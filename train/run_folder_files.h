// The files of run folders: which folder a job gets, which files in it are of jobs and which are somebody's,
// and the checkpoints that stand there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

struct RunFolderOptions {
  std::string directory;  // empty: `<base>/<script>-<number>` with the least number above those there
  std::string base = "runs";
  std::string script = "session";              // name of the script without folder and extension
  bool overwrite = false;                      // the files of an earlier job in `directory` may go
  std::string resume_words = "--resume auto";  // how one goes on, as the user writes it
  bool resume = false;  // they stay, and the job goes on; the greatest number is that of the job
};

inline constexpr std::string_view checkpoint_folder = "checkpoints";
inline constexpr std::string_view page_name = "report.md", html_page_name = "report.html";

// Makes the folder of a job, and those above it. IOError.
std::string make_run_folder(const RunFolderOptions& options);
// Under the folder's lock: UsageError when it belongs to somebody; the files of an earlier job go when they
// may, and files whose writing was cut short always do.
void take_over(const std::string& path, const RunFolderOptions& options);

// What --resume takes beside a path: the newest checkpoint of the job's folder.
inline constexpr std::string_view resume_newest = "auto";
// The run folder that a path of --resume lies in: of a checkpoint in its folder, else the path itself.
std::string run_folder_of(const std::string& path);

// The folder of the second and the further jobs of a script, in that of its first: "job-2".
std::string later_job_name(std::uint32_t number);

// "checkpoints/step-000000042.safetensors"
std::string checkpoint_name(std::int64_t step);
// The steps of the checkpoints in the folder, rising.
std::vector<std::int64_t> checkpoint_steps(const std::string& path);

// Whether a job has written there: its report says so, or a checkpoint or the line of a step, where the
// report is lost.
bool is_folder_of_jobs(const std::string& path);

[[noreturn]] void run_folder_failure(const std::string& path, std::string_view what,
                                     const std::string& reason);
[[noreturn]] void run_folder_failure(const std::string& path, std::string_view what, int error);
// Opens a file of a run folder, never through a link. IOError.
int open_in_run_folder(const std::string& path, int flags);

}  // namespace relish
