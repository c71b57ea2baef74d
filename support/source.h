// Source texts and the spans that point into them. A span is a file id and a byte range, so it costs twelve
// bytes in every node; line and column are computed only when a diagnostic is printed. REPL inputs, `-e`
// texts and standard input are files too, under names such as "<in 3>".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// A half-open byte range [begin, end) of the source with id `file`; file 0 means "made by the compiler".
struct Span {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool known() const { return file != 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both; the known one if the other is unknown or of another file.
Span cover(Span a, Span b);

struct LineColumn {
  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1, in code points
};

// One source text. Immutable after construction; a byte order mark is dropped and CRLF is kept as bytes (the
// scanner treats "\r\n" as one line end).
class SourceFile {
 public:
  // `first_line`: the number of the text's first line, of one that is a part of another.
  SourceFile(std::string name, std::string text, std::uint32_t first_line = 1);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  // The folder against which relative `load` paths of this file are resolved; empty for the current folder.
  std::string folder() const;
  LineColumn position(std::uint32_t offset) const;
  // The text of a line, by its number, without its line end.
  std::string_view line(std::uint32_t number) const;
  std::uint32_t first_line() const { return first_line_; }
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::uint32_t first_line_;
  std::vector<std::uint32_t> line_starts_;
};

// All sources of the process, by id from 1. Adding is thread-safe; files are never removed, so references
// stay valid.
class Sources {
 public:
  static Sources& instance();

  std::uint32_t add(std::string name, std::string text, std::uint32_t first_line = 1);
  // Null for id 0 or an unknown id.
  const SourceFile* find(std::uint32_t id) const;

 private:
  Sources();
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace relish
