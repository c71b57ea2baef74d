// Where a training job writes, how often, how long, and what it goes on from: options of `train` that the
// command line of a script has too.
#include <cmath>
#include <filesystem>

#include "shell/commands/training/training.h"
#include "shell/script/script.h"
#include "support/interrupt.h"
#include "support/nearest_file.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view flags[] = {"run_dir", "resume", "checkpoint_every", "keep", "log_every"};

const std::string* job_flag(const Invocation& invocation, std::string_view option) {
  const std::string* found = nullptr;
  for (const auto& [name, value] : invocation.session.settings().job_flags)
    if (name == option) found = &value;
  return found;
}

// "60s", "5m", "2h" in seconds; none for another text.
std::optional<double> duration_of(std::string_view text) {
  constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  for (const auto& [letter, seconds] : units) {
    if (!text.ends_with(letter)) continue;
    const std::optional<double> number = real_number(text.substr(0, text.size() - 1));
    // "nan" and "inf" are numbers too.
    if (number && *number > 0 && std::isfinite(*number) && *number * seconds < 1e9) return *number * seconds;
  }
  return std::nullopt;
}

std::int64_t kept_checkpoints(const Invocation& invocation, std::int64_t otherwise) {
  const std::optional<std::string> text = job_text(invocation, "keep");
  if (!text) return otherwise;
  const std::optional<std::int64_t> number = whole_number<std::int64_t>(*text);
  if (!number || *number < 2) {
    invocation.refuse_value(
        "keep", fmt::format("found '{}'; expected an int of at least 2, so that one is whole while "
                            "another is written",
                            printable(*text)));
  }
  return *number;
}

// Two paths may name one folder: ./out, out/ and its absolute path.
bool is_same_folder(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

[[noreturn]] void refuse_both(const Invocation& invocation) {
  invocation.refuse_value("resume", "resume and overwrite contradict each other; give one of them");
}

void place_resumed(const Invocation& invocation, const std::string& given, RunRequest& request) {
  if (request.folder.overwrite) refuse_both(invocation);
  request.folder.resume = true;
  if (given == resume_newest) return;
  const std::string path =
      job_flag(invocation, "resume") != nullptr ? given : invocation.allowed_path("resume", given);
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && !fs::exists(path, error))
    fail_at(ErrorClass::IO, printable(path), "file.system",
            fmt::format(
                "there is no such checkpoint or run folder; {} takes the newest of the job's folder{}",
                job_flag(invocation, "resume") != nullptr ? "--resume auto" : "resume=\"auto\"",
                nearest_entry(path, path.ends_with(".safetensors") ? NamedEntry::File : NamedEntry::Folder)));
  const std::string own = run_folder_of(path);
  const bool elsewhere = !request.folder.directory.empty() && !is_same_folder(request.folder.directory, own);
  if (is_folder) {
    if (elsewhere) {
      request.checkpoint = path;
      request.folder.resume = false;
    } else {
      request.folder.directory = path;
    }
    return;
  }
  request.checkpoint = path;
  // A checkpoint that lies elsewhere begins a folder of its own.
  if (elsewhere || own == path) {
    request.folder.resume = false;
    return;
  }
  request.folder.directory = own;
  const std::vector<std::int64_t> steps = checkpoint_steps(own);
  if (!steps.empty() && fs::path(path).filename() != fs::path(checkpoint_name(steps.back())).filename()) {
    invocation.refuse_value(
        "resume",
        fmt::format("found {}; its folder has the later {}; expected that one, or another folder as "
                    "run_dir, in which the job goes on",
                    printable(path), checkpoint_name(steps.back())));
  }
}

}  // namespace

void keep_job_flags(const Invocation& invocation) {
  check_job_options(invocation);
  if (invocation.given("resume") && invocation.flag("overwrite")) refuse_both(invocation);
  Settings& settings = invocation.session.settings();
  for (std::string_view flag : flags) {
    if (const ScriptValue* value = invocation.find(flag))
      settings.job_flags.emplace_back(flag, text_of(*value));
  }
  for (std::string_view flag : {"overwrite", "tensorboard", "html"})
    if (invocation.flag(flag)) settings.job_flags.emplace_back(flag, "True");
  settings.jobs = 0;
  settings.job_folders.clear();
}

void check_job_options(const Invocation& invocation) {
  for (const std::string_view option : {"checkpoint_every", "log_every"})
    job_interval(invocation, option, {});
  kept_checkpoints(invocation, 0);
}

void start_time_limit(const Invocation& invocation) {
  if (!invocation.given("time_limit")) return;
  const std::string text = invocation.text("time_limit");
  const std::optional<double> seconds = duration_of(text);
  if (!seconds)
    invocation.refuse_value("time_limit",
                            fmt::format("found '{}'; expected seconds as 90s, minutes as 30m or "
                                        "hours as 2h",
                                        printable(text)));
  end_after(*seconds);
}

std::optional<std::string> job_text(const Invocation& invocation, std::string_view option) {
  if (const std::string* flag = job_flag(invocation, option)) return *flag;
  const ScriptValue* value = invocation.find(option);
  if (!value) return std::nullopt;
  return text_of(*value);
}

Every job_interval(const Invocation& invocation, std::string_view option, Every otherwise) {
  const std::optional<std::string> text = job_text(invocation, option);
  if (!text) return otherwise;
  if (const std::optional<double> seconds = duration_of(*text)) return {0, *seconds};
  // A part of a step is none.
  const double steps = real_number(*text).value_or(-1);
  if (steps == 0 && option == "log_every") return {};
  if (!(steps >= 1 && steps <= 1e15 && steps == std::trunc(steps))) {
    invocation.refuse_value(
        option, fmt::format("found '{}'; expected steps such as 100, or seconds such as 10s{}",
                            printable(*text), option == "log_every" ? ", or 0 for no lines" : ""));
  }
  return {static_cast<std::int64_t>(steps), 0};
}

bool wants_no_folder(const Invocation& invocation) {
  if (!invocation.is_none("run_dir")) return false;
  for (const std::string_view option : {"resume", "checkpoint_every", "keep"})
    if (invocation.given(option))
      invocation.refuse_value(option, "run_dir=None makes no run folder; leave one of the two out");
  for (const std::string_view option : {"overwrite", "tensorboard", "html"})
    if (invocation.flag(option))
      invocation.refuse_value(option, "run_dir=None makes no run folder; leave one of the two out");
  if (job_flag(invocation, "run_dir")) return false;
  // It would take the folder, or the checkpoint, of the job that it stands beside.
  if (job_flag(invocation, "resume"))
    write_error_text("note: run_dir=None: nothing is kept of this job, so --resume begins it anew\n");
  return true;
}

std::uint32_t number_of_job(const Invocation& invocation) {
  Settings& settings = invocation.session.settings();
  return settings.jobs ? ++*settings.jobs : 1;
}

void place_job(const Invocation& invocation, std::uint32_t number, RunRequest& request) {
  Settings& settings = invocation.session.settings();
  if (invocation.given("run_dir") && invocation.text("run_dir").empty())
    invocation.refuse_value("run_dir", "found an empty name; expected a folder");
  if (const std::string* folder = job_flag(invocation, "run_dir")) {
    request.folder.directory = *folder;
  } else if (invocation.given("run_dir")) {
    request.folder.directory = invocation.output_path("run_dir");
  }
  if (!settings.jobs && invocation.surface == Surface::Script)
    request.folder.resume_words = "resume=\"auto\" (--resume auto)";  // of a session
  request.folder.overwrite = invocation.flag("overwrite") || job_text(invocation, "overwrite") == "True";
  request.tensorboard = invocation.flag("tensorboard") || job_text(invocation, "tensorboard") == "True";
  request.html = invocation.flag("html") || job_text(invocation, "html") == "True";
  request.keep = kept_checkpoints(invocation, request.keep);
  // Only the first job of a script has the folder, and goes on from the checkpoint, that the command line
  // names; also where each has a folder of its own in the text.
  const bool is_first = number == 1 || settings.job_folders.empty();
  std::optional<std::string> resume = job_text(invocation, "resume");
  if (!is_first && resume && job_flag(invocation, "resume")) resume = std::string(resume_newest);
  // A path that a variable should have held: to begin anew is not what it asks for.
  if (resume && resume->empty())
    invocation.refuse_value(
        "resume", fmt::format("found an empty text; expected auto, or the path of a checkpoint or run "
                              "folder{}",
                              job_flag(invocation, "resume") ? "" : "; None begins anew"));
  if (resume) place_resumed(invocation, *resume, request);
  const bool has_own = invocation.given("run_dir") && !job_flag(invocation, "run_dir");
  if (is_first || has_own) return;
  request.folder.directory = settings.job_folders.front() + "/" + later_job_name(number);
  request.folder.resume = resume.has_value();
  request.checkpoint.clear();
}

}  // namespace relish
