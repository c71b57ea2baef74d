// The values of a saved session, read when they are wanted: tensors, lists and dicts, modules with where
// their functions come from. What the file does not have as it was written is a DataError of that value
// alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "frontend/graph/holes.h"
#include "shell/workspace/file_changes.h"
#include "shell/workspace/origins.h"
#include "shell/workspace/saved/archive_file.h"
#include "shell/workspace/state.h"

namespace relish {

class ArchiveValues : public std::enable_shared_from_this<ArchiveValues> {
 public:
  // `load`: the module of a file whose functions of the script it is to have.
  using LoadModule = std::function<ModulePtr(const std::string& path)>;
  // `note`: where the functions of a text of the archive were read from.
  using NoteFile = std::function<void(std::uint32_t source, std::optional<FileFunctions> functions)>;
  struct Outside {
    LoadModule load;
    NoteFile note;
  };
  ArchiveValues(const std::string& path, Outside outside);

  const ArchiveFile& file() const { return file_; }
  // DataError: what is wanted stands on a line that is not as it was written.
  nlohmann::json line(std::string_view kind, std::size_t number) const;
  // A value as a state names it; one that needs the file is unread.
  ScriptValue value_of(const std::string& name, const nlohmann::json& entry);
  // Read at once; `depth`: how many lists and dicts stand around it.
  ScriptValue read(const nlohmann::json& json, int depth = 0);
  // An unread piece of statements.
  ScriptValue unread(const std::string& name, const nlohmann::json& json, std::string kind,
                     std::string overview);
  ModulePtr module(std::size_t number);

  [[noreturn]] void damaged(std::string_view what) const;

 private:
  Tensor tensor(std::size_t number) const;
  ModulePtr read_module_line(const nlohmann::json& line, std::size_t number, const ModulePtr& base,
                             std::vector<HoleReport>& holes);
  void note_file(const nlohmann::json& line, const Module& part, const ModulePtr& base);
  ScriptValue read_part(std::size_t number, int depth);
  ScriptValue read_function(const nlohmann::json& json, int depth);
  struct OriginLine {
    std::string function;
    std::size_t line;
  };
  // The module with the origins of its functions.
  ModulePtr add_origins(std::size_t number);
  OriginPtr read_origin(std::size_t number,
                        const std::function<GlobalFunction(std::size_t, const std::string&)>& source) const;

  ArchiveFile file_;
  Outside outside_;
  std::map<std::size_t, ModulePtr> modules_;
  std::multimap<std::size_t, OriginLine> origin_lines_;              // by the module of the function
  std::map<std::size_t, std::shared_ptr<const std::string>> texts_;  // of files, by their parts
};

}  // namespace relish
