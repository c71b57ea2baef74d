// Reading of whole sources for tests: what was read beside what was told, and the printing law.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/reader.h"
#include "helpers.h"
#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/stdlib.h"

namespace relish::test {

struct Read {
  ReadResult result;
  std::string errors;
};

inline Read read(std::string text, const ReadOptions& options = {}) {
  install_stdlib();
  install_front_end();
  Diagnostics diagnostics;
  Read read;
  read.result = read_source(add_source(std::move(text)), options, diagnostics);
  read.errors = short_text(diagnostics);
  return read;
}

// The module's text; or the errors. Checks the printing law and the verifier on the way.
inline std::string canonical(const std::string& text, const ReadOptions& options = {}) {
  Read first = read(text, options);
  if (!first.errors.empty() || first.result.all_modules().empty()) return first.errors;
  Module module = *first.result.all_modules().front();
  Diagnostics diagnostics;
  verify(module, diagnostics);
  CHECK(short_text(diagnostics) == "");
  std::string printed = print(module);
  Read again = read(printed);
  CHECK(again.errors == "");
  REQUIRE(again.result.modules.size() == 1);
  CHECK(first_difference(module, *again.result.modules[0]) == "");
  CHECK(equal_modulo_names(module, *again.result.modules[0]));
  CHECK(print(*again.result.modules[0]) == printed);
  return printed;
}

// The function with that head, whose body these lines are.
inline std::string function_of(std::string head, const std::string& body) {
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    head += "  " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return head;
}

}  // namespace relish::test
