// Notebooks are JSON: a list of cells, each with its lines, also in the form before 2015.
#include "shell/program/notebook.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frontend/text/scanner.h"
#include "runtime/files/data_file.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& path, std::string_view message) {
  data_failure(path, "notebook.form", fmt::format("no notebook: {}", message));
}

// The lines of a cell: one str, or a list of them.
std::string source_of(const std::string& path, const json& cell) {
  const json& source = cell.contains("source")  ? cell["source"]
                       : cell.contains("input") ? cell["input"]
                                                : cell;
  if (source.is_string()) return source.get<std::string>();
  if (!source.is_array()) refuse(path, "a code cell has no source");
  std::string text;
  for (const json& line : source) {
    if (!line.is_string()) refuse(path, "a line of a code cell is no str");
    text += line.get<std::string>();
  }
  return text;
}

// %matplotlib, !ls, ?name, name?; a line of a text that ends in a question mark is none.
bool is_command(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return false;
  line.remove_prefix(first);
  if (line.front() == '%' || line.front() == '!' || line.front() == '?') return true;
  if (!line.ends_with('?')) return false;
  while (line.ends_with('?')) line.remove_suffix(1);
  return !line.empty() && std::all_of(line.begin(), line.end(),
                                      [](char c) { return is_name_part(c) || c == '.' || c == '*'; });
}

// %%bash and its like are of another language; %%time stands above Python.
bool is_foreign(std::string_view text) {
  if (!text.starts_with("%%")) return false;
  const std::string_view word = text.substr(2, text.find_first_of(" \t\r\n") - 2);
  constexpr std::string_view python[] = {"time", "timeit", "capture", "prun", "python", "python3"};
  return std::find(std::begin(python), std::end(python), word) == std::end(python);
}

// Which text of three quotation marks a line leaves open, 0 for none, when `open` is open at its beginning.
char open_behind(std::string_view line, char open) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool quote = c == '"' || c == '\'';
    const bool triple = quote && line.substr(i, 3) == std::string(3, c);
    if (c == '\\') {
      ++i;
    } else if (open != 0) {
      if (!triple || c != open) continue;
      open = 0;
      i += 2;
    } else if (c == '#') {
      break;
    } else if (triple) {
      open = c;
      i += 2;
    } else if (quote) {
      for (++i; i < line.size() && line[i] != c; ++i) i += line[i] == '\\' ? 1 : 0;
    }
  }
  return open;
}

std::string with_comments(std::string_view text) {
  std::string result;
  const bool foreign = is_foreign(text);
  char open = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (foreign || (open == 0 && is_command(line)))
      result += "# ";
    else
      open = open_behind(line, open);
    result += line;
    result += '\n';
    at = end + 1;
  }
  return result;
}

// Python reads cells one by one, so a text that a cell leaves open ends no later than the cell; read in one
// piece, it would take the cells behind it in.
void refuse_open_text(const std::string& path, int number, std::string_view cell) {
  if (missing_input(cell) != Missing::String) return;
  Diagnostics faults;
  scan_source(0, cell, faults);
  for (const Diagnostic& fault : faults.all()) {
    if (fault.id != "syntax.string" || fault.span.end - fault.span.begin != 3) continue;
    const std::string_view before = cell.substr(0, fault.span.begin);
    fail_at(ErrorClass::Syntax, path, "notebook.string",
            fmt::format("code cell {}, line {}: {}", number,
                        std::count(before.begin(), before.end(), '\n') + 1, fault.message));
  }
}

const json& cells_of(const std::string& path, const json& notebook) {
  if (!notebook.is_object()) refuse(path, "expected an object with a list of cells");
  if (notebook.contains("cells") && notebook["cells"].is_array()) return notebook["cells"];
  const bool sheets =
      notebook.contains("worksheets") && notebook["worksheets"].is_array() && !notebook["worksheets"].empty();
  const json* first = sheets ? &notebook["worksheets"][0] : nullptr;
  if (first && first->is_object() && first->contains("cells") && (*first)["cells"].is_array())
    return (*first)["cells"];
  refuse(path, "found no list of cells");
}

}  // namespace

bool is_notebook(std::string_view path) { return path.size() > 6 && path.ends_with(".ipynb"); }

std::string code_of_notebook(const std::string& path, std::string_view text) {
  const json notebook = json::parse(text.begin(), text.end(), nullptr, false);
  if (notebook.is_discarded()) refuse(path, "the file is no JSON");
  std::string code;
  int number = 0;
  for (const json& cell : cells_of(path, notebook)) {
    const bool is_code = cell.is_object() && cell.contains("cell_type") && cell["cell_type"] == "code";
    if (!is_code) continue;
    ++number;
    const std::string lines = with_comments(source_of(path, cell));
    refuse_open_text(path, number, lines);
    code += fmt::format("{}# In[{}]:\n\n{}", number == 1 ? "" : "\n\n", number, lines);
  }
  return code;
}

void refuse_to_write_notebook(const std::string& path) {
  if (!is_notebook(path)) return;
  fail(ErrorClass::Usage, {}, "notebook.write",
       fmt::format("{} is a notebook, which is read and not written; write to a .py or .relish file",
                   printable(path)));
}

}  // namespace relish
