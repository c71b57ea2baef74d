// The output of running programs.
#include "runtime/program_output.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace relish {
namespace {

struct Attachment {
  std::mutex mutex;
  const void* owner = nullptr;
  LineWriter write;
};

Attachment& attachment() {
  static Attachment instance;
  return instance;
}

}  // namespace

void attach_program_output(const void* owner, LineWriter write) {
  const std::lock_guard lock(attachment().mutex);
  attachment().owner = owner;
  attachment().write = std::move(write);
}

void detach_program_output(const void* owner) {
  const std::lock_guard lock(attachment().mutex);
  if (attachment().owner != owner) return;
  attachment().owner = nullptr;
  attachment().write = nullptr;
}

void write_program_line(std::string_view line) {
  const std::lock_guard lock(attachment().mutex);
  if (attachment().write) {
    attachment().write(line);
  } else {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
  }
}

}  // namespace relish
