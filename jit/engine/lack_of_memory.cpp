// LLVM is built without exceptions, so that nothing can be unwound through it.
#include "jit/engine/lack_of_memory.h"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string_view>

#include "support/error_class.h"
#include "support/failure.h"
#include "support/limits.h"
#include "support/unfinished_files.h"

namespace relish::jit {
namespace {

std::atomic<bool> lacks{false};

[[noreturn]] void end_without_memory(void*, const char*, bool) {
  constexpr std::string_view line =
      "relish: error[ResourceLimit]: the memory of the process is used up while code is compiled; raise the "
      "limits of the process (ulimit -v, ulimit -d) [limit.memory]\n";
  remove_unfinished_files();
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(exit_code_of(ErrorClass::ResourceLimit));
}

}  // namespace

void require_addresses() {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20, least = 512;
  const std::uint64_t allowed = address_limit();
  if (allowed / mebibyte >= least) return;
  fail(
      ErrorClass::ResourceLimit, {}, "limit.memory",
      fmt::format("the process may have {} MiB of addresses (ulimit -v, ulimit -d); to compile takes {} MiB, "
                  "--tier interp less",
                  allowed / mebibyte, least));
}

void meet_lack_of_memory(llvm::orc::ExecutionSession& session) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_bad_alloc_error_handler(end_without_memory); });
  session.setErrorReporter([](llvm::Error error) {
    const std::string text = llvm::toString(std::move(error));
    if (text.find("Cannot allocate memory") != text.npos)
      lacks.store(true);
    else
      llvm::errs() << "JIT session error: " << text << "\n";
  });
}

bool memory_lacked() { return lacks.exchange(false); }

}  // namespace relish::jit
