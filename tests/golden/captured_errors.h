// What goes to standard error while the object lives, as text: reports of a session that runs in this
// process.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace relish::testing {

class CapturedErrors {
 public:
  CapturedErrors() : file_(std::tmpfile()), saved_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (file_) ::dup2(::fileno(file_), STDERR_FILENO);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  ~CapturedErrors() {
    if (saved_ >= 0) {
      std::fflush(stderr);
      ::dup2(saved_, STDERR_FILENO);
      ::close(saved_);
    }
    if (file_) std::fclose(file_);
  }

  // What was written since the last call.
  std::string take() {
    if (!file_) return {};
    std::fflush(stderr);
    std::string text;
    const off_t end = ::lseek(::fileno(file_), 0, SEEK_CUR);
    text.resize(static_cast<std::size_t>(end - taken_));
    const ssize_t got = ::pread(::fileno(file_), text.data(), text.size(), taken_);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    taken_ = end;
    return text;
  }

 private:
  std::FILE* file_;
  int saved_;
  off_t taken_ = 0;
};

}  // namespace relish::testing
