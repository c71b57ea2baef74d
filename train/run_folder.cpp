// Files of a run. Lines are appended by one write each, so that a reader never sees half a line of a living
// job.
#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/format.h"
#include "support/atomic_file.h"
#include "support/file_access.h"
#include "support/render.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

[[noreturn]] void io_failure(const std::string& path, std::string_view what, const std::string& reason) {
  fail_at(ErrorClass::IO, path, "", fmt::format("{}: {}", what, reason));
}

[[noreturn]] void io_failure(const std::string& path, std::string_view what, int error) {
  io_failure(path, what, std::strerror(error));
}

void make_run_folders(const std::string& path) {
  if (const int error = make_folders(path); error != 0)
    io_failure(path, error == ENOTDIR ? "cannot use as a run folder" : "cannot make the run folder", error);
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
  if (error) io_failure(options.base, "cannot list", error.message());
  // Another job may take the number in between; making the folder decides.
  while (true) {
    std::string path = options.base + "/" + prefix + std::to_string(++number);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) io_failure(path, "cannot make the run folder", errno);
  }
}

int open_in_run(const std::string& path, int flags) {
  Descriptor file = open_file(path, flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
  if (!file.good()) io_failure(path, "cannot open for writing", errno);
  return file.release();
}

constexpr std::string_view checkpoint_folder = "checkpoints";

std::string checkpoint_name(std::int64_t step) {
  return fmt::format("{}/step-{:09}.safetensors", checkpoint_folder, step);
}

// Whether a file of this name, seen from the run folder, is one that jobs write: their own, and what is left
// of one whose writing was cut short.
bool is_of_a_job(std::string_view name) {
  constexpr std::string_view own[] = {"metrics.jsonl", "metrics.csv",   "final.safetensors",
                                      "report.json",   "script.relish", "best.safetensors",
                                      "lock"};
  if (std::find(std::begin(own), std::end(own), name) != std::end(own)) return true;
  constexpr std::string_view start = "checkpoints/step-", end = ".safetensors";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() <= start.size() + end.size())
    return false;
  name = name.substr(start.size(), name.size() - start.size() - end.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
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
      const bool own = is_of_a_job(name) && fs::is_regular_file(entries->symlink_status(error));
      found.push_back({std::move(name), own});
    }
    if (error) io_failure(folder, "cannot list", error.message());
  };
  list(path, "");
  const auto checkpoints = std::find_if(found.begin(), found.end(),
                                        [](const Entry& entry) { return entry.name == checkpoint_folder; });
  const std::string folder = path + "/" + std::string(checkpoint_folder);
  if (checkpoints != found.end() && fs::is_directory(fs::symlink_status(folder, error))) {
    found.erase(checkpoints);
    list(folder, std::string(checkpoint_folder) + "/");
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
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
  for (const Entry& entry : entries) {
    if (is_of_a_job(entry.name) && !entry.of_a_job)
      return fmt::format("the file '{}', which no job wrote", entry.name);
    if (entry.name == "report.json" && status_in(path).empty()) return "another report.json";
  }
  return "";
}

// UsageError when the folder belongs to somebody; the files of an earlier job go when they may.
void take_over(const std::string& path, bool overwrite) {
  const std::vector<Entry> entries = entries_of(path);
  if (const std::string found = in_the_way(path, entries); !found.empty()) {
    fail(ErrorClass::Usage, {}, "train.run_dir",
         fmt::format("run_dir: {} holds {}, where a job would write; expected another folder, or that moved",
                     printable(path), printable(found)));
  }
  if (!overwrite) {
    const auto foreign =
        std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return !entry.of_a_job; });
    const std::string found = foreign != entries.end()
                                  ? fmt::format("the file '{}', which no job wrote", foreign->name)
                                  : results_in(path, entries);
    if (!found.empty()) {
      fail(ErrorClass::Usage, {}, "train.run_dir",
           fmt::format("run_dir: {} holds {}; expected a new folder, or overwrite=True (--overwrite), which "
                       "replaces what a job wrote",
                       printable(path), printable(found)));
    }
  }
  for (const Entry& entry : entries) {
    if (!entry.of_a_job || entry.name == "lock") continue;
    const std::string file = path + "/" + entry.name;
    const int removed = remove_file(file);
    if (removed != 0 && removed != ENOENT)
      io_failure(file, "cannot remove the results of an earlier run", removed);
  }
}

// A column's text: empty for what a line does not have.
void append_cell(std::string& line, const std::string& text) {
  if (!line.empty()) line += ',';
  line += text;
}

// Measurements need few digits: `scale` is the power of ten that is kept.
double rounded(double value, double scale) { return std::round(value * scale) / scale; }

Json shape_json(const Shape& shape) {
  Json result = Json::array();
  for (std::int64_t dim : shape) result.push_back(dim);
  return result;
}

// Text from outside may not be UTF-8; a report must not fail for that.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string_view name_of(RunStatus status) {
  switch (status) {
    case RunStatus::Running:
      return "running";
    case RunStatus::Finished:
      return "finished";
    case RunStatus::Stopped:
      return "stopped";
    case RunStatus::Interrupted:
      return "interrupted";
    case RunStatus::NumericStop:
      return "numeric_stop";
    case RunStatus::Failed:
      return "failed";
  }
  internal_failure(__FILE__, __LINE__, "status", "unknown run status");
}

// A file of lines that only grows.
class RunFolder::LineFile {
 public:
  explicit LineFile(std::string path)
      : path_(std::move(path)), descriptor_(open_in_run(path_, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND)) {}
  ~LineFile() { ::close(descriptor_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void write_line(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) io_failure(path_, "cannot write", errno);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    length_ += line.size();
  }

  void sync() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
      io_failure(path_, "cannot sync", errno);
  }

  std::uint64_t length() const { return length_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t length_ = 0;
};

// The lock belongs to the open file, so the system frees it when its process ends, however that happens.
class RunFolder::Lock {
 public:
  explicit Lock(const std::string& path) : descriptor_(open_in_run(path, O_RDWR | O_CREAT)) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      int error = errno;
      std::string holder = holder_of_lock();
      ::close(descriptor_);
      if (error != EWOULDBLOCK) io_failure(path, "cannot lock", error);
      io_failure(path, "cannot lock", fmt::format("the run folder is in use by {}", holder));
    }
    std::string text = fmt::format("{}\n", ::getpid());
    // The number is for people; the lock holds without it.
    if (::ftruncate(descriptor_, 0) == 0) (void)!::pwrite(descriptor_, text.data(), text.size(), 0);
  }
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::string holder_of_lock() const {
    char text[32] = {};
    ssize_t size = ::pread(descriptor_, text, sizeof text - 1, 0);
    int process = 0;
    if (size > 0) std::from_chars(text, text + size, process);
    return process > 0 ? fmt::format("process {}", process) : "another process";
  }

  int descriptor_;
};

RunFolder::RunFolder(const RunFolderOptions& options, RunDescription description,
                     const std::vector<std::string>& metrics,
                     const std::vector<std::string>& validation_metrics)
    : description_(std::move(description)), metrics_(metrics), validation_metrics_(validation_metrics) {
  if (options.directory.empty()) {
    path_ = make_numbered_folder(options);
  } else {
    path_ = options.directory;
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    make_run_folders(path_);
  }
  // Under the lock, so that a running job's files are not judged.
  const bool locked_before = fs::exists(file("lock"));
  lock_ = std::make_unique<Lock>(file("lock"));
  try {
    take_over(path_, options.overwrite);
  } catch (const Failure&) {
    if (!locked_before) remove_file(file("lock"));
    throw;
  }
  jsonl_ = std::make_unique<LineFile>(file("metrics.jsonl"));
  csv_ = std::make_unique<LineFile>(file("metrics.csv"));
  std::string header = "step,epoch,loss,lr,epoch_loss";
  for (const std::string& metric : metrics_) append_cell(header, metric);
  for (const std::string& metric : validation_metrics_) append_cell(header, "validation_" + metric);
  csv_->write_line(header + ",samples_per_s,wall_s");
}

RunFolder::~RunFolder() = default;

void RunFolder::write_script(std::string_view text) { write_file_atomically(file("script.relish"), text); }

void RunFolder::write_metrics(const StepReport& step, const EpochReport* epoch) {
  const double samples_per_second = rounded(step.samples_per_second, 10);
  const double seconds = rounded(step.seconds, 1000);
  Json json = {{"step", step.step}, {"epoch", step.epoch}, {"loss", step.loss}, {"lr", step.learning_rate}};
  std::string line;
  append_cell(line, std::to_string(step.step));
  append_cell(line, std::to_string(step.epoch));
  append_cell(line, format_double(step.loss));
  append_cell(line, format_double(step.learning_rate));
  append_cell(line, epoch != nullptr ? format_double(epoch->loss) : "");
  if (epoch != nullptr) json["epoch_loss"] = epoch->loss;
  const auto append_metric = [&](const std::string& name, const Metrics* values, const std::string& metric) {
    std::string cell;
    if (values != nullptr) {
      if (auto found = values->find(metric); found != values->end()) {
        json[name] = found->second;
        cell = format_double(found->second);
      }
    }
    append_cell(line, cell);
  };
  const Metrics* validation = epoch != nullptr && epoch->validation ? &*epoch->validation : nullptr;
  for (const std::string& metric : metrics_)
    append_metric(metric, epoch != nullptr ? &epoch->metrics : nullptr, metric);
  for (const std::string& metric : validation_metrics_)
    append_metric("validation_" + metric, validation, metric);
  append_cell(line, fmt::format("{}", samples_per_second));
  append_cell(line, fmt::format("{}", seconds));
  json["samples_per_s"] = samples_per_second;
  json["wall_s"] = seconds;
  jsonl_->write_line(dump(json, -1));
  csv_->write_line(std::move(line));
}

void RunFolder::write_report(const RunReport& report, const NamedTensors& parameters) {
  Json json = {{"relish", RELISH_VERSION},
               {"status", name_of(report.status)},
               {"script", description_.script},
               {"function", description_.function},
               {"loss_function", description_.loss},
               {"optimizer", description_.optimizer},
               {"tier", description_.tier},
               {"seed", description_.seed},
               {"batch_size", description_.batch_size},
               {"rows", description_.rows},
               {"steps", report.steps},
               {"epochs", report.epochs},
               {"seconds", rounded(report.seconds, 1000)}};
  if (!report.error.empty()) json["error"] = report.error;
  json["loss"] = report.loss ? Json(*report.loss) : Json(nullptr);
  for (const auto& [name, value] : report.metrics) json[name] = value;
  for (const auto& [name, value] : report.validation) json["validation_" + name] = value;
  json["weights"] = report.weights.empty() ? Json(nullptr) : Json(report.weights);
  json["settings"] = Json::object();
  for (const auto& [name, value] : description_.settings) json["settings"][name] = value;
  json["inputs"] = description_.inputs;
  json["targets"] = description_.targets;
  json["parameters"] = Json::array();
  for (const auto& [name, tensor] : parameters) {
    const auto& trained = description_.trained;
    json["parameters"].push_back(
        {{"name", name},
         {"dtype", name_of(tensor.dtype())},
         {"shape", shape_json(tensor.shape())},
         {"trained", std::find(trained.begin(), trained.end(), name) != trained.end()}});
  }
  if (report.status != RunStatus::Running) {
    jsonl_->sync();
    csv_->sync();
  }
  write_file_atomically(file("report.json"), dump(json, 2) + "\n");
}

std::string RunFolder::write_final(const NamedTensors& parameters) {
  write_safetensors(file("final.safetensors"), parameters);
  return "final.safetensors";
}

std::string RunFolder::write_checkpoint(std::int64_t step, const NamedTensors& parameters) {
  const std::string folder = file(checkpoint_folder);
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    io_failure(folder, "cannot make the folder of checkpoints", errno);
  // What stands there may be somebody's link to elsewhere.
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error)))
    io_failure(folder, "cannot make the folder of checkpoints", ENOTDIR);
  std::string name = checkpoint_name(step);
  write_safetensors(file(name), parameters);
  return name;
}

RunFolder::MetricsLengths RunFolder::metrics_lengths() const { return {jsonl_->length(), csv_->length()}; }

}  // namespace relish
