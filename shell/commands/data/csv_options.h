// Options that say how a table of text (CSV) is read: of `load`, and of the data of training commands in the
// shell.
#pragma once

#include "runtime/files.h"
#include "shell/command.h"

namespace relish {

constexpr Option csv_option(Option option, std::uint8_t surfaces) {
  option.surfaces = surfaces;
  return option;
}

inline constexpr Option csv_columns_option{
    "columns", OptionKind::Names, "all",
    "columns of a table (CSV) that are read, by name or by place (0 is the first, -1 the last); their names where "
    "the file has none"};
inline constexpr Option csv_fill_option{
    "fill", OptionKind::Names, "",
    "what stands for missing cells of a table (CSV): a number, a word, mean or median of the other cells of the "
    "column; or by column, {\"size\": \"mean\", \"town\": \"none\"}, in the shell size=mean,town=none"};
inline constexpr Option csv_sep_option{
    "sep", OptionKind::Text, "found in the first line",
    "what stands between the cells of a table (CSV); \" \" for any number of blanks"};
inline constexpr Option csv_decimal_option{
    "decimal", OptionKind::Text, "a point; a comma where cells can be numbers only so",
    "the decimal sign of the numbers of a table (CSV), \".\" or \",\""};
inline constexpr Option csv_header_option{
    "header", OptionKind::Text, "whether a cell of it is no number",
    "True, False: the first line of a table (CSV) has the names of the columns, or their first values"};

// Of an invocation that has these options, some of them or none. Notes on the file go to the session, once.
CsvOptions csv_options_of(const Invocation& invocation, const std::string& path);
// Whether one of these options is given; `first` receives its name.
bool has_csv_options(const Invocation& invocation, std::string_view* first = nullptr);

}  // namespace relish
