// What changed in the files that modules and free functions of a session come from. Only functions whose text
// is another one are read again; all others stay the very same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shell/program/text_units.h"
#include "shell/workspace/origins.h"

namespace relish {

class Workspace;

// Functions that a file declares, with its text when they were read.
struct FileFunctions {
  std::string path;
  std::shared_ptr<const std::string> text;
  std::set<std::string> names;
};

class FileChanges {
 public:
  explicit FileChanges(Workspace& workspace) : workspace_(workspace) {}

  // Those of the module that a file declares; nothing when none does.
  std::optional<FileFunctions> functions_of_file(const Module& module) const;
  // Functions of the source, a text in a saved session, come from a file or from none.
  void take_saved(std::uint32_t source, std::optional<FileFunctions> functions);

  // A file that the session ran, with its text: what it declares by now comes in.
  void note_run(const std::string& path, std::string text);

  // Reads what changed of the module or free function that the name stands for; all of them without a name.
  // Lines that tell what it did, none where nothing changed. UsageError for a name that no file declares; the
  // errors of the text, and then nothing has changed.
  std::vector<std::string> reload(const std::optional<std::string>& name);
  // From now on `changed` tells whether a file is another one than when it was read last.
  void watch(const std::optional<std::string>& name);
  void watch_nothing() { watched_.clear(); }
  bool watches() const { return !watched_.empty(); }
  bool changed();
  // The names to be read again, in the order in which they were given; none stands for all.
  std::vector<std::optional<std::string>> watched() const;

 private:
  struct FileText {
    std::string path;
    std::shared_ptr<const std::string> text;
    std::shared_ptr<const std::vector<TextUnit>> units = nullptr;  // of the text, once it was cut
    std::shared_ptr<const std::set<std::string>> names = nullptr;  // of what it declares; null: of all
  };
  // The file and whole text that a source was read from; nothing for what was typed.
  std::optional<FileText> file_of(std::uint32_t source) const;
  std::optional<FileText> file_of(const GlobalFunction& function) const;
  std::optional<FileText> file_of_module(const ModulePtr& module) const;
  ModulePtr read_again(const ModulePtr& module);
  void check_known(const std::string& name) const;
  std::optional<std::string> told_of_others(const ModulePtr& module);
  bool has_module_of(const std::string& path) const;
  std::optional<std::string> reload_free_functions(const std::set<std::string>& names);
  FileText cut_file_of(std::uint32_t source);
  ModulePtr read_changed(const ModulePtr& module, const FileText& file,
                         const std::shared_ptr<const std::string>& now);
  ModulePtr read_whole(const ModulePtr& module, const FileText& file, const std::string& now);
  bool is_own(const GlobalFunction& function, const std::string& path) const;
  bool declared_nothing(std::string_view unit) const { return declaring_nothing_.contains(unit); }
  // The files of one name or of all, with their texts when they were read.
  std::map<std::string, std::shared_ptr<const std::string>> files_of(
      const std::optional<std::string>& name) const;
  void refuse_broken_files(const std::optional<std::string>& name) const;

  Workspace& workspace_;
  // Of sources that hold a part of a file the whole; and texts that were cut.
  std::map<std::uint32_t, FileText> whole_;
  std::map<std::string, std::shared_ptr<const std::string>> ran_;  // files, as they were run or read last
  std::set<std::string, std::less<>> declaring_nothing_;  // texts of functions that were read and gave none
  struct Seen {
    std::int64_t nanoseconds = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Seen&) const = default;
  };
  static Seen seen_of(const std::string& path);
  std::map<std::string, Seen> seen_;  // of the watched files
  std::vector<std::optional<std::string>> watched_;
};

}  // namespace relish
