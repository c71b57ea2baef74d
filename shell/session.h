// The session: what holds for a whole run of the program whatever its surface, that is the options that every
// command takes, the engines (made at first use), and the way out for results and notes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/operators/evaluator.h"
#include "support/diagnostic.h"

namespace relish {

class ObjectStore;

// Options that every command takes.
struct Settings {
  std::string tier = "jit";
  int threads = 0;  // 0: the affinity and quota of the process
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;         // of rand() and randn() without a seed so far
  std::string cache_folder;        // of compiled code, absolute; empty: none outlives the process
  std::vector<std::string> roots;  // folders whose files scripts may name by any path
  std::vector<std::string> words;  // the common options of the command line as they were written
  bool debug = false;              // stack of notes for internal errors
  bool color = false;              // of diagnostics
  bool color_programs = false;     // that a session on a terminal shows
  bool quiet = false;              // no warnings or notes: what runs was run before
  // Makes what stands for the interpreter; none: the interpreter itself.
  std::function<std::unique_ptr<Evaluator>()> make_interpreter = {};
  // Values of `--set`, for arg(); and of the flags of a training job, by script name ("run_dir").
  std::vector<std::pair<std::string, std::string>> sets;
  std::map<std::string, std::string> arguments;  // values that arg() gave so far, as text
  std::vector<std::pair<std::string, std::string>> job_flags;
  // The training jobs so far of the script that the process runs, and the run folders of those that have one;
  // no number in a session, where every job is one of its own.
  std::optional<std::uint32_t> jobs;
  std::vector<std::string> job_folders;
};

// Where results go. The default is standard output; tests collect a string.
class Output {
 public:
  virtual ~Output() = default;
  virtual void write(std::string_view text) = 0;
  virtual void flush() {}
};

// Buffered standard output. A closed one is a Failure(IOError) with the id "output.closed", which ends the
// program without a message. One that nobody reads is waited for until a signal asks to stop.
class StandardOutput : public Output {
 public:
  StandardOutput();
  void write(std::string_view text) override;
  void flush() override;
};

inline constexpr std::string_view closed_output_id = "output.closed";

class StringOutput : public Output {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Session {
 public:
  explicit Session(Settings settings = {}, std::unique_ptr<Output> output = nullptr);
  ~Session();
  Session(const Session&) = delete;

  const Settings& settings() const { return settings_; }
  Settings& settings() { return settings_; }
  Output& output() { return *output_; }
  // A line of results.
  void print(std::string_view line);
  // A warning or note on standard error.
  void report(const Diagnostic& diagnostic);
  void report(const std::vector<Diagnostic>& diagnostics);

  // The engine of the chosen tier.
  Evaluator& evaluator();
  // The engine of "interp" or "jit"; UsageError for another name.
  Evaluator& evaluator(std::string_view tier);
  // Where compiled code is kept between processes; null when it is not.
  const std::shared_ptr<ObjectStore>& objects();

 private:
  Settings settings_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<Evaluator> interpreter_;
  std::shared_ptr<ObjectStore> objects_;
  std::map<int, std::unique_ptr<Evaluator>> jits_;  // by the number of threads: :set changes it
};

// Standard error, with colour if the session has it.
void write_error_text(std::string_view text);

// The last line of a terminal, which says how far something is until something else is written. ASCII text.
bool has_live_line();  // standard error is a terminal that can
void show_live_line(std::string line);
void clear_live_line();

// Installs operators and the loader of the standard library's texts; once a process, cheap.
void start_language();

}  // namespace relish
