// Which calls of a body become one. Bindings are looked at in order; a call joins the groups of the calls
// whose results it takes, as long as nothing outside of the group has used a result before. Copies of
// elements (splits, reshapes, transposes) that several calls read are lent to each that they can be one with.
// What fails in a program is what fails first as it is written: a call with checks is moved behind nothing
// that may fail, too.
#pragma once

#include <functional>
#include <vector>

#include "schedule/fusion/calls.h"
#include "schedule/fusion/notes.h"

namespace relish {

struct FusedGroup {
  std::vector<FusibleCall> calls;    // in order; the fused call stands in the place of the last
  std::vector<bool> kept;            // which results are used by others
  std::shared_ptr<FusedCalls> made;  // null of one call, which stays as it is
  std::vector<FusionNote> apart;     // why it is not more
  bool vanishes = false;             // copies that all readers do for themselves
};

// Null for a call that is not fused: with effects, or that may fail but by checks, or whose loops are not
// known.
using CalleeOf = std::function<const FusibleCallee*(const Expr& value)>;

// The groups of the calls of the body, those of one call too; what it binds is seen in `results` and in
// itself.
std::vector<FusedGroup> fusible_groups(const std::vector<BindingBlock>& blocks,
                                       const std::vector<Expr>& results, const CalleeOf& callee_of,
                                       CallFuser& fuser);

}  // namespace relish
