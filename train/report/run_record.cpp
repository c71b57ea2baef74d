// Reads report.json and metrics.jsonl. A line that a living job is writing, or that a killed one left half,
// is the last one: it is passed over.
#include "train/report/run_record.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "support/failure.h"
#include "support/file_access.h"
#include "support/nearest_file.h"
#include "support/render.h"
#include "train/metrics.h"

namespace relish {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string text_of_json(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Nothing else is opened: a pipe would be waited for.
bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// A count that a file may give as any number.
std::int64_t count_of(double value) {
  constexpr double most = 9e15;
  return static_cast<std::int64_t>(std::clamp(value, 0.0, most));
}

std::optional<Json> report_in(const std::string& path) {
  if (!is_file(path + "/report.json")) return std::nullopt;
  std::ifstream file(path + "/report.json");
  if (!file) return std::nullopt;
  Json report = Json::parse(file, nullptr, false);
  if (!report.is_object()) return std::nullopt;
  const auto status = report.find("status");
  if (status == report.end() || !status->is_string()) return std::nullopt;
  return report;
}

// Whether a living process holds the folder.
bool is_held(const std::string& path) {
  const Descriptor lock = open_file(path + "/lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!lock.good()) return false;
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(lock.get(), LOCK_UN);
  return false;
}

double number_in(const Json& report, const char* key) {
  const auto found = report.find(key);
  return found != report.end() && found->is_number() ? found->get<double>() : 0;
}

struct Number {
  std::string_view name;
  double value;
};

// Places by name, found in one step however many names a line has.
struct HashOfName {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
using PlacesByName = std::unordered_map<std::string, std::size_t, HashOfName, std::equal_to<>>;

// Where a number of JSON ends, or null.
const char* end_of_number(const char* at, const char* end) {
  const auto digits = [&] {
    const char* first = at;
    while (at != end && *at >= '0' && *at <= '9') ++at;
    return at != first;
  };
  if (at != end && *at == '-') ++at;
  const bool zero = at != end && *at == '0';
  const char* whole = at;
  if (!digits() || (zero && at - whole > 1)) return nullptr;
  if (at != end && *at == '.' && (++at, !digits())) return nullptr;
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return nullptr;
  }
  return at;
}

// The members of a line as jobs write nearly all of them: one object of plain names and of numbers, no space
// between. False for any other, which the parser of JSON judges; it takes ten times as long, and a job may
// have logged millions.
bool numbers_of_line(std::string_view line, std::vector<Number>& numbers) {
  numbers.clear();
  const char *at = line.data(), *end = at + line.size();
  const auto skip = [&](char c) { return at != end && *at == c && (++at, true); };
  if (!skip('{')) return false;
  do {
    if (!skip('"')) return false;
    const char* name = at;
    while (at != end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\') ++at;
    Number number{{name, static_cast<std::size_t>(at - name)}, 0};
    if (!skip('"') || !skip(':')) return false;
    const char* behind = end_of_number(at, end);
    if (!behind || std::from_chars(at, behind, number.value).ec != std::errc()) return false;
    at = behind;
    numbers.push_back(number);
  } while (skip(','));
  return skip('}') && at == end;
}

// The members of any other line that is an object; of those inside of members none.
class MembersOfLine : public nlohmann::json_sax<nlohmann::json> {
 public:
  // False when the line is no object.
  bool read(std::string_view line, std::vector<Number>& numbers) {
    names_.clear();
    numbers.clear();
    numbers_ = &numbers;
    depth_ = 0;
    object_ = false;
    return nlohmann::json::sax_parse(line, this) && object_;
  }

  bool null() override { return no_number(); }
  bool boolean(bool) override { return no_number(); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t&) override { return no_number(); }
  bool binary(binary_t&) override { return no_number(); }
  bool start_object(std::size_t) override {
    object_ |= depth_ == 0;
    no_number();
    return ++depth_ > 0;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override {
    no_number();
    return ++depth_ > 0;
  }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    if (depth_ == 1) names_.push_back(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool number(double value) {
    if (depth_ == 1 && object_) numbers_->push_back({names_.back(), value});
    return true;
  }
  // A later member of a name stands for the earlier one, whatever it is.
  bool no_number() { return number(std::numeric_limits<double>::quiet_NaN()); }

  std::deque<std::string> names_;
  std::vector<Number>* numbers_ = nullptr;
  std::int64_t depth_ = 0;
  bool object_ = false;  // the whole line
};

// Takes the lines of a metrics file into the record of its job.
class MetricsReader {
 public:
  explicit MetricsReader(RunRecord& run) : run_(run) {}

  // False when the line is none of metrics.
  bool add(std::string_view line) {
    if (numbers_of_line(line, numbers_) && add_numbers()) return true;
    return members_.read(line, numbers_) && add_numbers();
  }

 private:
  // False when there is no step. Of members of one name the last one counts, as for every reader of JSON.
  bool add_numbers() {
    ++line_;
    std::optional<double> step;
    for (const Number& number : numbers_)
      if (number.name == "step") step = std::isnan(number.value) ? std::nullopt : std::optional(number.value);
    if (!step) return false;
    run_.step = std::max(run_.step, count_of(*step));
    for (const Number& number : numbers_) {
      // The report of a job that runs, or was killed, is of its beginning.
      if (number.name == "wall_s") run_.seconds = std::max(run_.seconds, number.value);
      if (number.name != "step" && number.name != "epoch") add_point(number.name, *step, number.value);
    }
    return true;
  }

  void add_point(std::string_view name, double step, double value) {
    auto found = places_.find(name);
    if (found == places_.end()) {
      if (std::isnan(value)) return;
      found = places_.emplace(std::string(name), run_.curves.size()).first;
      run_.curves.push_back({std::string(name), {}});
      lines_.push_back({});
    }
    Curve& curve = run_.curves[found->second];
    Last& last = lines_[found->second];
    if (last.line == line_ && last.added) curve.points.pop_back();
    last = {line_, std::isfinite(value)};
    if (last.added) curve.points.push_back({step, value});
  }

  struct Last {
    std::int64_t line = 0;  // that had the name
    bool added = false;     // a point
  };

  RunRecord& run_;
  std::vector<Number> numbers_;
  MembersOfLine members_;
  PlacesByName places_;  // of curves
  std::vector<Last> lines_;
  std::int64_t line_ = 0;
};

void read_metrics(const std::string& path, RunRecord& run) {
  if (!is_file(path)) return;
  std::ifstream file(path);
  std::string line;
  MetricsReader reader(run);
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    const bool whole = !file.eof();
    if (reader.add(line)) continue;
    if (!whole) return;
    fail_at(ErrorClass::Data, path, "run.metrics",
            fmt::format("line {}: found '{}'; expected a JSON object with the number of its step", number,
                        printable(line)));
  }
}

std::vector<std::string> names_in(const Json& report, const char* key) {
  std::vector<std::string> names;
  if (const auto found = report.find(key); found != report.end() && found->is_array())
    for (const Json& name : *found) names.push_back(text_of_json(name));
  return names;
}

std::string text_in(const Json& report, const char* key) {
  const auto found = report.find(key);
  return found != report.end() && found->is_string() ? found->get<std::string>() : "";
}

void read_parameters(const Json& report, RunRecord& run) {
  const auto found = report.find("parameters");
  if (found == report.end() || !found->is_array()) return;
  for (const Json& parameter : *found) {
    if (!parameter.is_object()) continue;
    std::string shape;
    for (const std::string& dim : names_in(parameter, "shape")) shape += (shape.empty() ? "" : ", ") + dim;
    const auto is = [&](const char* key) { return parameter.value(key, Json(false)) == Json(true); };
    run.parameters.push_back({text_in(parameter, "name"), text_in(parameter, "dtype") + " (" + shape + ")",
                              is("buffer")    ? "running statistic"
                              : is("trained") ? "trained"
                                              : "kept"});
  }
}

// "a10" behind "a9": digits by their value.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto run_of = [&](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view left = run_of(a, i), right = run_of(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  return a.size() - i < b.size() - j;
}

// Whether a job began here and has no report: it was stopped before it wrote one, or somebody removed it.
bool has_no_report(const std::string& path) {
  std::error_code error;
  return !fs::exists(fs::symlink_status(path + "/report.json", error)) && is_file(path + "/lock") &&
         is_file(path + "/metrics.jsonl");
}

// A job writes its report before its first step.
bool did_steps(const std::string& path) {
  std::error_code error;
  return fs::file_size(path + "/metrics.jsonl", error) > 0 || fs::is_directory(path + "/checkpoints", error);
}

void collect_runs(const std::string& path, int levels, std::vector<std::string>& found) {
  if (is_job_folder(path)) found.push_back(path);
  if (levels == 0) return;
  std::error_code error;
  std::vector<std::string> folders;
  for (fs::directory_iterator entries(path, error), end; !error && entries != end; entries.increment(error)) {
    std::error_code gone;
    if (fs::is_directory(entries->symlink_status(gone)))
      folders.push_back(entries->path().filename().string());
  }
  std::sort(folders.begin(), folders.end(), natural_less);
  const std::string prefix = path == "." ? "" : path.ends_with('/') ? path : path + "/";
  for (const std::string& folder : folders) collect_runs(prefix + folder, levels - 1, found);
}

}  // namespace

const Curve* RunRecord::curve(std::string_view name) const {
  const auto found =
      std::find_if(curves.begin(), curves.end(), [&](const Curve& curve) { return curve.name == name; });
  return found == curves.end() ? nullptr : &*found;
}

bool is_run_folder(const std::string& path) { return report_in(path).has_value(); }

// Somebody's report.json alone makes no run folder.
bool is_damaged_run(const std::string& path) {
  if (has_no_report(path)) return did_steps(path);
  if (!is_file(path + "/report.json") || report_in(path)) return false;
  std::error_code error;
  return is_file(path + "/metrics.jsonl") || is_file(path + "/lock") ||
         fs::is_directory(path + "/checkpoints", error);
}

bool is_job_folder(const std::string& path) {
  return is_run_folder(path) || is_damaged_run(path) || has_no_report(path);
}

RunRecord damaged_run(const std::string& path, const std::string& error) {
  RunRecord run;
  run.path = path;
  run.state = "damaged";
  run.error = error;
  return run;
}

RunRecord read_run(const std::string& path) {
  const std::optional<Json> report = report_in(path);
  if (!report && has_no_report(path)) {
    if (did_steps(path))
      fail_at(ErrorClass::Data, path, "run.report",
              "report.json is missing; a job writes it before its first step");
    RunRecord begun;
    begun.path = path;
    begun.state = is_held(path) ? "running" : "killed";
    return begun;
  }
  if (!report) {
    std::error_code error;
    if (!fs::is_directory(path, error))
      fail_at(ErrorClass::IO, path, "file.system",
              "there is no such run folder" + nearest_entry(path, NamedEntry::Folder));
    if (is_damaged_run(path))
      fail_at(ErrorClass::Data, path, "run.report",
              "report.json is damaged; expected the JSON object that a job writes, with its status");
    fail_at(ErrorClass::Data, path, "run.report",
            "found no report.json of a job; expected a run folder, such as runs/train-1");
  }
  RunRecord run;
  run.path = path;
  run.state = text_in(*report, "status");
  if (run.state == "running" && !is_held(path)) run.state = "killed";
  run.error = text_in(*report, "error");
  run.weights = text_in(*report, "weights");
  run.step = count_of(number_in(*report, "steps"));
  run.epochs = count_of(number_in(*report, "epochs"));
  run.seconds = number_in(*report, "seconds");
  constexpr std::array facts = {"relish", "script",          "function",      "tier",
                                "rows",   "validation_rows", "skipped_steps", "stopped_early"};
  for (const char* fact : facts)
    if (const auto found = report->find(fact); found != report->end() && !found->is_null())
      run.facts.emplace_back(fact, text_of_json(*found));
  for (const char* group : {"settings", "options"}) {
    if (const auto found = report->find(group); found != report->end() && found->is_object())
      for (const auto& [name, value] : found->items()) run.options.emplace_back(name, text_of_json(value));
  }
  for (const char* option : {"batch_size", "seed"})
    if (const auto found = report->find(option); found != report->end())
      run.options.emplace_back(option, text_of_json(*found));
  run.inputs = names_in(*report, "inputs");
  run.targets = names_in(*report, "targets");
  read_parameters(*report, run);
  read_metrics(path + "/metrics.jsonl", run);
  return run;
}

std::vector<std::string> find_runs(const std::string& path) {
  constexpr int levels_below = 3;
  std::vector<std::string> found;
  collect_runs(path, levels_below, found);
  return found;
}

std::string_view base_of_metric(std::string_view name) {
  constexpr std::string_view prefix = "validation_";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

bool is_lower_better(std::string_view metric) {
  const std::string_view base = base_of_metric(metric);
  return base == "epoch_loss" || Metric(base).less_is_better;
}

std::string judged_metric(const RunRecord& run) {
  constexpr std::array<std::string_view, 6> always = {"loss",          "lr",    "grad_norm", "epoch_loss",
                                                      "samples_per_s", "wall_s"};
  std::string validation_loss, training;
  for (const Curve& curve : run.curves) {
    const std::string_view base = base_of_metric(curve.name);
    const bool of_validation = base != curve.name;
    if (of_validation && base != "loss") return curve.name;
    if (of_validation) validation_loss = curve.name;
    const bool asked = std::find(always.begin(), always.end(), curve.name) == always.end();
    if (!of_validation && asked && training.empty()) training = curve.name;
  }
  if (!validation_loss.empty()) return validation_loss;
  if (!training.empty()) return training;
  if (run.curve("epoch_loss") != nullptr) return "epoch_loss";
  return run.curve("loss") != nullptr ? "loss" : "";
}

std::optional<BestPoint> best_of(const RunRecord& run, std::string_view metric) {
  const Curve* curve = run.curve(metric);
  if (curve == nullptr || curve->points.empty()) return std::nullopt;
  const bool lower = is_lower_better(metric);
  CurvePoint best = curve->points.front();
  for (const CurvePoint& point : curve->points)
    if (lower ? point.value < best.value : point.value > best.value) best = point;
  return BestPoint{std::string(metric), best};
}

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  constexpr int digits = 6;
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr;
  return {buffer, end};
}

std::string duration_text(double seconds) {
  if (!(seconds > 0)) return "0s";
  if (seconds < 100) return fmt::format("{:.0f}s", seconds);
  const auto minutes = static_cast<std::int64_t>(std::min(seconds / 60, 1e12));
  if (minutes < 100) return fmt::format("{}m{:02}s", minutes, static_cast<int>(std::fmod(seconds, 60)));
  return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
}

}  // namespace relish
