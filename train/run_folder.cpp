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
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/format.h"
#include "support/atomic_file.h"
#include "support/file_access.h"
#include "support/render.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

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
    case RunStatus::TimeLimit:
      return "time_limit";
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
  // Keeps the first bytes of what stands there; where there are not so many, all whole lines.
  LineFile(std::string path, std::uint64_t kept)
      : path_(std::move(path)), descriptor_(open_in_run_folder(path_, O_RDWR | O_CREAT | O_APPEND)) {
    struct stat info = {};
    if (::fstat(descriptor_, &info) == 0) {
      found_ = static_cast<std::uint64_t>(info.st_size);
      length_ = found_ < kept ? end_of_lines(found_) : kept;
    }
    if (::ftruncate(descriptor_, static_cast<off_t>(length_)) != 0) {
      const int error = errno;
      ::close(descriptor_);
      run_folder_failure(path_, "cannot write", error);
    }
  }
  ~LineFile() { ::close(descriptor_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  void write_line(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) run_folder_failure(path_, "cannot write", errno);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    length_ += line.size();
  }

  void sync() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
      run_folder_failure(path_, "cannot sync", errno);
  }

  std::uint64_t length() const { return length_; }
  // Bytes that were there before.
  std::uint64_t found() const { return found_; }

 private:
  // Behind the last line break of the first `size` bytes.
  std::uint64_t end_of_lines(std::uint64_t size) const {
    char part[4096];
    while (size > 0) {
      const std::uint64_t count = std::min<std::uint64_t>(size, sizeof part);
      const ssize_t read = ::pread(descriptor_, part, count, static_cast<off_t>(size - count));
      if (read != static_cast<ssize_t>(count)) return 0;
      const std::size_t at = std::string_view(part, count).rfind('\n');
      if (at != std::string_view::npos) return size - count + at + 1;
      size -= count;
    }
    return 0;
  }

  std::string path_;
  int descriptor_;
  std::uint64_t length_ = 0, found_ = 0;
};

// The lock belongs to the open file, so the system frees it when its process ends, however that happens.
class RunFolder::Lock {
 public:
  explicit Lock(const std::string& path) : descriptor_(open_in_run_folder(path, O_RDWR | O_CREAT)) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      int error = errno;
      std::string holder = holder_of_lock();
      ::close(descriptor_);
      if (error != EWOULDBLOCK) run_folder_failure(path, "cannot lock", error);
      run_folder_failure(path, "cannot lock", fmt::format("the run folder is in use by {}", holder));
    }
    if (!is_of_a_job()) {
      ::close(descriptor_);
      fail(ErrorClass::Usage, {}, "train.run_dir",
           fmt::format("run_dir: {} is a file that no job wrote, where a job would write; expected another "
                       "folder, or that moved",
                       printable(path, path.size())));
    }
    std::string text = fmt::format("{}\n", ::getpid());
    // The number is for people; the lock holds without it.
    if (::ftruncate(descriptor_, 0) == 0) (void)!::pwrite(descriptor_, text.data(), text.size(), 0);
  }
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  // Whether nothing stands there but the number of a process, of which a kill may have left a part.
  bool is_of_a_job() const {
    char text[32] = {};
    const ssize_t size = ::pread(descriptor_, text, sizeof text, 0);
    if (size < 0) return false;
    const std::string_view number(text, static_cast<std::size_t>(size));
    return number.size() < sizeof text && number.find_first_not_of("0123456789\n") == number.npos;
  }

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
                     const std::vector<std::string>& validation_metrics, bool gradient_norms)
    : description_(std::move(description)),
      metrics_(metrics),
      validation_metrics_(validation_metrics),
      gradient_norms_(gradient_norms) {
  path_ = make_run_folder(options);
  // Under the lock, so that a running job's files are not judged.
  const bool locked_before = fs::exists(file("lock"));
  lock_ = std::make_unique<Lock>(file("lock"));
  try {
    take_over(path_, options);
  } catch (const Failure&) {
    if (!locked_before) remove_file(file("lock"));
    throw;
  }
  struct stat info = {};
  if (::stat(path_.c_str(), &info) != 0) run_folder_failure(path_, "cannot use as a run folder", errno);
  device_ = info.st_dev;
  inode_ = info.st_ino;
  if (!options.resume) start_metrics({});
}

RunFolder::~RunFolder() = default;

bool RunFolder::is_gone() const {
  struct stat info = {};
  if (::stat(path_.c_str(), &info) != 0) return errno == ENOENT || errno == ENOTDIR;
  return info.st_dev != device_ || info.st_ino != inode_;
}

std::vector<std::string> RunFolder::start_metrics(const MetricsLengths& kept) {
  std::vector<std::string> lost;
  const auto start = [&](std::string_view name, std::uint64_t bytes) {
    auto lines = std::make_unique<LineFile>(file(name), bytes);
    if (lines->found() < bytes)
      lost.push_back(
          fmt::format("{} has {} bytes, and had {} when the checkpoint was written: lines of earlier "
                      "steps are missing",
                      file(name), lines->found(), bytes));
    return lines;
  };
  jsonl_ = start("metrics.jsonl", kept.jsonl);
  csv_ = start("metrics.csv", kept.csv);
  if (csv_->length() > 0) return lost;
  std::string header = "step,epoch,loss,lr";
  if (gradient_norms_) header += ",grad_norm";
  header += ",epoch_loss";
  for (const std::string& metric : metrics_) append_cell(header, metric);
  for (const std::string& metric : validation_metrics_) append_cell(header, "validation_" + metric);
  csv_->write_line(header + ",samples_per_s,wall_s");
  return lost;
}

void RunFolder::sync_metrics() {
  jsonl_->sync();
  csv_->sync();
}

void RunFolder::write_script(std::string_view text) { write_file_atomically(file("script.relish"), text); }

void RunFolder::write_page(std::string_view name, std::string_view text) {
  write_file_atomically(file(name), text);
}

void RunFolder::write_metrics(const StepReport& step, const EpochReport* epoch) {
  // Open files take lines where no folder has them any more.
  if (is_gone()) run_folder_failure(path_, "cannot write", "the run folder was removed while the job ran");
  const double samples_per_second = rounded(step.samples_per_second, 10);
  const double seconds = rounded(step.seconds, 1000);
  Json json = {{"step", step.step}, {"epoch", step.epoch}, {"loss", step.loss}, {"lr", step.learning_rate}};
  std::string line;
  append_cell(line, std::to_string(step.step));
  append_cell(line, std::to_string(step.epoch));
  append_cell(line, format_double(step.loss));
  append_cell(line, format_double(step.learning_rate));
  if (gradient_norms_) {
    json["grad_norm"] = step.gradient_norm ? Json(*step.gradient_norm) : Json(nullptr);
    append_cell(line, step.gradient_norm ? format_double(*step.gradient_norm) : "");
  }
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
  // The first step of a process is compiled in its time; it has no pace.
  append_cell(line, step.samples_per_second > 0 ? fmt::format("{}", samples_per_second) : "");
  append_cell(line, fmt::format("{}", seconds));
  if (step.samples_per_second > 0) json["samples_per_s"] = samples_per_second;
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
  if (description_.validation_rows) json["validation_rows"] = *description_.validation_rows;
  if (!report.error.empty()) json["error"] = report.error;
  if (!report.stopped_early.empty()) json["stopped_early"] = report.stopped_early;
  if (report.skipped_steps > 0) json["skipped_steps"] = report.skipped_steps;
  if (report.seconds_waited > 0 && report.seconds > 0)
    json["data_wait_share"] = rounded(std::min(report.seconds_waited / report.seconds, 1.0), 10000);
  json["loss"] = report.loss ? Json(*report.loss) : Json(nullptr);
  for (const auto& [name, value] : report.metrics) json[name] = value;
  for (const auto& [name, value] : report.validation) json["validation_" + name] = value;
  json["weights"] = report.weights.empty() ? Json(nullptr) : Json(report.weights);
  json["settings"] = Json::object();
  for (const auto& [name, value] : description_.settings) json["settings"][name] = value;
  json["options"] = Json::object();
  for (const auto& [name, value] : description_.options) json["options"][name] = value;
  json["inputs"] = description_.inputs;
  json["targets"] = description_.targets;
  json["parameters"] = Json::array();
  for (const auto& [name, tensor] : parameters) {
    const auto holds = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    json["parameters"].push_back({{"name", name},
                                  {"dtype", name_of(tensor.dtype())},
                                  {"shape", shape_json(tensor.shape())},
                                  {"trained", holds(description_.trained)}});
    if (holds(description_.buffers)) json["parameters"].back()["buffer"] = true;
  }
  if (report.status != RunStatus::Running && jsonl_ != nullptr) sync_metrics();
  write_file_atomically(file("report.json"), dump(json, 2) + "\n");
}

std::string RunFolder::write_final(const NamedTensors& parameters) {
  write_safetensors(file("final.safetensors"), parameters);
  return "final.safetensors";
}

void RunFolder::write_best(const NamedTensors& parameters) {
  write_safetensors(file("best.safetensors"), parameters);
}

std::string RunFolder::save(const Checkpoint& checkpoint, std::int64_t keep) {
  const std::string folder = file(checkpoint_folder);
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    run_folder_failure(folder, "cannot make the folder of checkpoints", errno);
  // What stands there may be somebody's link to elsewhere.
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error)))
    run_folder_failure(folder, "cannot make the folder of checkpoints", ENOTDIR);
  // The lines that the checkpoint counts on are there before it is.
  sync_metrics();
  const std::string name = checkpoint_name(checkpoint.state.step);
  write_checkpoint(file(name), checkpoint);
  std::vector<std::int64_t> steps = checkpoint_steps(path_);
  std::erase_if(steps, [&](std::int64_t step) { return step > checkpoint.state.step; });
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < steps.size(); ++i) {
    const std::string old = file(checkpoint_name(steps[i]));
    const int removed = remove_file(old);
    if (removed != 0 && removed != ENOENT) run_folder_failure(old, "cannot remove the checkpoint", removed);
  }
  return name;
}

MetricsLengths RunFolder::metrics_lengths() const { return {jsonl_->length(), csv_->length()}; }

}  // namespace relish
