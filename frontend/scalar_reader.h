// Scalar expressions of the text: arithmetic of prim_funcs, and dimensions of types. Names are looked up
// through an interface, because a dimension sees symbolic variables only and a prim_func also loops, locals
// and buffers.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "frontend/context.h"
#include "ir/scalar.h"

namespace relish {

// What a name stands for in a scalar expression. `std::string` is the reason why it may not be used here.
using ScalarMeaning = std::variant<std::monostate, Scalar, Buffer, std::string>;

class ScalarScope {
 public:
  virtual ~ScalarScope() = default;
  virtual ScalarMeaning find(const std::string& name, Span use) = 0;
  virtual std::vector<std::string> names() const = 0;  // for suggestions
  // The axes of the block, or the loop variables, outer before inner: what indices are made of.
  virtual std::vector<std::string> index_names() const { return {}; }
};

// A scalar, and whether it is a number as written, which takes the dtype of its neighbour. A vector is the
// scalar of one of its lanes, in terms of the reader's variable for vectors of that length; `lanes` is set
// for a broadcast, whose lanes are all the same.
struct ScalarOperand {
  Scalar value;
  bool bare = false;
  int lanes = 1;
};

class ScalarReader {
 public:
  // Plain integers are int32 in prim_funcs and int64 elsewhere.
  ScalarReader(ReadContext& context, ScalarScope& scope, DType plain_integer)
      : context_(context), scope_(scope), plain_integer_(plain_integer) {}

  // Each throws TypeError at the place of the fault (Silent for names whose declaration failed). Vectors are
  // refused but by operand, value and read_indices.
  Scalar read(const ast::Expr& expr);
  ScalarOperand operand(const ast::Expr& expr);
  Scalar value(const ast::Expr& expr) { return settled(operand(expr)).value; }
  // Of this dtype: plain numbers take it, all else is cast.
  Scalar read_as(DType dtype, const ast::Expr& expr);
  Scalar read_condition(const ast::Expr& expr);
  Scalar read_index(const ast::Expr& expr);
  std::vector<Scalar> read_indices(const Buffer& buffer, const ast::Subscript& subscript, Span at);
  // A list or tuple of scalars, such as the shape of a buffer; a single scalar counts as one.
  std::vector<Scalar> read_list(const ast::Expr& expr);
  // a `op` b with TVM's conversions.
  ScalarOperand combine(ast::Operator op, ScalarOperand a, ScalarOperand b, Span at);
  // A plain number that met no neighbour takes its own dtype: float32 in prim_funcs, float64 elsewhere.
  ScalarOperand settled(const ScalarOperand& operand) const;
  ScalarOperand convert(DType dtype, const ScalarOperand& operand, Span at) const;

  // Vectors: the number of lanes of a scalar read here (1 of a real scalar), and the variable that stands for
  // the lane in those of that length.
  int lanes_of(const Scalar& scalar, Span at) const;
  ScalarVar lane(int lanes);
  void refuse_vector(const Scalar& scalar, Span at) const;

 private:
  ScalarOperand name(const ast::Expr& expr, const std::string& id);
  ScalarOperand call(const ast::Expr& expr, const ast::Call& call);
  ScalarOperand function(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  ScalarOperand typed_literal(DType dtype, const ast::Expr& expr, const ast::Call& call);
  ScalarOperand subscript(const ast::Expr& expr, const ast::Subscript& subscript);
  ScalarOperand prefix(const ast::Expr& expr, const ast::Prefix& prefix);
  ScalarOperand let_expression(const ast::Expr& expr, const ast::Call& call);
  ScalarOperand shuffle(const ast::Expr& expr, const ast::Expr& vectors, const ast::Expr& places);
  Scalar ramp(const ScalarOperand& base, const ScalarOperand& stride, std::int64_t lanes, Span at);
  Scalar slice_index(const ast::Slice& slice, const Scalar& dim, Span at);
  std::int64_t lanes_argument(const ast::Expr& expr);
  ScalarOperand multiply_shift(const ast::Expr& expr, const std::vector<const ast::Expr*>& arguments);
  ScalarOperand ceiling_division(const ast::Expr& expr, ScalarOperand a, ScalarOperand b);
  std::pair<DType, int> dtype_and_lanes(const ast::Expr& expr) const;
  DType dtype_argument(const ast::Expr& expr) const;
  void expect_bool(const Scalar& condition, Span at) const;
  void expect_index(const Scalar& index, Span at) const;
  // The indices that are missing before or between those that are written, when it is clear which.
  std::vector<DiagnosticNote> missing_indices(const ast::Subscript& subscript, std::size_t missing) const;
  void promote(ScalarOperand& a, ScalarOperand& b, Span at) const;
  void check_depth(std::size_t levels, Span at);

  ReadContext& context_;
  ScalarScope& scope_;
  DType plain_integer_;
  std::size_t depth_ = 0;
  std::map<int, ScalarVar> lanes_;                    // by length
  std::vector<std::pair<std::string, Scalar>> lets_;  // of the T.Let around what is read
};

// "float32" to its dtype; TypeError that suggests the nearest, or names what is not supported.
DType read_dtype(std::string_view name, Span at);
[[noreturn]] void fail_unknown_name(const std::string& name, Span at, std::vector<std::string> candidates);

}  // namespace relish
