// Functions over tuples of parameters, and what all optimizers do to gradients first.
#include "transform/optimizer_writer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "transform/gradient_norm.h"

namespace relish {

namespace {

// What is made for a module has the place of its class, or of its first function.
Span place_of_made(const Module& module) {
  if (module.span.known()) return module.span;
  for (const GlobalFunction& function : module.functions) {
    const Span span = std::visit([](const auto& held) { return held->span; }, function);
    if (span.known()) return span;
  }
  return {};
}

}  // namespace

void OptimizerWriter::begin(std::string_view name) {
  function_ = Function{};
  function_.name = prefix_ + std::string(name);
  function_.span = place_of_made(target_);
  builder_ = FunctionBuilder();
  builder_.set_origin(function_.span);
  renamed_.clear();
  builder_.begin_block(true);
}

void OptimizerWriter::finish(const Expr& result, const RoleSignature& roles) {
  builder_.end_block();
  std::vector<Binding> bindings = builder_.take_bindings();
  close_function(function_, std::move(bindings), result, renamed_);
  set_role(target_, std::move(function_), roles);
}

Expr OptimizerWriter::parameter(const std::string& name, Type type) {
  function_.params.emplace_back(builder_.fresh_name(name), std::move(type));
  return Expr(function_.params.back());
}

std::vector<Expr> OptimizerWriter::parameter_tuple(const std::string& name, const std::vector<Type>& types,
                                                   const std::vector<std::string>& names) {
  const Expr whole = parameter(name, TupleType{types});
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < types.size(); ++i)
    fields.push_back(builder_.emit(tuple_get(whole, static_cast<int>(i)), names[i]));
  return fields;
}

void OptimizerWriter::rename(const Expr& updated, const std::string& name) {
  if (const Var* var = updated.as_var())
    renamed_.insert_or_assign(var->id(), builder_.fresh_name(name + "_new"));
}

namespace {

// The least number that a processor computes with as fast as with others; none of a type that it computes
// with as with a wider one, of which it is far from the least.
std::optional<double> least_normal(const Type& type) {
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->dtype) return std::nullopt;
  if (*tensor->dtype == DType::Float64) return std::numeric_limits<double>::min();
  if (*tensor->dtype == DType::Float32 || *tensor->dtype == DType::BFloat16)
    return std::numeric_limits<float>::min();
  return std::nullopt;
}

}  // namespace

Expr OptimizerWriter::without_subnormals(const Expr& state) {
  const std::optional<double> least = least_normal(state.type());
  if (!least) return state;
  const DType dtype = *state.type().tensor()->dtype;
  const Expr is_less = builder_.call("less", {builder_.call("abs", {state}), constant_of(dtype, *least)});
  return builder_.call("where", {is_less, constant_of(dtype, 0), state});
}

std::vector<Expr> OptimizerWriter::fields_of(const Expr& result) {
  if (const auto* literal = result.as<TupleExpr>()) return literal->fields;
  const TupleType* type = result.type().tuple();
  if (!type) return {result};
  std::vector<Expr> fields;
  for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
    fields.push_back(builder_.emit(tuple_get(result, i)));
  return fields;
}

std::vector<Expr> OptimizerWriter::call_text(const Module& text, const std::string& name, const Known& known,
                                             const NamedArguments& numbers) {
  const FunctionPtr callee = text.function(name);
  RELISH_CHECK(callee != nullptr, name);
  const auto find = [&](std::string_view wanted) {
    return std::find_if(known.begin(), known.end(), [&](const auto& item) { return item.first == wanted; });
  };
  std::vector<Expr> args;
  for (const Var& param : callee->params) {
    if (const auto found = find(param.name()); found != known.end()) {
      args.push_back(found->second);
    } else if (param.name() == "steps") {
      const auto counter = find("num_steps");
      RELISH_CHECK(counter != known.end());
      args.push_back(builder_.emit(
          op_call(*find_op("astype"), {counter->second}, {{"dtype", Attribute(dtype_)}}), "steps"));
    } else {
      args.push_back(numbers.value(param.name()));
    }
  }
  // Lines of the library keep their places there.
  const Span place = builder_.origin();
  builder_.set_origin({});
  const Expr result = inline_call(builder_, target_, text, *callee, args);
  builder_.set_origin(place);
  return fields_of(result);
}

void OptimizerWriter::change_gradients(const std::vector<Expr>& params, std::vector<Expr>& gradients,
                                       const std::vector<GradientSteps>& steps) {
  // All names, in the order that they have for each parameter: only what stands last differs.
  std::vector<std::string> names;
  const auto holds = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const GradientSteps& own : steps)
    for (const std::string& name : own.names)
      if (!holds(names, name)) names.push_back(name);
  if (names.empty()) return;
  const ModulePtr text = body_loader().load("optimizers/gradients.relish");
  for (const std::string& name : names) {
    if (text->function("apply_" + name)) {
      for (std::size_t i = 0; i < params.size(); ++i) {
        if (!holds(steps[i].names, name)) continue;
        const Known known = {{"p", params[i]}, {"g", gradients[i]}};
        gradients[i] = call_text(*text, "apply_" + name, known, steps[i].numbers).at(0);
      }
      continue;
    }
    // One factor for all, from the norm of all.
    const NamedArguments& numbers = steps.front().numbers;
    const Expr norm = norm_of_gradients(builder_, target_, gradients);
    Expr root = call_text(*text, name + "_root", {{"norm", norm}}, numbers.in(DType::Float64)).at(0);
    if (dtype_ != DType::Float64) root = builder_.call("astype", {root}, {{"dtype", Attribute(dtype_)}});
    for (Expr& gradient : gradients)
      gradient = call_text(*text, "scaled", {{"g", gradient}, {"root", root}}, numbers).at(0);
  }
}

std::vector<Expr> OptimizerWriter::rates_of(const Expr& lr, const std::vector<double>& factors) {
  std::map<double, Expr> made = {{1.0, lr}};
  std::vector<Expr> rates;
  for (const double factor : factors) {
    const auto [place, added] = made.try_emplace(factor, lr);
    if (added) {
      const Expr times = constant(Tensor::scalar(dtype_, factor));
      place->second = builder_.emit(op_call(*find_op("multiply"), {lr, times}, {}), "lr_of_group");
    }
    rates.push_back(place->second);
  }
  return rates;
}

}  // namespace relish
