// What the rounds of a loop keep for the way back. Where the number of rounds is known before the loop, one
// tensor for each value, a row a round; else, and for values whose sizes change, a stack. What a round begins
// with is what the one before it ended with: the two are one tensor of a row more, or the way back has it
// from the round that it went to. What costs less than a load is computed again.
#pragma once

#include <optional>
#include <vector>

#include "transform/gradient/cut.h"
#include "transform/gradient/loop_range.h"

namespace relish {

// A value that is kept in rows. With `begins` it is what the next round begins with, as that parameter of the
// body: a row before the first holds what the loop begins with, and the parameter has no rows of its own.
struct RowsOf {
  Var value;
  std::optional<std::size_t> begins;
};

// A value of a round that the next one begins with, as (a leaf of) that parameter of the body. The parameter
// is kept, or a field of it that a round takes: the way back has the value from the round that it went to,
// and first from behind the loop.
struct HandedBack {
  Var value;
  std::size_t param;
  std::vector<int> path;  // in what the loop gives
  Var kept;
  std::vector<int> rest;  // in that
};

// What the rounds of a loop keep.
struct KeptRounds {
  Cut cut;
  std::optional<LoopRange> range;
  std::vector<RowsOf> in_rows;
  std::vector<Var> on_stack;
  std::vector<HandedBack> handed;
  bool stack = false;        // there is one
  std::vector<Expr> tables;  // behind the way there: by leaf of in_rows, in order
  Expr tape;                 // the stack behind it
};

// `ahead`: the body on the way there.
KeptRounds kept_rounds(const Loop& loop, const Cut& cut, const std::vector<Binding>& ahead,
                       const GradientJob& job);

// How many rows its table has, and which one a round writes.
Scalar rows_of(const RowsOf& rows, const KeptRounds& kept, const GradientJob& job);
Scalar row_at(const RowsOf& rows, const Scalar& index, const KeptRounds& kept);

// Tells who wants to know what is kept.
void tell(const KeptRounds& kept, const Loop& loop, const GradientJob& job);

}  // namespace relish
