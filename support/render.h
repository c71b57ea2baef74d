// Rendering of diagnostics to text: a pure function of diagnostics, sources and options, tested with plain
// strings.
//
//   model.relish:12:9: error[TypeError]: matmul: inner lengths 128 and 64 differ; expected equal lengths
//   [matmul.inner]
//       y = R.matmul(x, w)
//           ^~~~~~~~~~~~~~
//   model.relish:3:24: note: w has type R.Tensor((64, 10), "float32")
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/diagnostic.h"

namespace relish {

struct RenderOptions {
  bool color = false;
  std::size_t limit = 20;  // diagnostics shown; then "N more"
};

std::string render(std::span<const Diagnostic> diagnostics, const Sources& sources,
                   const RenderOptions& options);
// One JSON object a line: file, line, column, end_line, end_column, severity, class, id, message, notes.
std::string render_json(std::span<const Diagnostic> diagnostics, const Sources& sources);

// A token of user text as it may be shown: at most 80 characters, control characters and escapes made
// visible, invalid UTF-8 replaced.
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace relish
