// Writing the text of a program so that nothing of a user's is lost by it: statements of a file are not
// replaced by declarations alone.
#pragma once

#include <string>

#include "shell/program/program_file.h"

namespace relish {

// Whether `output` is the file that `input` names, or both are Python files: then the input's text is changed
// in its place, and written whole.
bool writes_in_place(const std::string& input, const std::string& output);

// UsageError when `path` is a text with statements and the new one has declarations alone. IOError.
void write_program_text(const std::string& path, const std::string& text);
// The same for what was made of `original`, of which everything is kept. IOError when its file is no longer
// as it was read.
void write_in_place(const SourceText& original, const std::string& path, const std::string& text);

}  // namespace relish
