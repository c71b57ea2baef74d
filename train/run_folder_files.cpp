// Folders by name and by what stands in them.
#include "train/run_folder_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "support/failure.h"
#include "support/file_access.h"
#include "support/render.h"
#include "support/value_text.h"
#include "train/checkpoint.h"
#include "train/report/event_file.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// The link on the way to a folder that leads to nothing, where there is one.
std::optional<fs::path> dangling_link(const std::string& path) {
  fs::path way;
  for (const fs::path& part : fs::path(path)) {
    way /= part;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(way, error)) && !fs::exists(way, error)) return way;
  }
  return std::nullopt;
}

void make_run_folders(const std::string& path) {
  const int error = make_folders(path);
  if (error == 0) return;
  std::error_code none;
  if (const std::optional<fs::path> link = dangling_link(path))
    run_folder_failure(path, "cannot make the run folder",
                       fmt::format("{} is a link to '{}', and nothing is there",
                                   *link == path ? "it" : fmt::format("'{}'", printable(link->string())),
                                   printable(fs::read_symlink(*link, none).string())));
  run_folder_failure(path, error == ENOTDIR ? "cannot use as a run folder" : "cannot make the run folder",
                     error);
}

// Letters, digits, '.', '_' and '-'; never hidden, never empty.
std::string folder_name_of(std::string_view script) {
  std::string name;
  for (char c : script) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                 c == '_' || c == '-';
    name += plain ? c : '_';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "run");
  return name;
}

// The number behind `prefix` in a folder's name, or 0.
std::uint32_t number_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  std::uint32_t number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number < 1'000'000'000 ? number : 0;
}

std::string make_numbered_folder(const RunFolderOptions& options) {
  make_run_folders(options.base);
  const std::string prefix = folder_name_of(options.script) + "-";
  std::uint32_t number = 0;
  std::error_code error;
  for (fs::directory_iterator entries(options.base, error), end; !error && entries != end;
       entries.increment(error)) {
    number = std::max(number, number_of(entries->path().filename().string(), prefix));
  }
  if (error) run_folder_failure(options.base, "cannot list", error.message());
  if (options.resume && number > 0) return options.base + "/" + prefix + std::to_string(number);
  // Another job may take the number in between; making the folder decides.
  while (true) {
    std::string path = options.base + "/" + prefix + std::to_string(++number);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) run_folder_failure(path, "cannot make the run folder", errno);
  }
}

// The step of a checkpoint by its name, seen from the run folder.
std::optional<std::int64_t> step_of_checkpoint(std::string_view name) {
  constexpr std::string_view start = "checkpoints/step-", end = ".safetensors";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() <= start.size() + end.size())
    return std::nullopt;
  name = name.substr(start.size(), name.size() - start.size() - end.size());
  if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return whole_number<std::int64_t>(name);
}

// Whether a file is what a killed process was writing (support/atomic_file.h).
bool is_unfinished(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  constexpr std::string_view start = ".relish-", end = ".tmp";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() != start.size() + 16 + end.size())
    return false;
  name = name.substr(start.size(), 16);
  return name.find_first_not_of("0123456789abcdef") == name.npos;
}

// Whether a file of this name, seen from the run folder, is one that jobs write: their own, and what is left
// of one whose writing was cut short.
bool is_of_a_job(std::string_view name) {
  if (is_unfinished(name)) return true;
  constexpr std::string_view own[] = {
      "metrics.jsonl",    "metrics.csv", "final.safetensors", "report.json",   "script.relish",
      "best.safetensors", page_name,     html_page_name,      event_file_name, "lock"};
  if (std::find(std::begin(own), std::end(own), name) != std::end(own)) return true;
  return step_of_checkpoint(name).has_value();
}

// "job-2", where the second job of a script has its folder in that of the first.
bool is_later_job(std::string_view name) {
  constexpr std::string_view start = "job-";
  return name.starts_with(start) && whole_number<std::uint32_t>(name.substr(start.size())).has_value();
}

struct Entry {
  std::string name;  // seen from the run folder
  bool of_a_job;
};

// The files and folders of a run folder; those of the folder of checkpoints one by one. A link is never one
// that a job made.
std::vector<Entry> entries_of(const std::string& path) {
  std::vector<Entry> found;
  std::error_code error;
  const auto list = [&](const std::string& folder, const std::string& prefix) {
    for (fs::directory_iterator entries(folder, error), end; !error && entries != end;
         entries.increment(error)) {
      std::string name = prefix + entries->path().filename().string();
      std::error_code gone;  // meanwhile, as the file of a writer that is done
      const bool own = is_of_a_job(name) && fs::is_regular_file(entries->symlink_status(gone));
      found.push_back({std::move(name), own});
    }
    if (error) run_folder_failure(folder, "cannot list", error.message());
  };
  list(path, "");
  // Folders of the further jobs of the same script are theirs.
  std::erase_if(found, [&](const Entry& entry) {
    return is_later_job(entry.name) && fs::is_directory(fs::symlink_status(path + "/" + entry.name, error));
  });
  const auto checkpoints = std::find_if(found.begin(), found.end(),
                                        [](const Entry& entry) { return entry.name == checkpoint_folder; });
  const std::string folder = path + "/" + std::string(checkpoint_folder);
  if (checkpoints != found.end() && fs::is_directory(fs::symlink_status(folder, error))) {
    found.erase(checkpoints);
    list(folder, std::string(checkpoint_folder) + "/");
  }
  // What the folder itself holds stands before what is in its folder of checkpoints.
  const auto deep = [](const Entry& entry) { return entry.name.find('/') != std::string::npos; };
  std::sort(found.begin(), found.end(),
            [&](const Entry& a, const Entry& b) { return deep(a) != deep(b) ? deep(b) : a.name < b.name; });
  return found;
}

// The status in the report of a job; empty when report.json is not one.
std::string status_in(const std::string& path) {
  std::ifstream file(path + "/report.json");
  const Json report = Json::parse(file, nullptr, false);
  const auto status = report.is_object() ? report.find("status") : report.end();
  if (!report.is_object() || status == report.end() || !status->is_string()) return "";
  return status->get<std::string>();
}

// Whether a file begins with the line of a step, as jobs write it (RunFolder::write_metrics).
bool begins_with_step(const std::string& path) {
  std::ifstream file(path);
  std::string line(std::size_t{1} << 16, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (line.find('\n') == line.npos) return false;
  const Json json = Json::parse(line.substr(0, line.find('\n')), nullptr, false);
  constexpr std::array keys = {"step", "epoch", "loss", "lr", "wall_s"};
  return json.is_object() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

// Whether a job has written here. Its report says so; where that is lost or damaged, a checkpoint or the line
// of a step does: they are worth more than it.
bool is_folder_of_jobs(const std::string& path, const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    if (!entry.of_a_job) return false;
    const std::string file = path + "/" + entry.name;
    return (entry.name == "report.json" && !status_in(path).empty()) ||
           (step_of_checkpoint(entry.name) && begins_as_checkpoint(file)) ||
           (entry.name == "metrics.jsonl" && begins_with_step(file));
  });
}

// What an earlier job left that somebody may want: how it ended; empty when there is nothing.
std::string results_in(const std::string& path, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    if (entry.name.ends_with(".safetensors")) return "the weights " + entry.name;
  if (std::none_of(entries.begin(), entries.end(),
                   [](const Entry& entry) { return entry.name == "report.json"; }))
    return "";
  const std::string status = status_in(path);
  const bool ended = status == "finished" || status == "interrupted";
  return ended ? fmt::format("the results of a job ({})", status) : "";
}

// What stands in the place of a file that a job writes and is none, so that nothing may replace it: a folder
// or a link of that name, or a report.json of somebody else; empty when there is none.
std::string in_the_way(const std::string& path, const std::vector<Entry>& entries) {
  const bool of_jobs = is_folder_of_jobs(path, entries);
  for (const Entry& entry : entries) {
    if (is_of_a_job(entry.name) && !entry.of_a_job)
      return fmt::format("the file '{}', which no job wrote", entry.name);
    if (entry.name == "report.json" && !of_jobs) return "another report.json";
    // A job writes its page behind its report.
    if ((entry.name == page_name || entry.name == html_page_name) && !of_jobs)
      return fmt::format("the file '{}', which no job wrote", entry.name);
  }
  return "";
}

}  // namespace

std::string run_folder_of(const std::string& path) {
  const fs::path plain = fs::path(path).lexically_normal();
  const fs::path folder = plain.parent_path();
  if (plain.extension() != ".safetensors" || folder.filename() != checkpoint_folder) return path;
  return folder.has_parent_path() ? folder.parent_path().string() : ".";
}

bool is_folder_of_jobs(const std::string& path) { return is_folder_of_jobs(path, entries_of(path)); }

std::string later_job_name(std::uint32_t number) { return fmt::format("job-{}", number); }

void run_folder_failure(const std::string& path, std::string_view what, const std::string& reason) {
  fail_at(ErrorClass::IO, path, "", fmt::format("{}: {}", what, reason));
}

void run_folder_failure(const std::string& path, std::string_view what, int error) {
  run_folder_failure(path, what, std::strerror(error));
}

int open_in_run_folder(const std::string& path, int flags) {
  Descriptor file = open_file(path, flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  if (!file.good()) run_folder_failure(path, "cannot open for writing", errno);
  return file.release();
}

std::string checkpoint_name(std::int64_t step) {
  return fmt::format("{}/step-{:09}.safetensors", checkpoint_folder, step);
}

std::vector<std::int64_t> checkpoint_steps(const std::string& path) {
  std::vector<std::int64_t> steps;
  for (const Entry& entry : entries_of(path)) {
    if (!entry.of_a_job) continue;
    if (const std::optional<std::int64_t> step = step_of_checkpoint(entry.name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::string make_run_folder(const RunFolderOptions& options) {
  if (options.directory.empty()) return make_numbered_folder(options);
  std::string path = options.directory;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  make_run_folders(path);
  return path;
}

void take_over(const std::string& path, const RunFolderOptions& options) {
  const std::vector<Entry> entries = entries_of(path);
  if (const std::string found = in_the_way(path, entries); !found.empty()) {
    fail(ErrorClass::Usage, {}, "train.run_dir",
         fmt::format("run_dir: {} holds {}, where a job would write; expected another folder, or that moved",
                     printable(path), printable(found)));
  }
  if (!options.overwrite && !options.resume) {
    const auto foreign =
        std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return !entry.of_a_job; });
    const std::string found = foreign != entries.end()
                                  ? fmt::format("the file '{}', which no job wrote", foreign->name)
                                  : results_in(path, entries);
    if (!found.empty()) {
      fail(ErrorClass::Usage, {}, "train.run_dir",
           fmt::format("run_dir: {} holds {}; expected a new folder, {}, which goes on, or "
                       "overwrite=True (--overwrite), which replaces what a job wrote",
                       printable(path), printable(found), options.resume_words));
    }
  }
  for (const Entry& entry : entries) {
    if (!entry.of_a_job || entry.name == "lock") continue;
    if (options.resume && !is_unfinished(entry.name)) continue;
    const std::string file = path + "/" + entry.name;
    const int removed = remove_file(file);
    if (removed != 0 && removed != ENOENT)
      run_folder_failure(file, "cannot remove the results of an earlier run", removed);
  }
}

}  // namespace relish
