// The functions of one step of training, around the adjoint of the loss: train_step, and what it is made of
// when several batches are one step. They call the adjoint and the optimizer, so they print as a few short
// lines and compile as one.
#pragma once

#include "ir/nodes/builder.h"
#include "transform/parameter_marks.h"

namespace relish {

struct ModelParameters;

struct StepOptions {
  DType dtype = DType::Float32;
  std::optional<double> average;  // decay of moving averages
  bool metrics = false;           // the adjoint tells of them behind the loss
  bool gradient_norm = false;     // a result: the norm of all gradients together, before they are clipped
  // The adjoint has a parameter of this name that its loss is multiplied by; the optimizer's states say what
  // it is (see loss_scaling.h), and the second result is the loss itself. Empty: none.
  std::string loss_scale;
  std::string prefix;  // of the names of what is made, and of the optimizer
};

class StepWriter {
 public:
  // The roles of the adjoint's parameters stand in its signature.
  StepWriter(Module& module, FunctionPtr adjoint, const ModelParameters& model, StepOptions options);

  void write_step();
  void write_add_gradients();
  void write_apply_gradients();

 private:
  struct Differentiated {
    Expr loss, gradients;
    Expr metrics;      // undefined without them
    Expr new_buffers;  // undefined when the model has none
  };
  void begin(const std::string& kind);
  void finish();
  void take_model();
  Type type_of_states() const;
  Differentiated differentiate(const std::optional<Expr>& scale);
  Expr update(const Expr& gradients, const Var& states, const Var& lr, Expr new_buffers);
  Expr norm_of(const Expr& gradients, const Var& states);
  void result(Role role, const Expr& value);
  Var parameter(std::string_view name, Type type, RoleSlot role);
  template <class Make>
  Expr each(const std::vector<std::string>& names, const Expr& whole, std::string_view suffix,
            const Make& make);
  Expr averaged(const Expr& params);
  std::optional<Expr> field(const Var& whole, const std::vector<std::string>& names, const std::string& name);
  std::vector<Expr> arguments(const std::optional<Expr>& scale);

  Module& module_;
  const FunctionPtr held_;  // the adjoint stays while functions are added
  const Function& adjoint_;
  const RoleSignature roles_of_adjoint_;
  const ModelParameters& model_;
  const StepOptions options_;
  Function fresh_;  // sizes are the function's own: the batch size is as free as in the model
  FunctionBuilder builder_;
  Function step_;
  RoleSignature roles_;
  Var params_;
  std::optional<Var> buffers_, averages_;
  std::vector<Expr> results_;
};

// The types of the parameters of these names.
std::vector<Type> types_of_parameters(const Function& function, const std::vector<std::string>& names);

}  // namespace relish
