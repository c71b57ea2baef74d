// Native functions: code of shared libraries that the user names on the command line, and nowhere else. No
// text, environment or data file can name a library, and only functions of the named ones can be called. The
// binary interface is include/relish/native.h.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/native_library.h"
#include "runtime/value.h"
#include "support/source.h"

namespace relish {

class NativeFunctions {
 public:
  // Those of the process. Filled from the command line before anything runs.
  static NativeFunctions& instance();

  // "LIB.so" opens the functions of a library under their own names, "NAME=LIB.so:SYMBOL" one symbol of it
  // under another. PolicyError when others than the owner could change the library, IOError when it cannot be
  // loaded, UsageError when there is no such symbol.
  void opt_in(const std::string& text);
  // Closes all again; for tests.
  void clear();

  // The code of a function; PolicyError at `span` when no library opted in has it.
  RelishNativeFunction find(const std::string& name, Span span);

 private:
  std::shared_ptr<NativeLibrary> open(const std::string& path);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<NativeLibrary>> libraries_;  // by real path
  std::vector<std::shared_ptr<NativeLibrary>> order_;                // those opened as a whole
  std::map<std::string, RelishNativeFunction, std::less<>> functions_;
};

// "env.linear" is the symbol "__tvm_ffi_env_linear".
std::string native_symbol(std::string_view name);

// One argument of a call. What it points to is borrowed.
struct NativeTensor {
  void* data = nullptr;
  DType dtype = DType::Float32;
  std::span<const std::int64_t> shape;
};
struct NativeShape {
  std::span<const std::int64_t> dims;
};
using NativeArgument = std::variant<std::monostate, NativeTensor, ScalarValue, NativeShape, std::string>;

// RuntimeError at `span` for a value of a kind that does not cross the interface; `index` is its position.
NativeArgument native_argument(const Value& value, const std::string& name, std::size_t index, Span span);

// Calls a function with tensors, scalars, strings, shapes and void; destinations are tensors among them.
// RuntimeError at `span` with the library's text when it fails, or when the result is of a kind that does not
// cross the interface. A tensor that the function returns is copied.
Value call_native(const std::string& name, std::span<const NativeArgument> args, Span span);

}  // namespace relish
