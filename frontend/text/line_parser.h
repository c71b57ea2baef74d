// Parses one logical line, or a field of an f-string, with the ANTLR grammar and gives it as syntax tree. The
// only door between ANTLR and the rest of the front end.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/text/ast.h"
#include "frontend/text/scanner.h"
#include "support/diagnostic.h"

namespace relish {

class LineParser {
 public:
  LineParser(std::uint32_t file, std::string_view text, Diagnostics& diagnostics);
  ~LineParser();

  // Each returns nothing after reporting what is wrong. A header comes as its statement with an empty body;
  // `elif` and `else` come as an If with one branch, the condition of `else` being null.
  std::optional<ast::Statement> simple(const Line& line);
  std::optional<ast::Statement> header(const Line& line);
  ast::ExprPtr decorator(const Line& line);
  // A slice of the source that holds one expression, such as the inside of a string that is a dimension.
  ast::ExprPtr expression(std::size_t begin, std::size_t end);

  // Whether chains of calls and subscripts (x.astype(...).astype(...), t[0][0]) may be longer than the
  // nesting limit: in the body of a function, which flattens them to bindings.
  bool long_chains() const;
  void set_long_chains(bool allowed);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relish
