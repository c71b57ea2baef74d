// Holes while a Relax function is read: what is in scope where one stands, what operators ask of it, and the
// report behind the statement.
#pragma once

#include <vector>

#include "frontend/graph/graph_blocks.h"
#include "frontend/graph/holes.h"
#include "ir/operators/op.h"

namespace relish {

class GraphHoles : public GraphBlocks {
 protected:
  GraphHoles(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
             GraphHoles* outer)
      : GraphBlocks(context, globals, definition, outer), outer_holes_(outer) {}

  Expr hole(const ast::Hole& hole, Span span);
  void report_holes();
  Expr call_with_holes(const Op& op, std::vector<Expr> args, Attributes attributes, Span span);

  Holes holes_;  // of the statement that is read

 private:
  Holes::Values values_in_scope(Span at) const;

  const GraphHoles* const outer_holes_;  // of the function that this one is nested in
};

}  // namespace relish
