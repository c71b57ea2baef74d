// Operators and small functions for tests of the IR: the standard library stands above this layer, so the
// tests have operators of their own.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/op.h"

namespace relish::samples {

inline Type infer_same(const CallView& call) { return call.args[0].type(); }

inline Type infer_add(const CallView& call) {
  if (fits(call.args[0].type(), call.args[1].type()) == Fit::Never) {
    call.reject("shape", call.span, "the operands differ");
  }
  return call.args[0].type();
}

inline Type infer_matmul(const CallView& call) {
  const TensorType &a = call.tensor(0), &b = call.tensor(1);
  if (!a.shape || !b.shape) return TensorType{.dtype = a.dtype, .shape = std::nullopt, .rank = 2};
  return tensor_type({(*a.shape)[0], (*b.shape)[1]}, *a.dtype);
}

inline Type infer_print(const CallView&) { return void_type(); }

inline constexpr std::array<Param, 2> binary_params = {Param{.name = "lhs", .type = "tensor"},
                                                       Param{.name = "rhs", .type = "tensor"}};
inline constexpr std::array<Param, 3> soft_params = {
    Param{.name = "x", .type = "tensor"},
    Param{.name = "axis", .kind = ParamKind::Attribute, .type = "int", .fallback = "-1"},
    Param{.name = "mode", .kind = ParamKind::Attribute, .type = "str or None", .fallback = "None"}};
inline constexpr std::array<Param, 1> unary_params = {Param{.name = "x", .type = "tensor"}};

inline const Op add{.name = "add", .summary = "", .params = binary_params, .infer = infer_add};
inline const Op matmul{.name = "matmul", .summary = "", .params = binary_params, .infer = infer_matmul};
inline const Op softmax{.name = "nn.softmax", .summary = "", .params = soft_params, .infer = infer_same};
inline const Op print_op{.name = "print", .summary = "", .params = unary_params, .infer = infer_print};

inline void install() {
  static const std::array<const Op*, 4> ops = {&add, &matmul, &softmax, &print_op};
  install_ops(ops);
}

inline Type floats(std::vector<Scalar> dims) { return tensor_type(std::move(dims), DType::Float32); }

// main(x) = softmax(x + x), with x of the given type, in one dataflow block.
inline Function doubled(const Type& type, std::string name = "main") {
  install();
  FunctionBuilder builder;
  Function function;
  function.name = std::move(name);
  function.params = {Var("x", type)};
  builder.reserve_name("x");
  builder.begin_block(true);
  Expr x = function.params[0];
  Expr sum = builder.call("add", {x, x});
  Var out = builder.bind(op_call("nn.softmax", {sum}), "", true);
  function.blocks = builder.take_blocks();
  function.result = out;
  function.result_type = out.type();
  return function;
}

// A prim_func that adds one to a buffer of the given shape.
inline PrimFunc add_one(const std::vector<Scalar>& shape, std::string name = "add_one") {
  LoopBuilder builder;
  Buffer a = builder.input("A", floats(shape));
  Buffer b = builder.output("B", floats(shape));
  builder.spatial("B", shape, [&](const std::vector<Scalar>& v) {
    return builder.store(b, v, builder.load(a, v) + float_literal(DType::Float32, 1));
  });
  PrimFunc function = builder.finish(std::move(name));
  function.is_private = true;
  return function;
}

inline Module module_of(std::vector<GlobalFunction> functions) {
  Module module;
  module.functions = std::move(functions);
  return module;
}

inline GlobalFunction shared(Function function) {
  return std::make_shared<const Function>(std::move(function));
}
inline GlobalFunction shared(PrimFunc function) {
  return std::make_shared<const PrimFunc>(std::move(function));
}

}  // namespace relish::samples
