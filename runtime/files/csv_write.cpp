// Writing of CSV files: numbers with the fewest digits that read back as the same value, words in quotes
// where they need them.
#include "runtime/files.h"
#include "runtime/files/data_file.h"
#include "runtime/format.h"
#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

std::string csv_cell(const std::string& word, char separator, const std::string& path) {
  if (word.find_first_of("\r\n") != std::string::npos) {
    fail_at(ErrorClass::Usage, path, "csv.cell",
            fmt::format("'{}' has a line end, which no cell holds", printable(word, 40)));
  }
  const bool blank = !word.empty() && (word.front() == ' ' || word.back() == ' ');
  const bool plain = !blank && !word.empty() && word.find_first_of("\",;\t") == std::string::npos &&
                     word.find(separator) == std::string::npos;
  if (plain) return word;
  std::string quoted = "\"";
  for (const char c : word) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void write_csv(const std::string& path, const std::vector<CsvColumn>& columns, bool header) {
  const char separator = path.ends_with(".tsv") ? '\t' : ',';
  const auto refuse = [&](const std::string& message) {
    fail_at(ErrorClass::Usage, path, "csv.shape", message);
  };
  if (columns.empty()) refuse("found no columns");
  const bool table = columns.size() == 1 && columns[0].values.rank() == 2;
  for (const CsvColumn& column : columns) {
    const Shape& shape = column.values.shape();
    if (!table && (shape.size() != 1 || shape[0] != columns[0].values.shape()[0])) {
      refuse(fmt::format("'{}' has the shape {}; expected one matrix, or columns of equal length",
                         printable(column.name), format_shape(shape)));
    }
  }
  const std::int64_t rows = columns[0].values.shape()[0];
  const std::int64_t width = table ? columns[0].values.shape()[1] : static_cast<std::int64_t>(columns.size());
  write_file_atomically(path, [&](ByteSink& sink) {
    std::string lines;
    if (header && !table) {
      for (std::size_t i = 0; i < columns.size(); ++i)
        lines += (i > 0 ? std::string(1, separator) : "") + csv_cell(columns[i].name, separator, path);
      lines += '\n';
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      poll_interrupt({});
      for (std::int64_t i = 0; i < width; ++i) {
        if (i > 0) lines += separator;
        const CsvColumn& column = columns[table ? 0 : static_cast<std::size_t>(i)];
        const std::int64_t at = table ? row * width + i : row;
        if (!column.words.empty()) {
          lines +=
              csv_cell(column.words[static_cast<std::size_t>(column.values.get_int(at))], separator, path);
        } else if (is_bool(column.values.dtype())) {
          lines += column.values.get_int(at) != 0 ? '1' : '0';
        } else {
          lines += format_element(column.values, at);
        }
      }
      lines += '\n';
      if (lines.size() < (std::size_t{1} << 16)) continue;
      sink.write(lines);
      lines.clear();
    }
    sink.write(lines);
  });
}

}  // namespace relish
