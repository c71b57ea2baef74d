// Reading of CSV files by columns. What a column is, its cells tell: integers, other numbers, or words, which
// become codes. The text is gone through twice: once to learn that, once to fill the tensors.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "runtime/files.h"
#include "runtime/files/csv_text.h"
#include "runtime/literal.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// Cells that say that there is nothing.
bool is_missing(const CsvCell& cell) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "null", "NULL", "None"};
  return !cell.quoted && std::find(std::begin(words), std::end(words), cell.text) != std::end(words);
}

template <class T>
std::optional<T> integer_of_cell(std::string_view text) {
  T value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Puts the integer of a cell in its place; false when it is no value of the dtype.
bool put_integer(Tensor& values, std::int64_t row, std::string_view text) {
  if (values.dtype() == DType::UInt64) {
    const auto integer = integer_of_cell<std::uint64_t>(text);
    if (integer) values.mutable_view<std::uint64_t>()[static_cast<std::size_t>(row)] = *integer;
    return integer.has_value();
  }
  const auto integer = integer_of_cell<std::int64_t>(text);
  if (!integer || !holds_integer(values.dtype(), *integer)) return false;
  values.set_int(row, *integer);
  return true;
}

bool has_only_digits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "1,5" and "1,000": a number as it is written elsewhere, and no word. Where commas separate cells it is in
// quotes.
bool has_comma_in_number(const CsvCell& cell) {
  constexpr std::size_t group = 4;  // a comma and three digits
  std::string text(cell.text);
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  bool thousands = comma > 0;
  for (std::size_t at = comma; at < text.size() && text[at] != '.'; at += group)
    thousands = thousands && text[at] == ',' && at + group <= text.size() &&
                has_only_digits(std::string_view(text).substr(at + 1, group - 1));
  if (thousands)
    std::erase(text, ',');
  else
    text[comma] = '.';
  return csv_number<double>(without_plus(text)).has_value();
}

class CsvColumnReader {
 public:
  CsvColumnReader(const std::string& path, const CsvOptions& options)
      : path_(path), options_(options), text_(path, options.separator, options.header) {}

  std::vector<CsvColumn> read() {
    text_.read_first_line();
    choose();
    std::int64_t rows = 0;
    text_.for_each_row([&](std::string_view line) {
      ++rows;
      text_.read_row(line, [&](const CsvCell& cell, std::size_t column) { return look_at(cell, column); });
    });
    text_.throw_reported();
    make_room(rows);
    std::int64_t row = 0;
    text_.for_each_row([&](std::string_view line) {
      text_.read_row(line, [&](const CsvCell& cell, std::size_t column) { return put(cell, column, row); });
      ++row;
    });
    text_.throw_reported();
    std::vector<CsvColumn> result;
    for (Chosen& each : chosen_) result.push_back(std::move(each.column));
    return result;
  }

 private:
  enum class Kind { Unknown, Integers, Reals, Words };
  struct Chosen {
    CsvColumn column;
    std::optional<DType> dtype;  // wanted, whatever the cells hold
    Kind kind = Kind::Unknown;
    std::map<std::string, std::int64_t, std::less<>> codes = {};
    const std::string* fill = nullptr;  // what stands for a missing cell
    std::string first_word = {};        // and where it stands
    bool numbers_among_words = false;
    const std::vector<std::string>* given_words = nullptr;
    bool told_missing = false;    // the first of its missing cells says what to do about all of them
    bool filled_by_word = false;  // before a cell told what the column holds
    std::set<std::string, std::less<>> told = {};  // cells that were refused, each once
  };

  // Which columns are read, by name.
  void choose() {
    std::vector<std::string> names = text_.names();
    std::vector<std::string> wanted = options_.columns;
    if (!text_.has_header()) {
      if (wanted.size() != text_.width()) {
        data_failure(
            path_, "csv.column",
            wanted.empty()
                ? fmt::format("the file has no header, so no column can be named; name its {} columns "
                              "by columns=[…]",
                              text_.width())
                : fmt::format("the file has no header and {} columns, found {} names", text_.width(),
                              wanted.size()));
      }
      names = wanted;
    }
    if (wanted.empty()) wanted = names;
    for (const std::string& name : options_.targets)
      if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    if (wanted.size() == names.size() && wanted == names) {
      std::vector<std::string> sorted = names;
      std::sort(sorted.begin(), sorted.end());
      const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      if (twice != sorted.end())
        data_failure(path_, "csv.column", fmt::format("two columns are named '{}'", printable(*twice)));
    }
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> known;  // how often, and where
    for (std::size_t i = 0; i < names.size(); ++i) known[names[i]] = {known[names[i]].first + 1, i};
    tell_other_separator(names);
    place_.assign(text_.width(), npos);
    for (const std::string& name : wanted) {
      const auto found = known.find(name);
      if (found == known.end()) {
        data_failure(path_, "csv.column",
                     fmt::format("no column '{}'{}", printable(name), did_you_mean(name, names)));
      }
      const auto [times, at] = found->second;
      if (times > 1 || place_[at] != npos) {
        data_failure(path_, "csv.column",
                     times > 1 ? fmt::format("two columns are named '{}'", printable(name))
                               : fmt::format("the column '{}' is asked for twice", printable(name)));
      }
      place_[at] = chosen_.size();
      const bool target =
          std::find(options_.targets.begin(), options_.targets.end(), name) != options_.targets.end();
      std::optional<DType> dtype = options_.dtype;
      if (target) dtype = std::nullopt;
      chosen_.push_back({{name, {}}, dtype});
      const auto own = options_.fill_of.find(name);
      if (own != options_.fill_of.end()) {
        chosen_.back().fill = &own->second;
      } else if (options_.fill) {
        chosen_.back().fill = &*options_.fill;
      }
    }
    const auto check_known = [&](std::string_view option, const std::string& name) {
      if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) return;
      const bool left_out = known.count(name) > 0;
      data_failure(
          path_, "csv.column",
          left_out ? fmt::format("{}: the column '{}' is not among those that columns= chooses", option,
                                 printable(name))
                   : fmt::format("{}: no column '{}'{}", option, printable(name), did_you_mean(name, names)));
    };
    for (const auto& [name, value] : options_.fill_of) check_known("fill", name);
    for (const auto& [name, words] : options_.words_of) check_known("words", name);
    for (Chosen& each : chosen_) take_words(each);
  }

  // One column whose name has what separates cells elsewhere is most often several.
  void tell_other_separator(const std::vector<std::string>& names) {
    if (names.size() != 1) return;
    const std::size_t at = names[0].find_first_of("|;\t,");
    if (at == std::string::npos || at == 0 || at + 1 == names[0].size()) return;
    const std::string separator = names[0][at] == '\t' ? "\\t" : std::string(1, names[0][at]);
    other_separator_ = fmt::format("the file is read as one column, '{}'; sep=\"{}\" makes several of it",
                                   printable(names[0], 40), separator);
  }

  // Words that are given have their codes by their places.
  void take_words(Chosen& each) const {
    const auto found = options_.words_of.find(each.column.name);
    if (found == options_.words_of.end()) return;
    each.given_words = &found->second;
    each.kind = Kind::Words;
    for (const std::string& word : found->second) {
      const auto code = static_cast<std::int64_t>(each.codes.size());
      if (!each.codes.emplace(word, code).second) {
        data_failure(path_, "csv.column",
                     fmt::format("words: '{}' stands twice among those of '{}'", printable(word),
                                 printable(each.column.name)));
      }
    }
    const auto last = static_cast<std::int64_t>(each.codes.size()) - 1;
    if (each.dtype && !holds_integer(*each.dtype, last)) {
      data_failure(path_, "csv.value",
                   fmt::format("the code {} of {} is no value of {}; dtype= chooses another", last,
                               where(each), name_of(*each.dtype)));
    }
  }

  // A column of words in which numbers stand is most often one of numbers with a word for a missing cell.
  void tell_words(Chosen& each) const {
    if (!each.numbers_among_words) return;
    const bool target = std::find(options_.targets.begin(), options_.targets.end(), each.column.name) !=
                        options_.targets.end();
    const std::string found = fmt::format("{} in {} is no number", each.first_word, where(each));
    if (target) {
      data_failure(
          path_, "csv.value",
          fmt::format("{}, but other cells of this target are; write numbers, or words alone", found));
    }
    each.column.note = fmt::format("{}, so the column holds words; its numbers are words too", found);
  }

  std::string where(const Chosen& each) const { return fmt::format("'{}'", printable(each.column.name)); }

  // A cell that is missing is what stands for it.
  std::optional<std::string> filled(const CsvCell& cell, const Chosen& each, std::string_view& text) const {
    text = cell.text;
    if (!is_missing(cell)) return std::nullopt;
    if (!each.fill) {
      return fmt::format(
          "missing value of {}; fill= says what stands for such cells, columns= leaves the "
          "column out",
          where(each));
    }
    text = *each.fill;
    return std::nullopt;
  }

  // The first pass: what the column holds; a message when the cell does not fit the cells before.
  std::string look_at(const CsvCell& cell, std::size_t column) {
    if (place_[column] == npos) return {};
    Chosen& each = chosen_[place_[column]];
    std::string_view text;
    if (const auto fault = filled(cell, each, text))
      return std::exchange(each.told_missing, true) ? std::string() : *fault;
    if (each.given_words) {
      if (each.codes.find(text) != each.codes.end()) return {};
      if (each.told.size() > most_told || !each.told.emplace(text).second) return {};
      return fmt::format("'{}' in {} is none of the {} that words= lists{}", printable(text, 40), where(each),
                         counted(each.codes.size(), "word"), did_you_mean(text, *each.given_words));
    }
    const std::string_view number = without_plus(text);
    if (each.dtype) {
      // Words in a column of x: what is wrong is the column.
      if (options_.targets.empty() || !each.told.empty() || csv_number<double>(number)) return {};
      each.told.emplace(text);
      return words_in_inputs(each, text);
    }
    const bool integer = has_only_digits(number);
    const bool real = integer || csv_number<double>(number).has_value();
    if (each.kind == Kind::Unknown && has_comma_in_number(cell)) {
      if (!each.told.emplace(text).second || each.told.size() > 1) return {};
      return fmt::format("'{}' in {}; numbers are written with a decimal point and without commas{}",
                         printable(text), where(each),
                         cell.quoted ? fmt::format("; words={{\"{}\": […]}} takes them as words",
                                                   printable(each.column.name))
                                     : "");
    }
    const bool filled_in = is_missing(cell);
    if (filled_in && !real && each.kind == Kind::Unknown) {
      each.filled_by_word = true;
      return {};
    }
    if (each.kind != Kind::Words && ((real && each.filled_by_word) || (filled_in && !real))) wrong_fill(each);
    if (each.kind == Kind::Words || (each.kind == Kind::Unknown && !real)) {
      if (each.kind == Kind::Unknown) {
        each.first_word =
            fmt::format("line {}, column {}: '{}'", text_.line(), column + 1, printable(text, 40));
      }
      each.kind = Kind::Words;
      each.numbers_among_words |= real && !is_missing(cell);
      if (each.codes.find(text) == each.codes.end()) {
        words_.grow_to(words_.bytes() + text.size() + 64, "the words of a column");
        each.codes.emplace(std::string(text), 0);
      }
      return {};
    }
    if (!real) {
      return fmt::format("'{}' in {}, a column of numbers; expected a number{}", printable(text), where(each),
                         text.find(',') == std::string_view::npos ? "" : " with a decimal point");
    }
    if (!integer) {
      each.kind = Kind::Reals;
    } else if (each.kind == Kind::Unknown) {
      each.kind = Kind::Integers;
    }
    return {};
  }

  // What stands for missing cells is a value as the others are.
  [[noreturn]] void wrong_fill(const Chosen& each) const {
    data_failure(
        path_, "csv.value",
        fmt::format("fill: '{}' stands for the missing cells of {}, a column of numbers; expected a number",
                    printable(*each.fill, 40), where(each)));
  }

  void make_room(std::int64_t rows) {
    for (Chosen& each : chosen_) {
      if (each.filled_by_word) {
        each.kind = Kind::Words;
        each.codes.emplace(*each.fill, 0);
      }
      tell_words(each);
      if (each.kind == Kind::Words && each.column.note.empty()) each.column.note = other_separator_;
      std::int64_t next = 0;
      if (each.given_words) each.column.words = *each.given_words;
      for (auto& [word, code] : each.codes) {
        if (each.given_words) break;
        code = next++;
        each.column.words.push_back(word);
      }
      const DType held =
          each.kind == Kind::Reals || each.kind == Kind::Unknown ? DType::Float32 : DType::Int64;
      each.column.values = Tensor::empty(each.dtype.value_or(held), {rows});
    }
  }

  // The second pass; a message when the cell is no value of the column's dtype.
  std::string put(const CsvCell& cell, std::size_t column, std::int64_t row) {
    if (place_[column] == npos) return {};
    Chosen& each = chosen_[place_[column]];
    std::string_view text;
    if (const auto fault = filled(cell, each, text)) return *fault;
    Tensor& values = each.column.values;
    if (!each.codes.empty()) {
      values.set_int(row, each.codes.find(text)->second);
      return {};
    }
    const std::string_view number = without_plus(text);
    const DType dtype = values.dtype();
    if (!is_float(dtype)) {
      return put_integer(values, row, number) ? "" : refusal(each, text, dtype);
    }
    if (!holds_if_integer(dtype, number)) return refusal(each, text, dtype);
    // Each type is read in its own precision.
    std::optional<double> real = csv_number<double>(number);
    if (real && dtype == DType::Float32) real = csv_number<float>(number);
    if (!real) return refusal(each, text, dtype);
    values.set_double(row, *real);
    return {};
  }

  std::string words_in_inputs(const Chosen& each, std::string_view text) const {
    return fmt::format(
        "'{}' in {}, which is a column of x and so of numbers; columns= leaves the column out, "
        "words={{\"{}\": [\"{}\", …]}} makes its words the numbers of their places",
        printable(text, 40), where(each), printable(each.column.name), printable(text, 40));
  }

  std::string refusal(const Chosen& each, std::string_view text, DType dtype) const {
    if (has_only_digits(without_plus(text))) {
      return fmt::format("the integer {} of {} is no value of {}; dtype= chooses another", printable(text),
                         where(each), name_of(dtype));
    }
    return fmt::format("'{}' in {} does not read as {}", printable(text), where(each), name_of(dtype));
  }

  static constexpr std::size_t most_told = 20;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  const std::string& path_;
  std::string other_separator_;  // a note
  const CsvOptions& options_;
  CsvText text_;
  HeldMemory words_;
  std::vector<Chosen> chosen_;
  std::vector<std::size_t> place_;  // of a column of the file among those that are read
};

}  // namespace

std::vector<CsvColumn> read_csv_columns(const std::string& path, const CsvOptions& options) {
  return CsvColumnReader(path, options).read();
}

std::vector<std::string> csv_names(const std::string& path) {
  CsvText text(path, std::nullopt);
  text.read_first_line();
  return text.names();
}

bool csv_has_header(const std::string& path, std::optional<char> separator) {
  CsvText text(path, separator);
  text.read_first_line();
  return text.has_header();
}

std::pair<Tensor, Tensor> read_csv_pair(const std::string& path, CsvOptions options) {
  if (!options.dtype) options.dtype = DType::Float32;
  const std::vector<CsvColumn> columns = read_csv_columns(path, options);
  std::vector<const Tensor*> inputs, targets;
  const auto is_target = [&](const CsvColumn& column) {
    return std::find(options.targets.begin(), options.targets.end(), column.name) != options.targets.end();
  };
  for (const CsvColumn& column : columns)
    if (!is_target(column)) inputs.push_back(&column.values);
  for (const std::string& name : options.targets) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const CsvColumn& column) { return column.name == name; });
    targets.push_back(&found->values);
  }
  const std::int64_t rows = columns.front().values.shape()[0];
  const auto matrix = [&](const std::vector<const Tensor*>& from, DType dtype) {
    const auto width = static_cast<std::int64_t>(from.size());
    Tensor result = Tensor::empty(dtype, {rows, width});
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        const Tensor& source = *from[static_cast<std::size_t>(column)];
        if (is_float(dtype)) {
          result.set_double(row * width + column, source.get_double(row));
        } else {
          result.set_int(row * width + column, source.get_int(row));
        }
      }
    }
    return result;
  };
  const bool integers =
      std::all_of(targets.begin(), targets.end(), [](const Tensor* each) { return is_int(each->dtype()); });
  Tensor y =
      targets.size() == 1 ? *targets.front() : matrix(targets, integers ? DType::Int64 : DType::Float32);
  return {matrix(inputs, *options.dtype), std::move(y)};
}

}  // namespace relish
