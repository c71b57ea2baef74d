// A fixed table, which a signal handler may read at any moment: an entry is filled before it is marked.
#include "support/unfinished_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

namespace relish {
namespace {

enum State : int { Free, Taken, Listed };

struct Entry {
  std::atomic<int> state{Free};
  int folder = -1;
  char name[64] = {};
};

// As many as are written at one time, with room; one more is not listed.
std::array<Entry, 16> entries;

}  // namespace

void UnfinishedFile::list(int folder, const std::string& name) {
  if (name.size() >= sizeof Entry::name) return;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    int expected = Free;
    if (!entries[i].state.compare_exchange_strong(expected, Taken)) continue;
    entries[i].folder = folder;
    std::memcpy(entries[i].name, name.c_str(), name.size() + 1);
    entries[i].state.store(Listed);
    place_ = static_cast<int>(i);
    return;
  }
}

void UnfinishedFile::forget() {
  if (place_ >= 0) entries[static_cast<std::size_t>(place_)].state.store(Free);
  place_ = -1;
}

void remove_unfinished_files() {
  for (Entry& entry : entries) {
    if (entry.state.load() == Listed) ::unlinkat(entry.folder, entry.name, 0);
  }
}

}  // namespace relish
