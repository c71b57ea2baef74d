// Tables as other programs and people write them: decimal commas, separators of thousands, blanks between
// cells, comments, columns by place, missing cells that the others tell.
#include <catch2/catch.hpp>

#include "runtime/files.h"
#include "runtime/files/csv_numbers.h"
#include "runtime/format.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::rule_of;
using testing::TemporaryFolder;

// Reads texts, and holds the notes on the last one.
struct Tables {
  TemporaryFolder folder;
  std::vector<std::string> notes;

  std::string put(std::string_view bytes) { return folder.put("t.csv", bytes); }
  CsvOptions heard(CsvOptions options) {
    notes.clear();
    options.tell = [this](const std::string& note) { notes.push_back(note); };
    return options;
  }
  std::vector<CsvColumn> columns(std::string_view bytes, const CsvOptions& options = {}) {
    return read_csv_columns(put(bytes), heard(options));
  }
  std::string column(std::string_view bytes, std::size_t at, const CsvOptions& options = {}) {
    return format_tensor(columns(bytes, options)[at].values);
  }
  std::string matrix(std::string_view bytes, const CsvOptions& options = {}) {
    return format_tensor(read_csv(put(bytes), DType::Float32, heard(options)).values);
  }
  std::string chosen(std::string_view bytes, const CsvOptions& options) {
    return format_tensor(read_csv_matrix(put(bytes), heard(options)));
  }
  std::string told(std::string_view bytes, const CsvOptions& options = {}) {
    const std::string path = put(bytes);
    const std::string message = failure_of([&] { read_csv_columns(path, options); });
    const std::string start = "DataError: " + path + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  }
};

CsvOptions with_fill(const std::string& fill) {
  CsvOptions options;
  options.fill = fill;
  return options;
}

TEST_CASE("a decimal comma is read where cells are numbers by it alone, or where it is said") {
  Tables tables;
  CHECK(tables.column("a;b\n1,5;2\n-0,25;+3\n", 0) == "float32 (2,)\n[  1.5, -0.25]");
  CHECK(tables.column("a;b\n1,5;2\n-0,25;+3\n", 1) == "int64 (2,)\n[2, 3]");
  CHECK(tables.column("a,b\n\"1,5\",2\n\"2,25\",3\n", 0) == "float32 (2,)\n[ 1.5, 2.25]");
  CHECK(tables.matrix("1,5;2,5\n3;4,125e1\n") == "float32 (2, 2)\n[[  1.5,   2.5],\n [    3, 41.25]]");
  CHECK(tables.column("a;b\n1234,567;2\n", 0) == "float32 (1,)\n[1234.57]");
  // The word of one column does not hinder another.
  CHECK(tables.column("a;w\n1,5;x, y\n", 0) == "float32 (1,)\n[1.5]");
  CsvOptions comma, point;
  comma.decimal = ',';
  point.decimal = '.';
  CHECK(tables.column("a;b\n1,500;2\n", 0, comma) == "float32 (1,)\n[1.5]");
  CHECK(tables.matrix("1,500;2\n", comma) == "float32 (1, 2)\n[[1.5,   2]]");
  CHECK(tables.told("a;b\n1,5;2\n", point) ==
        "line 2, column 1: '1,5' in 'a' has a decimal comma; decimal=\",\" reads it (byte 4)");
  // Both ways at once are neither.
  CHECK(tables.told("a;b\n1,5;2.5\n") ==
        "line 2, column 1: '1,5' in 'a' has a decimal comma; decimal=\",\" reads it (byte 4)");
  CHECK(tables.told("a;b\n1,5;2.5\n", comma) ==
        "line 2, column 2: '2.5' in 'b' has a point among numbers with a decimal comma; write 2,5 (byte 8)");
  CHECK(tables.told("a;b\n1,5;1.234\n", comma).find("write 1,234, or 1234 where it separates thousands") !=
        std::string::npos);
}

TEST_CASE("separators of thousands are refused with the number that is meant") {
  Tables tables;
  CHECK(
      tables.told("a;b\n1,500;2\n") ==
      "line 2, column 1: '1,500' in 'a' is 1500 with a separator of thousands, or 1.500 with a decimal comma; "
      "write 1500, or decimal=\",\" (byte 4)");
  struct Case {
    const char *text, *plain;
  };
  for (const Case& each :
       {Case{"1,234,567", "1234567"}, Case{"-1,234.5", "-1234.5"}, Case{"1.234,5", "1234.5"},
        Case{"1 234,5", "1234.5"}, Case{"1'234.5", "1234.5"}, Case{"12 000", "12000"},
        Case{"1\xC2\xA0"
             "234",
             "1234"}}) {
    INFO(each.text);
    CHECK(tables.told(fmt::format("a;b\n{};2\n", each.text))
              .starts_with(fmt::format("line 2, column 1: '{}' in 'a' has separators of thousands; write {} ",
                                       each.text, each.plain)));
    CHECK(tables.told(fmt::format("a;b\n1;2\n{};2\n", each.text)).find("write ") != std::string::npos);
  }
  CHECK(failure_of([&] {
          tables.matrix("1;2\n1'000;3\n");
        }).find("has separators of thousands; write 1000") != std::string::npos);
  for (const char* word : {"12 34", "1'0000", "1,2,3", "1,23,456", "1.2.3", "v1,5"}) {
    INFO(word);
    CHECK(advice_on_number(word, '.').empty());
  }
  CsvOptions target;
  target.targets = {"b"};
  CHECK(tables.told("a;b\n1'000;2\n", target).find("write 1000") != std::string::npos);
}

TEST_CASE("missing cells are the mean or the median of the others") {
  Tables tables;
  CHECK(tables.column("a,b\n1,x\n,y\n4,z\n", 0, with_fill("mean")) == "float32 (3,)\n[  1, 2.5,   4]");
  CHECK(tables.notes == std::vector<std::string>{"1 missing cell of 'a' is the mean of the others, 2.5"});
  CHECK(tables.column("a\n9\nNA\n1\nnan\n2\n4\n", 0, with_fill("median")) ==
        "float32 (6,)\n[9, 3, 1, 3, 2, 4]");
  CHECK(tables.notes == std::vector<std::string>{"2 missing cells of 'a' are the median of the others, 3"});
  CHECK(tables.column("a\n9\n1\nNA\n2\n", 0, with_fill("median")) == "float32 (4,)\n[9, 1, 2, 2]");
  // Where none is missing a column keeps its dtype, and words are nobody's matter.
  CHECK(tables.column("a,b\n1,x\n2,y\n", 0, with_fill("mean")) == "int64 (2,)\n[1, 2]");
  CHECK(tables.notes.empty());
  CHECK(
      tables.told("a,w\n1,x\n2,\n", with_fill("mean")) ==
      "'w' holds words, which have no mean for its missing cells; fill={\"w\": …} says the word that stands for "
      "them");
  CHECK(tables.told("a,b\n,1\n,2\n", with_fill("median"))
            .starts_with("no cell of 'a' holds a number, so there is no median for its missing cells"));
  CsvOptions own;
  own.fill_of = {{"a", "mean"}, {"w", "none"}};
  const auto both = tables.columns("a,w\n1,x\n,\n3,y\n", own);
  CHECK(format_tensor(both[0].values) == "float32 (3,)\n[1, 2, 3]");
  CHECK(both[1].words == std::vector<std::string>{"none", "x", "y"});
  own.fill_of = {{"w", "mean"}};
  own.words_of = {{"w", {"mean", "x"}}};
  CHECK(tables.columns("a,w\n1,x\n2,\n", own)[1].values.get_int(1) == 0);
  CsvOptions integers = with_fill("mean");
  integers.dtype = DType::Int32;
  CHECK(tables.told("a\n1\nNA\n", integers) ==
        "the mean 1 of 'a' is no value of int32; dtype= chooses another");
  CHECK(tables.column("a\n1\nNaN\n", 0, with_fill("7")) == "int64 (2,)\n[1, 7]");
  CHECK(tables.column("a\n1.5\nNaN\n", 0) == "float32 (2,)\n[1.5, nan]");
}

TEST_CASE("a target is not made up of other rows unless it is asked for by name") {
  Tables tables;
  CsvOptions options = with_fill("mean");
  options.targets = {"y"};
  const std::string path = tables.put("x,y\n1,\n,2\n3,4\n");
  CHECK(failure_of([&] { read_csv_pair(path, options); })
            .find("line 2, column 2: missing value of 'y', a target, which fill=\"mean\" does not make up; "
                  "fill={\"y\": …} says what stands for it") != std::string::npos);
  options.fill_of = {{"y", "mean"}};
  const auto [x, y] = read_csv_pair(path, options);
  CHECK(format_tensor(x) == "float32 (3, 1)\n[[1],\n [2],\n [3]]");
  CHECK(format_tensor(y) == "float32 (3,)\n[3, 2, 4]");
  options = with_fill("0");
  options.targets = {"y"};
  CHECK(format_tensor(read_csv_pair(path, options).second) == "int64 (3,)\n[0, 2, 4]");
}

TEST_CASE("what is wrong with a choice is told as what it is") {
  Tables tables;
  CsvOptions options = with_fill("average");
  options.targets = {"y"};
  const std::string path = tables.put("x,y\n1,2\n,3\n");
  CHECK(
      failure_of([&] { read_csv_pair(path, options); })
          .ends_with(
              "fill: 'average' stands for the missing cells of 'x', a column of numbers; expected a number, "
              "mean or median"));
  CsvOptions other;
  other.separator = ';';
  other.columns = {"y"};
  CHECK(tables.told("x,y\n1,2\n", other) ==
        "no column 'y'; the file is read as one column, 'x,y'; sep=\",\" makes several of it");
}

TEST_CASE("columns are chosen by place") {
  Tables tables;
  CsvOptions options;
  options.targets = {"-1"};
  const std::string named = tables.put("a,b,c\n1,2,3\n4,5,6\n");
  CHECK(format_tensor(read_csv_pair(named, options).second) == "int64 (2,)\n[3, 6]");
  options.targets = {"0", "2"};
  options.columns = {"b", "2"};
  CHECK(format_tensor(read_csv_pair(named, options).second) == "int64 (2, 2)\n[[1, 3],\n [4, 6]]");
  CHECK(format_tensor(read_csv_pair(named, options).first) == "float32 (2, 1)\n[[2],\n [5]]");
  options.targets = {"c", "-1"};
  CHECK(failure_of([&] { read_csv_pair(named, options); }).ends_with("the column 'c' is asked for twice"));
  options.targets = {"3"};
  CHECK(failure_of([&] {
          read_csv_pair(named, options);
        }).ends_with("target: no column 3; the file has 3 columns, 0 to 2, from the last one -1 to -3"));
  options.targets = {"-4"};
  CHECK(rule_of([&] { read_csv_pair(named, options); }) == "DataError: csv.column");
  const std::string plain = tables.put("1,2,3\n4,5,6\n");
  options.columns = {};
  options.targets = {"-3"};
  CHECK(format_tensor(read_csv_pair(plain, options).first) == "float32 (2, 2)\n[[2, 3],\n [5, 6]]");
  CsvOptions some;
  some.columns = {"2", "0"};
  CHECK(tables.chosen("1,2,3\n4,5,6\n", some) == "float32 (2, 2)\n[[3, 1],\n [6, 4]]");
  CHECK(tables.chosen("1,,3\n4,5,6\n", with_fill("mean")) == "float32 (2, 3)\n[[1, 5, 3],\n [4, 5, 6]]");
  // A name goes before a place.
  some.columns = {"1"};
  CHECK(tables.columns("1,x\n7,8\n", some)[0].values.get_int(0) == 7);
  CHECK(format_tensor(read_tensors(tables.put("a,b\n1,2\n") + ":-1").front().second) == "int64 (1,)\n[2]");
}

TEST_CASE("a first line of numbers and words is told to be read as names") {
  Tables tables;
  const std::string_view flowers = "5.1,setosa\n4.9,virginica\n";
  CHECK(tables.columns(flowers)[1].words == std::vector<std::string>{"virginica"});
  CHECK(tables.notes ==
        std::vector<std::string>{
            "line 1 has numbers and words and is read as the names of the columns; header=False reads "
            "it as a row, header=True says that it is none"});
  CsvOptions named;
  named.columns = {"length", "kind"};
  CHECK(tables.told(flowers, named) ==
        "no column 'length'; the names are read from the first line, 5.1, setosa; "
        "header=False where that is a row");
  named.header = false;
  CHECK(tables.columns(flowers, named)[1].words == std::vector<std::string>{"setosa", "virginica"});
  CHECK(tables.notes.empty());
  CsvOptions years;
  years.header = true;
  CHECK(tables.columns("country,2019\nX,1\n", years)[1].name == "2019");
  CHECK(tables.notes.empty());
  CHECK(tables.columns("a,b\n1,2\n").size() == 2);
  CHECK(tables.notes.empty());
}

TEST_CASE("blanks separate cells where the lines show it") {
  Tables tables;
  CHECK(tables.matrix("  1.5   2\n3\t\t4  \n") == "float32 (2, 2)\n[[1.5,   2],\n [  3,   4]]");
  CHECK(tables.column("size price\n1 2.5\n3 4\n", 1) == "float32 (2,)\n[2.5,   4]");
  CHECK(tables.column("name size\n\"New York\" 2\nUlm 3\n", 0, [] {
    CsvOptions blank;
    blank.separator = ' ';
    return blank;
  }()) == "int64 (2,)\n[0, 1]");
  CHECK(tables.told("a b\n1 2\n3\n") == "line 3: 1 columns; expected 2 as in the first row (byte 8)");
  // One column of words stays one.
  CHECK(tables.columns("town\nNew York\nUlm\n").size() == 1);
  CHECK(tables.columns("full name\nAda Byron\nAlan Turing\n").size() == 1);
  CHECK(tables.columns("living area\n12\n13\n").size() == 1);
  CHECK(tables.columns("a,b c\n1,2 3\n")[1].name == "b c");
}

TEST_CASE("lines that begin with # are comments, and one above the rows may have the names") {
  Tables tables;
  CHECK(tables.matrix("# made by a program\n1,2\n# a remark\n3,4\n") == "float32 (2, 2)\n[[1, 2],\n [3, 4]]");
  CHECK(tables.notes.empty());
  CHECK(tables.columns("# size, price\n1,2\n")[1].name == "price");
  CHECK(tables.notes == std::vector<std::string>{
                            "line 1 begins with # and has as many cells as the rows: they are the names of "
                            "the columns; header=False passes it over"});
  CHECK(tables.columns("#,name\n1,x\n")[0].name == "#");
  CHECK(tables.columns("# metres, euros\nsize,price\n1,2\n")[1].name == "price");
  CsvOptions named, unnamed;
  named.header = true;
  unnamed.header = false;
  CHECK(tables.matrix("# x y\n1 2\n") == "float32 (1, 2)\n[[1, 2]]");
  CHECK(tables.notes ==
        std::vector<std::string>{"line 1 begins with # and is passed over; header=True takes the "
                                 "names of the columns from it"});
  CHECK(tables.columns("# x y\n1 2\n", named)[0].name == "x");
  CHECK(tables.matrix("# size, price\n1,2\n", unnamed) == "float32 (1, 2)\n[[1, 2]]");
  CHECK(tables.notes.empty());
  CHECK(tables.matrix("1,2\n#3,4\n5,6\n# 7,8\n") == "float32 (2, 2)\n[[1, 2],\n [5, 6]]");
  CHECK(tables.notes ==
        std::vector<std::string>{"2 lines with as many cells as a row begin with # and are passed "
                                 "over, the first is line 2; a cell that begins with # stands in "
                                 "quotes"});
  CHECK(tables.columns("color,n\n\"#fff\",1\n")[0].words == std::vector<std::string>{"#fff"});
}

TEST_CASE("texts of numbers are tables by what they begin with, and some by their ending") {
  TemporaryFolder folder;
  const auto format = [&](const std::string& name, std::string_view bytes) {
    return file_format_of(folder.put(name, bytes));
  };
  for (const char* bytes : {"1 2\n3 4\n", "# x y\n1.5,2\n", "1\n2\n", "1;2\r\n3;4\r\n",
                            "\xEF\xBB\xBF"
                            "1 2\n"}) {
    INFO(bytes);
    CHECK(format("n.txt", bytes) == FileFormat::Csv);
    CHECK(format("n.md", bytes) == FileFormat::Text);
  }
  for (const char* bytes : {"42\n", "1 2\n3\n", "1 two\n", "", "# 1 2\n", "a b\n1 2\n"}) {
    INFO(bytes);
    CHECK(format("n.txt", bytes) == FileFormat::Text);
    CHECK(format("n.dat", bytes) == FileFormat::Csv);
    CHECK(format("n.data", bytes) == FileFormat::Csv);
  }
  std::string wide = "0.5";
  for (int i = 0; i < 3000; ++i) wide += " 0.5";
  CHECK(format("w.txt", wide + "\n" + wide + "\n") == FileFormat::Csv);
  CHECK(format("w.txt", wide.substr(0, 4090) + "x y") == FileFormat::Text);
  CHECK(failure_of([&] { format("s.xlsx", "PK\x03\x04"); }).find("a spreadsheet; save it as CSV") !=
        std::string::npos);
  CHECK(rule_of([&] { format("b.dat", std::string_view("ab\0c", 4)); }) == "DataError: file.format");
}

}  // namespace
}  // namespace relish
