// Columns of files that somebody else wrote: missing cells, and tables as numbers.
#include <catch2/catch.hpp>

#include "tests/golden/process.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

using relish::ScriptOptions;
using relish::testing::Harness;
using relish::testing::TemporaryFolder;

TEST_CASE("missing cells take what fill= says, and matrix=True is the table as numbers") {
  TemporaryFolder folder;
  folder.put("d.csv", "size,price\n2,\n3,4.5\n");
  folder.put("whole.csv", "size,price\n2,1\n3,4.5\n");
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  CHECK(harness.run("print(load(\"d.csv\", fill=0)[\"price\"])").output == "float32 (2,)\n[  0, 4.5]\n");
  CHECK(harness.run("print(load(\"whole.csv\", matrix=True))").output ==
        "float32 (2, 2)\n[[  2,   1],\n [  3, 4.5]]\n");
  const auto missing = harness.run("load(\"d.csv\")");
  CHECK(missing.error_class == "DataError");
  CHECK(missing.error.find("missing value of 'price'") != std::string::npos);
  CHECK(harness.run("load(\"d.csv\", fill=0, matrix=True)").error_class == "UsageError");
  CHECK(harness.run("print(load(\"whole.csv:size\"))").output == "int64 (2,)\n[2, 3]\n");
  CHECK(harness.run("load(\"whole.csv:size\", target=\"price\")").error.find("target is of CSV files") !=
        std::string::npos);
  folder.put("w.csv", "a,a.words\nx,2\n");
  CHECK(harness.run("load(\"w.csv\")").error.find("'a.words', which is a column too") != std::string::npos);
  CHECK(harness.run("load(\"w.csv\", columns=[\"a\"])[\"a.words\"]").output == "['x']\n");
  folder.put("m.relish", "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return x\n");
  CHECK(harness.run("load(\"m.relish\", sep=\";\")").error.find("is a module") != std::string::npos);
}

TEST_CASE("a CSV that the shell converts keeps its names and its integers") {
  TemporaryFolder folder;
  folder.put("h.csv", "a,town\n1,Ulm\n3,Bonn\n");
  folder.put("n.csv", "a,b\n1,2.5\n3,4\n");
  const auto save = [&](const std::string& from, const std::string& to) {
    relish::testing::ProcessRequest request;
    request.arguments = {"save", from, "-o", to};
    request.folder = folder.path();
    return relish::testing::run_program(request);
  };
  CHECK(save("h.csv", "h.csv").exit_code == 0);
  CHECK(relish::testing::bytes_of(folder.file("h.csv")) == "a,town\n1,Ulm\n3,Bonn\n");
  CHECK(save("n.csv", "n.tsv").exit_code == 0);
  CHECK(relish::testing::bytes_of(folder.file("n.tsv")) == "a\tb\n1\t2.5\n3\t4.0\n");
  CHECK(save("n.csv", "n.npz").exit_code == 0);
  const auto words = save("h.csv", "h.npz");
  CHECK(words.exit_code == 5);
  CHECK(words.error_output.find("'town' is a column of words") != std::string::npos);
}
