// CSV tables.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "runtime/files.h"
#include "runtime/format.h"
#include "support/limits.h"
#include "support/memory.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::rule_of;
using testing::TemporaryFolder;

TEST_CASE("a numeric first row is data, any text makes it a header") {
  TemporaryFolder folder;
  CsvTable plain = read_csv(folder.put("a.csv", "1,2.5\n-3e2, +4 \n"));
  CHECK(plain.columns.empty());
  CHECK(format_tensor(plain.values) == "float32 (2, 2)\n[[   1,  2.5],\n [-300,    4]]");
  CsvTable named = read_csv(folder.put("b.csv", "\xEF\xBB\xBFsize,\"the, \"\"price\"\"\"\r\n\r\n1,2\r\n3,4"));
  CHECK(named.columns == std::vector<std::string>{"size", "the, \"price\""});
  CHECK(format_tensor(named.values) == "float32 (2, 2)\n[[1, 2],\n [3, 4]]");
  CHECK(read_csv(folder.put("c.csv", "x,y\n")).values.shape() == Shape{0, 2});
  CHECK(read_csv(folder.put("d.csv", "")).values.shape() == Shape{0, 0});
}

TEST_CASE("other dtypes are read in their own precision") {
  TemporaryFolder folder;
  std::string path = folder.put("a.csv", "9007199254740993,0\n1,1\n");
  CHECK(read_csv(path, DType::Int64).values.get_int(0) == 9007199254740993);
  CHECK(failure_of([&] { read_csv(path, DType::Float64); }) ==
        "DataError: " + path +
            ": line 1, column 1: the integer 9007199254740993 is no value of float64; read the file with "
            "dtype=\"int64\" or \"float64\" (byte 0)");
  CHECK(failure_of([&] { read_csv(path, DType::Int32); }) ==
        "DataError: " + path + ": line 1, column 1: '9007199254740993' does not read as int32 (byte 0)");
}

TEST_CASE("bad cells and rows are refused by line and column") {
  TemporaryFolder folder;
  auto text = [&](std::string_view bytes) {
    std::string path = folder.put("bad.csv", bytes);
    std::string message = failure_of([&] { read_csv(path); });
    std::string start = "DataError: " + path + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  };
  CHECK(text("a,b\n1,2\n3,\n") ==
        "line 3, column 2: missing value; expected float32, or load(path, fill=0) (byte 10)");
  CHECK(text("1,2\n3,x\n") ==
        "line 2, column 2: 'x' does not read as float32; columns= leaves a column out (byte 6)");
  CHECK(text("a,b\n1,2\n3,x\n") ==
        "line 3, column 2: 'x' in 'b' does not read as float32; columns= leaves a column out (byte 10)");
  CHECK(text("1,2\n3,4 5\n") ==
        "line 2, column 2: '4 5' does not read as float32; columns= leaves a column out (byte 6)");
  CHECK(text("1,2\n3\n") == "line 2: 1 columns; expected 2 as in the first row (byte 4)");
  CHECK(text("1,2\n3,4,5\n") == "line 2: 3 columns; expected 2 as in the first row (byte 4)");
  CHECK(text("1,2\n\"3,4\n") == "line 2, column 1: a quoted cell has no end on its line (byte 4)");
  CHECK(text("1,2\n\"3\"4,4\n") == "line 2, column 1: text follows a quoted cell; expected a comma (byte 7)");
  CHECK(text("1,2\n3,1e99\n") == "line 2, column 2: '1e99' does not read as float32 (byte 6)");
}

TEST_CASE("the same fault of a column is told once, with the lines where it is") {
  TemporaryFolder folder;
  const auto told = [&](const std::string& bytes, bool as_matrix) {
    const std::string path = folder.put("bad.csv", bytes);
    std::vector<std::string> result;
    try {
      if (as_matrix)
        read_csv(path);
      else
        read_csv_columns(path, {});
    } catch (const Failure& failure) {
      for (const Diagnostic& each : failure.diagnostics())
        result.push_back(each.message + (each.notes.empty() ? "" : " | " + each.notes[0].text));
    }
    return result;
  };
  std::string bytes = "a,b\n1,2\n";
  for (int i = 0; i < 30; ++i) bytes += i % 3 == 0 ? "1,2\n" : fmt::format("w{},2\n", i);
  CHECK(
      told(bytes, false) ==
      std::vector<std::string>{
          "line 4, column 1: 'w1' in 'a', a column of numbers; expected a number, or columns= leaves the column "
          "out (byte 12) | the same in 19 more cells of this column: line 5, 7, 8, 10, 11, …"});
  CHECK(
      told(bytes, true) ==
      std::vector<std::string>{
          "line 4, column 1: 'w1' in 'a' does not read as float32; columns= leaves a column out (byte 12) | the "
          "same in 19 more cells of this column: line 5, 7, 8, 10, 11, …"});
  CHECK(
      told("1,2\nx,2\n1,y\n,3\nz,\n", true) ==
      std::vector<std::string>{
          "line 2, column 1: 'x' does not read as float32; columns= leaves a column out (byte 4) | the same in 1 "
          "more cell of this column: line 5",
          "line 3, column 2: 'y' does not read as float32; columns= leaves a column out (byte 10)",
          "line 4, column 1: missing value; expected float32, or load(path, fill=0) (byte 12)"});
}

TEST_CASE("the first twenty bad rows are told") {
  TemporaryFolder folder;
  std::string bytes = "1,2\n";
  for (int i = 0; i < 30; ++i) bytes += "1\n";
  try {
    read_csv(folder.put("bad.csv", bytes));
    FAIL("no failure");
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().size() == 20);
    CHECK(failure.diagnostics()[19].message.starts_with("line 21: 1 columns"));
    REQUIRE(failure.diagnostics()[19].notes.size() == 1);
    CHECK(failure.diagnostics()[19].notes[0].text == "and 10 more lines with faults");
  }
}

TEST_CASE("carriage returns alone end lines too") {
  TemporaryFolder folder;
  CHECK(format_tensor(read_csv(folder.put("a.csv", "a,b\r1,2\r3,4\r")).values) ==
        "float32 (2, 2)\n[[1, 2],\n [3, 4]]");
  CHECK(failure_of([&] { read_csv(folder.put("b.csv", "1\r2\rx\r")); }).find("line 3, column 1") !=
        std::string::npos);
  CHECK(read_csv(folder.put("c.csv", "1\r\n2\r\n")).values.size() == 2);
}

TEST_CASE("integers of 64 bits without a sign, and large ones that floats have") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a\n9223372036854775808\n18446744073709551615\n");
  CsvOptions options;
  options.dtype = DType::UInt64;
  CHECK(read_csv_columns(path, options)[0].values.view<std::uint64_t>()[1] == UINT64_MAX);
  options.dtype = DType::Float64;
  const std::string exact = folder.put("e.csv", "a\n9223372036854775808\n-9223372036854775808\n");
  CHECK(read_csv_columns(exact, options)[0].values.get_double(0) == 0x1p63);
  CHECK(read_csv(exact, DType::Float32).values.get_double(1) == -0x1p63);
  CHECK(rule_of([&] { read_csv_columns(path, options); }) == "DataError: csv.value");
  CHECK(read_csv_columns(folder.put("f.csv", "a\n18446744073709551616\n"), options)[0].values.get_double(0) ==
        0x1p64);
  options.dtype = DType::UInt64;
  CHECK(rule_of([&] { read_csv_columns(folder.put("g.csv", "a\n-1\n"), options); }) ==
        "DataError: csv.value");
}

TEST_CASE("numbers in a column whose first cell is a word are told") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a,w\n1,unknown\n2,3.5\n");
  const std::vector<CsvColumn> columns = read_csv_columns(path, {});
  CHECK(columns[0].note.empty());
  CHECK(
      columns[1].note ==
      "line 2, column 2: 'unknown' in 'w' is no number, so the column holds words; its numbers are words too");
  CsvOptions options;
  options.targets = {"w"};
  CHECK(failure_of([&] { read_csv_pair(path, options); }) ==
        "DataError: " + path +
            ": line 2, column 2: 'unknown' in 'w' is no number, but other cells of this target are; write "
            "numbers, or words alone");
  CHECK(rule_of([&] { read_tensors(path + ":w"); }) == "DataError: csv.value");
}

TEST_CASE("each column may have a filling of its own") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a,w\n1,\n,x\n");
  CsvOptions options;
  options.fill_of = {{"w", "none"}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("missing value of 'a'") !=
        std::string::npos);
  options.fill = "7";
  const std::vector<CsvColumn> columns = read_csv_columns(path, options);
  CHECK(format_tensor(columns[0].values) == "int64 (2,)\n[1, 7]");
  CHECK(columns[1].words == std::vector<std::string>{"none", "x"});
  options.fill_of = {{"b", "0"}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("fill: no column 'b'") !=
        std::string::npos);
}

TEST_CASE("words that are given have their codes by their places") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a,w\n1,x\n2,7\n");
  CsvOptions options;
  options.words_of = {{"w", {"z", "7", "x"}}};
  const std::vector<CsvColumn> columns = read_csv_columns(path, options);
  CHECK(format_tensor(columns[1].values) == "int64 (2,)\n[2, 1]");
  CHECK(columns[1].words == std::vector<std::string>{"z", "7", "x"});
  CHECK(columns[1].note.empty());
  options.targets = {"w"};
  CHECK(format_tensor(read_csv_pair(path, options).second) == "int64 (2,)\n[2, 1]");
  options.targets = {};
  options.words_of = {{"w", {"y", "7"}}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("'x' in 'w' is none of the 2 words") !=
        std::string::npos);
  options.words_of = {{"w", {"y", "y"}}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("'y' stands twice") != std::string::npos);
  options.words_of = {{"v", {"y"}}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("words: no column 'v'") !=
        std::string::npos);
  options.dtype = DType::Bool;
  options.words_of = {{"w", {"x", "7", "z"}}};
  CHECK(failure_of([&] { read_csv_columns(path, options); }).find("the code 2 of 'w' is no value of bool") !=
        std::string::npos);
}

TEST_CASE("matrices among columns are written under their names") {
  TemporaryFolder folder;
  const CsvColumn x{"x", read_csv(folder.put("n.csv", "1,2\n3,4\n")).values};
  const CsvColumn y{"y", read_csv_columns(folder.put("y.csv", "y\n5\n6\n"), {})[0].values};
  write_csv(folder.file("out.csv"), {x, y}, true);
  CHECK(csv_names(folder.file("out.csv")) == std::vector<std::string>{"x.0", "x.1", "y"});
  CHECK(format_tensor(read_csv(folder.file("out.csv")).values) == "float32 (2, 3)\n[[1, 2, 5],\n [3, 4, 6]]");
  CHECK(rule_of([&] { write_csv(folder.file("t.csv"), {x, {"x.1", y.values}}, true); }) ==
        "UsageError: csv.shape");
}

TEST_CASE("columns are what their cells hold") {
  TemporaryFolder folder;
  const std::string path =
      folder.put("d.csv", "town;size;price;id\n\"Ulm\";2;1.5;9007199254740993\nBonn;3;2;1\nUlm;-4;+3e2;2\n");
  const std::vector<CsvColumn> columns = read_csv_columns(path, {});
  REQUIRE(columns.size() == 4);
  CHECK(format_tensor(columns[0].values) == "int64 (3,)\n[1, 0, 1]");
  CHECK(columns[0].words == std::vector<std::string>{"Bonn", "Ulm"});
  CHECK(format_tensor(columns[1].values) == "int64 (3,)\n[ 2,  3, -4]");
  CHECK(format_tensor(columns[2].values) == "float32 (3,)\n[1.5,   2, 300]");
  CHECK(columns[3].values.get_int(0) == 9007199254740993);
  CsvOptions some;
  some.columns = {"price", "size"};
  some.dtype = DType::Float64;
  CHECK(format_tensor(read_csv_columns(path, some)[1].values) == "float64 (3,)\n[ 2,  3, -4]");
  CHECK(read_csv_columns(path, some)[0].name == "price");
  some.columns = {"prise"};
  CHECK(rule_of([&] { read_csv_columns(path, some); }) == "DataError: csv.column");
  CHECK(csv_has_header(path));
  const std::string tabs = folder.put("d.tsv", "a\tb, c\n1\t2\n");
  CHECK(read_csv_columns(tabs, {})[1].name == "b, c");
}

TEST_CASE("a file without a header gets names") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "1,2\n3,4\n");
  CsvOptions named;
  named.columns = {"a", "b"};
  CHECK(format_tensor(read_csv_columns(path, named)[1].values) == "int64 (2,)\n[2, 4]");
  CHECK_FALSE(csv_has_header(path));
  named.columns = {"a"};
  CHECK(failure_of([&] { read_csv_columns(path, named); }) ==
        "DataError: " + path + ": the file has no header and 2 columns, found 1 names");
  CHECK(
      failure_of([&] { read_csv_columns(path, {}); }) ==
      "DataError: " + path +
          ": the file has no header, so no column can be named; name its 2 columns by columns=[…], or choose by "
          "place, as -1 for the last");
}

TEST_CASE("missing cells are refused or filled") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a,b,w\n1,NA,x\n,2.5,\n3,4,y\n");
  CHECK(
      failure_of([&] { read_csv_columns(path, {}); }) ==
      "DataError: " + path +
          ": line 2, column 2: missing value of 'b'; fill= says what stands for such cells, columns= leaves "
          "the column out (byte 8)");
  CsvOptions filled;
  filled.fill = "0";
  const std::vector<CsvColumn> columns = read_csv_columns(path, filled);
  CHECK(format_tensor(columns[0].values) == "int64 (3,)\n[1, 0, 3]");
  CHECK(format_tensor(columns[1].values) == "float32 (3,)\n[  0, 2.5,   4]");
  CHECK(columns[2].words == std::vector<std::string>{"0", "x", "y"});
}

TEST_CASE("words with commas that are no numbers stay words, and one column of several is noted") {
  TemporaryFolder folder;
  const auto read = [&](std::string_view bytes, const CsvOptions& options = {}) {
    return read_csv_columns(folder.put("w.csv", bytes), options);
  };
  for (const char* word : {"a, b", "1,2,3", "0,5x", ",", "1,000,00", "1,000,x00"}) {
    INFO(word);
    CHECK(read(fmt::format("a,b\n\"{}\",2\n", word))[0].words == std::vector<std::string>{word});
  }
  CsvOptions words;
  words.words_of = {{"a", {"1,000"}}};
  CHECK(read("a,b\n\"1,000\",2\n", words)[0].values.get_int(0) == 0);
  CHECK(read("a|b\n1|2\n")[0].note.find("sep=\"|\" makes several of it") != std::string::npos);
  CHECK(read("a|b\n1\n")[0].note.empty());
  CHECK(read("a|b,c\nx,2\n")[0].note.empty());
  CsvOptions first_row;
  first_row.header = false;
  first_row.columns = {"day", "sales"};
  const auto days = read("2020-01-01,5\n2020-01-02,7\n", first_row);
  CHECK(days[0].words == std::vector<std::string>{"2020-01-01", "2020-01-02"});
  CHECK(days[1].values.get_int(0) == 5);
  CsvOptions years;
  years.header = true;
  const auto sales = read("2019,2020\n1,2\n", years);
  CHECK(sales[1].name == "2020");
  CHECK(sales[1].values.size() == 1);
  CsvOptions fill_word;
  fill_word.fill = "none";
  const auto towns = read("town,b\n,1\nUlm,2\n", fill_word);
  CHECK(towns[0].words == std::vector<std::string>{"Ulm", "none"});
  CHECK(towns[0].values.get_int(0) == 1);
}

TEST_CASE("cells that do not fit their column are told by line, column and name") {
  TemporaryFolder folder;
  const auto told = [&](std::string_view bytes, const CsvOptions& options = {}) {
    const std::string path = folder.put("bad.csv", bytes);
    const std::string message = failure_of([&] { read_csv_columns(path, options); });
    const std::string start = "DataError: " + path + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  };
  CHECK(
      told("a\n1\nx\n") ==
      "line 3, column 1: 'x' in 'a', a column of numbers; expected a number, or columns= leaves the column out "
      "(byte 4)");
  for (const char* number : {"1,000", "12,345,678.5"}) {
    INFO(number);
    CHECK(told(fmt::format("a,b\n\"{}\",2\n", number)).find("words={\"a\": […]} takes them as words") !=
          std::string::npos);
  }
  told("a,b\n\"1,000\",2\n\"2,000\",\"3,500\"\n");
  try {
    read_csv_columns(folder.file("bad.csv"), {});
    FAIL("is accepted");
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().size() == 2);  // once a column
  }
  // The first missing cell of a column speaks for the others; what stands for it is of its kind.
  CHECK(told("a,b\n1,\n,2\n,3\n4,\n") ==
        "line 2, column 2: missing value of 'b'; fill= says what stands for such cells, columns= leaves the "
        "column out (byte 6)");
  try {
    read_csv_columns(folder.file("bad.csv"), {});
    FAIL("is accepted");
  } catch (const Failure& failure) {
    REQUIRE(failure.diagnostics().size() == 2);
    CHECK(failure.diagnostics()[1].message.starts_with("line 3, column 1: missing value of 'a'"));
  }
  CsvOptions filled;
  filled.fill = "many";
  for (const char* text : {"a,b\n1,2\n,3\n", "a,b\n,3\n1,2\n"}) {
    CHECK(
        told(text, filled) ==
        "fill: 'many' stands for the missing cells of 'a', a column of numbers; expected a number, mean or median");
  }
  CHECK(told("gr\xf6\xdf"
             "e,b\n1,2\n") == "line 1: the bytes are no UTF-8; save the file as UTF-8 (byte 2)");
  CHECK(told("a,b\nx\xff,2\n") == "line 2: the bytes are no UTF-8; save the file as UTF-8 (byte 5)");
  CHECK(told("a;b\n1.5;2\n1,5;3\n") ==
        "line 3, column 1: '1,5' in 'a' has a decimal comma; decimal=\",\" reads it (byte 10)");
  CHECK(
      told("a\n9223372036854775808\n") ==
      "line 2, column 1: the integer 9223372036854775808 of 'a' is no value of int64; dtype= chooses another "
      "(byte 2)");
  CHECK(
      told("a\n1.5\n16777217\n") ==
      "line 3, column 1: the integer 16777217 of 'a' is no value of float32; dtype= chooses another (byte 6)");
  CHECK(told("a,b\n1\n") == "line 2: 1 columns; expected 2 as in the first row (byte 4)");
  CHECK(told("a,a\n1,2\n") == "two columns are named 'a'");
  CsvOptions other;
  other.columns = {"prise"};
  CHECK(told("size,price\n1,2\n", other) == "no column 'prise'; did you mean 'price'?");
  other.columns = {"size", "size"};
  CHECK(told("size,price\n1,2\n", other) == "the column 'size' is asked for twice");
}

TEST_CASE("targets are split off") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "size,price,rooms,town\n1,10,2,x\n3,30.5,4,y\n");
  CsvOptions options;
  options.columns = {"size", "price", "rooms"};
  options.targets = {"price"};
  auto [x, y] = read_csv_pair(path, options);
  CHECK(format_tensor(x) == "float32 (2, 2)\n[[1, 2],\n [3, 4]]");
  CHECK(format_tensor(y) == "float32 (2,)\n[  10, 30.5]");
  options.targets = {"rooms", "size"};
  CHECK(format_tensor(read_csv_pair(path, options).second) == "int64 (2, 2)\n[[2, 1],\n [4, 3]]");
  options.columns = {};
  CHECK(
      failure_of([&] { read_csv_pair(path, options); }) ==
      "DataError: " + path +
          ": line 2, column 4: 'x' in 'town', which is a column of x and so of numbers; columns= leaves the column "
          "out, words={\"town\": [\"x\", …]} makes its words the numbers of their places (byte 29)");
  options.targets = {"town"};
  options.columns = {"size"};
  CHECK(format_tensor(read_csv_pair(path, options).second) == "int64 (2,)\n[0, 1]");
}

TEST_CASE("what is written reads back") {
  TemporaryFolder folder;
  const std::string path = folder.put("d.csv", "a,w\n0.1,\"x, y\"\n1e-30,\"q\"\"\"\n");
  const std::vector<CsvColumn> columns = read_csv_columns(path, {});
  write_csv(folder.file("out.csv"), columns, true);
  const std::vector<CsvColumn> back = read_csv_columns(folder.file("out.csv"), {});
  CHECK(back[0].values.get_double(1) == columns[0].values.get_double(1));
  CHECK(back[1].words == columns[1].words);
  write_tensors(folder.file("m.csv"), {{"out", read_csv(folder.put("n.csv", "1,2\n3,4.5\n")).values}});
  CHECK(format_tensor(read_csv(folder.file("m.csv")).values) == "float32 (2, 2)\n[[  1,   2],\n [  3, 4.5]]");
  CHECK(
      rule_of([&] {
        write_csv(
            folder.file("x.csv"),
            {{"a", columns[0].values}, {"b", back[0].values.copy()}, {"c", Tensor::empty(DType::Int64, {3})}},
            true);
      }) == "UsageError: csv.shape");
  CHECK(rule_of([&] { write_csv(folder.file("x.csv"), {{"a\n", columns[0].values}}, true); }) ==
        "UsageError: csv.cell");
}

TEST_CASE("files of other kinds are named") {
  TemporaryFolder folder;
  CHECK(failure_of([&] { file_format_of(folder.put("m.pt", "\x80\x02}q")); }).find("a pickle file") !=
        std::string::npos);
  CHECK(failure_of([&] { file_format_of(folder.put("m", "\x89HDF\r\n\x1a\n")); }).find("HDF5") !=
        std::string::npos);
  CHECK(rule_of([&] { file_format_of(folder.put("m", std::string("a\0b", 3))); }) ==
        "DataError: file.format");
  CHECK(file_format_of(folder.put("notes.md", "grün")) == FileFormat::Text);
  CHECK(rule_of([&] { file_format_of(folder.put("cut.md", "gr\xC3")); }) == "DataError: file.format");
  CHECK(file_format_of(folder.put("d.json", "[1]")) == FileFormat::Json);
  CHECK(file_format_of(folder.put("d.tsv", "1\t2")) == FileFormat::Csv);
}

TEST_CASE("bad widths and bad values are told in the order of the lines") {
  TemporaryFolder folder;
  std::string path = folder.put("bad.csv", "a,b\n1,x\n2\n3,4\n\"5,6\n7,8,9\n");
  try {
    read_csv(path);
    FAIL("no failure");
  } catch (const Failure& failure) {
    std::vector<std::string> ids;
    for (const Diagnostic& diagnostic : failure.diagnostics()) ids.push_back(diagnostic.id);
    CHECK(ids == std::vector<std::string>{"csv.value", "csv.width", "csv.quote", "csv.width"});
  }
}

TEST_CASE("numbers at the ends of a type") {
  TemporaryFolder folder;
  std::string path = folder.put("a.csv", "1e-50,-1e-50,1e-46\n");
  CHECK(read_csv(path).values.get_double(0) == 0);
  CHECK(std::signbit(read_csv(path).values.get_double(1)));
  CHECK(read_csv(path).values.get_double(2) == 0);
  CHECK(read_csv(folder.put("a.csv", "1e-400"), DType::Float64).values.get_double(0) == 0);
  CHECK(read_csv(folder.put("a.csv", "1e-45")).values.get_double(0) == 1.401298464324817e-45);
  CHECK(read_csv(folder.put("a.csv", "inf,-inf")).values.get_double(1) == -HUGE_VAL);
  struct Case {
    DType dtype;
    const char* text;
  };
  for (const Case& c :
       {Case{DType::Float32, "3.5e38"}, Case{DType::Float64, "1e400"}, Case{DType::Float16, "1e400"},
        Case{DType::BFloat16, "-1e999"}, Case{DType::Int8, "128"}, Case{DType::UInt8, "-1"},
        Case{DType::UInt64, "18446744073709551616"}, Case{DType::Bool, "2"}, Case{DType::Int32, "1.0"},
        Case{DType::Float32, "0x10"}, Case{DType::Float32, "++1"}, Case{DType::Float32, "1e"}}) {
    path = folder.put("a.csv", "0\n" + std::string(c.text) + "\n");
    INFO(c.text);
    CHECK(rule_of([&] { read_csv(path, c.dtype); }) == "DataError: csv.value");
  }
}

TEST_CASE("integers are never rounded") {
  TemporaryFolder folder;
  struct Case {
    DType dtype;
    const char *last, *first_refused;
  };
  for (const Case& c :
       {Case{DType::Float32, "16777216", "16777217"}, Case{DType::Float32, "-16777216", "-16777217"},
        Case{DType::Float64, "9007199254740992", "9007199254740993"}, Case{DType::Float16, "2048", "2049"},
        Case{DType::BFloat16, "256", "257"},
        Case{DType::Float32, "9223372036854775800.0", "9223372036854775807"},
        Case{DType::Float32, "1e20", "100000000000000000001"}}) {
    INFO(c.last);
    const std::string column = std::string("x\n") + c.last + "\n";
    CHECK(read_csv(folder.put("a.csv", column), c.dtype).values.size() == 1);
    const std::string path = folder.put("a.csv", column + c.first_refused + "\n");
    CHECK(rule_of([&] { read_csv(path, c.dtype); }) == "DataError: csv.value");
    CHECK(failure_of([&] { read_csv(path, c.dtype); }).find("is no value of") != std::string::npos);
  }
  CHECK(read_csv(folder.put("a.csv", "16777216,33554432,+123456789.5\n")).values.size() == 3);
}

TEST_CASE("a line without an end is refused before it is read") {
  TemporaryFolder folder;
  const std::string path = folder.put("a.csv", "1,2\n3,4");
  std::filesystem::resize_file(path, std::uintmax_t{10} << 30);
  const std::uint64_t before = limits().memory_bytes;
  limits().memory_bytes = std::uint64_t{1} << 40;
  CHECK(failure_of([&] { read_csv(path); }) ==
        "DataError: " + path + ": line 2: more than 16777216 bytes, which is the most that is read (byte 4)");
  limits().memory_bytes = memory_held() + 1000;
  CHECK(rule_of([&] { read_csv(folder.put("b.csv", std::string(2000, '1'))); }) ==
        "ResourceLimit: memory.limit");
  limits().memory_bytes = before;
}

TEST_CASE("limits of a line") {
  TemporaryFolder folder;
  std::string commas;
  for (int i = 0; i < 999999; ++i) commas += "1,";
  CHECK(read_csv(folder.put("a.csv", commas + "1\n")).values.shape() == Shape{1, 1000000});
  std::string path = folder.put("a.csv", "1,2\n" + commas + "1,1\n");
  CHECK(failure_of([&] { read_csv(path); }) ==
        "DataError: " + path + ": line 2: 1000001 columns; expected 2 as in the first row (byte 4)");
  path = folder.put("a.csv", commas + "1,1\n");
  CHECK(failure_of([&] { read_csv(path); }) ==
        "DataError: " + path + ": line 1: more than 1000000 columns (byte 2000000)");
  CHECK(rule_of([&] { read_csv(path); }) == "DataError: csv.columns");

  std::string longest = "1," + std::string((16 << 20) - 3, ' ') + "2";
  CHECK(read_csv(folder.put("a.csv", longest)).values.shape() == Shape{1, 2});
  path = folder.put("a.csv", "1,2\n1" + longest + "\n");
  CHECK(failure_of([&] { read_csv(path); }) ==
        "DataError: " + path + ": line 2: 16777217 bytes; at most 16777216 are read (byte 4)");
  CHECK(rule_of([&] { read_csv(folder.put("a.csv", "1" + longest)); }) == "DataError: csv.line");
}

TEST_CASE("bytes that are no UTF-8 are told with their line") {
  TemporaryFolder folder;
  const std::string path = folder.put("a.csv", "name,x\nM\xC3\xBCnchen,1\nK\xF6ln,2\n");
  CHECK(failure_of([&] { read_csv(path); }) ==
        "DataError: " + path + ": line 3: the bytes are no UTF-8; save the file as UTF-8 (byte 19)");
  CHECK(rule_of([&] { read_csv(path); }) == "DataError: csv.text");
}

TEST_CASE("a wide first row and many short ones take no memory for the cells that are not there") {
  TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 999999; ++i) bytes += "1,";
  bytes += "1\n";
  for (int i = 0; i < 1000000; ++i) bytes += "1\n";
  try {
    read_csv(folder.put("a.csv", bytes));
    FAIL("no failure");
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().size() == 20);
    CHECK(failure.diagnostics()[0].id == "csv.width");
  }
}

}  // namespace
}  // namespace relish
