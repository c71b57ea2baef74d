// The round-trip law on random prim_funcs: what is printed reads as an equal module, which prints as the same
// text.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "frontend/reader.h"
#include "ir/equality/equal.h"
#include "ir/printer/printer.h"

using namespace relish;

namespace {

constexpr std::array<DType, 10> dtypes = {DType::Int32,    DType::Int64, DType::Float32, DType::Float64,
                                          DType::Float16,  DType::Int8,  DType::UInt8,   DType::UInt64,
                                          DType::BFloat16, DType::Bool};

// Random expressions over one buffer and one scalar parameter of each dtype.
class RandomFunction {
 public:
  explicit RandomFunction(std::uint32_t seed) : random_(seed) {
    for (DType dtype : dtypes) {
      std::string suffix(name_of(dtype));
      buffers_.emplace_back("A_" + suffix, dtype, std::vector<Scalar>{4, int_literal(DType::Int32, 5)});
      function_.params.push_back({buffers_.back()});
      vars_.emplace_back("x_" + suffix, dtype);
      function_.params.push_back({vars_.back()});
    }
  }

  Module module() {
    std::vector<Stmt> body;
    for (int i = 0; i < 4; ++i) {
      const Buffer& buffer = buffers_[below(buffers_.size())];
      Scalar value = expression(buffer.dtype(), 2 + static_cast<int>(below(4)));
      body.push_back(make_stmt(Store{buffer, {index(2), index(2)}, value}));
    }
    function_.name = "f";
    function_.body = seq(std::move(body));
    Module module;
    module.functions = {std::make_shared<const PrimFunc>(function_)};
    return module;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  std::size_t position(DType dtype) const {
    return static_cast<std::size_t>(std::find(dtypes.begin(), dtypes.end(), dtype) - dtypes.begin());
  }
  Scalar index(int depth) { return expression(below(2) ? DType::Int32 : DType::Int64, depth); }

  Scalar leaf(DType dtype, int depth) {
    std::size_t choice = below(3);
    if (choice == 0) return number(dtype);
    if (choice == 1) return vars_[position(dtype)];
    return load(buffers_[position(dtype)], {index(depth - 2), index(depth - 2)});
  }

  Scalar number(DType dtype) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::array<double, 9> reals = {1, -2.5, 0.1, 0.1f, 1e-7, -0.0, 3e20, infinity, -infinity};
    if (is_float(dtype)) return float_literal(dtype, reals[below(reals.size())]);
    if (is_bool(dtype)) return bool_literal(below(2) == 1);
    auto value = static_cast<std::int64_t>(below(127));
    return int_literal(dtype, is_signed_int(dtype) && below(3) == 0 ? -value : value);
  }

  Scalar expression(DType dtype, int depth) {
    if (depth <= 0 || below(8) == 0) return leaf(dtype, depth);
    auto same = [&] { return expression(dtype, depth - 1); };
    auto condition = [&] { return expression(DType::Bool, depth - 1); };
    switch (below(8)) {
      case 0:
        return cast(dtype, expression(dtypes[below(dtypes.size())], depth - 1));
      case 1:
        return select(condition(), same(), same());
      case 2:
        return if_then_else(condition(), same(), same());
      default:
        break;
    }
    if (is_bool(dtype)) {
      if (below(4) == 0) return logical_not(same());
      if (below(2) == 0) return logical(below(2) ? LogicalOp::And : LogicalOp::Or, same(), same());
      DType operand = dtypes[below(dtypes.size() - 1)];
      auto op = static_cast<CompareOp>(below(6));
      return compare(op, expression(operand, depth - 1), expression(operand, depth - 1));
    }
    if (!is_float(dtype)) return binary(static_cast<BinaryOp>(below(14)), same(), same());
    if (below(6) == 0) return intrinsic(below(2) ? Intrinsic::Exp : Intrinsic::Floor, {same()});
    constexpr std::array<BinaryOp, 6> ops = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul,
                                             BinaryOp::Div, BinaryOp::Min, BinaryOp::Max};
    return binary(ops[below(ops.size())], same(), same());
  }

  std::mt19937 random_;
  PrimFunc function_;
  std::vector<Buffer> buffers_;
  std::vector<ScalarVar> vars_;
};

}  // namespace

TEST_CASE("random prim_funcs survive printing and reading") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Module module = RandomFunction(seed).module();
    std::string text = print(module);
    ModulePtr read = read_module("random", text);
    INFO("seed " << seed << "\n" << text);
    REQUIRE(first_difference(module, *read) == "");
    REQUIRE(print(*read) == text);
  }
}
