// A call of a function behind "T." in a scalar expression: T.max(a, b), T.Cast("float32", a), T.int64(3),
// T.exp(x). What it means stands in tables (scalar_functions.cpp); vectors have a file of their own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/types/scalar_reader.h"

namespace relish {

// "float32x4": the dtype of a lane and the number of lanes; none for another name.
std::optional<std::pair<DType, int>> vector_type(std::string_view name);

class ScalarFunction {
 public:
  // `name` without "T."; all outlive this.
  ScalarFunction(ScalarReader& reader, std::string name, const ast::Expr& expr, const ast::Call& call)
      : reader_(reader), name_(std::move(name)), expr_(expr), call_(call) {}

  // Throws TypeError for what no such function takes, and for an unknown name with the nearest.
  ScalarOperand read();
  // T.float32(x), float("nan"): the one argument as a value of the dtype.
  ScalarOperand typed_literal(DType dtype);

 private:
  struct Form {
    std::string_view name;
    ScalarOperand (ScalarFunction::*read)();
  };
  static std::span<const Form> forms();

  // scalar_functions.cpp
  void refuse_unsupported() const;
  void gather_arguments();
  [[noreturn]] void refuse_unknown(const std::vector<std::string>& known) const;
  // So many arguments, by position or by a name that they have.
  void expect(std::size_t count) const;
  std::pair<ScalarOperand, ScalarOperand> two_of_one_dtype(std::size_t first = 0);
  ScalarOperand literal_from_text(DType dtype, const ast::Expr& argument, std::string_view word) const;
  ScalarOperand arithmetic(BinaryOp op);
  ScalarOperand comparison(CompareOp op);
  ScalarOperand connective();
  ScalarOperand negation();
  ScalarOperand choice();
  ScalarOperand conversion();
  ScalarOperand reinterpretation();
  ScalarOperand float_remainder();
  ScalarOperand ceiling_division();
  ScalarOperand multiply_shift();
  ScalarOperand multiply_shift_per_axis();
  std::vector<Scalar> wide_integers(std::string_view name, std::size_t count);
  ScalarOperand special_float();
  ScalarOperand limit();
  ScalarOperand immediate();
  ScalarOperand hint();
  ScalarOperand complement();
  ScalarOperand intrinsic_call(Intrinsic which);

  // scalar_vectors.cpp
  std::int64_t lanes_argument(const ast::Expr& expr);
  std::pair<DType, int> dtype_and_lanes(const ast::Expr& expr) const;
  ScalarOperand vector_of(DType dtype, int lanes);
  ScalarOperand lane_mask();
  ScalarOperand ramp();
  ScalarOperand broadcast();
  ScalarOperand shuffle();

  ScalarReader& reader_;
  const std::string name_;
  const ast::Expr& expr_;
  const ast::Call& call_;
  std::vector<const ast::Expr*> arguments_;
};

}  // namespace relish
