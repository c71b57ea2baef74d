// A library that is loaded before those of the program under test (LD_PRELOAD) and stands between it and the
// system. At one call on one file it kills the process, sends it a signal, lets the call fail or puts a
// link in the way: moments that nobody would meet by chance. RELISH_DISTURBANCE says which, as pairs
// KEY=VALUE:
//   call=load|open|write|sync|rename|unlink|cut|thread|clock; load: libraries begin, the program has not
//   file=TEXT       a part of the path; with $ at its end, its end
//   number=1        the how-manieth such call; of `write` the how-manieth such file that was opened
//   times=1         for so many calls from that one on
//   bytes=0         of `write`: behind so many bytes of the file
//   after=0         1: behind the call
//   action=kill|signal|wait|fail|link|swap|shift    value=N   path=TEXT   to=TEXT
// Each action leaves a line with its time, in nanoseconds of the monotonic clock, in the file mark=PATH.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

// What the program calls, by these very names.
#define RELISH_SEEN extern "C" __attribute__((visibility("default")))

namespace {

constexpr int most_descriptors = 4096;
constexpr std::size_t path_bytes = 1024;

struct Plan {
  char call[16] = "", file[128] = "", action[16] = "", path[512] = "", to[512] = "", mark[512] = "";
  long number = 1, times = 1, bytes = 0, value = 0;
  bool after = false;

  Plan() {
    const char* text = ::getenv("RELISH_DISTURBANCE");
    if (text == nullptr) return;
    char copy[2048];
    ::snprintf(copy, sizeof copy, "%s", text);
    char* rest = nullptr;
    for (char* pair = ::strtok_r(copy, " ", &rest); pair != nullptr; pair = ::strtok_r(nullptr, " ", &rest))
      take(pair);
  }

 private:
  void take(char* pair) {
    char* value_text = ::strchr(pair, '=');
    if (value_text == nullptr) return;
    *value_text++ = '\0';
    const auto text = [&](const char* key, char* into, std::size_t size) {
      if (::strcmp(pair, key) == 0) ::snprintf(into, size, "%s", value_text);
    };
    const auto count = [&](const char* key, long& into) {
      if (::strcmp(pair, key) == 0) into = ::atol(value_text);
    };
    text("call", call, sizeof call);
    text("file", file, sizeof file);
    text("action", action, sizeof action);
    text("path", path, sizeof path);
    text("to", to, sizeof to);
    text("mark", mark, sizeof mark);
    count("number", number);
    count("times", times);
    count("bytes", bytes);
    count("value", value);
    long behind = after ? 1 : 0;
    count("after", behind);
    after = behind != 0;
  }
};

const Plan& plan() {
  static const Plan read_once;
  return read_once;
}

std::atomic<long> calls{0}, files{0};
std::atomic<long> file_numbers[most_descriptors], bytes_written[most_descriptors];

bool does(const char* action) { return ::strcmp(plan().action, action) == 0; }
bool waits_for(const char* call) { return ::strcmp(plan().call, call) == 0; }

bool is_meant(const char* path) {
  const char* part = plan().file;
  const std::size_t length = ::strlen(part), of_path = ::strlen(path);
  if (length == 0 || part[length - 1] != '$') return ::strstr(path, part) != nullptr;
  return of_path >= length - 1 && ::strncmp(path + of_path - (length - 1), part, length - 1) == 0;
}

bool is_due(long number) { return number >= plan().number && number < plan().number + plan().times; }

void path_of(int descriptor, char* path) {
  char name[64];
  ::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  const ssize_t size = ::readlink(name, path, path_bytes - 1);
  path[size > 0 ? size : 0] = '\0';
}

void path_of(int folder, const char* name, char* path) {
  if (folder == AT_FDCWD || name[0] == '/') {
    ::snprintf(path, path_bytes, "%s", name);
    return;
  }
  path_of(folder, path);
  const std::size_t length = ::strlen(path);
  ::snprintf(path + length, path_bytes - length, "/%s", name);
}

void leave_mark() {
  if (plan().mark[0] == '\0') return;
  timespec now = {};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  char line[64];
  const int size = ::snprintf(line, sizeof line, "%lld\n",
                              static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
  const long file =
      ::syscall(SYS_openat, AT_FDCWD, plan().mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)!::syscall(SYS_write, file, line, size);
  ::syscall(SYS_close, file);
}

// Whether the call shall fail, with errno.
bool act() {
  const int kept = errno;
  leave_mark();
  if (does("kill")) {
    ::syscall(SYS_kill, ::getpid(), SIGKILL);
    while (true) ::pause();
  }
  if (does("signal")) ::syscall(SYS_kill, ::getpid(), plan().value);
  if (does("wait")) {
    const timespec time = {plan().value / 1000, plan().value % 1000 * 1'000'000};
    ::syscall(SYS_nanosleep, &time, nullptr);
  }
  if (does("swap")) {
    // The folder `path` makes way for a link.
    char moved[2 * path_bytes];
    ::snprintf(moved, sizeof moved, "%s.moved", plan().path);
    ::syscall(SYS_renameat, AT_FDCWD, plan().path, AT_FDCWD, moved);
    ::syscall(SYS_symlinkat, plan().to, AT_FDCWD, plan().path);
  }
  errno = does("fail") ? static_cast<int>(plan().value) : kept;
  return does("fail");
}

// The call itself, with what is planned before or behind it.
template <class Call>
long around(const char* name, const char* path, const Call& call) {
  const bool now = waits_for(name) && is_meant(path) && is_due(++calls);
  if (now && !plan().after && act()) return -1;
  const long result = call();
  if (now && plan().after) act();
  return result;
}

long open_at(int folder, const char* name, int flags, unsigned mode) {
  const auto open = [&] { return ::syscall(SYS_openat, folder, name, flags, mode); };
  char path[path_bytes];
  path_of(folder, name, path);
  // A link stands where a new file is to be made, each other time: so often there is another try.
  if (waits_for("open") && does("link") && (flags & O_EXCL) != 0 && is_meant(path)) {
    if (calls++ % 2 != 0) return open();
    leave_mark();
    ::syscall(SYS_symlinkat, plan().to, folder, name);
    const long opened = open();
    const int kept = errno;
    if (opened < 0) ::syscall(SYS_unlinkat, folder, name, 0);
    errno = kept;
    return opened;
  }
  const long opened = around("open", path, open);
  if (opened >= 0 && opened < most_descriptors && waits_for("write")) {
    file_numbers[opened] = is_meant(path) ? ++files : 0;
    bytes_written[opened] = 0;
  }
  return opened;
}

// The first bytes up to the planned one, what is planned, and the rest.
long write_to(int descriptor, const char* data, std::size_t size) {
  const auto write = [&](std::size_t from, std::size_t to) {
    return ::syscall(SYS_write, descriptor, data + from, to - from);
  };
  const bool counted = descriptor >= 0 && descriptor < most_descriptors;
  if (!counted || !waits_for("write") || !is_due(file_numbers[descriptor])) return write(0, size);
  const long before = bytes_written[descriptor], end = before + static_cast<long>(size);
  if (plan().bytes < before || plan().bytes > end) {
    bytes_written[descriptor] = end;
    return write(0, size);
  }
  const auto part = static_cast<std::size_t>(plan().bytes - before);
  if (part > 0) (void)!write(0, part);
  bytes_written[descriptor] = plan().bytes;
  if (act()) return -1;
  bytes_written[descriptor] = end;
  return part == size || write(part, size) >= 0 ? static_cast<long>(size) : -1;
}

__attribute__((constructor)) void begin() {
  if (waits_for("load")) act();
}

unsigned mode_of(int flags, va_list& rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
}

}  // namespace

RELISH_SEEN int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = mode_of(flags, rest);
  va_end(rest);
  return static_cast<int>(open_at(AT_FDCWD, path, flags, mode));
}

RELISH_SEEN int openat(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = mode_of(flags, rest);
  va_end(rest);
  return static_cast<int>(open_at(folder, name, flags, mode));
}

RELISH_SEEN ssize_t write(int descriptor, const void* data, size_t size) {
  return write_to(descriptor, static_cast<const char*>(data), size);
}

RELISH_SEEN int fsync(int descriptor) {
  char path[path_bytes];
  path_of(descriptor, path);
  return static_cast<int>(around("sync", path, [&] { return ::syscall(SYS_fsync, descriptor); }));
}

RELISH_SEEN int close(int descriptor) {
  if (descriptor >= 0 && descriptor < most_descriptors) file_numbers[descriptor] = 0;
  return static_cast<int>(::syscall(SYS_close, descriptor));
}

RELISH_SEEN int renameat(int from, const char* old_name, int to, const char* new_name) {
  char path[path_bytes];
  path_of(to, new_name, path);
  return static_cast<int>(around("rename", path, [&] {
    if (waits_for("rename") && does("link") && is_meant(path)) {
      ::syscall(SYS_unlinkat, to, new_name, 0);
      ::syscall(SYS_symlinkat, plan().to, to, new_name);
    }
    return ::syscall(SYS_renameat, from, old_name, to, new_name);
  }));
}

RELISH_SEEN int unlinkat(int folder, const char* name, int flags) {
  char path[path_bytes];
  path_of(folder, name, path);
  return static_cast<int>(
      around("unlink", path, [&] { return ::syscall(SYS_unlinkat, folder, name, flags); }));
}

RELISH_SEEN int ftruncate(int descriptor, off_t length) {
  char path[path_bytes];
  path_of(descriptor, path);
  return static_cast<int>(around("cut", path, [&] { return ::syscall(SYS_ftruncate, descriptor, length); }));
}

RELISH_SEEN int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                               void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (waits_for("thread") && is_due(++calls) && act()) return errno;
  return create(thread, attributes, work, argument);
}

// The clock of the day jumps by `value` seconds.
RELISH_SEEN int clock_gettime(clockid_t clock, timespec* time) {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME && waits_for("clock") && is_due(++calls)) time->tv_sec += plan().value;
  return result;
}
