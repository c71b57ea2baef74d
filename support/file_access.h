// The door to files: what a text names is opened here and nowhere else. While a script runs whose files are
// confined, the door opens only what lies below the folders that it may use, and proves that on what it
// opened: from an open folder down, one name at a time. So no command and no option can forget the rule, and
// nobody can exchange a folder between a check and its use.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/source.h"

namespace relish {

// An open file or folder; -1 for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int get() const { return number_; }
  bool good() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  // Closes and reports what the file system found out only then; 0 or an error number.
  int close();

 private:
  int number_;
};

// What a text may name. Paths are absolute and without "..".
struct FileRules {
  struct Folder {
    std::string path;
    // Of the command line: links that stay below it, and files with several names, are the user's affair.
    bool of_the_user = false;
  };
  std::vector<Folder> folders;     // the first that holds a path decides
  std::vector<std::string> files;  // given on the command line: opened as they are
};

// While it lives, the process opens by these rules. Scopes nest; the inner one holds.
class ConfinedFiles {
 public:
  explicit ConfinedFiles(FileRules rules);
  ConfinedFiles(const ConfinedFiles&) = delete;
  ~ConfinedFiles();

 private:
  std::shared_ptr<const FileRules> before_;
};

// Why a path is not opened.
enum class PathFault { None, Nul, Outside, Symlink, Kind };
// The fault of a path under rules, as far as it can be told before it is opened. A path that does not exist
// has none. `path` may carry an entry, FILE:ENTRY.
PathFault path_fault(const FileRules& rules, const std::string& path);
// Throws PolicyError at `span`; None returns.
void refuse_path(PathFault fault, const std::string& path, Span span);

// The absolute path without "." and "..", by its text alone.
std::string plain_path(const std::string& path);

// Opens as open() does, close-on-exec; not good, with errno, when the system refuses. Throws PolicyError, and
// Interrupted while it waits.
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0666);
// The open folder of a file, and the file's name in it.
struct FolderEntry {
  Descriptor folder;  // not good, with errno, when there is none
  std::string name;
  bool confined = false;
};
FolderEntry open_folder_of(const std::string& path);
bool file_exists(const std::string& path);
// Whether the process opens by rules: then named pipes are refused as they are opened.
bool files_are_confined();
// Makes the folder and those above it; an error number, or 0.
int make_folders(const std::string& path);
// As unlink(): an error number, or 0.
int remove_file(const std::string& path);

}  // namespace relish
