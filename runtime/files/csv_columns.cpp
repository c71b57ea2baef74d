// Reading of CSV files by columns. What a column is, its cells tell: integers, other numbers, or words, which
// become codes. The text is gone through twice: once to learn that, once to fill the tensors.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "runtime/files.h"
#include "runtime/files/csv_fill.h"
#include "runtime/files/csv_text.h"
#include "runtime/literal.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

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

bool has_number_among(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return csv_number<double>(name).has_value(); });
}

std::optional<std::int64_t> place_of(std::string_view name) {
  return has_only_digits(name) ? integer_of_cell<std::int64_t>(name) : std::nullopt;
}

// The names of columns that are chosen by place: "0", "-1".
std::vector<std::string> with_names(const std::string& path, std::string_view option,
                                    std::vector<std::string> wanted, const std::vector<std::string>& names) {
  for (std::string& name : wanted) {
    const auto place = place_of(name);
    if (!place || std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto width = static_cast<std::int64_t>(names.size());
    if (*place < -width || *place >= width) {
      data_failure(path, "csv.column",
                   fmt::format("{}: no column {}; the file has {}, 0 to {}, from the last one -1 to {}",
                               option, *place, counted(names.size(), "column"), width - 1, -width));
    }
    name = names[static_cast<std::size_t>(*place < 0 ? *place + width : *place)];
  }
  return wanted;
}

class CsvColumnReader {
 public:
  CsvColumnReader(const std::string& path, const CsvOptions& options)
      : path_(path), options_(options), text_(path, options) {}

  std::vector<CsvColumn> read() {
    text_.read_first_line();
    choose();
    std::int64_t rows = 0;
    text_.for_each_row([&](std::string_view line) {
      ++rows;
      text_.read_row(line, [&](const CsvCell& cell, std::size_t column) { return look_at(cell, column); });
    });
    text_.throw_reported();
    text_.tell_comments();
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
    std::optional<ColumnStatistic> statistic = {};
    std::size_t missing = 0;      // cells that it stands for
    double filling = 0;           // its value
    std::string first_word = {};  // and where it stands
    bool numbers_among_words = false;
    const std::vector<std::string>* given_words = nullptr;
    bool told_missing = false;    // the first of its missing cells says what to do about all of them
    bool filled_by_word = false;  // before a cell told what the column holds
    std::set<std::string, std::less<>> told = {};  // cells that were refused, each once
  };

  // Which columns are read, by name.
  void choose() {
    std::vector<std::string> wanted = options_.columns;
    const std::vector<std::string> names = names_of_file(wanted);
    wanted = with_names(path_, "columns", std::move(wanted), names);
    targets_ = with_names(path_, "target", options_.targets, names);
    for (auto each = targets_.begin(); each != targets_.end(); ++each)
      if (std::find(targets_.begin(), each, *each) != each) asked_twice(*each);
    if (wanted.empty()) wanted = names;
    for (const std::string& name : targets_)
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
      if (found == known.end()) no_such_column(name, names);
      const auto [times, at] = found->second;
      if (times > 1 || place_[at] != npos) {
        if (times == 1) asked_twice(name);
        data_failure(path_, "csv.column", fmt::format("two columns are named '{}'", printable(name)));
      }
      place_[at] = chosen_.size();
      const auto target = std::find(targets_.begin(), targets_.end(), name);
      chosen_.push_back({{name, {}}, target == targets_.end() ? options_.dtype : std::nullopt});
      if (target != targets_.end()) chosen_.back().column.target = target - targets_.begin();
      choose_filling(chosen_.back());
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

  // Those of the header; those that are given; or places, where columns are chosen by these.
  std::vector<std::string> names_of_file(std::vector<std::string>& wanted) {
    if (text_.has_header()) return text_.names();
    std::vector<std::string> places;
    for (std::size_t i = 0; i < text_.width(); ++i) places.push_back(std::to_string(i));
    const bool chosen = !wanted.empty() || !options_.targets.empty();
    const bool by_place = are_places(wanted) && are_places(options_.targets) && (chosen || options_.places);
    if (by_place) return places;
    if (wanted.size() == text_.width()) return std::exchange(wanted, {});
    data_failure(
        path_, "csv.column",
        wanted.empty() || are_places(wanted)
            ? fmt::format("the file has no header, so no column can be named; name its {} columns by "
                          "columns=[…], or choose by place, as -1 for the last",
                          text_.width())
            : fmt::format("the file has no header and {} columns, found {} names", text_.width(),
                          wanted.size()));
  }

  // Most often it is another name; or the names are none.
  [[noreturn]] void no_such_column(const std::string& name, const std::vector<std::string>& names) const {
    std::string why = did_you_mean(name, names);
    if (!other_separator_.empty()) {
      why = "; " + other_separator_;
    } else if (text_.has_header() && !options_.header && has_number_among(names)) {
      why = fmt::format("; the names are read from the first line, {}; header=False where that is a row",
                        printable(fmt::format("{}", fmt::join(names, ", ")), 60));
    }
    data_failure(path_, "csv.column", fmt::format("no column '{}'{}", printable(name), why));
  }
  [[noreturn]] void asked_twice(const std::string& name) const {
    data_failure(path_, "csv.column", fmt::format("the column '{}' is asked for twice", printable(name)));
  }

  // What stands for the missing cells of a column. What a model is to find is not made up of other rows.
  void choose_filling(Chosen& each) {
    const auto own = options_.fill_of.find(each.column.name);
    const std::string* fill = own != options_.fill_of.end() ? &own->second
                              : options_.fill               ? &*options_.fill
                                                            : nullptr;
    if (!fill) return;
    const auto words = options_.words_of.find(each.column.name);
    const bool listed = words != options_.words_of.end() &&
                        std::find(words->second.begin(), words->second.end(), *fill) != words->second.end();
    const auto statistic = listed ? std::nullopt : ColumnStatistic::kind_of(*fill);
    if (statistic && own == options_.fill_of.end() && each.column.target) return;
    each.fill = fill;
    if (statistic) each.statistic.emplace(*statistic);
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
    const std::string found = fmt::format("{} in {} is no number", each.first_word, where(each));
    if (each.column.target) {
      data_failure(
          path_, "csv.value",
          fmt::format("{}, but other cells of this target are; write numbers, or words alone", found));
    }
    each.column.note = fmt::format("{}, so the column holds words; its numbers are words too", found);
  }

  std::string where(const Chosen& each) const { return fmt::format("'{}'", printable(each.column.name)); }

  // A cell as it is read: what it holds or what stands for it, and that as a number.
  struct Content {
    std::string_view text, number;
    bool filled = false;
  };
  Content content_of(const CsvCell& cell, const Chosen& each) {
    if (is_missing(cell, each.fill != nullptr))
      return each.fill ? Content{*each.fill, without_plus(*each.fill), true} : Content{{}, {}, true};
    return {cell.text, number_text(cell.text, text_.decimal(), buffer_)};
  }

  std::string missing_value(const Chosen& each) const {
    if (options_.fill && each.column.target) {
      return fmt::format(
          "missing value of {}, a target, which fill=\"{}\" does not make up; fill={{\"{}\": …}} says what stands "
          "for it",
          where(each), *options_.fill, printable(each.column.name));
    }
    return fmt::format(
        "missing value of {}; fill= says what stands for such cells, columns= leaves the column out",
        where(each));
  }

  // The first pass: what the column holds; a message when the cell does not fit the cells before.
  CellFault look_at(const CsvCell& cell, std::size_t column) {
    if (place_[column] == npos) return {};
    Chosen& each = chosen_[place_[column]];
    const auto [text, number, filled] = content_of(cell, each);
    if (filled && !each.fill)
      return std::exchange(each.told_missing, true) ? CellFault() : missing_value(each);
    if (filled && each.statistic) {
      ++each.missing;
      return {};
    }
    if (each.given_words) {
      if (each.codes.find(text) != each.codes.end()) return {};
      if (each.told.size() > most_told || !each.told.emplace(text).second) return {};
      return fmt::format("'{}' in {} is none of the {} that words= lists{}", printable(text, 40), where(each),
                         counted(each.codes.size(), "word"), did_you_mean(text, *each.given_words));
    }
    const bool integer = has_only_digits(number);
    const auto value = csv_number<double>(number);
    const bool real = integer || value;
    if (each.statistic && value) each.statistic->add(*value);
    if (each.dtype) {
      // Words in a column of x: what is wrong is the column.
      const bool told_later = options_.targets.empty() && !options_.places;
      if (told_later || !each.told.empty() || value) return {};
      if (filled) wrong_fill(each);
      each.told.emplace(text);
      const std::string advice = advice_on_number(text, text_.decimal());
      return advice.empty() ? words_in_inputs(each, text) : number_of_others(each, cell, advice);
    }
    if (each.kind == Kind::Unknown && !real && !filled) {
      const std::string advice = advice_on_number(text, text_.decimal());
      if (!advice.empty()) {
        if (!each.told.emplace(text).second || each.told.size() > 1) return {};
        return number_of_others(each, cell, advice);
      }
    }
    if (filled && !real && each.kind == Kind::Unknown) {
      each.filled_by_word = true;
      return {};
    }
    if (each.kind != Kind::Words && ((real && each.filled_by_word) || (filled && !real))) wrong_fill(each);
    if (each.kind == Kind::Words || (each.kind == Kind::Unknown && !real)) {
      if (each.kind == Kind::Unknown) {
        each.first_word =
            fmt::format("line {}, column {}: '{}'", text_.line(), column + 1, printable(text, 40));
      }
      each.kind = Kind::Words;
      each.numbers_among_words |= real && !filled;
      if (each.codes.find(text) == each.codes.end()) {
        words_.grow_to(words_.bytes() + text.size() + 64, "the words of a column");
        each.codes.emplace(std::string(text), 0);
      }
      return {};
    }
    if (!real) {
      const std::string advice = advice_on_number(text, text_.decimal());
      const std::string kind =
          advice.empty() ? ", a column of numbers; expected a number, or columns= leaves the column out"
                         : advice;
      return {printable(text, 40), fmt::format(" in {}{}", where(each), kind)};
    }
    if (!integer) {
      each.kind = Kind::Reals;
    } else if (each.kind == Kind::Unknown) {
      each.kind = Kind::Integers;
    }
    return {};
  }

  std::string number_of_others(const Chosen& each, const CsvCell& cell, const std::string& advice) const {
    return fmt::format(
        "'{}' in {}{}{}", printable(cell.text), where(each), advice,
        cell.quoted ? fmt::format("; words={{\"{}\": […]}} takes them as words", printable(each.column.name))
                    : "");
  }

  // Missing cells are the mean or median of the others, which are numbers.
  void settle_statistic(Chosen& each) {
    if (each.missing == 0) return;
    const std::string_view name = each.statistic->name();
    const std::string own = fmt::format("fill={{\"{}\": …}}", printable(each.column.name));
    if (each.kind == Kind::Words) {
      data_failure(
          path_, "csv.value",
          fmt::format("{} holds words, which have no {} for its missing cells; {} says the word that "
                      "stands for them",
                      where(each), name, own));
    }
    const std::optional<double> value = each.statistic->value();
    if (!value) {
      data_failure(
          path_, "csv.value",
          fmt::format("no cell of {} holds a number, so there is no {} for its missing cells; {} says "
                      "what stands for them, columns= leaves the column out",
                      where(each), name, own));
    }
    each.filling = *value;
    each.kind = Kind::Reals;
    if (each.dtype && !is_float(*each.dtype)) {
      data_failure(path_, "csv.value",
                   fmt::format("the {} {} of {} is no value of {}; dtype= chooses another", name, *value,
                               where(each), name_of(*each.dtype)));
    }
    if (!options_.tell) return;
    options_.tell(fmt::format("{} of {} {} the {} of the others, {}", counted(each.missing, "missing cell"),
                              where(each), each.missing == 1 ? "is" : "are", name, *value));
  }

  // What stands for missing cells is a value as the others are.
  [[noreturn]] void wrong_fill(const Chosen& each) const {
    data_failure(
        path_, "csv.value",
        fmt::format(
            "fill: '{}' stands for the missing cells of {}, a column of numbers; expected a number, mean or median",
            printable(*each.fill, 40), where(each)));
  }

  void make_room(std::int64_t rows) {
    for (Chosen& each : chosen_) {
      if (each.filled_by_word) {
        each.kind = Kind::Words;
        each.codes.emplace(*each.fill, 0);
      }
      settle_statistic(each);
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
  CellFault put(const CsvCell& cell, std::size_t column, std::int64_t row) {
    if (place_[column] == npos) return {};
    Chosen& each = chosen_[place_[column]];
    const auto [text, number, filled] = content_of(cell, each);
    Tensor& values = each.column.values;
    if (filled && each.statistic) {
      values.set_double(row, each.filling);
      return {};
    }
    if (!each.codes.empty()) {
      values.set_int(row, each.codes.find(text)->second);
      return {};
    }
    const DType dtype = values.dtype();
    if (!is_float(dtype)) {
      return put_integer(values, row, number) ? CellFault() : refusal(each, text, dtype);
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

  CellFault refusal(const Chosen& each, std::string_view text, DType dtype) const {
    if (has_only_digits(without_plus(text))) {
      return fmt::format("the integer {} of {} is no value of {}; dtype= chooses another", printable(text),
                         where(each), name_of(dtype));
    }
    return {printable(text, 40), fmt::format(" in {} does not read as {}", where(each), name_of(dtype))};
  }

  static constexpr std::size_t most_told = 20;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  const std::string& path_;
  std::string other_separator_;  // a note
  const CsvOptions& options_;
  std::vector<std::string> targets_;  // by name
  std::string buffer_;
  CsvText text_;
  HeldMemory words_;
  std::vector<Chosen> chosen_;
  std::vector<std::size_t> place_;  // of a column of the file among those that are read
};

}  // namespace

std::vector<CsvColumn> read_csv_columns(const std::string& path, const CsvOptions& options) {
  return CsvColumnReader(path, options).read();
}

bool are_places(const std::vector<std::string>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [](const std::string& name) { return place_of(name).has_value(); });
}

}  // namespace relish
