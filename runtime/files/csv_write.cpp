// Writing of CSV files: numbers with the fewest digits that read back as the same value, words in quotes
// where they need them.
#include <set>

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

// One line of cells, taken from a tensor.
struct WrittenColumn {
  std::string name;
  const CsvColumn* from;
  std::int64_t first;  // element of the first row
  std::int64_t step;   // to that of the next
};

// The columns of a file; those of a matrix are x.0, x.1, …
std::vector<WrittenColumn> written_columns(const std::string& path, const std::vector<CsvColumn>& columns) {
  const auto refuse = [&](const std::string& message) {
    fail_at(ErrorClass::Usage, path, "csv.shape", message);
  };
  if (columns.empty()) refuse("found no columns");
  std::vector<WrittenColumn> result;
  std::set<std::string> names;
  const auto add = [&](WrittenColumn column) {
    if (!names.insert(column.name).second)
      refuse(fmt::format("two columns would be named '{}'", printable(column.name)));
    result.push_back(std::move(column));
  };
  for (const CsvColumn& column : columns) {
    const Shape& shape = column.values.shape();
    const bool vector = shape.size() == 1, matrix = shape.size() == 2;
    if (!(vector || matrix) || shape[0] != columns[0].values.shape()[0]) {
      refuse(fmt::format("'{}' has the shape {}; expected vectors and matrices with equal numbers of rows",
                         printable(column.name), format_shape(shape)));
    }
    if (vector) add({column.name, &column, 0, 1});
    for (std::int64_t i = 0; matrix && i < shape[1]; ++i)
      add({fmt::format("{}.{}", column.name, i), &column, i, shape[1]});
  }
  return result;
}

}  // namespace

void write_csv(const std::string& path, const std::vector<CsvColumn>& columns, bool header) {
  const char separator = path.ends_with(".tsv") ? '\t' : ',';
  const std::vector<WrittenColumn> written = written_columns(path, columns);
  const std::int64_t rows = columns[0].values.shape()[0];
  write_file_atomically(path, [&](ByteSink& sink) {
    std::string lines;
    if (header) {
      for (std::size_t i = 0; i < written.size(); ++i)
        lines += (i > 0 ? std::string(1, separator) : "") + csv_cell(written[i].name, separator, path);
      lines += '\n';
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      poll_interrupt({});
      for (std::size_t i = 0; i < written.size(); ++i) {
        if (i > 0) lines += separator;
        const CsvColumn& column = *written[i].from;
        const std::int64_t at = written[i].first + row * written[i].step;
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
