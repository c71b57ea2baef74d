// The table of the language's own names, and the manual's copy of it.
#include "ir/printer/reserved_names.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace relish;

TEST_CASE("a name of the language stands where it has it, with a value of its type") {
  const Attribute names(AttributeList{Attribute("x"), Attribute("y")});
  CHECK_FALSE(reserved_fault(NamePlace::GraphFunction, "relish.params", names));
  CHECK_FALSE(reserved_fault(NamePlace::GraphFunction, "relish.gradient_of", "f"));
  CHECK_FALSE(reserved_fault(NamePlace::Loop, "blocks", 4));
  CHECK_FALSE(reserved_fault(NamePlace::Loop, "relishes", 4));
  CHECK_FALSE(reserved_scope_fault("local"));
  CHECK(reserved_fault(NamePlace::GraphFunction, "relish.params", 3) ==
        "found a value of another type for 'relish.params'; expected a list of str");
  CHECK(reserved_fault(NamePlace::GraphFunction, "relish.gradient_of", names) ==
        "found a value of another type for 'relish.gradient_of'; expected a str");
  CHECK(
      reserved_fault(NamePlace::GraphFunction, "relish.recursive", 3) ==
      "found 'relish.recursive' of an R.function; names that begin with 'relish.' are the language's: "
      "expected 'relish.gradient_of' or 'relish.params' or 'relish.buffers' or 'relish.role' or 'relish.check_well_formed'");
  CHECK_FALSE(reserved_fault(NamePlace::PrimFunc, "relish.check_well_formed", false));
  CHECK(reserved_fault(NamePlace::GraphFunction, "relish.check_well_formed", true) ==
        "found a value of another type for 'relish.check_well_formed'; expected False");
  CHECK(reserved_fault(NamePlace::PrimFunc, "relish.params", names));
  CHECK(
      reserved_fault(NamePlace::Loop, "relish.blocks", 4) ==
      "found 'relish.blocks' of a loop; names that begin with 'relish.' are the language's: expected another "
      "name");
  CHECK(reserved_scope_fault("relish.stack"));
}

TEST_CASE("the manual lists the names of the language with their types") {
  std::ifstream file("docs/language.md");
  const std::string manual{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const ReservedName& each : reserved_names()) {
    const std::string row = fmt::format("| `{}` | {} | {} | {} |", each.name, name_of(each.place),
                                        name_of(each.type), each.meaning);
    INFO(row);
    CHECK(manual.find(row) != std::string::npos);
  }
}
