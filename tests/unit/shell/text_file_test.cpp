// The guards before a text is replaced.
#include "shell/program/text_file.h"

#include <catch2/catch.hpp>

#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::rule_of;
using testing::TemporaryFolder;

TEST_CASE("a file that was changed since it was read is not replaced") {
  TemporaryFolder folder;
  const std::string path = folder.put("m.relish", "\xEF\xBB\xBFx = 1\n");
  const SourceText original = read_text(path);
  write_in_place(original, path, "x = 2\n");
  CHECK(bytes_of(path) == "x = 2\n");
  CHECK(rule_of([&] { write_in_place(original, path, "x = 3\n"); }) == "IOError: program.changed");
  CHECK(bytes_of(path) == "x = 2\n");
}

TEST_CASE("declarations do not replace statements, and replace whatever else there is") {
  TemporaryFolder folder;
  const std::string module = "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return x\n";
  for (const char* kept : {"x = 1\n", "print(1)\n", "for i in range(3):\n    print(i)\n"}) {
    for (const char* name : {"a.relish", "a.py"}) {
      const std::string path = folder.put(name, kept + module);
      CHECK(failure_of([&] { write_program_text(path, module); }).starts_with("UsageError"));
      CHECK(bytes_of(path) == kept + module);
      write_program_text(path, "y = 2\n" + module);
      CHECK(bytes_of(path) == "y = 2\n" + module);
    }
  }
  for (const std::string& given : {std::string(), std::string("old\n"), std::string("\"text\"\n"), module,
                                   "from tvm.script import relax as R\n" + module, std::string("((\n")}) {
    const std::string path = folder.put("b.relish", given);
    write_program_text(path, module);
    CHECK(bytes_of(path) == module);
  }
  const std::string data = folder.put("b.txt", "x = 1\n");
  write_program_text(data, module);
  CHECK(bytes_of(data) == module);
}

}  // namespace
}  // namespace relish
