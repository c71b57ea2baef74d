// Each variable of float32 has up to two values: the wide one and the half one, made of each other by casts
// where they are wanted first. Parameters and constants take the precision of what they stand beside.
#include "transform/mixed_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "ir/calls/roles.h"
#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::array contractions = {
    "matmul",
    "linear",
    "einsum",
    "outer",
    "nn.conv1d",
    "nn.conv2d",
    "nn.conv3d",
    "nn.conv1d_transpose",
    "nn.conv2d_transpose",
    "nn.conv3d_transpose",
    "nn.attention",
    "nn.attention_bias",
};
// What keeps the precision of what it takes.
constexpr std::array followers = {
    "add",          "subtract",      "multiply",      "negative",      "maximum",       "minimum",
    "clip",         "abs",           "nn.relu",       "nn.leakyrelu",  "nn.prelu",      "nn.bias_add",
    "nn.gelu",      "nn.gelu_tanh",  "nn.silu",       "sigmoid",       "tanh",          "reshape",
    "permute_dims", "squeeze",       "expand_dims",   "flatten",       "broadcast_to",  "concat",
    "split",        "strided_slice", "take",          "where",         "repeat",        "tile",
    "flip",         "nn.pad",        "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.dropout",
};

template <std::size_t Size>
bool holds(const std::array<const char*, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_wide(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->dtype == DType::Float32;
}

// Writes the form of one function.
class MixedForm {
 public:
  MixedForm(Module& module, DType half, std::set<std::string>& open, bool& any)
      : module_(module), half_(half), open_(open), any_(any) {}

  std::string write(const std::string& name) {
    const FunctionPtr source = module_.function(name);
    std::string form_name = fmt::format("{}_{}", name, name_of(half_));
    if (!open_.insert(name).second) return form_name;
    Function form;
    form.name = form_name;
    form.pure = source->pure;
    form.span = source->span;
    form.result_span = source->result_span;
    for (const Var& param : source->params) {
      builder_.reserve_name(param.name());
      form.params.emplace_back(param.name(), param.type(), false, param.span());
      Versions& own = versions_[param.id()];
      own.wide = Expr(form.params.back());
      own.weak = true;
    }
    const std::vector<Binding> bindings = all_bindings(*source);
    for (const Binding& binding : bindings) builder_.reserve_name(binding.var().name());
    // What it calls comes first: it may call itself.
    module_.set(std::make_shared<const Function>(with_name(*source, form_name)));
    builder_.begin_block(true);
    for (const Binding& binding : bindings) {
      builder_.set_origin(binding.span);
      append(binding);
    }
    const Expr result = substitute(source->result, wide_vars(used_vars(source->result)));
    builder_.end_block();
    form.attributes = attributes_of_derived(*source, form.name, form.params);
    if (const std::optional<RoleSignature> roles = roles_of(*source))
      form.attributes = with_attribute(std::move(form.attributes), role_attribute, print(*roles));
    close_function(form, builder_.take_bindings(), result);
    module_.set(std::make_shared<const Function>(std::move(form)));
    return form_name;
  }

 private:
  struct Versions {
    std::optional<Expr> wide, half;
    bool weak = false;  // a parameter: it takes the precision of what it stands beside
  };

  static Function with_name(const Function& source, const std::string& name) {
    Function copy = copy_with_fresh_vars(source);
    copy.name = name;
    return copy;
  }

  Expr cast(const Expr& value, DType dtype, const std::string& name) {
    return builder_.emit(op_call(*find_op("astype"), {value}, {{"dtype", Attribute(dtype)}}, value.span()),
                         name);
  }

  const Expr& wide(const Var& var) {
    Versions& own = versions_.at(var.id());
    if (own.wide) return *own.wide;
    if (own.half->type().tensor()) {
      own.wide = cast(*own.half, DType::Float32, var.name());
      return *own.wide;
    }
    std::vector<Expr> fields;
    const Expr whole = *own.half;
    for (int i = 0; i < static_cast<int>(whole.type().tuple()->fields.size()); ++i)
      fields.push_back(cast(builder_.emit(tuple_get(whole, i)), DType::Float32, var.name()));
    versions_.at(var.id()).wide = builder_.emit(tuple(std::move(fields)), var.name());
    return *versions_.at(var.id()).wide;
  }

  Expr halved(const Expr& operand) {
    if (const auto* literal = operand.as<TupleExpr>()) {
      std::vector<Expr> fields;
      for (const Expr& field : literal->fields) fields.push_back(halved(field));
      return tuple(std::move(fields));
    }
    if (const auto* held = operand.as<Constant>(); held && is_wide(operand.type())) return as_half(*held);
    const Var* var = operand.as_var();
    if (!var) return operand;
    Versions& own = versions_.at(var->id());
    if (own.half) return *own.half;
    if (!is_wide(own.wide->type())) return *own.wide;
    own.half = cast(*own.wide, half_, fmt::format("{}_half", var->name()));
    return *own.half;
  }

  Expr as_half(const Constant& held) const {
    Tensor narrow = Tensor::empty(half_, held.value.shape());
    for (std::int64_t i = 0; i < narrow.size(); ++i) narrow.set_double(i, held.value.get_double(i));
    return constant(std::move(narrow));
  }

  VarMap wide_vars(const std::vector<Var>& vars) {
    VarMap map;
    for (const Var& var : vars)
      if (versions_.contains(var.id())) map.insert_or_assign(var.id(), wide(var));
    return map;
  }

  // How operands stand to half precision.
  struct Operands {
    bool half = false;   // one has its value there
    bool wide = false;   // one has it in float32 and is no parameter
    bool other = false;  // a float of another type
  };
  void look_at(const Expr& operand, Operands& found) const {
    if (const auto* literal = operand.as<TupleExpr>()) {
      for (const Expr& field : literal->fields) look_at(field, found);
      return;
    }
    const TensorType* tensor = operand.type().tensor();
    if (tensor && (!tensor->dtype || (is_float(*tensor->dtype) && *tensor->dtype != DType::Float32)))
      found.other = true;
    const Var* var = operand.as_var();
    if (!var) return;
    const Versions& own = versions_.at(var->id());
    if (own.half && !own.weak) {
      found.half = true;
    } else if (!own.weak && own.wide && is_wide(own.wide->type())) {
      found.wide = true;
    }
  }

  bool computes_half(const Expr& value) const {
    Operands found;
    if (const auto* item = value.as<TupleGet>()) {
      const Var* var = item->tuple.as_var();
      return var && versions_.at(var->id()).half.has_value();
    }
    const auto* call = value.as<OpCall>();
    if (!call) return false;
    for (const Expr& arg : call->args) look_at(arg, found);
    if (found.other) return false;
    const std::string_view name = call->op->name;
    if (holds(contractions, name)) return !find_set(call->attributes, "out_dtype");
    return holds(followers, name) && found.half && !found.wide;
  }

  static bool find_set(const Attributes& attributes, std::string_view name) {
    const Attribute* attribute = find_attribute(attributes, name);
    const bool is_text = attribute && attribute->as<std::string>();
    return attribute && (attribute->as<DType>() || (is_text && !attribute->as<std::string>()->empty()));
  }

  void append(const Binding& binding) {
    const Var& var = binding.var();
    const Expr& value = binding.value();
    if (const Var* same = value.as_var(); same && std::holds_alternative<VarBinding>(binding.kind)) {
      versions_[var.id()] = versions_.at(same->id());
      return;
    }
    if (std::holds_alternative<VarBinding>(binding.kind) && computes_half(value)) {
      Expr made;
      if (const auto* item = value.as<TupleGet>()) {
        made = tuple_get(halved(item->tuple), item->index, value.span());
      } else {
        const auto& call = *value.as<OpCall>();
        std::vector<Expr> args;
        for (const Expr& arg : call.args) args.push_back(halved(arg));
        any_ = any_ || holds(contractions, call.op->name);
        made = op_call(*call.op, std::move(args), call.attributes, value.span());
      }
      versions_[var.id()].half = builder_.emit(made, var.name());
      return;
    }
    VarMap vars = wide_vars(used_vars(value));
    if (const auto* call = value.as<FunctionCall>()) {
      const auto* callee = call->callee.as<GlobalRef>();
      const FunctionPtr function = callee ? module_.function(callee->name) : nullptr;
      if (function && !find_attribute(function->attributes, "relish.gradient_of")) {
        const std::string form = MixedForm(module_, half_, open_, any_).write(function->name);
        std::vector<Expr> args;
        for (const Expr& arg : call->args) args.push_back(substitute(arg, vars));
        versions_[var.id()].wide = Expr(builder_.bind(
            function_call(global_ref(GlobalFunction(module_.function(form))), std::move(args), value.span()),
            var.name()));
        return;
      }
    }
    Binding copy = copy_binding(binding, vars);
    versions_[var.id()].wide = vars.at(var.id());
    builder_.append(std::move(copy));
  }

  Module& module_;
  DType half_;
  std::set<std::string>& open_;
  bool& any_;
  FunctionBuilder builder_;
  std::unordered_map<std::uint64_t, Versions> versions_;
};

}  // namespace

std::string add_mixed_precision(Module& module, const std::string& function, DType half) {
  std::set<std::string> open;
  bool any = false;
  std::string name = MixedForm(module, half, open, any).write(function);
  if (!any) {
    fail(ErrorClass::Type, module.function(function)->span, "precision.nothing",
         fmt::format("{} has no matmul, convolution or other contraction of float32 to compute in {}; leave "
                     "precision out",
                     function, name_of(half)));
  }
  return name;
}

}  // namespace relish
