// First the new parameters of every function that is to change, then its body and all calls.
#include "transform/expand_tuples.h"

#include <algorithm>

#include "ir/rewriting/expr_mapper.h"
#include "ir/verify/verify.h"
#include "transform/canonicalize.h"
#include "transform/private_callees.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// Whether a value of the type can be taken apart as far as `wanted` says.
bool comes_apart(const Type& given, const Type& wanted) {
  const TupleType* fields = wanted.tuple();
  if (!fields) return true;
  const TupleType* own = given.tuple();
  if (!own || own->fields.size() != fields->fields.size()) return false;
  for (std::size_t i = 0; i < fields->fields.size(); ++i)
    if (!comes_apart(own->fields[i], fields->fields[i])) return false;
  return true;
}

bool takes_tuples(const PrivateCallee& callee) {
  const std::vector<Var>& params = callee.function->params;
  if (std::none_of(params.begin(), params.end(), [](const Var& param) { return param.type().tuple(); }))
    return false;
  return std::all_of(callee.calls.begin(), callee.calls.end(), [&](const Expr& call) {
    const std::vector<Expr>& args = call.as<FunctionCall>()->args;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (!comes_apart(args[i].type(), params[i].type())) return false;
    return true;
  });
}

// A function with a parameter for each field; its body begins by making the tuples again.
class Expanded {
 public:
  explicit Expanded(const Function& function) : made_(function) {
    reserve_names(function, names_);
    made_.params.clear();
    for (const Var& param : function.params) {
      if (!param.type().tuple()) {
        made_.params.push_back(param);
        continue;
      }
      const Expr whole = fields_of(param.name(), param.type(), param.span());
      first_.push_back({VarBinding{param, whole}, param.span(), nullptr, false});
    }
    if (made_.blocks.empty() || made_.blocks.front().dataflow)
      made_.blocks.insert(made_.blocks.begin(), BindingBlock{.dataflow = false, .bindings = {}, .span = {}});
    std::vector<Binding>& bindings = made_.blocks.front().bindings;
    bindings.insert(bindings.begin(), first_.begin(), first_.end());
  }

  FunctionPtr function() && { return std::make_shared<const Function>(std::move(made_)); }

 private:
  // The parameters of the fields, as a tuple literal.
  Expr fields_of(const std::string& name, const Type& type, Span span) {
    const std::vector<Type>& fields = type.tuple()->fields;
    std::vector<Expr> leaves;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string own = names_.fresh_name(name + "_" + std::to_string(i));
      if (fields[i].tuple()) {
        const Var inner(own, fields[i], false, span);
        first_.push_back({VarBinding{inner, fields_of(own, fields[i], span)}, span, nullptr, false});
        leaves.emplace_back(inner);
      } else {
        made_.params.emplace_back(own, fields[i], false, span);
        leaves.emplace_back(made_.params.back());
      }
    }
    return tuple(std::move(leaves), span);
  }

  Function made_;
  FunctionBuilder names_;
  std::vector<Binding> first_;
};

using Functions = std::unordered_map<std::string, FunctionPtr>;

// Calls of the changed functions give the fields.
class CallExpander final : public ExprMapper {
 public:
  // `before` and `after`: the functions that change, by name.
  CallExpander(const Functions& before, const Functions& after, const Function& caller)
      : before_(before), after_(after) {
    reserve_names(caller, names_);
  }

 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* call = mapped.value().as<FunctionCall>();
    const auto* callee = call ? call->callee.as<GlobalRef>() : nullptr;
    const auto after = callee ? after_.find(callee->name) : after_.end();
    if (after != after_.end()) {
      const std::vector<Var>& params = before_.at(callee->name)->params;
      std::vector<Expr> args;
      for (std::size_t i = 0; i < params.size(); ++i)
        give(call->args[i], params[i].type(), params[i].name(), dataflow, binding.span, args, into);
      const Span span = mapped.value().span();
      Expr value = function_call(global_ref(GlobalFunction(after->second), span), std::move(args), span);
      std::visit([&](auto& kind) { kind.value = std::move(value); }, mapped.kind);
    }
    into.push_back(std::move(mapped));
  }

  void give(const Expr& argument, const Type& wanted, const std::string& name, bool dataflow, Span span,
            std::vector<Expr>& args, std::vector<Binding>& into) {
    const TupleType* fields = wanted.tuple();
    if (!fields) {
      args.push_back(argument);
      return;
    }
    const auto* literal = argument.as<TupleExpr>();
    for (std::size_t i = 0; i < fields->fields.size(); ++i) {
      Expr field;
      if (literal) {
        field = literal->fields[i];
      } else {
        const Expr value = tuple_get(argument, static_cast<int>(i), span);
        const Var own(names_.fresh_name(name + "_" + std::to_string(i)), value.type(), dataflow, span);
        into.push_back({VarBinding{own, value}, span, nullptr, false});
        field = Expr(own);
      }
      give(field, fields->fields[i], name + "_" + std::to_string(i), dataflow, span, args, into);
    }
  }

  const Functions& before_;
  const Functions& after_;
  FunctionBuilder names_;
};

}  // namespace

Module expand_tuples(const Module& module) {
  Functions before, after;
  for (const auto& [name, callee] : private_callees(module)) {
    if (!takes_tuples(callee)) continue;
    before.emplace(name, callee.function);
    after.emplace(name, Expanded(*callee.function).function());
  }
  if (after.empty()) return module;
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const auto own = after.find((*function)->name);
    const FunctionPtr from = own == after.end() ? *function : own->second;
    FunctionPtr made = CallExpander(before, after, *from).map(from);
    if (made != *function) result.functions.replace(i, canonicalized(made));
  }
  verify_after(result, "expand_tuples");
  return result;
}

}  // namespace relish
