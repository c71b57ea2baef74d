// Writing and reading files so that a file is either the old one or the new one. A regular target is written
// as a temporary file in its folder, synced and renamed; what is not a regular file (/dev/stdout, a FIFO) is
// written directly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace relish {

// Sink of a file being written; throws IOError with the path and the system's reason.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const void* data, std::size_t size) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
};

// Calls `produce` with a sink; the target appears only when it returns normally. Honours the umask. Of a
// symlink the file behind it is meant, and renamed in its own folder; a file that may not be written is
// refused. Throws IOError, and PolicyError for a script's file (support/file_access.h).
void write_file_atomically(const std::string& path, const std::function<void(ByteSink&)>& produce);
void write_file_atomically(const std::string& path, std::string_view contents);

// Fails as writing would, where that can be known before there is anything to write: no such folder, one that
// takes no file, or a file that may not be written. Nothing is left there.
void check_can_be_written(const std::string& path);

// The whole of a file, or of standard input for "-". Throws IOError; ResourceLimit above `max_bytes`
// (the message names `limit_flag`).
std::string read_file(const std::string& path, std::uint64_t max_bytes, std::string_view limit_flag);

}  // namespace relish
