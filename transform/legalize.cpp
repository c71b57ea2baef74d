// Lowering: every operator call becomes a call_tir of the prim_func that the operator's lowering makes for
// the types and attributes of the call. Equal calls share one prim_func.
#include "transform/legalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/rewriting/scalar_arguments.h"
#include "ir/verify/verify.h"
#include "loops/faults.h"
#include "support/interrupt.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// "nn.log_softmax" -> "log_softmax".
std::string short_name(const Op& op) {
  const std::size_t dot = op.name.rfind('.');
  return std::string(dot == std::string_view::npos ? op.name : op.name.substr(dot + 1));
}

class Legalizer {
 public:
  Legalizer(const Module& module, UnknownShapes unknown, LoweredCalls* calls)
      : result_(module), keep_(unknown == UnknownShapes::Kept), calls_(calls) {}

  Module run() {
    for (const std::string& name : result_.names()) {
      const FunctionPtr function = result_.function(name);
      if (!function) continue;
      if (needs_lowering(*function)) result_.set(Lowering(*this, *function).map(function));
    }
    return std::move(result_);
  }

 private:
  static bool needs_lowering(const Function& function) {
    bool found = false;
    for_each_expr(function, [&](const Expr& expr) { found = found || expr.as<OpCall>(); });
    return found;
  }

  static FunctionBuilder names_of_function(const Function& function) {
    FunctionBuilder names;
    for (const Var& param : function.params) names.reserve_name(param.name());
    for_each_binding(function, [&](const Binding& each) { names.reserve_name(each.var().name()); });
    return names;
  }

  // Calls of operators as calls of their prim_funcs.
  class Lowering final : public ExprMapper {
   public:
    Lowering(Legalizer& legalizer, const Function& function)
        : legalizer_(legalizer), names_(names_of_function(function)), scalars_(function) {}

   protected:
    void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
      poll_interrupt(binding.span);
      Binding lowered = map(binding);
      const std::size_t before = into.size();
      legalizer_.lower(lowered, dataflow, names_, into);
      for (std::size_t i = before; i < into.size(); ++i) name_scalars(into[i]);
      name_scalars(lowered);
      into.push_back(std::move(lowered));
    }

   private:
    void name_scalars(Binding& binding) const {
      if (auto* plain = std::get_if<VarBinding>(&binding.kind))
        plain->value = with_scalar_parameters(plain->value, scalars_);
    }

    Legalizer& legalizer_;
    FunctionBuilder names_;
    const ScalarParameters scalars_;
  };

  // The value of the binding lowered; what that needs is bound before it, in `into`.
  void lower(Binding& binding, bool dataflow, FunctionBuilder& names, std::vector<Binding>& into) {
    auto* plain = std::get_if<VarBinding>(&binding.kind);
    const auto* call = binding.value().as<OpCall>();
    if (call && !runs_as_call(*call->op)) {
      const Expr value = lower_call(binding.value(), dataflow, names, into);
      if (value.same_as(binding.value())) return;
      if (plain)
        plain->value = on_device_of(value, plain->var.type());
      else
        std::get<MatchCast>(binding.kind).value = bind(value, "lv", dataflow, names, into);
    }
    const auto* packed = plain ? plain->value.as<PackedCall>() : nullptr;
    if (packed && packed->form == PackedForm::CallTirDyn && packed->callee.as<GlobalRef>())
      plain->value = direct_call(*packed, plain->value.span(), names, into);
  }

  // The call_tir with the devices that the type of its variable names, which the types of operators leave
  // out.
  Expr on_device_of(const Expr& value, const Type& bound) {
    const auto* call = value.as<CallTir>();
    const TupleType* fields = bound.tuple();
    if (!call) return value;
    std::vector<Type> outs = call->out_types;
    bool changed = false;
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const bool field = fields && call->tuple_result && i < fields->fields.size();
      const TensorType* named = field ? fields->fields[i].tensor() : bound.tensor();
      const TensorType* made = outs[i].tensor();
      if (!named || !made || named->vdevice.empty() || made->vdevice == named->vdevice) continue;
      TensorType type = *made;
      type.vdevice = named->vdevice;
      outs[i] = type;
      changed = true;
    }
    if (!changed) return value;
    const Expr placed = call_tir(call->callee, call->args, std::move(outs), call->tuple_result, value.span());
    if (auto known = calls_ ? calls_->extract(&value.node()) : LoweredCalls::node_type())
      calls_->emplace(&placed.node(), known.mapped());
    return placed;
  }

  // R.vm.call_tir_dyn with the dims of its shape spelt out; those of a shape that is a variable are bound by
  // a match_cast.
  Expr direct_call(const PackedCall& call, Span span, FunctionBuilder& names, std::vector<Binding>& into) {
    const PrimFuncPtr callee = result_.prim_func(call.callee.as<GlobalRef>()->name);
    RELISH_CHECK(callee != nullptr, "callee of call_tir_dyn is not a prim_func of the module");
    std::vector<Expr> args = call.args;
    const auto* shape = args.empty() ? nullptr : args.back().type().as<ShapeType>();
    if (!shape) return function_call(call.callee, std::move(args), span);
    std::vector<Scalar> dims;
    if (const auto* literal = args.back().as<ShapeLiteral>()) {
      dims = literal->dims;
    } else {
      const std::size_t tensors = args.size() - 1;
      for (std::size_t i = tensors; i < callee->params.size(); ++i)
        dims.emplace_back(ScalarVar(names.fresh_name("dim"), DType::Int64));
      const Type type = ShapeType{.dims = dims, .rank = -1};
      Binding binding;
      binding.kind = MatchCast{Var(names.fresh_name("shape"), type, false, span), args.back(), type};
      binding.span = span;
      into.push_back(std::move(binding));
    }
    args.pop_back();
    for (const Scalar& dim : dims) {
      const ScalarVar* param =
          args.size() < callee->params.size() ? callee->params[args.size()].scalar() : nullptr;
      args.push_back(scalar_value(param ? cast(param->dtype(), dim) : dim, span));
    }
    return function_call(call.callee, std::move(args), span);
  }

  static Expr bind(const Expr& value, std::string_view hint, bool dataflow, FunctionBuilder& names,
                   std::vector<Binding>& into) {
    Binding binding;
    const Var var(names.fresh_name(hint), value.type(), dataflow, value.span());
    binding.kind = VarBinding{var, value};
    binding.span = value.span();
    into.push_back(std::move(binding));
    return Expr(var);
  }

  // The call as a call_tir; tuple arguments are taken apart into `into` first. A call whose shapes only the
  // run shows stays as it is when the operator can be evaluated there.
  Expr lower_call(const Expr& value, bool dataflow, FunctionBuilder& names, std::vector<Binding>& into) {
    const OpCall& call = *value.as<OpCall>();
    const Span span = value.span();
    const auto known = [](const Expr& arg) { return fully_known(arg.type()); };
    const bool may_stay = keep_ && call.op->eval;
    if (may_stay && !(known(value) && std::all_of(call.args.begin(), call.args.end(), known))) return value;
    if (!known(value)) {
      fail(ErrorClass::Type, span, "legalize.shape",
           fmt::format("the shape of {}'s result is not known: {}; bind it with R.match_cast first",
                       call.op->name, print(value.type())));
    }
    Callee lowered;
    try {
      lowered = prim_func_for(value, call);
    } catch (const Failure& failure) {
      // The loop nest depends on a number that the types do not tell.
      if (may_stay && failure.diagnostics().front().id.ends_with(".lowering")) return value;
      throw;
    }
    const auto& [callee, scalars, fails] = lowered;
    std::vector<Expr> tensors;
    for (const Expr& arg : call.args) flatten(arg, dataflow, names, into, tensors);
    std::vector<Expr> args = tensors;
    args.insert(args.end(), scalars.begin(), scalars.end());
    std::vector<Type> outs;
    const TupleType* fields = value.type().tuple();
    if (fields)
      outs = fields->fields;
    else
      outs = {value.type()};
    // One result in a list is a tensor: its tuple is made here.
    const bool alone = fields && outs.size() == 1;
    const Expr made = call_tir(callee, std::move(args), std::move(outs), fields && !alone, span);
    if (calls_ && fails) calls_->emplace(&made.node(), value);
    return alone ? tuple({bind(made, "lv", dataflow, names, into)}, span) : made;
  }

  static void flatten(const Expr& arg, bool dataflow, FunctionBuilder& names, std::vector<Binding>& into,
                      std::vector<Expr>& tensors) {
    if (arg.type().tensor()) {
      tensors.push_back(arg);
    } else if (const auto* literal = arg.as<TupleExpr>()) {
      for (const Expr& field : literal->fields) flatten(field, dataflow, names, into, tensors);
    } else if (const TupleType* type = arg.type().tuple()) {
      for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
        flatten(bind(tuple_get(arg, i, arg.span()), "lv", dataflow, names, into), dataflow, names, into,
                tensors);
    }
  }

  struct Callee {
    Expr ref;
    std::vector<Expr> scalars;  // arguments for the scalar parameters: symbolic sizes that no buffer tells
    bool fails = false;         // a run of it can
  };

  // The symbolic dims of a call, and the call with others in their place. Variables are told apart by
  // identity: two of one name are two dims of the prim_func.
  struct Renaming {
    std::vector<ScalarVar> from, to;

    ScalarMap map() const {
      ScalarMap result;
      for (std::size_t i = 0; i < from.size(); ++i) result.emplace(from[i].id(), Scalar(to[i]));
      return result;
    }
  };

  // An operand for inference and lowering: of the type under the renaming.
  static Expr renamed(const Expr& arg, const ScalarMap& dims) {
    if (const auto* literal = arg.as<TupleExpr>()) {
      std::vector<Expr> fields;
      for (const Expr& field : literal->fields) fields.push_back(renamed(field, dims));
      return tuple(std::move(fields), arg.span());
    }
    if (const Var* var = arg.as_var())
      return var_ref(Var(var->name(), substitute(var->type(), dims), false, var->span()), arg.span());
    return substitute(arg, VarMap{}, dims);
  }

  // What an operand tells a lowering rule: the type of a tensor, the value of anything else.
  static std::string operand_key(const Expr& arg) {
    if (const auto* literal = arg.as<TupleExpr>()) {
      std::string key = "(";
      for (const Expr& field : literal->fields) key += operand_key(field) + ", ";
      return key + ")";
    }
    return arg.type().tensor() || arg.type().tuple() ? print(arg.type()) : print(arg);
  }

  static std::string key_of(const OpCall& call, const std::vector<Expr>& args, const Type& result) {
    std::string key(call.op->name);
    for (const Expr& arg : args) key += "|" + operand_key(arg);
    for (const auto& [name, attribute] : call.attributes) key += "|" + name + "=" + print(attribute);
    return key + "->" + print(result);
  }

  // Variables of shapes, and of scalars in tuples; a scalar operand is a parameter of the prim_func instead.
  static void collect_written(const Expr& arg, std::vector<ScalarVar>& vars) {
    if (const auto* shape = arg.as<ShapeLiteral>())
      for (const Scalar& dim : shape->dims) collect_vars(dim, vars);
    const auto* literal = arg.as<TupleExpr>();
    if (!literal) return;
    for (const Expr& field : literal->fields) {
      if (const auto* scalar = field.as<ScalarValueExpr>())
        collect_vars(scalar->value, vars);
      else
        collect_written(field, vars);
    }
  }

  // The call's symbolic dims in order of first use.
  static std::vector<ScalarVar> dims_of(const Expr& value, const OpCall& call) {
    std::vector<ScalarVar> vars;
    for (const Expr& arg : call.args) {
      collect_vars(arg.type(), vars);
      collect_written(arg, vars);
    }
    collect_vars(value.type(), vars);
    std::vector<ScalarVar> distinct;
    std::unordered_set<std::uint64_t> known;
    for (const ScalarVar& var : vars)
      if (known.insert(var.id()).second) distinct.push_back(var);
    return distinct;
  }

  // Names that parameters of the prim_func can have: apart from each other, from its tensors, and from words
  // that its text uses.
  static std::vector<ScalarVar> named_dims(const Op& op, const std::vector<ScalarVar>& vars) {
    std::set<std::string> taken{"T", "range", "float", "result"};
    for (const Param& param : op.params) taken.emplace(param.name);
    std::vector<ScalarVar> result;
    for (const ScalarVar& var : vars) {
      std::string name = var.name();
      for (int suffix = 1; !taken.insert(name).second; ++suffix)
        name = fmt::format("{}_{}", var.name(), suffix);
      result.emplace_back(name, var.dtype(), var.span());
    }
    return result;
  }

  Callee prim_func_for(const Expr& value, const OpCall& call) {
    Renaming dims{dims_of(value, call), {}};
    dims.to = named_dims(*call.op, dims.from);
    const ScalarMap map = dims.map();
    std::vector<Expr> args;
    for (const Expr& arg : call.args) args.push_back(renamed(arg, map));
    const Type result = substitute(value.type(), map);

    const Span span = value.span();
    std::string key = key_of(call, args, result);
    const std::string at = fmt::format("@{}:{}", span.file, span.begin);
    auto found = lowered_.find(key);
    if (found != lowered_.end() && found->second->span != span && may_fault(*found->second)) {
      key += at;
      found = lowered_.find(key);
    }
    if (found == lowered_.end()) {
      const CallView view{*call.op, args, call.attributes, value.span()};
      const std::string name = result_.fresh_name(short_name(*call.op));
      PrimFunc function = call.op->lower(LowerCall{view, result, name});
      function.is_private = true;
      auto shared = std::make_shared<const PrimFunc>(std::move(function));
      result_.functions.push_back(shared);
      found = lowered_.emplace(key, shared).first;
    }
    Callee callee{global_ref(GlobalFunction(found->second), value.span()), {}, may_fault(*found->second)};
    for (const PrimParam& param : found->second->params) {
      if (!param.scalar()) continue;
      // A scalar operand goes by the name of the operator's parameter, a symbolic size by its own.
      bool operand = false;
      for (std::size_t i = 0; i < call.args.size() && !operand; ++i) {
        if (!call.args[i].type().as<ScalarType>() || call.op->params[i].name != param.name()) continue;
        callee.scalars.push_back(call.args[i]);
        operand = true;
      }
      if (operand) continue;
      const auto var = std::find_if(dims.to.begin(), dims.to.end(),
                                    [&](const ScalarVar& v) { return v.name() == param.scalar()->name(); });
      RELISH_CHECK(var != dims.to.end(), param.name());
      callee.scalars.push_back(
          scalar_value(dims.from[static_cast<std::size_t>(var - dims.to.begin())], value.span()));
    }
    return callee;
  }

  Module result_;
  const bool keep_;
  LoweredCalls* const calls_;                   // may be null
  std::map<std::string, PrimFuncPtr> lowered_;  // by operator, types and attributes
};

}  // namespace

Module legalize(const Module& module, UnknownShapes unknown, LoweredCalls* lowered) {
  Module result = Legalizer(module, unknown, lowered).run();
  verify_after(result, "legalize");
  return result;
}

}  // namespace relish
