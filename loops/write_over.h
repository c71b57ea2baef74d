// Whether a prim_func may write a result over one of its arguments, and the prim_func that does: an
// elementwise update that reads an element writes the same element and needs no memory beside it.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

// An argument that is only read and a result that is only written, by number of the parameter.
struct WrittenOver {
  std::size_t argument, result;
};

// Whether every read of the argument comes before the write of the result's element of the same place,
// whatever the order in which elements are written: all of them stand in one nest of loops, at the same
// indices, which are different ones in each iteration. Several such pairs may be joined at once when no
// parameter is in two.
bool may_write_over(const PrimFunc& function, const WrittenOver& pair);

// The function with one parameter for each pair, in the argument's place: the result's, which holds the
// argument when it is entered. So the others keep their order, as R.call_tir_inplace wants it.
PrimFuncPtr written_over(const PrimFunc& function, const std::vector<WrittenOver>& pairs, std::string name);

// Whether it is shown that no run of the function fails.
bool never_faults(const PrimFunc& function);

}  // namespace relish
