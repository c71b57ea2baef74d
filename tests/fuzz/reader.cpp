// Bytes as a source text: scanner, parser, resolution, inference, verifier; and what is accepted prints and
// reads back. A text whose first byte is P is read as a Python file, without that byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "frontend/reader.h"
#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/stdlib.h"
#include "support/failure.h"
#include "support/render.h"
#include "tests/fuzz/structured.h"
#include "tests/fuzz/token_mutator.h"

namespace {

using namespace relish;

void start() {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  (void)started;
}

// A finding: the fuzzer keeps the input.
[[noreturn]] void finding(const char* what, const std::string& detail) {
  std::fprintf(stderr, "finding: %s\n%s\n", what, detail.c_str());
  std::abort();
}

void check_accepted(const Module& module) {
  Diagnostics diagnostics;
  verify(module, diagnostics);
  if (diagnostics.has_errors()) {
    finding("an accepted module does not verify", render(diagnostics.all(), Sources::instance(), {}));
  }
  const std::string text = print(module);
  Diagnostics again;
  const ReadResult result = read_source(Sources::instance().add("<printed>", text), {}, again);
  if (again.has_errors())
    finding("a printed module does not read", render(again.all(), Sources::instance(), {}) + text);
  if (result.all_modules().size() != 1) finding("a printed module reads as several", text);
  if (!equal_modulo_names(module, *result.all_modules().front())) {
    finding("a printed module reads as another",
            first_difference(module, *result.all_modules().front()) + "\n" + text);
  }
  if (print(*result.all_modules().front()) != text) finding("printing is no fixed point", text);
}

}  // namespace

// Three of four mutations keep tokens whole.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size == 0 || random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned left = 1 + random() % 4; left > 0; --left) text = fuzzing::mutated(std::move(text), random);
  const std::size_t length = std::min(text.size(), max_size);
  std::copy_n(text.data(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  start();
  if (size == 0) return 0;
  ReadOptions options;
  options.python_file = data[0] == 'P';
  const std::size_t skipped = options.python_file ? 1 : 0;
  std::string text(reinterpret_cast<const char*>(data) + skipped, size - skipped);
  Diagnostics diagnostics;
  const ReadResult result =
      read_source(Sources::instance().add("<fuzz>", std::move(text)), options, diagnostics);
  // Every diagnostic can be shown, and none tells of a defect.
  const std::string shown = render(diagnostics.all(), Sources::instance(), {});
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.error_class == ErrorClass::Internal) finding("an internal error", shown);
  }
  if (!diagnostics.has_errors()) {
    for (const ModulePtr& module : result.all_modules()) {
      if (module->check_well_formed) check_accepted(*module);
    }
  }
  return 0;
}
