// What the functions of optimizers are written with, of the library's and of the user's alike: a function
// over the tuple of all parameters, into which a text for one parameter is inlined for each.
#pragma once

#include "ir/nodes/builder.h"
#include "transform/named_arguments.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {

// What becomes of the gradient of one parameter before it is used: functions `apply_<name>` of
// optimizers/gradients.relish, or `<name>_root`, whose argument is the norm of all gradients.
struct GradientSteps {
  std::vector<std::string> names;
  NamedArguments numbers;
};

class OptimizerWriter {
 public:
  // `prefix`: of the names of what is made.
  OptimizerWriter(Module& target, DType dtype, std::string prefix)
      : target_(target), dtype_(dtype), prefix_(std::move(prefix)) {}

 protected:
  // Values that a function of a text may ask for, by name.
  using Known = std::vector<std::pair<std::string, Expr>>;

  void begin(std::string_view name);
  void finish(const Expr& result, const RoleSignature& roles);
  Expr parameter(const std::string& name, Type type);
  // A tuple parameter and its fields as variables.
  std::vector<Expr> parameter_tuple(const std::string& name, const std::vector<Type>& types,
                                    const std::vector<std::string>& names);
  // A mean that nothing is added to any more decays for good; below the least normal number of its type it
  // would slow each step down, and it moves no parameter: it is 0 there.
  Expr without_subnormals(const Expr& state);
  // What a state or parameter has become is named after it.
  void rename(const Expr& updated, const std::string& name);
  // The fields of a result, which may be one tensor, as leaves.
  std::vector<Expr> fields_of(const Expr& result);
  // Inlines a function of a text of the library; what is not known is a number.
  std::vector<Expr> call_text(const Module& text, const std::string& name, const Known& known,
                              const NamedArguments& numbers);
  // Clipping and decay, as chosen for each parameter.
  void change_gradients(const std::vector<Expr>& params, std::vector<Expr>& gradients,
                        const std::vector<GradientSteps>& steps);
  // The learning rate of each parameter: `factors` times lr.
  std::vector<Expr> rates_of(const Expr& lr, const std::vector<double>& factors);

  Module& target_;
  DType dtype_;
  std::string prefix_;
  Function function_;
  FunctionBuilder builder_;
  VarNames renamed_;
};

}  // namespace relish
