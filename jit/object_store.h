// Compiled code that outlives the process: objects in a folder of the user's, one file each, named by the key
// of what it was made from. A file is written beside its place and renamed, and read only when it is whole,
// belongs to the user and has the key that is asked for: whatever else stands there counts as nothing. So no
// call fails because of the store; at worst code is made again.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "support/file_access.h"

namespace relish {

class ObjectStore {
 public:
  static constexpr std::uint64_t usual_limit = std::uint64_t{256} << 20;

  // `folder` is an absolute path, and made when the first object is kept. Files of more than `limit` bytes in
  // all do not stay: those go that were used longest ago.
  explicit ObjectStore(std::string folder, std::uint64_t limit = usual_limit);

  const std::string& folder() const { return folder_; }
  std::uint64_t limit() const { return limit_; }

  // May be called from several threads at once. A key is 64 hexadecimal digits.
  std::optional<std::string> find(const std::string& key);
  void keep(const std::string& key, std::string_view object);

  struct Contents {
    std::uint64_t entries = 0, bytes = 0;
    std::string unusable;  // why the folder is not used; empty when it is, or is not there yet
  };
  Contents contents() const;
  // Removes all objects, and what was left of writing; how many objects there were. IOError.
  std::uint64_t clear() const;

 private:
  bool open(bool make);

  const std::string folder_;
  const std::uint64_t limit_;
  std::mutex mutex_;  // guards what follows
  Descriptor open_;
  bool given_up_ = false;              // of writing: there is no room, or the folder is no place for it
  std::optional<std::uint64_t> held_;  // bytes of all files, as far as this process knows
};

}  // namespace relish
