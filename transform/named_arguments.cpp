// Numbers and attributes for the parameters of the standard library's texts.
#include "transform/named_arguments.h"

#include <optional>

#include "ir/rewriting/expr_mapper.h"
#include "stdlib/catalog.h"

namespace relish {

Expr NamedArguments::value(const std::string& name) const {
  constexpr std::string_view complement = "one_minus_";
  const bool is_complement = name.starts_with(complement);
  const std::string_view wanted = is_complement ? std::string_view(name).substr(complement.size()) : name;
  std::optional<double> number;
  for (const NamedNumber& known : common_numbers())
    if (known.name == wanted) number = known.value;
  for (const auto& [option, value] : options_)
    if (option == wanted) number = value;
  RELISH_CHECK(number.has_value(), name);
  const Tensor plain = Tensor::scalar(dtype_, *number);
  // To the value as the type rounds it, so that the two shares of a moving mean sum to 1.
  return constant(is_complement ? Tensor::scalar(dtype_, 1 - plain.get_double(0)) : plain);
}

namespace {

// Operator calls with the attributes, where they have one of the name.
class WithAttributes final : public ExprMapper {
 public:
  explicit WithAttributes(const Attributes& attributes) : attributes_(attributes) {}

 protected:
  Expr leave(const Expr& mapped) override {
    const auto* call = mapped.as<OpCall>();
    if (!call) return mapped;
    Attributes changed = call->attributes;
    bool any = false;
    for (const auto& [name, value] : attributes_) {
      if (!find_attribute(changed, name)) continue;
      changed = with_attribute(std::move(changed), name, value);
      any = true;
    }
    return any ? op_call(*call->op, call->args, std::move(changed), mapped.span()) : mapped;
  }

 private:
  const Attributes& attributes_;
};

}  // namespace

ModulePtr with_call_attributes(const ModulePtr& text, const Attributes& attributes) {
  if (attributes.empty()) return text;
  Module module = *text;
  for (const GlobalFunction& global : text->functions)
    if (const FunctionPtr function = text->function(name_of(global)))
      module.set(WithAttributes(attributes).map(function));
  return std::make_shared<const Module>(std::move(module));
}

}  // namespace relish
