// A shared library that was opted in: who may change it, loading, and looking up what it defines itself.
#pragma once

#include <string>

#include "include/relish/native.h"

namespace relish {

class NativeLibrary {
 public:
  // PolicyError, IOError: see NativeFunctions::opt_in.
  explicit NativeLibrary(const std::string& path);
  NativeLibrary(const NativeLibrary&) = delete;
  NativeLibrary& operator=(const NativeLibrary&) = delete;
  // Stays loaded: threads and handlers that the library started may outlive us.
  ~NativeLibrary() = default;

  const std::string& path() const { return path_; }
  // A function that the library defines, or null. What its dependencies define is not found: else every
  // function of the C library could be reached through it.
  RelishNativeFunction symbol(const std::string& name) const;

 private:
  std::string path_;
  void* handle_ = nullptr;
};

}  // namespace relish
