// Calls of operators for the construct families: arguments as they are found in scope, or as a declared
// sample has them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators/op.h"
#include "tests/generate/graph_generator.h"
#include "tests/ops/operator_case.h"

namespace relish::generate {

// What an operator's samples give: the calls, and the values of each attribute and scalar.
struct OperatorPool {
  std::vector<testing::OperatorCase> cases;
  std::map<std::string, std::vector<Attribute>, std::less<>> attributes;
  std::map<std::string, std::vector<ScalarValue>, std::less<>> scalars;
};
const OperatorPool& pool_of(const Op& op);

// Whether operands in scope may suit it: not effects and values of any type, which samples alone can tell.
bool takes_what_is_found(const Op& op);
// Any of those, with a gradient rule in programs for gradients.
const Op& some_operator(GraphGenerator& g);

// The variable of a call whose operands are found in scope, the first of them `first` when it is given; none
// when inference or the values refuse what was chosen.
std::optional<Var> call_freely(GraphGenerator& g, const Op& op, std::optional<Var> first = {});

// Where a call made after a sample takes a tensor from: `fixed` when its values are indices or masks, which
// the sample alone knows.
using OperandSource = std::function<Expr(const Tensor& sample, bool fixed)>;
std::optional<Var> call_as_sample(GraphGenerator& g, const Op& op, const OperandSource& operand);

}  // namespace relish::generate
