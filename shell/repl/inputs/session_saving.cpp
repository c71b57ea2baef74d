// Files of sessions, by `:save` and at the end.
#include "shell/repl/inputs/session_saving.h"

#include <sys/stat.h>

#include <filesystem>

#include <fmt/ranges.h>

#include "shell/workspace/held_bytes.h"
#include "shell/workspace/saved/archive_lines.h"
#include "shell/workspace/saved/archive_writer.h"
#include "support/atomic_file.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

// What a session may hold that is written when it ends: more would make leaving slow and fill the disk.
constexpr std::uint64_t most_left_bytes = std::uint64_t{64} << 20;

// The first line of the session's file: the options of its present state that a new session would not have.
std::string heading_of(const Workspace& workspace) {
  const StateOptions& options = workspace.state().options;
  const StateOptions& start = workspace.log().node(Log::root).options;
  std::string text(session_heading);
  if (options.tier != start.tier) text += " --tier " + options.tier;
  if (options.threads != start.threads) text += fmt::format(" --threads {}", options.threads);
  if (options.seed != start.seed) text += fmt::format(" --seed {}", options.seed);
  return text;
}

// A session is no data: whoever names such a file means a value.
void refuse_data_ending(const std::string& path) {
  for (const std::string_view ending : {".npz", ".npy", ".safetensors", ".csv", ".tsv", ".json", ".py"}) {
    if (!path.ends_with(ending)) continue;
    fail(ErrorClass::Usage, {}, "save.extension",
         fmt::format(
             ":save writes the session, for which '{}' is no file; expected .relish for its statements "
             "or .rxs for all its states; save(VALUE, \"{}\") writes a value",
             ending, printable(path)));
  }
}

// `:save FILE.rxs`: all states with their values.
void save_archive(Session& session, Workspace& workspace, const std::string& path, bool overwrite) {
  if (!overwrite) refuse_other_file(path);
  const SavedArchive saved = write_archive(workspace, path, heading_of(workspace));
  session.print(fmt::format("saved {} with {} values in {}", counted(saved.states, "state"),
                            saved.states == 1 ? "its" : "their", path));
  if (!saved.left_out.empty()) {
    session.print(
        fmt::format("no text says the values of {}, which are left out", fmt::join(saved.left_out, ", ")));
  }
}

// The values of all states that are held, each once.
std::uint64_t bytes_of_states(const Log& log) {
  HeldBytes held;
  for (std::size_t id = 0; id < log.size() && held.bytes() <= most_left_bytes; ++id)
    if (log.node(id).state) held.add(log.node(id).state->names);
  return held.bytes();
}

}  // namespace

// `:save FILE [--overwrite]`.
void save_session(Session& session, Workspace& workspace, std::string path) {
  constexpr std::string_view flag = "--overwrite";
  bool overwrite = false;
  if (path == flag || path.ends_with(" " + std::string(flag))) {
    path.resize(path.size() - flag.size());
    overwrite = true;
  } else if (path.starts_with(std::string(flag) + " ")) {
    path.erase(0, flag.size());
    overwrite = true;
  }
  while (path.starts_with(' ')) path.erase(0, 1);
  while (path.ends_with(' ')) path.pop_back();
  if (path.size() >= 2 && (path.front() == '"' || path.front() == '\'') && path.back() == path.front()) {
    path = path.substr(1, path.size() - 2);
  } else if (path.find_first_of(" \t") != std::string::npos || path.starts_with("--")) {
    fail(ErrorClass::Usage, {}, "save.path",
         fmt::format("found '{}'; :save takes a file and perhaps --overwrite; a name with blanks stands in "
                     "quotes",
                     printable(path)));
  }
  if (path.empty()) fail(ErrorClass::Usage, {}, "save.path", ":save takes a file: :save session.relish");
  refuse_data_ending(path);
  workspace.settle();
  if (path.ends_with(archive_ending)) {
    save_archive(session, workspace, path, overwrite);
    return workspace.log().note_saved();
  }
  const SessionText statements = workspace.statements();
  const std::size_t files = statements.save(path, heading_of(workspace), overwrite);
  session.print(
      fmt::format("saved {} in {}{}", counted(statements.inputs(), "input"), path,
                  files == 0 ? "" : fmt::format(", and {} of values beside it", counted(files, "file"))));
  workspace.log().note_saved();
  if (statements.has_stopped()) {
    session.print(
        "a statement that stopped in the middle stands there as a comment, and behind it the values that it "
        "left");
  }
  if (!statements.unwritten().empty()) {
    session.print(fmt::format("no text says the values of {}, which are left out",
                              fmt::join(statements.unwritten(), ", ")));
  }
}

std::string keep_left_session(Workspace& workspace) {
  const std::size_t unsaved = workspace.log().unsaved();
  if (unsaved == 0) return {};
  // What ends the session waits for this.
  const InterruptShield keeping;
  const std::string told = fmt::format("{} not in any file", counted(unsaved, "state is", "states are"));
  try {
    workspace.settle();
    const bool whole = bytes_of_states(workspace.log()) <= most_left_bytes;
    const std::string path = left_session_path(whole ? archive_ending : ".relish");
    const auto statements = workspace.statements().plain();
    if (path.empty()) return told;
    // A statement that was stopped left values that no statements come to.
    if (!whole && !statements) return told + "; values of more than 64 MiB are kept by :save FILE.rxs alone";
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    const ::mode_t others = ::umask(077);
    try {
      if (whole)
        write_archive(workspace, path, heading_of(workspace));
      else
        write_file_atomically(path, heading_of(workspace) + "\n" + *statements);
    } catch (...) {
      ::umask(others);
      throw;
    }
    ::umask(others);
    return whole ? told + "; :restore in the next session goes on with them"
                 : fmt::format("{}; :load {} runs their statements again", told, path);
  } catch (const std::exception& error) {
    return fmt::format("{}, and could not be kept: {}", told, error.what());
  }
}

}  // namespace relish
