// Which functions were opted in.
#include <algorithm>

#include "runtime/native.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A name of a function: words with points between them. What else stands before a '=' belongs to a path.
bool is_function_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '.'; });
}

}  // namespace

std::string native_symbol(std::string_view name) {
  std::string symbol = "__tvm_ffi_";
  for (char c : name) symbol += is_word(c) ? c : '_';
  return symbol;
}

NativeFunctions& NativeFunctions::instance() {
  static NativeFunctions functions;
  return functions;
}

std::shared_ptr<NativeLibrary> NativeFunctions::open(const std::string& path) {
  auto library = std::make_shared<NativeLibrary>(path);
  return libraries_.emplace(library->path(), library).first->second;
}

void NativeFunctions::opt_in(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || !is_function_name(name)) {
    auto library = open(text);
    if (std::find(order_.begin(), order_.end(), library) == order_.end()) order_.push_back(library);
    return;
  }
  std::string path = text.substr(equals + 1);
  std::string symbol = native_symbol(name);
  if (const std::size_t colon = path.rfind(':'); colon != std::string::npos) {
    symbol = path.substr(colon + 1);
    path.resize(colon);
  }
  RelishNativeFunction code = open(path)->symbol(symbol);
  if (code == nullptr) {
    fail_at(ErrorClass::Usage, path, "native.symbol",
            fmt::format("--native {}: the library defines no function '{}'", name, printable(symbol)));
  }
  if (!functions_.emplace(name, code).second) {
    fail_at(ErrorClass::Usage, path, "native.twice", fmt::format("--native names {} twice", name));
  }
}

void NativeFunctions::clear() {
  const std::lock_guard lock(mutex_);
  libraries_.clear();
  order_.clear();
  functions_.clear();
}

RelishNativeFunction NativeFunctions::find(const std::string& name, Span span) {
  const std::lock_guard lock(mutex_);
  if (auto known = functions_.find(name); known != functions_.end()) return known->second;
  const std::string symbol = native_symbol(name);
  for (const auto& library : order_) {
    if (RelishNativeFunction code = library->symbol(symbol))
      return functions_.emplace(name, code).first->second;
  }
  if (order_.empty()) {
    fail(ErrorClass::Policy, span, "native.unknown",
         fmt::format("native function '{}' is not opted in; expected its library with --native",
                     printable(name)));
  }
  fail(ErrorClass::Policy, span, "native.unknown",
       fmt::format("native function '{}' is not opted in; no library named with --native defines '{}'",
                   printable(name), printable(symbol)));
}

}  // namespace relish
