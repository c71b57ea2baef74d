// The guards before a text is replaced.
#include "shell/program/text_file.h"

#include <filesystem>

#include "frontend/names/top_level_names.h"
#include "ir/printer/constant_section.h"
#include "shell/program/notebook.h"
#include "shell/program/reading.h"
#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/file_access.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) { return is_python_file(path) || path.ends_with(".relish"); }

TopLevel top_level_without_constants(std::uint32_t source) {
  const std::string_view text = Sources::instance().find(source)->text();
  return top_level_of(source, text.substr(0, find_constant_section(text)));
}

// A text of declarations alone does not replace one that holds statements too.
void refuse_loss(const std::string& path, const std::string& text) {
  std::error_code error;
  if (!is_program(path) || !file_exists(path) || !fs::is_regular_file(path, error)) return;
  const std::uint32_t source =
      Sources::instance().add(path, read_file(path, limits().max_source_bytes, "--max-source-size"));
  const TopLevel old = top_level_without_constants(source);
  // What cannot be read is no program that could be lost; of a Python file much cannot.
  if (old.others.empty() || (old.damaged && !is_python_file(path))) return;
  if (!top_level_without_constants(Sources::instance().add(path, text)).others.empty()) return;
  fail(ErrorClass::Usage, old.others.front(), "program.lost",
       fmt::format(
           "{} holds statements, and the new text has declarations alone: it is not replaced; write to "
           "another file, or remove it first",
           printable(path)));
}

}  // namespace

bool writes_in_place(const std::string& input, const std::string& output) {
  if (input == "-") return false;
  return same_file(input, output) || (is_python_file(input) && is_python_file(output));
}

void write_program_text(const std::string& path, const std::string& text) {
  refuse_to_write_notebook(path);
  refuse_loss(path, text);
  write_file_atomically(path, text);
}

void write_in_place(const SourceText& original, const std::string& path, const std::string& text) {
  refuse_to_write_notebook(path);
  if (!same_file(original.path, path)) return write_program_text(path, text);
  const std::string mark = original.byte_order_mark ? "\xEF\xBB\xBF" : "";
  if (read_file(path, limits().max_source_bytes, "--max-source-size") !=
      mark + Sources::instance().find(original.source)->text()) {
    fail_at(ErrorClass::IO, path, "program.changed", "the file was changed since it was read; run it again");
  }
  write_file_atomically(path, text);
}

}  // namespace relish
