// What scalar operands of the text mean together: TVM's implicit conversions between them, and the lanes of
// vectors. Nothing is read here: the layer below ScalarReader.
#pragma once

#include <map>

#include "frontend/text/ast.h"
#include "ir/nodes/scalar.h"

namespace relish {

// A scalar, and whether it is a number as written, which takes the dtype of its neighbour. A vector is the
// scalar of one of its lanes, in terms of the reader's variable for vectors of that length; `lanes` is set
// for a broadcast, whose lanes are all the same.
struct ScalarOperand {
  Scalar value;
  bool bare = false;
  int lanes = 1;
};

inline constexpr std::int64_t most_lanes = 65536;

class ScalarRules {
 public:
  // Plain integers are int32 in prim_funcs and int64 elsewhere.
  explicit ScalarRules(DType plain_integer) : plain_integer_(plain_integer) {}

  // Each throws TypeError at `at`.
  // a `op` b with TVM's conversions.
  ScalarOperand combine(ast::Operator op, ScalarOperand a, ScalarOperand b, Span at);
  // Gives both one dtype.
  void promote(ScalarOperand& a, ScalarOperand& b, Span at) const;
  // A plain number that met no neighbour takes its own dtype: float32 in prim_funcs, float64 elsewhere.
  ScalarOperand settled(const ScalarOperand& operand) const;
  ScalarOperand convert(DType dtype, const ScalarOperand& operand, Span at) const;
  void expect_bool(const Scalar& condition, Span at) const;
  void expect_index(const Scalar& index, Span at) const;
  // A number as written.
  ScalarOperand plain_number(std::int64_t value, Span at) const {
    return {int_literal(plain_integer_, value, at), true};
  }

  // Vectors: the number of lanes of a scalar read here (1 of a real scalar), and the variable that stands for
  // the lane in those of that length.
  int lanes_of(const Scalar& scalar, Span at) const;
  ScalarVar lane(int lanes);
  void refuse_vector(const Scalar& scalar, Span at) const;
  // base + lane * stride.
  Scalar ramp(const ScalarOperand& base, const ScalarOperand& stride, std::int64_t lanes, Span at);

 protected:
  bool any_vectors() const { return !lanes_.empty(); }

  const DType plain_integer_;

 private:
  std::map<int, ScalarVar> lanes_;  // by length
};

// Whether the integer is a value of the dtype. uint64 literals above int64 are not written in texts.
bool holds(DType dtype, std::int64_t value);
// All bits of an integer the other way.
Scalar complement_of(const Scalar& bits, Span at);

}  // namespace relish
