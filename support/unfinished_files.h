// The temporary files that are being written: a process that is ended by a signal, in whose handler nothing
// can be unwound, removes them by this list.
#pragma once

#include <string>

namespace relish {

// Lists the file `name` of the folder that is open as `folder` while it lives.
class UnfinishedFile {
 public:
  UnfinishedFile() = default;
  UnfinishedFile(const UnfinishedFile&) = delete;
  ~UnfinishedFile() { forget(); }
  void list(int folder, const std::string& name);
  void forget();

 private:
  int place_ = -1;
};

// Async-signal-safe.
void remove_unfinished_files();

}  // namespace relish
