// Reading of CSV tables of numbers as one matrix. The text is gone through twice: once to count the rows,
// once to check and fill them in, so that the tensor is the only large allocation beside the text. No number
// is rounded to another integer: one that the dtype cannot hold is refused.
#include <charconv>
#include <optional>

#include "runtime/files.h"
#include "runtime/files/csv_text.h"
#include "support/render.h"

namespace relish {
namespace {

class CsvMatrixReader {
 public:
  CsvMatrixReader(const std::string& path, DType dtype, const CsvForm& form)
      : text_(path, form), dtype_(dtype) {}

  CsvTable read() {
    text_.read_first_line();
    table_.columns = text_.names();
    const std::size_t width = text_.width();
    std::uint64_t rows = 0;
    text_.for_each_row([&](std::string_view) { ++rows; });
    // A cell takes a character and a comma or line end. Where the text is shorter than that, some row is bad,
    // and the pass over the rows only looks for it.
    filling_ = width == 0 || rows <= (text_.bytes() + 1) / (2 * width);
    Shape shape = {filling_ ? static_cast<std::int64_t>(rows) : 0, static_cast<std::int64_t>(width)};
    table_.values = Tensor::empty(dtype_, shape);
    std::int64_t row = 0;
    text_.for_each_row([&](std::string_view line) {
      std::int64_t index = row++ * static_cast<std::int64_t>(width);
      text_.read_row(line, [&](const CsvCell& cell, std::size_t column) {
        const std::string_view number = number_text(cell.text, text_.decimal(), buffer_);
        return store(number, filling_ ? index++ : nowhere) ? CellFault() : refusal(cell, number, column);
      });
    });
    text_.throw_reported();
    text_.tell_comments();
    RELISH_CHECK(filling_);
    return std::move(table_);
  }

 private:
  template <class T>
  bool put(std::optional<T> value, std::int64_t index) {
    if (value && index != nowhere) table_.values.mutable_view<T>()[static_cast<std::size_t>(index)] = *value;
    return value.has_value();
  }

  template <class T>
  bool store_integer(std::string_view text, std::int64_t index) {
    T value{};
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && rest == text.data() + text.size();
    return put<T>(whole ? std::optional(value) : std::nullopt, index);
  }

  // Each type is read in its own precision; false when the text is no value of it.
  bool store(std::string_view text, std::int64_t index) {
    if (is_float(dtype_) && !holds_if_integer(dtype_, text)) return false;
    switch (dtype_) {
      case DType::Float32:
        return put(csv_number<float>(text), index);
      case DType::Float64:
        return put(csv_number<double>(text), index);
      case DType::Int8:
        return store_integer<std::int8_t>(text, index);
      case DType::Int16:
        return store_integer<std::int16_t>(text, index);
      case DType::Int32:
        return store_integer<std::int32_t>(text, index);
      case DType::Int64:
        return store_integer<std::int64_t>(text, index);
      case DType::UInt8:
        return store_integer<std::uint8_t>(text, index);
      case DType::UInt16:
        return store_integer<std::uint16_t>(text, index);
      case DType::UInt32:
        return store_integer<std::uint32_t>(text, index);
      case DType::UInt64:
        return store_integer<std::uint64_t>(text, index);
      case DType::Bool:
        if (text != "0" && text != "1") return false;
        return put<bool>(text == "1", index);
      case DType::Float16:
      case DType::BFloat16: {
        std::optional<double> value = csv_number<double>(text);
        if (value && index != nowhere) table_.values.set_double(index, *value);
        return value.has_value();
      }
    }
    return false;
  }

  CellFault refusal(const CsvCell& cell, std::string_view number, std::size_t column) const {
    if (is_missing(cell, false))
      return fmt::format("missing value; expected {}, or load(path, fill=0)", name_of(dtype_));
    if (is_float(dtype_) && !holds_if_integer(dtype_, number)) {
      return fmt::format(
          "the integer {} is no value of {}; read the file with dtype=\"int64\" or \"float64\"",
          printable(cell.text), name_of(dtype_));
    }
    if (const std::string advice = advice_on_number(cell.text, text_.decimal()); !advice.empty())
      return {printable(cell.text, 40), advice};
    const std::string where =
        text_.has_header() ? fmt::format(" in '{}'", printable(text_.names().at(column))) : "";
    const std::string_view advice = csv_number<double>(number) ? "" : "; columns= leaves a column out";
    return {printable(cell.text, 40),
            fmt::format("{} does not read as {}{}", where, name_of(dtype_), advice)};
  }

  static constexpr std::int64_t nowhere = -1;

  CsvText text_;
  DType dtype_;
  std::string buffer_;
  bool filling_ = true;
  CsvTable table_;
};

}  // namespace

CsvTable read_csv(const std::string& path, DType dtype, const CsvForm& form) {
  return CsvMatrixReader(path, dtype, form).read();
}

}  // namespace relish
