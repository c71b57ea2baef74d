// A CSV table: its cells, rows, quotes and line ends; and raw bytes. The first byte chooses the dtype.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"
#include "tests/fuzz/structured.h"

using namespace relish::fuzzing;

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? std::string_view() : separator), text += parts[i];
  return text;
}

void change_row(std::string& row, Choices& choices) {
  std::vector<std::string> cells = split(row, ',');
  std::string& cell = cells[choices.below(cells.size())];
  switch (choices.below(6)) {
    case 0:
      cell = choices.of({"1e400", "-1e-400", "nan", "-inf", "0x1", "+5", "1.5", "255", "-129", "1e38", "",
                         "18446744073709551616", "9223372036854775807", "1e-46", "+-1", "."});
      break;
    case 1:
      cell = "\"" + cell + "\"";
      break;
    case 2:
      cell += choices.of({"\"", "\"\"", " ", "\t", "\r", "a"});
      break;
    case 3:
      cell = choices.mutated(cell);
      break;
    case 4:
      cells.push_back(std::to_string(choices.below(300)));
      break;
    default:
      cells.pop_back();
      break;
  }
  row = joined(cells, ",");
}

std::string changed(Choices& choices, std::string_view input) {
  const std::string first(input.substr(0, 1));
  std::vector<std::string> rows = split(input.substr(std::min<std::size_t>(1, input.size())), '\n');
  for (std::uint64_t i = choices.below(4) + 1; i > 0; --i) {
    const std::size_t at = choices.below(rows.size());
    switch (choices.below(6)) {
      case 0:
        rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(at), std::string(rows[at]));
        break;
      case 1:
        if (rows.size() > 1) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        change_row(rows[at], choices);
        break;
    }
  }
  const std::string dtype = choices.one_in(8) ? std::string(1, static_cast<char>(choices.below(16))) : first;
  return dtype + joined(rows, choices.one_in(16) ? "\r\n" : "\n");
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_fields(data, size, max_size, seed, changed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto dtype = static_cast<relish::DType>(data[0] % relish::dtype_count);
  try_loader(data + 1, size - 1, [&](const std::string& path) { relish::read_csv(path, dtype); });
  return 0;
}
