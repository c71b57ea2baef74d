// Printing to TVMScript: the canonical text of modules, functions, types and expressions. The round-trip law:
// reading a printed module gives an equal module, and printing that gives the same text.
#pragma once

#include <map>
#include <string>

#include "ir/nodes/module.h"

namespace relish {

class ConstantSection;  // ir/printer/constant_section.h

enum class Dialect { D2022, D2023, D026 };

struct PrintOptions {
  Dialect dialect = Dialect::D026;
  bool comments = true;
  bool for_messages = false;    // as people write it: 1 for T.int32(1), T.float32(n) for a cast
  bool free_functions = false;  // of a module: its functions without a class, as they stand in a file
  // Functions that were linked in from other files, and how the text names them: lib_f -> lib.f. They are not
  // printed themselves.
  std::map<std::string, std::string> linked = {};
};

std::string print(const Module& module, const PrintOptions& options = {});
// The module without heading and without the section of large constants, for texts that hold several
// declarations: these collect their constants in one section and write its text once, at the end.
std::string print_part(const Module& module, ConstantSection& constants, const PrintOptions& options = {});
// A function alone, decorated, as it stands outside a class.
std::string print(const Function& function, const PrintOptions& options = {});
std::string print(const PrimFunc& function, const PrintOptions& options = {});
// One line; for messages and `type`.
std::string print(const Type& type, const PrintOptions& options = {});
std::string print(const Expr& expr, const PrintOptions& options = {});
std::string print(const Scalar& scalar, const PrintOptions& options = {});
std::string print(const Attribute& attribute);
// Indented statements of a prim_func body, for messages and tests.
std::string print(const Stmt& stmt, const PrintOptions& options = {});

}  // namespace relish
