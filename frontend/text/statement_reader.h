// From the scanner's lines to statements with their bodies: parses each line, puts decorators before
// definitions and elif/else behind their if, and refuses by name what the language does not have.
#pragma once

#include <span>
#include <vector>

#include "frontend/context.h"

namespace relish {

class StatementReader {
 public:
  explicit StatementReader(ReadContext& context) : context_(context) {}

  // The statements of one block. A refused line becomes a Damaged statement.
  ast::Block read(std::span<const Line> lines);

 private:
  void read_line(const Line& line, ast::Block& into);
  void read_branch(const Line& line, ast::Block& into);
  ast::Statement damaged(const Line& line);
  bool refuse_by_name(const Line& line);
  void attach_body(const Line& line, ast::Statement& statement);

  ReadContext& context_;
  struct Pending {
    std::vector<ast::ExprPtr> decorators;
    std::vector<std::string> comments;
    std::size_t comments_above = 0;
    Span span;
    bool damaged = false;
  };
  Pending pending_;
  bool outside_ = true;  // only classes enclose the line
};

// The end of the last line of a block, and the place of a line with its block.
std::uint32_t end_of(const Line& line);
CommentsPtr comments_of(const Line& line);

}  // namespace relish
