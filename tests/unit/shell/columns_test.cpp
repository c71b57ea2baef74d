// Columns of files that somebody else wrote: missing cells, and tables as numbers.
#include <catch2/catch.hpp>

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
}
