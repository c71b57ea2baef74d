// How fast texts are read and checked: for each kind of module, MB/s and the peak of memory for 1 MB and 16
// MB.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "frontend/reader.h"
#include "ir/verify.h"
#include "stdlib/stdlib.h"
#include "tests/scale/texts.h"

namespace {

using namespace relish;

// Seconds to read and verify the text once.
double seconds_of(std::string text) {
  auto begin = std::chrono::steady_clock::now();
  Diagnostics diagnostics;
  ReadResult result = read_source(Sources::instance().add("<bench>", std::move(text)), {}, diagnostics);
  for (const ModulePtr& module : result.all_modules()) verify(*module, diagnostics);
  if (diagnostics.has_errors()) fmt::print(stderr, "bench_reader: the text has errors\n");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Measured {
  double seconds = 0;
  double megabytes = 0;  // peak of the whole process
};

// In a process of its own, so that the peak is that of this text; the best of `runs`.
Measured measure(const scale::TextKind& kind, std::size_t bytes, int runs) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    install_stdlib();
    install_front_end();
    Measured best{seconds_of(kind.make(bytes)), 0};
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    best.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    for (int i = 1; i < runs; ++i) best.seconds = std::min(best.seconds, seconds_of(kind.make(bytes)));
    bool written = write(ends[1], &best, sizeof best) == sizeof best;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured result;
  if (read(ends[0], &result, sizeof result) != sizeof result) result = {};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

}  // namespace

int main() {
  fmt::print("{:<14} {:>10} {:>10} {:>10} {:>12}\n", "reader", "1 MB", "16 MB", "ratio", "peak, 16 MB");
  for (const scale::TextKind& kind : scale::modules()) {
    Measured one = measure(kind, 1'000'000, 5), sixteen = measure(kind, 16'000'000, 2);
    fmt::print("{:<14} {:>5.2f} MB/s {:>5.2f} MB/s {:>10.1f} {:>9.0f} MB\n", kind.name, 1 / one.seconds,
               16 / sixteen.seconds, sixteen.seconds / one.seconds, sixteen.megabytes);
  }
}
