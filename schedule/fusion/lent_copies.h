// Copies that their readers do themselves: a split, a reshape or a transpose that several kernels read is
// an index in each of them, as one that a single kernel reads.
#pragma once

#include "schedule/fusion/calls.h"

namespace relish {

// Whether the call only copies elements of an argument, by indices that move along memory by fixed strides.
bool copies_elements(const FusibleCall& call);

// Whether `reader` may read what the copy `call` reads in the place of its result, also when others read the
// result: it goes along memory as it would, or copies what it reads into panels, and does not keep much more
// alive than the copy.
bool may_read_through(const FusibleCall& call, const FusibleCall& reader);

}  // namespace relish
