// Hangs the lines of the text scanner into the tree of blocks by their indentation.
#include "frontend/text/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/text/text_scanner.h"
#include "support/fix.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr std::array<std::string_view, 13> block_words = {"class",   "def",   "with", "for", "while",
                                                          "if",      "elif",  "else", "try", "except",
                                                          "finally", "async", "match"};

// Hangs flat lines into blocks.
class BlockBuilder {
 public:
  BlockBuilder(std::uint32_t file, std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics), scanner_(file, text, diagnostics) {}

  ScannedSource run();
  TextScanner& scanner() { return scanner_; }
  // For the REPL: whether the last line waits for its block, and how many blocks enclose the end.
  bool expects_body() const { return expecting_ != nullptr && has_colon(*expecting_); }

 private:
  struct Frame {
    Indentation indentation;
    std::vector<Line>* lines;
    Span header;
    bool in_function = false;  // of a decorated definition
  };
  void leave_comments(std::vector<std::string>& comments, const std::vector<std::uint32_t>& columns,
                      std::uint32_t column);
  void place(FlatLine flat);
  void add(Line line);
  void report_missing_body(Span at);
  // A header without its ':' is for the grammar to refuse.
  bool has_colon(const Line& header) const {
    return header.span.end > 0 && text_[header.span.end - 1] == ':';
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  TextScanner scanner_;
  ScannedSource source_;
  std::vector<Frame> frames_;
  Line* expecting_ = nullptr;  // a header whose block has not begun
  Line* suite_ = nullptr;      // a header whose block stands on its own line
};

ScannedSource BlockBuilder::run() {
  frames_.push_back({{}, &source_.lines, {}});
  while (auto flat = scanner_.next()) place(std::move(*flat));
  leave_comments(scanner_.comments(), scanner_.comment_columns(), 0);
  source_.end_comments = std::move(scanner_.comments());
  if (expecting_) report_missing_body(expecting_->span);
  return std::move(source_);
}

// Comment lines above a line of that column which are indented as a block that ends before it stay in the
// block, as further lines of what stands behind its last statement. Blocks of statements outside of functions
// are kept as written, with all their lines.
void BlockBuilder::leave_comments(std::vector<std::string>& comments,
                                  const std::vector<std::uint32_t>& columns, std::uint32_t column) {
  std::size_t left = 0;
  while (left < columns.size() && columns[left] > column && !expecting_) {
    auto frame = frames_.rbegin();
    while (frame != frames_.rend() && frame->indentation.column > columns[left]) ++frame;
    if (frame == frames_.rend() || !frame->in_function || frame->indentation.column <= column) break;
    Line& last = frame->lines->back();
    if (last.header || last.damaged) break;
    last.trailing_comment += "\n" + comments[left++];
  }
  comments.erase(comments.begin(), comments.begin() + static_cast<std::ptrdiff_t>(left));
}

void BlockBuilder::report_missing_body(Span at) {
  if (expecting_->damaged || !has_colon(*expecting_)) return;
  Span header = expecting_->span;
  expecting_->damaged = true;
  Diagnostic& diagnostic =
      diagnostics_.error(ErrorClass::Syntax, Span{header.file, header.end - 1, header.end}, "syntax.indent",
                         fmt::format("expected an indented block after '{}'", expecting_->first_word));
  if (at != header) diagnostic.note(at, "this line is not deeper than the header");
  if (expecting_->first_word == "def" || expecting_->first_word == "class") return;
  // A line that aligns with the header was meant as its body, unless comments show that the body was taken
  // out.
  const auto margin = [&](std::uint32_t place) {
    const std::size_t line = text_.substr(0, place).rfind('\n');
    return line == std::string_view::npos ? place : static_cast<std::uint32_t>(place - line - 1);
  };
  const bool aligned = at != header && margin(at.begin) == margin(header.begin) &&
                       text_.substr(header.end, at.begin - header.end).find('#') == std::string_view::npos;
  diagnostic.notes.push_back(aligned ? indent_this(at)
                                     : insert_here({header.file, header.end - 1, header.end}, " pass"));
}

void BlockBuilder::place(FlatLine flat) {
  if (flat.inline_suite) {
    if (!suite_) suite_ = expecting_;
    expecting_ = nullptr;
    if (suite_) {
      Line& header = *suite_;
      if (opens_block(flat.line.first_word) && !flat.line.damaged && flat.line.header) {
        diagnostics_.error(
            ErrorClass::Syntax, flat.line.span, "syntax.suite",
            fmt::format("found '{}' behind ':'; expected it on a line of its own", flat.line.first_word));
        flat.line.damaged = true;
      }
      header.body.push_back(std::move(flat.line));
    }
    return;
  }
  suite_ = nullptr;
  const Indentation& indentation = flat.indentation;
  auto same = [](const Indentation& a, const Indentation& b) { return a.column == b.column; };
  auto inconsistent = [&](const Indentation& outer) {
    bool deeper = indentation.column > outer.column,
         deeper_alternate = indentation.alternate > outer.alternate;
    bool equal = indentation.column == outer.column,
         equal_alternate = indentation.alternate == outer.alternate;
    return deeper != deeper_alternate || equal != equal_alternate;
  };
  if (inconsistent(frames_.back().indentation) && indentation.column >= frames_.back().indentation.column) {
    diagnostics_.error(ErrorClass::Syntax, flat.line.span, "syntax.tabs",
                       "found tabs and spaces mixed so that the block depends on the tab width");
    flat.line.damaged = true;
  }
  if (expecting_) {
    Line* header = expecting_;
    if (indentation.column > frames_.back().indentation.column) {
      expecting_ = nullptr;
      const std::vector<Line>& around = *frames_.back().lines;
      const bool decorated = around.size() > 1 && around[around.size() - 2].first_word == "@";
      frames_.push_back({indentation, &header->body, header->span,
                         frames_.back().in_function || (decorated && header->first_word == "def")});
      if (frames_.size() - 1 > limits().max_nesting) {
        if (frames_.size() - 1 == limits().max_nesting + std::size_t{1}) {
          diagnostics_.error(ErrorClass::ResourceLimit, flat.line.span, "limit.nesting",
                             fmt::format("found {} nested blocks; expected at most {}, raise --max-nesting",
                                         frames_.size() - 1, limits().max_nesting));
        }
        flat.line.damaged = true;
      }
      add(std::move(flat.line));
      return;
    }
    report_missing_body(flat.line.span);
    expecting_ = nullptr;
  }
  if (indentation.column > frames_.back().indentation.column) {
    Diagnostic& diagnostic =
        diagnostics_.error(ErrorClass::Syntax, flat.line.span, "syntax.indent",
                           "found an indented line; expected one that aligns with its block");
    if (frames_.back().header.known()) diagnostic.note(frames_.back().header, "the block begins here");
    const std::uint32_t surplus = indentation.column - frames_.back().indentation.column,
                        begin = flat.line.span.begin;
    if (begin >= surplus &&
        text_.substr(begin - surplus, surplus).find_first_not_of(' ') == std::string_view::npos)
      diagnostic.notes.push_back(remove_this({flat.line.span.file, begin - surplus, begin}));
    frames_.push_back({indentation, frames_.back().lines, frames_.back().header, frames_.back().in_function});
  } else if (!same(indentation, frames_.back().indentation)) {
    leave_comments(flat.line.comments, flat.comment_columns, indentation.column);
    Frame inner = frames_.back();
    while (frames_.size() > 1 && indentation.column < frames_.back().indentation.column) {
      inner = frames_.back();
      frames_.pop_back();
    }
    if (!same(indentation, frames_.back().indentation)) {
      Diagnostic& diagnostic = diagnostics_.error(ErrorClass::Syntax, flat.line.span, "syntax.indent",
                                                  "found an unindent that matches no outer block");
      const std::uint32_t begin = flat.line.span.begin;
      if (indentation.column > 0 && begin > 0) {
        diagnostic.notes.push_back(
            insert_here({flat.line.span.file, begin - 1, begin},
                        std::string(inner.indentation.column - indentation.column, ' ')));
      }
      // The line most likely belongs to the block that it stands deeper than, so it causes no second error.
      frames_.push_back({indentation, inner.lines, inner.header, inner.in_function});
    }
  }
  add(std::move(flat.line));
}

void BlockBuilder::add(Line line) {
  bool header = line.header;
  std::vector<Line>& lines = *frames_.back().lines;
  lines.push_back(std::move(line));
  if (header) expecting_ = &lines.back();
  scanner_.set_block_depth(frames_.size() - 1);
}

// A line that ends in '\r' alone would go on in a comment or in a text, and what stands behind it would be
// lost without a word. The first one is told of: where it is how the file ends its lines, all are.
void refuse_lone_returns(std::uint32_t file, std::string_view text, Diagnostics& diagnostics) {
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '\n') continue;
    const auto begin = static_cast<std::uint32_t>(at);
    diagnostics
        .error(
            ErrorClass::Syntax, Span{file, begin, begin + 1}, "syntax.line_end",
            "found the character '\\r' without '\\n' behind it, which ends no line here; expected '\\n' or "
            "'\\r\\n'")
        .note("a file whose lines end so is made one of '\\n' by: tr '\\r' '\\n' < OLD > NEW");
    return;
  }
}

}  // namespace

bool opens_block(std::string_view word) {
  return std::find(block_words.begin(), block_words.end(), word) != block_words.end();
}

ScannedSource scan_source(std::uint32_t file, std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > limits().max_source_bytes) {
    diagnostics.error(ErrorClass::ResourceLimit, Span{file, 0, 0}, "limit.source",
                      fmt::format("found a text of {} bytes; expected at most {}, raise --max-source-size",
                                  text.size(), limits().max_source_bytes));
    return {};
  }
  refuse_lone_returns(file, text, diagnostics);
  return BlockBuilder(file, text, diagnostics).run();
}

Missing missing_input(std::string_view text) {
  Diagnostics ignored;
  BlockBuilder builder(0, text, ignored);
  ScannedSource source = builder.run();
  TextScanner& scanner = builder.scanner();
  if (scanner.open_at_end() != Missing::Nothing) return scanner.open_at_end();
  if (source.lines.empty()) return Missing::Nothing;
  const Line& last = source.lines.back();
  if (last.first_word == "@") return Missing::Body;
  if (!last.header) return Missing::Nothing;
  if (builder.expects_body()) return scanner.blank_lines_at_end() == 0 ? Missing::Body : Missing::Nothing;
  if (last.body.empty()) return Missing::Nothing;
  std::uint32_t wanted = last.first_word == "class" ? 2 : 1;
  return scanner.blank_lines_at_end() >= wanted ? Missing::Nothing : Missing::BlankLine;
}

}  // namespace relish
