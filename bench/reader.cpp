// How fast texts are read and checked: for each kind of module, MB/s for 1 MB and 16 MB, the ratio of the
// times beside that of the lengths, and the peak of memory.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frontend/reader.h"
#include "ir/verify/verify.h"
#include "stdlib/stdlib.h"
#include "tests/scale/texts.h"

namespace {

using namespace relish;

struct Measured {
  double seconds = 0;    // to read and verify the text
  double megabytes = 0;  // peak of the whole process
};

Measured read_once(std::string text) {
  auto begin = std::chrono::steady_clock::now();
  Diagnostics diagnostics;
  ReadResult result = read_source(Sources::instance().add("<bench>", std::move(text)), {}, diagnostics);
  for (const ModulePtr& module : result.all_modules()) verify(*module, diagnostics);
  if (diagnostics.has_errors()) fmt::print(stderr, "bench_reader: the text has errors\n");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return {seconds, static_cast<double>(usage.ru_maxrss) / 1024};
}

// One reading in a process of its own, as a command does it: the memory is fresh, and the peak is this
// text's.
Measured measure_once(const std::string& text) {
  int ends[2];
  if (pipe(ends) != 0) {
    std::perror("bench_reader: pipe");
    std::exit(1);
  }
  pid_t child = fork();
  if (child == 0) {
    Measured one = read_once(text);
    bool written = write(ends[1], &one, sizeof one) == sizeof one;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Measured result;
  const bool whole = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!whole) {
    fmt::print(stderr, "bench_reader: a reading ended without its figures\n");
    std::exit(1);
  }
  return result;
}

// The best of five.
Measured measure(const std::string& text) {
  Measured best = measure_once(text);
  for (int i = 1; i < 5; ++i) {
    const Measured one = measure_once(text);
    if (one.seconds < best.seconds) best = one;
  }
  return best;
}

}  // namespace

int main() {
  install_stdlib();
  install_front_end();
  fmt::print("{:<14} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "reader", "1 MB", "16 MB", "ratio", "of lengths",
             "peak, 16 MB");
  for (const scale::TextKind& kind : scale::modules()) {
    const std::string small = kind.make(1'000'000), large = kind.make(16'000'000);
    const Measured one = measure(small), sixteen = measure(large);
    const double small_megabytes = static_cast<double>(small.size()) / 1e6;
    const double large_megabytes = static_cast<double>(large.size()) / 1e6;
    fmt::print("{:<14} {:>5.2f} MB/s {:>5.2f} MB/s {:>10.1f} {:>12.1f} {:>9.0f} MB\n", kind.name,
               small_megabytes / one.seconds, large_megabytes / sixteen.seconds,
               sixteen.seconds / one.seconds, large_megabytes / small_megabytes, sixteen.megabytes);
  }
}
