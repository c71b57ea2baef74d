// Looking for infinities and what is no number: by sums of 0 times each value.
#include "schedule/blocks/guards.h"

namespace relish {
namespace {

// Adds up 0 times the value in `finite`, which stays 0 when all of it is finite. Each round of the loops
// outside has a sum of its own.
Stmt look(const ContractionScope& scope, const Buffer& finite, const std::vector<BlockLoop>& outside,
          const std::vector<BlockLoop>& inside, const Scalar& value) {
  const Buffer row("finite_row", scope.dtype, {}, "local");
  const Stmt add =
      make_stmt(Store{row, {}, load(row, {}) + value * float_literal(scope.dtype, 0)}, scope.span());
  BlockStmt block;
  block.name = "look";
  block.allocations = {row};
  block.body = seq({make_stmt(Store{row, {}, zero(scope.dtype)}, scope.span()), scope.in_loops(inside, add),
                    make_stmt(Store{finite, {}, load(finite, {}) + load(row, {})}, scope.span())},
                   scope.span());
  return seq({make_stmt(Store{finite, {}, zero(scope.dtype)}, scope.span()),
              scope.in_loops(outside, make_stmt(std::move(block), scope.span()))},
             scope.span());
}
// Loops over all terms: one, where they lie side by side in the factor.
std::vector<BlockLoop> all_terms(ContractionScope& scope, const Scalar& factor) {
  std::vector<BlockLoop> loops;
  const auto* loaded = factor.as<Load>();
  if (loaded && scope.shapes.summed.known() && ends_with(*loaded, scope.contraction.summed)) {
    const ScalarVar term = scope.variable("term");
    std::int64_t all = 1;
    for (std::size_t i = scope.contraction.summed.size(); i-- > 0;) {
      const Axis* axis = scope.contraction.summed[i];
      const Scalar above = all > 1 ? floor_div(use(term), scope.number(all)) : use(term);
      let_stand_for(scope.values, axis, i == 0 ? above : floor_mod(above, scope.number(extent_of(axis))));
      all *= extent_of(axis);
    }
    return {{term, scope.number(all)}};
  }
  for (const Axis* axis : scope.contraction.summed) {
    const ScalarVar var = scope.variable(axis->loop->var.name());
    loops.push_back({var, axis->loop->extent});
    let_stand_for(scope.values, axis, use(var));
  }
  return loops;
}

}  // namespace

Stmt mended(ContractionScope& scope, const Buffer& sums, const Stmt& cleared) {
  const Buffer finite("finite", scope.dtype, {}, "local");
  const bool right = scope.contraction.guards_left;
  const Scalar& factor = right ? scope.contraction.right : scope.contraction.left;
  const BlockPlaces elements = right ? scope.places(scope.shapes.columns, scope.column_round)
                                     : scope.places(scope.shapes.rows, scope.row_round);
  const std::vector<BlockLoop> terms = all_terms(scope, factor);
  const Stmt factor_looked = look(scope, finite, elements.loops, terms, substitute(factor, scope.values));
  const BlockPlaces rows = scope.places(scope.shapes.rows, scope.row_round),
                    columns = scope.places(scope.shapes.columns, scope.column_round);
  const std::vector<BlockLoop> all = all_terms(scope, {});
  const std::vector<Scalar> at{rows.position, columns.position};
  const Stmt add = make_stmt(
      Store{sums, at, load(sums, at) + substitute(scope.contraction.product, scope.values)}, scope.span());
  const Stmt guarded =
      make_stmt(IfStmt{substitute(scope.contraction.guard, scope.values), add, {}}, scope.span());
  const auto unless_finite = [&](const Stmt& body) {
    return make_stmt(IfStmt{compare(CompareOp::Ne, load(finite, {}), zero(scope.dtype)), body, {}},
                     scope.span());
  };
  Stmt body = seq(
      {factor_looked,
       unless_finite(seq(
           {cleared, scope.in_loops(rows.loops, scope.in_loops(columns.loops, scope.in_loops(all, guarded)))},
           scope.span()))},
      scope.span());
  if (!scope.shapes.small_beside_sums(scope.contraction.summed, right)) {
    const ScalarVar row = scope.variable("row"), column = scope.variable("column");
    const Stmt sums_looked =
        look(scope, finite, {{row, scope.elements_in(scope.shapes.rows, scope.row_round)}},
             {{column, scope.elements_in(scope.shapes.columns, scope.column_round)}},
             load(sums, {use(row), use(column)}));
    body = seq({sums_looked, unless_finite(body)}, scope.span());
  }
  BlockStmt block;
  block.name = "guarded";
  block.allocations = {finite};
  block.body = body;
  return make_stmt(std::move(block), scope.span());
}

}  // namespace relish
