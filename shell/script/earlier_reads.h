// Which changes of a text come behind a read of the same name in one expression: in `print(xs, xs.pop())`
// Python prints the list as it is behind the change, since both are one list, and here the first argument is
// the value that the name had. Found from the text alone; whether the name holds a list or dict is seen when
// it runs.
#pragma once

#include "frontend/text/ast.h"

namespace relish {

// Notes at the names in front of changes where their expression has read the same name and still holds its
// value (ast::Name::read_before), in the statements and the functions among them.
void find_earlier_reads(const ast::Block& statements);

}  // namespace relish
