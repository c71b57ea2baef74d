// From the texts of optimizers/gradients.relish.
#include "transform/gradient_norm.h"

#include <algorithm>

#include "ir/operators/evaluator.h"
#include "support/failure.h"
#include "transform/named_arguments.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class NormWriter {
 public:
  NormWriter(FunctionBuilder& builder, Module& target)
      : builder_(builder),
        target_(target),
        text_(body_loader().load("optimizers/gradients.relish")),
        numbers_({}, DType::Float64) {}

  Expr norm_of(const std::vector<Expr>& gradients) {
    std::vector<Expr> wide;
    bool narrow = false;
    for (const Expr& gradient : gradients) {
      if (is_empty(gradient)) continue;
      wide.push_back(gradient);
      if (*gradient.type().tensor()->dtype == DType::Float64) continue;
      narrow = true;
      wide.back() =
          builder_.call("astype", {gradient}, {{"dtype", Attribute(DType::Float64)}}, "wide_gradient");
    }
    if (wide.empty()) return numbers_.value("zero");
    // Gradients of one step have one dtype.
    if (narrow) return root_of_squares(wide);
    const Expr unit = unit_of(wide);
    for (Expr& gradient : wide) gradient = call("in_units", {gradient, unit});
    return builder_.call("multiply", {unit, root_of_squares(wide)}, {}, "gradient_norm");
  }

 private:
  static bool is_empty(const Expr& gradient) {
    const TensorType* type = gradient.type().tensor();
    RELISH_CHECK(type != nullptr && type->dtype.has_value());
    return type->shape && std::any_of(type->shape->begin(), type->shape->end(), [](const Scalar& dim) {
             return dim.as_int() == std::optional<std::int64_t>(0);
           });
  }

  Expr call(const std::string& name, const std::vector<Expr>& args) {
    const FunctionPtr callee = text_->function(name);
    RELISH_CHECK(callee != nullptr, name);
    return inline_call(builder_, target_, *text_, *callee, args);
  }

  Expr unit_of(const std::vector<Expr>& gradients) {
    Expr largest = call("largest", {gradients.front()});
    for (std::size_t i = 1; i < gradients.size(); ++i)
      largest = builder_.call("maximum", {largest, call("largest", {gradients[i]})}, {}, "largest");
    return call("unit", {largest, numbers_.value("zero"), numbers_.value("one")});
  }

  Expr root_of_squares(const std::vector<Expr>& gradients) {
    Expr squares = call("sum_of_squares", {gradients.front()});
    for (std::size_t i = 1; i < gradients.size(); ++i)
      squares = builder_.call("add", {squares, call("sum_of_squares", {gradients[i]})}, {}, "squares");
    return builder_.call("sqrt", {squares}, {}, "gradient_norm");
  }

  FunctionBuilder& builder_;
  Module& target_;
  ModulePtr text_;
  NamedArguments numbers_;
};

}  // namespace

Expr norm_of_gradients(FunctionBuilder& builder, Module& target, const std::vector<Expr>& gradients) {
  return NormWriter(builder, target).norm_of(gradients);
}

}  // namespace relish
