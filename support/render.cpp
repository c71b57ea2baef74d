// Rendering of diagnostics. Source lines and messages are shown with control characters made visible, so that
// no text of a user can steer the terminal; columns are counted in code points, and marks stand below the
// cells that a terminal shows.
#include "support/render.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "support/character_width.h"
#include "support/fix.h"
#include "support/render_within.h"

namespace relish {
namespace {

// Columns of a source line that are shown; longer lines are cut around the fault.
constexpr std::size_t max_line_columns = 120, least_line_columns = 20;
// In front of the line, and of the signs that something is left out.
constexpr std::size_t margin_columns = 4, cut_columns = 6;
constexpr std::size_t tab_width = 4;

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;
};

// Decodes the code point at `offset`; a byte that starts none is invalid and one byte long.
CodePoint decode(std::string_view text, std::size_t offset) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || offset + length > text.size()) return {0, 1, false};
  char32_t value = first & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 1, false};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {0, 1, false};
  return {value, length, true};
}

// Characters that move the cursor, change direction or cannot be seen.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

// The visible text of the code point at `offset`.
std::string visible(std::string_view text, std::size_t offset, const CodePoint& point) {
  if (!point.valid) return "\xEF\xBF\xBD";
  if (!is_control(point.value)) return std::string(text.substr(offset, point.bytes));
  switch (point.value) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  auto value = static_cast<std::uint32_t>(point.value);
  return value < 0x100 ? fmt::format("\\x{:02x}", value) : fmt::format("\\u{:04x}", value);
}

std::string visible_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    CodePoint point = decode(text, i);
    result += visible(text, i, point);
    i += point.bytes;
  }
  return result;
}

// A source line as shown, with the column at which each of its code points starts (and one more for the end).
struct ShownLine {
  std::vector<std::string> cells;
  std::vector<std::size_t> columns;
};

ShownLine lay_out(std::string_view line) {
  ShownLine shown;
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size();) {
    CodePoint point = decode(line, i);
    std::string cell;
    std::size_t width = 1;
    if (point.valid && point.value == '\t') {
      width = tab_width - column % tab_width;
      cell = std::string(width, ' ');
    } else {
      cell = visible(line, i, point);
      if (point.valid) width = is_control(point.value) ? cell.size() : character_width(point.value);
    }
    shown.columns.push_back(column);
    shown.cells.push_back(std::move(cell));
    column += width;
    // An invalid byte that continues no code point shares the column of the one before, as in
    // SourceFile::position.
    i += point.bytes;
  }
  shown.columns.push_back(column);
  return shown;
}

// Number of code points of `line` that start before its byte `offset`.
std::size_t code_points_before(std::string_view line, std::size_t offset) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(offset, line.size()); ++count) i += decode(line, i).bytes;
  return count;
}

// Two lines: the source line and the marks below the span, which end with the line when the span goes on.
std::string render_excerpt(const SourceFile& file, Span span, std::size_t columns) {
  const std::size_t context_before_fault = columns / 3;
  std::uint32_t number = file.position(span.begin).line;
  std::string_view line = file.line(number);
  std::size_t line_begin = static_cast<std::size_t>(line.data() - file.text().data());
  if (line.data() == nullptr) return {};
  ShownLine shown = lay_out(line);
  std::size_t count = shown.cells.size();
  std::size_t begin = std::min(code_points_before(line, span.begin - line_begin), count);
  std::size_t span_end = std::max<std::size_t>(span.end, span.begin);
  std::size_t end = std::min(code_points_before(line, span_end - line_begin), count);

  std::size_t first = 0;
  std::size_t last = count;
  std::string lead;
  std::string tail;
  if (shown.columns[count] > columns) {
    if (shown.columns[begin] > context_before_fault) {
      while (shown.columns[first] + context_before_fault < shown.columns[begin]) ++first;
    }
    while (last > first && shown.columns[last] > shown.columns[first] + columns) --last;
    if (first > 0) lead = "...";
    if (last < count) tail = "...";
  }
  begin = std::clamp(begin, first, last);
  end = std::clamp(end, begin, last);

  std::string text = "    " + lead;
  for (std::size_t i = first; i < last; ++i) text += shown.cells[i];
  text += tail;
  while (text.ends_with(' ')) text.pop_back();
  std::size_t marks = std::max<std::size_t>(shown.columns[end] - shown.columns[begin], 1);
  std::string under(4 + lead.size() + shown.columns[begin] - shown.columns[first], ' ');
  under += '^';
  under.append(marks - 1, '~');
  return text + "\n" + under + "\n";
}

struct Palette {
  std::string_view bold, error, warning, note, mark, reset;
};
constexpr Palette plain_palette = {"", "", "", "", "", ""};
constexpr Palette color_palette = {"\x1b[1m",    "\x1b[1;31m", "\x1b[1;35m",
                                   "\x1b[1;36m", "\x1b[1;32m", "\x1b[0m"};

// "file:line:col: ", or the place, or `fallback`.
std::string render_place(Span span, std::string_view place, const Sources& sources,
                         std::string_view fallback) {
  if (const SourceFile* file = sources.find(span.file)) {
    LineColumn position = file->position(span.begin);
    return fmt::format("{}:{}:{}: ", visible_text(file->name()), position.line, position.column);
  }
  if (!place.empty()) return visible_text(place) + ": ";
  return std::string(fallback);
}

void render_one(std::string& out, const Diagnostic& diagnostic, const Sources& sources, const Palette& colors,
                std::size_t columns) {
  out += colors.bold;
  out += render_place(diagnostic.span, diagnostic.place, sources, "relish: ");
  out += colors.reset;
  switch (diagnostic.severity) {
    case Severity::Error:
      out += fmt::format("{}error[{}]:{} ", colors.error, name_of(diagnostic.error_class), colors.reset);
      break;
    case Severity::Warning:
      out += fmt::format("{}warning:{} ", colors.warning, colors.reset);
      break;
    case Severity::Note:
      out += fmt::format("{}note:{} ", colors.note, colors.reset);
      break;
  }
  out += visible_text(diagnostic.message);
  if (!diagnostic.id.empty()) out += fmt::format(" [{}]", diagnostic.id);
  out += '\n';
  if (const SourceFile* file = sources.find(diagnostic.span.file)) {
    std::string excerpt = render_excerpt(*file, diagnostic.span, columns);
    std::size_t marks = excerpt.find('\n') + 1;
    out += excerpt.substr(0, marks);
    out +=
        fmt::format("{}{}{}\n", colors.mark, excerpt.substr(marks, excerpt.size() - marks - 1), colors.reset);
  }
  for (const DiagnosticNote& note : diagnostic.notes) {
    out += fmt::format("{}{}note:{} {}\n", render_place(note.span, "", sources, ""), colors.note,
                       colors.reset, visible_text(note.text));
  }
}

nlohmann::ordered_json json_place(Span span, std::string_view place, const Sources& sources) {
  nlohmann::ordered_json result;
  const SourceFile* file = sources.find(span.file);
  if (file == nullptr) {
    result["file"] =
        place.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(std::string(place));
    for (const char* key : {"line", "column", "end_line", "end_column"}) result[key] = nullptr;
    return result;
  }
  LineColumn begin = file->position(span.begin);
  LineColumn end = file->position(std::max(span.begin, span.end));
  result["file"] = file->name();
  result["line"] = begin.line;
  result["column"] = begin.column;
  result["end_line"] = end.line;
  result["end_column"] = end.column;
  return result;
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "error";
}

}  // namespace

std::string render(std::span<const Diagnostic> diagnostics, const Sources& sources,
                   const RenderOptions& options) {
  return render_within(max_line_columns + margin_columns + cut_columns, diagnostics, sources, options);
}

std::string render_within(std::size_t terminal_columns, std::span<const Diagnostic> diagnostics,
                          const Sources& sources, const RenderOptions& options) {
  const std::size_t least = least_line_columns + margin_columns + cut_columns;
  const std::size_t columns =
      std::min(std::max(terminal_columns, least) - margin_columns - cut_columns, max_line_columns);
  std::string out;
  const Palette& colors = options.color ? color_palette : plain_palette;
  std::size_t shown = std::min(options.limit, diagnostics.size());
  for (const Diagnostic& diagnostic : diagnostics.first(shown))
    render_one(out, diagnostic, sources, colors, columns);
  std::size_t more_errors = 0;
  std::size_t more_warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics.subspan(shown)) {
    (diagnostic.severity == Severity::Error ? more_errors : more_warnings) += 1;
  }
  if (more_errors > 0) out += fmt::format("{} more error{}\n", more_errors, more_errors == 1 ? "" : "s");
  if (more_warnings > 0)
    out += fmt::format("{} more warning{}\n", more_warnings, more_warnings == 1 ? "" : "s");
  return out;
}

std::string render_json(std::span<const Diagnostic> diagnostics, const Sources& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    nlohmann::ordered_json line = json_place(diagnostic.span, diagnostic.place, sources);
    line["severity"] = std::string(severity_name(diagnostic.severity));
    bool is_error = diagnostic.severity == Severity::Error;
    line["class"] = is_error ? nlohmann::ordered_json(std::string(name_of(diagnostic.error_class)))
                             : nlohmann::ordered_json(nullptr);
    line["id"] = diagnostic.id;
    line["message"] = diagnostic.message;
    line["notes"] = nlohmann::ordered_json::array();
    for (const DiagnosticNote& note : diagnostic.notes) {
      nlohmann::ordered_json entry = json_place(note.span, "", sources);
      entry["text"] = note.text;
      line["notes"].push_back(std::move(entry));
    }
    line["fixes"] = nlohmann::ordered_json::array();
    for (const Fix& fix : fixes_of(diagnostic)) {
      nlohmann::ordered_json entry = json_place(fix.at, "", sources);
      entry["replacement"] = fix.text;
      line["fixes"].push_back(std::move(entry));
    }
    out += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    out += '\n';
  }
  return out;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count == limit) return result + "...";
    CodePoint point = decode(text, i);
    result += visible(text, i, point);
    i += point.bytes;
  }
  return result;
}

}  // namespace relish
