// Checks on the file of a library, and the system's loader.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "runtime/native_library.h"
#include "support/failure.h"
#include "support/nearest_file.h"
#include "support/render.h"

namespace relish {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void cannot_open(const std::string& path) {
  const int reason = errno;
  fail_at(
      ErrorClass::IO, path, "native.library",
      fmt::format("cannot open: {}{}", std::strerror(reason), reason == ENOENT ? nearest_entry(path) : ""));
}

// Whoever can write here can have us run what he likes.
void check_owner_only(const std::string& path, const std::string& checked, const std::string& what) {
  struct stat status = {};
  if (::stat(checked.c_str(), &status) != 0) cannot_open(path);
  const char* who = (status.st_mode & S_IWOTH)   ? "everybody"
                    : (status.st_mode & S_IWGRP) ? "a group"
                                                 : nullptr;
  if (who == nullptr) return;
  fail_at(ErrorClass::Policy, path, "native.writable",
          fmt::format("{} is writable by {}; expected by its owner alone", what, who));
}

}  // namespace

NativeLibrary::NativeLibrary(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) cannot_open(path);
  path_ = real;
  std::free(real);
  struct stat status = {};
  if (::stat(path_.c_str(), &status) != 0) cannot_open(path);
  if (!S_ISREG(status.st_mode)) fail_at(ErrorClass::IO, path, "native.library", "is not a regular file");
  check_owner_only(path, path_, "the library");
  check_owner_only(path, folder_of(path_), "its folder " + printable(folder_of(path_)));
  // A link that can be turned elsewhere is as good as the file.
  if (folder_of(path) != folder_of(path_))
    check_owner_only(path, folder_of(path), "its folder " + printable(folder_of(path)));

  handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* reason = ::dlerror();
    fail_at(
        ErrorClass::IO, path, "native.library",
        fmt::format("cannot load the library: {}", printable(reason != nullptr ? reason : "no reason", 300)));
  }
}

RelishNativeFunction NativeLibrary::symbol(const std::string& name) const {
  void* address = ::dlsym(handle_, name.c_str());
  if (address == nullptr) return nullptr;
  Dl_info info = {};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  char* real = ::realpath(info.dli_fname, nullptr);
  const bool own = real != nullptr && path_ == real;
  std::free(real);
  RelishNativeFunction function = nullptr;
  if (own) std::memcpy(static_cast<void*>(&function), static_cast<void*>(&address), sizeof function);
  return function;
}

}  // namespace relish
