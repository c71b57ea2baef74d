// Calls in Relax functions: operators, functions of the module, prim_funcs, functions outside it, constants.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/graph/graph_values.h"
#include "ir/calls/call_layout.h"

namespace relish {

// The number of a kind of devices, of TVM (and DLPack), by its name; nothing for others.
std::optional<std::int64_t> device_number(std::string_view name);

class GraphCalls : public GraphValues {
 protected:
  using GraphValues::GraphValues;

  // graph_global_calls.cpp: by what is called.
  Expr call(const ast::Expr& expr, const ast::Call& call) override;
  Expr call_global(const GlobalMeaning& meaning, const ast::Expr& expr, const ast::Call& call);
  std::vector<Expr> call_arguments(const ast::Call& call, const Type& callee);
  // The call of a function value, checked.
  Expr called(const Expr& callee, const std::vector<Expr>& args, const std::string& name, Span span);
  void check_prim_func_argument(const PrimFunc& function, std::size_t at, const Expr& value);
  // The number of dimensions of the tensor that the name stands for, where it is known.
  std::optional<int> rank_of(const std::string& name);

  // graph_operator_call.cpp: operators. `receiver`: the value that a method is called on, or null.
  class OperatorArguments;
  Expr operator_call(const std::string& name, const ast::Expr& expr, const ast::Call& call,
                     const ast::Expr* receiver);

  // graph_calls.cpp: forms with rules of their own.
  std::optional<Expr> scalar_operator(std::string_view op, const std::vector<Expr>& args, Span span);
  std::optional<std::string> device_text(const ast::Expr& expr);
  std::optional<std::int64_t> device_kind(const ast::Call& call) const;
  std::optional<Expr> converted_scalar(const ast::Expr& object, const ast::Call& call, Span span);
  std::optional<Expr> special_call(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr named_call(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr shape_of_dims(const ast::Expr& written);
  bool is_untyped_stack(const ast::Expr& annotation);
  std::pair<Expr, Type> new_stack(const ast::Call& call, const ast::Expr* annotation);

  // graph_constants.cpp: R.const.
  Expr constant_of(const ast::Expr& expr, const ast::Call& call);
  Expr named_constant(const ast::Expr& expr, const ast::Call& call);

  // graph_call_tir.cpp: calls of prim_funcs in destination-passing style.
  Expr call_tir(const std::string& name, const ast::Expr& expr, const ast::Call& call);
  std::optional<GlobalMeaning> call_tir_callee(const std::string& name, const ast::Expr& callee,
                                               bool native_allowed);
  void read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                      std::vector<Type>& types, bool& tuple_result);
  void take_dtypes(std::vector<Type>& types, const PrimFunc& function) const;
  std::vector<Expr> argument_tuple(const ast::Expr& given);
  std::vector<std::int64_t> inplace_indices(const ast::Expr& written, std::size_t args, std::size_t results);
  Attribute attribute_argument(const ast::Expr& value);
  // `types`: of the result, as written.
  void check_call_tir(const PrimFunc& function, const CallTir& call, Span span, Span types);
  void check_call_tir_sizes(const PrimFunc& function, const CallTir& call,
                            const std::vector<ParamSource>& layout, Span span);

  // graph_packed.cpp: calls of functions outside the module, and closures of the virtual machine.
  Expr packed_call(PackedForm form, const std::string& name, const ast::Expr& expr, const ast::Call& call);
  Expr packed_callee(const ast::Expr& callee, std::string_view name);
  Expr checked_packed(PackedCall call, Span span);
  static std::optional<PackedForm> machine_form(const Expr& callee);
  Expr machine_call(PackedForm form, const std::string& name, const ast::Expr& expr,
                    const std::vector<const ast::Expr*>& positional, const ast::Expr* results);
  void check_dynamic_call(PackedCall& call, Span span);
  std::vector<Type> result_types(const ast::Expr& written);
};

}  // namespace relish
