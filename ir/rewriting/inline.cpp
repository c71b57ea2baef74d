// Inlining of a call: the callee's bindings are rebuilt over the arguments, so that every type is inferred
// anew.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/foreign_calls.h"
#include "ir/equality/equal.h"
#include "ir/operators/op.h"
#include "ir/operators/user_gradient.h"
#include "ir/rewriting/call_inliner.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/counted.h"
#include "support/failure.h"

namespace relish {

// Copies functions of one module into another; the names under which they are there.
class ModuleImporter {
 public:
  // With a prefix every function is copied under that and its own name, equal ones too.
  ModuleImporter(Module& target, const Module& source, std::string prefix = {})
      : target_(target), source_(source), prefix_(std::move(prefix)) {}

  // As of the source, which is looked through once: a chain of calls asks for every function of it.
  FunctionPtr function(const std::string& name) {
    for (; known_ < source_.functions.size(); ++known_) {
      const auto* function = std::get_if<FunctionPtr>(&source_.functions[known_]);
      if (!function) continue;
      positions_.emplace((*function)->name, known_);
      const Attribute* of = find_attribute((*function)->attributes, gradient_attribute);
      if (const auto* target = of ? of->as<std::string>() : nullptr) with_gradient_.insert(*target);
    }
    const auto found = positions_.find(name);
    return found == positions_.end() ? nullptr : std::get<FunctionPtr>(source_.functions[found->second]);
  }
  bool has_user_gradient(const std::string& name) {
    function(name);
    return with_gradient_.contains(name);
  }

  // A prim_func or a Relax function with all that it refers to.
  Expr import(const std::string& name, Span span) {
    const GlobalFunction* found = source_.find(name);
    RELISH_CHECK(found != nullptr,
                 fmt::format("a call refers to '{}', which its module does not have", name));
    GlobalFunction function = *found;  // a copy: target and source may be one module, which grows
    auto known = names_.find(name);
    if (known == names_.end()) {
      if (const PrimFuncPtr* prim = std::get_if<PrimFuncPtr>(&function)) {
        known = names_.emplace(name, import_prim(**prim)).first;
      } else if (const ExternFunctionPtr* external = std::get_if<ExternFunctionPtr>(&function)) {
        known = names_.emplace(name, import_extern(**external)).first;
      } else {
        import_function(*std::get<FunctionPtr>(function));
        known = names_.find(name);
      }
    }
    return global_ref(*target_.find(known->second), span);
  }

 private:
  // An equal one under the wanted name, or under one that an earlier import made of it, is shared.
  std::string import_prim(const PrimFunc& function) {
    PrimFunc copy = function;
    if (!called_prim_funcs(function).empty()) copy.body = with_imported_callees(function);
    if (!prefix_.empty()) {
      copy.name = prefix_ + function.name;
      target_.set(std::make_shared<const PrimFunc>(copy));
      return copy.name;
    }
    for (int suffix = 0;; ++suffix) {
      copy.name = suffix == 0 ? function.name : function.name + std::to_string(suffix);
      const GlobalFunction* present = target_.find(copy.name);
      if (!present) break;
      const PrimFuncPtr* prim = std::get_if<PrimFuncPtr>(present);
      if (prim && equal_modulo_names(**prim, copy)) return copy.name;
    }
    copy.name = target_.fresh_name(function.name);
    target_.set(std::make_shared<const PrimFunc>(copy));
    return copy.name;
  }

  // Prim_funcs may call each other in a circle: one that is being imported has its name already.
  Stmt with_imported_callees(const PrimFunc& function) {
    open_prims_.insert(function.name);
    const auto renamed = [&](const Scalar& scalar) -> std::optional<Scalar> {
      const auto* call = scalar.as<ForeignCall>();
      if (!call || !call->of_module || !source_.find(call->function)) return std::nullopt;
      ForeignCall copy = *call;
      if (open_prims_.contains(call->function)) {
        copy.function = prefix_ + call->function;
      } else {
        import(call->function, scalar.span());
        copy.function = names_.at(call->function);
      }
      return foreign_call(std::move(copy), scalar.dtype(), scalar.span());
    };
    Stmt body = rewrite(function.body, renamed, {});
    open_prims_.erase(function.name);
    return body;
  }

  std::string import_extern(const ExternFunction& function) {
    std::string wanted = prefix_ + function.name;
    ExternFunctionPtr present = target_.extern_function(wanted);
    if (present && present->symbol == function.symbol) return wanted;
    ExternFunction copy = function;
    copy.name = target_.fresh_name(wanted);
    target_.set(std::make_shared<const ExternFunction>(copy));
    return copy.name;
  }

  // The name is taken before the body is copied: the function may be recursive.
  void import_function(const Function& function) {
    FunctionPtr present = target_.function(function.name);
    if (present && present == source_.function(function.name)) {
      names_.emplace(function.name, function.name);
      return;
    }
    Function copy = copy_with_fresh_vars(function);
    copy.name = target_.fresh_name(prefix_ + function.name);
    names_.emplace(function.name, copy.name);
    target_.set(std::make_shared<const Function>(copy));
    target_.set(Relinked(*this).map(std::make_shared<const Function>(std::move(copy))));
  }

  // References to functions of the source become references to their copies.
  class Relinked final : public ExprMapper {
   public:
    explicit Relinked(ModuleImporter& importer) : importer_(importer) {}

   protected:
    Expr map_global(const Expr& expr, const GlobalRef& global) override {
      return importer_.import(global.name, expr.span());
    }

   private:
    ModuleImporter& importer_;
  };

  Module& target_;
  const Module& source_;
  std::string prefix_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_set<std::string> open_prims_;
  std::size_t known_ = 0;  // so many functions of the source are in the two below
  std::unordered_map<std::string, std::size_t> positions_;
  std::unordered_set<std::string> with_gradient_;  // functions that have one
};

namespace {

// One callee's body. Calls of other functions of its module open an inliner of their own.
class Inliner {
 public:
  // Calls of other functions are inlined too, or kept.
  enum class Calls : std::uint8_t { Inlined, Kept };
  Inliner(FunctionBuilder& builder, ModuleImporter& importer, const Function& callee,
          std::unordered_set<std::string>& open_calls, Calls calls = Calls::Inlined)
      : builder_(builder), importer_(importer), callee_(callee), open_calls_(open_calls), calls_(calls) {
    const SourceFile* source = Sources::instance().find(callee.span.file);
    library_text_ = source && source->name().starts_with("<stdlib>/") && builder.origin().known();
  }

  Expr inline_body(const std::vector<Expr>& args, Span call_span) {
    if (args.size() != callee_.params.size()) {
      fail(ErrorClass::Type, call_span, "inline.arity",
           fmt::format("{} is given {}; it takes {}", callee_.name, counted(args.size(), "argument"),
                       callee_.params.size()));
    }
    std::vector<Expr> leaves;
    for (const Expr& arg : args) leaves.push_back(builder_.emit(arg));
    for (std::size_t i = 0; i < leaves.size(); ++i) unify(callee_.params[i].type(), leaves[i].type());
    unify_scalars(leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) bind_param(callee_.params[i], leaves[i]);
    for (const BindingBlock& block : callee_.blocks) {
      for (const Binding& binding : block.bindings) splice(binding);
    }
    return rebuilt(callee_.result);
  }

 private:
  // Where a node of the callee's text belongs: what comes from a text of the standard library is placed where
  // its caller stands, as faults are told to users in their own lines.
  Span placed(Span own) const { return library_text_ ? builder_.origin() : own; }

  // Dimension variables that stand alone take the argument's dimension; the first one wins, as at a call.
  void unify(const Type& param, const Type& arg) {
    auto dims = [&](const auto& wanted, const auto& given) {
      if (!wanted || !given || wanted->size() != given->size()) return;
      for (std::size_t i = 0; i < wanted->size(); ++i) {
        if (auto var = (*wanted)[i].as_var()) scalars_.try_emplace(var->id(), (*given)[i]);
      }
    };
    if (const TensorType *p = param.tensor(), *a = arg.tensor(); p && a) dims(p->shape, a->shape);
    if (const ShapeType *p = param.as<ShapeType>(), *a = arg.as<ShapeType>(); p && a) dims(p->dims, a->dims);
    if (const TupleType *p = param.tuple(), *a = arg.tuple();
        p && a && p->fields.size() == a->fields.size()) {
      for (std::size_t i = 0; i < p->fields.size(); ++i) unify(p->fields[i], a->fields[i]);
    }
  }

  // Dimension variables that stand for scalar parameters take the argument's value.
  void unify_scalars(const std::vector<Expr>& args) {
    bool any = std::any_of(callee_.params.begin(), callee_.params.end(),
                           [](const Var& param) { return param.type().as<ScalarType>() != nullptr; });
    if (!any) return;
    for_each_symbol(callee_, [&](const ScalarVar& symbol) {
      std::optional<Var> param = scalar_parameter_of(callee_, symbol);
      if (!param) return;
      auto position =
          std::find(callee_.params.begin(), callee_.params.end(), *param) - callee_.params.begin();
      const Expr& arg = args[static_cast<std::size_t>(position)];
      if (const ScalarValueExpr* value = arg.as<ScalarValueExpr>()) {
        scalars_.insert_or_assign(symbol.id(), value->value);
      } else if (const Var* var = arg.as_var()) {
        scalars_.insert_or_assign(symbol.id(), use(ScalarVar(var->name(), symbol.dtype(), symbol.span())));
      }
    });
  }

  // Variables of the type that have no value yet get an identity of their own in the caller.
  void make_fresh(const Type& type) {
    std::vector<ScalarVar> vars;
    collect_vars(type, vars);
    for (const ScalarVar& var : vars) {
      if (scalars_.contains(var.id())) continue;
      ScalarVar fresh(builder_.fresh_name(var.name()), var.dtype(), var.span());
      scalars_.emplace(var.id(), use(fresh));
    }
  }

  // An argument that is not known to fit its parameter is checked, as the call would have checked it.
  void bind_param(const Var& param, const Expr& arg) {
    make_fresh(param.type());
    Type wanted = substitute(param.type(), scalars_);
    switch (fits(arg.type(), wanted)) {
      case Fit::Always:
        vars_.insert_or_assign(param.id(), arg);
        return;
      case Fit::Maybe:
        append_cast(param, arg, wanted, builder_.origin(), nullptr);
        return;
      case Fit::Never:
        fail(
            ErrorClass::Type, arg.span().known() ? arg.span() : builder_.origin(), "inline.argument",
            fmt::format("argument for parameter {} of {} does not fit its type", param.name(), callee_.name));
    }
  }

  void append_cast(const Var& var, const Expr& value, const Type& type, Span span,
                   const CommentsPtr& comments) {
    Var copy(builder_.fresh_name(var.name()), type, builder_.in_dataflow(), span);
    builder_.append(Binding{.kind = MatchCast{copy, value, type}, .span = span, .comments = comments});
    vars_.insert_or_assign(var.id(), var_ref(copy, span));
  }

  void splice(const Binding& binding) {
    if (const MatchCast* cast = std::get_if<MatchCast>(&binding.kind)) {
      make_fresh(cast->type);
      Expr value = rebuilt(cast->value);
      append_cast(cast->var, value, substitute(cast->type, scalars_), placed(binding.span), binding.comments);
      return;
    }
    const Var& var = binding.var();
    if (names_itself(binding)) return splice_recursive(binding);
    Expr value = rebuilt(binding.value());
    if (value.as_var()) {
      vars_.insert_or_assign(var.id(), value);
      return;
    }
    // An annotation that says more than inference keeps its word; otherwise the arguments' types decide.
    make_fresh(var.type());
    Type annotated = substitute(var.type(), scalars_);
    bool narrower =
        fits(value.type(), annotated) == Fit::Maybe && fits(annotated, value.type()) == Fit::Always;
    Var copy(builder_.fresh_name(var.name()), narrower ? annotated : value.type(), builder_.in_dataflow(),
             placed(var.span()));
    builder_.append(Binding{.kind = VarBinding{copy, named_as(value, copy)},
                            .span = placed(binding.span),
                            .comments = binding.comments,
                            .annotated = narrower});
    if (const auto* nested = value.as<FunctionExpr>()) nested_.insert_or_assign(copy.id(), nested->function);
    vars_.insert_or_assign(var.id(), var_ref(copy, placed(binding.span)));
  }

  // Whether the binding is of a nested function that calls itself, or hands itself on.
  static bool names_itself(const Binding& binding) {
    const auto* nested = binding.value().as<FunctionExpr>();
    bool found = false;
    if (nested)
      for_each_expr(*nested->function, [&](const Expr& expr) {
        const Var* used = expr.as_var();
        found = found || (used && used->id() == binding.var().id());
      });
    return found;
  }
  // Its variable is the caller's before its body is. Calls of it stay calls.
  void splice_recursive(const Binding& binding) {
    const Var& var = binding.var();
    make_fresh(var.type());
    const Var copy(builder_.fresh_name(var.name()), substitute(var.type(), scalars_), builder_.in_dataflow(),
                   placed(var.span()));
    vars_.insert_or_assign(var.id(), var_ref(copy, placed(binding.span)));
    builder_.append(Binding{.kind = VarBinding{copy, named_as(rebuilt(binding.value()), copy)},
                            .span = placed(binding.span),
                            .comments = binding.comments});
  }

  std::vector<Expr> rebuilt_all(std::vector<Expr> exprs) {
    for (Expr& expr : exprs) expr = rebuilt(expr);
    return exprs;
  }

  Expr rebuilt(const Expr& expr) {
    if (const GlobalRef* global = expr.as<GlobalRef>())
      return importer_.import(global->name, placed(expr.span()));
    if (const TupleExpr* node = expr.as<TupleExpr>())
      return tuple(rebuilt_all(node->fields), placed(expr.span()));
    if (const TupleGet* node = expr.as<TupleGet>()) return rebuilt_item(expr, *node);
    if (const OpCall* node = expr.as<OpCall>()) {
      return op_call(*node->op, rebuilt_all(node->args), node->attributes, placed(expr.span()));
    }
    if (const FunctionCall* node = expr.as<FunctionCall>()) return rebuilt_call(expr, *node);
    if (const CallTir* node = expr.as<CallTir>()) {
      CallTir call = *node;
      for (Type& type : call.out_types) type = substitute(type, scalars_);
      call.callee = rebuilt(node->callee);
      call.args = rebuilt_all(node->args);
      return call_tir(std::move(call), placed(expr.span()));
    }
    if (expr.as<If>() || expr.as<Loop>() || expr.as<FunctionExpr>() || expr.as<PackedCall>()) {
      const bool control = expr.as<If>() || expr.as<Loop>();
      if (control && builder_.in_dataflow()) {
        fail(ErrorClass::Type, builder_.origin(), "inline.control",
             fmt::format("{} has an if or a loop, and is used inside a dataflow block; expected the call "
                         "outside of it",
                         callee_.name));
      }
      return Bodies(*this).map(expr);
    }
    return substitute(expr, vars_, scalars_);
  }

  // Values with bodies of their own: copied with fresh variables, over what the callee's variables became.
  class Bodies final : public ExprMapper {
   public:
    explicit Bodies(Inliner& inliner) : inliner_(inliner) {}

   protected:
    Expr map_var(const Expr& expr, const Var& var) override {
      const auto found = inliner_.vars_.find(var.id());
      return found == inliner_.vars_.end() ? expr : found->second;
    }
    Expr map_global(const Expr& expr, const GlobalRef& global) override {
      return inliner_.importer_.import(global.name, expr.span());
    }
    Type map_type(const Type& type) override { return substitute(type, inliner_.scalars_); }
    Scalar map_scalar(const Scalar& scalar) override { return substitute(scalar, inliner_.scalars_); }
    Var map_bound(const Var& var) override {
      inliner_.make_fresh(var.type());
      return Var(inliner_.builder_.fresh_name(var.name()), map_type(var.type()), var.dataflow(), var.span());
    }
    ScalarVar map_index(const ScalarVar& index) override {
      ScalarVar fresh(inliner_.builder_.fresh_name(index.name()), index.dtype(), index.span());
      inliner_.scalars_.insert_or_assign(index.id(), use(fresh));
      return fresh;
    }
    void enter_type(const Type& type) override { inliner_.make_fresh(type); }

   private:
    Inliner& inliner_;
  };

  // An item of a tuple that is known to be a literal is the field itself.
  Expr rebuilt_item(const Expr& expr, const TupleGet& node) {
    Expr from = rebuilt(node.tuple);
    const TupleExpr* literal = from.as<TupleExpr>();
    if (literal && static_cast<std::size_t>(node.index) < literal->fields.size()) {
      return literal->fields[static_cast<std::size_t>(node.index)];
    }
    return tuple_get(std::move(from), node.index, placed(expr.span()));
  }

  // Calls of the module's functions and of nested ones are inlined too, except inside themselves, and except
  // those whose gradient the user has written: inlined they would lose it.
  Expr rebuilt_call(const Expr& expr, const FunctionCall& call) {
    const GlobalRef* global = call.callee.as<GlobalRef>();
    FunctionPtr function = global ? importer_.function(global->name) : nullptr;
    std::vector<Expr> args = rebuilt_all(call.args);
    // A nested function that stands above is inlined as well: what it captured is already the caller's.
    const Expr callee = global ? Expr() : rebuilt(call.callee);
    const Var* var = callee.defined() ? callee.as_var() : nullptr;
    if (const auto nested = var ? nested_.find(var->id()) : nested_.end(); nested != nested_.end())
      return Inliner(builder_, importer_, *nested->second, open_calls_, calls_)
          .inline_body(args, placed(expr.span()));
    const bool kept = function && (calls_ == Calls::Kept || importer_.has_user_gradient(global->name));
    if (!function || kept || !open_calls_.insert(global->name).second) {
      return function_call(rebuilt(call.callee), std::move(args), placed(expr.span()));
    }
    Expr result = Inliner(builder_, importer_, *function, open_calls_).inline_body(args, placed(expr.span()));
    open_calls_.erase(global->name);
    return result;
  }

  FunctionBuilder& builder_;
  ModuleImporter& importer_;
  const Function& callee_;
  std::unordered_set<std::string>& open_calls_;
  Calls calls_;
  VarMap vars_;
  ScalarMap scalars_;
  std::unordered_map<std::uint64_t, FunctionPtr> nested_;  // by the variable that they are bound to
  bool library_text_ = false;
};

}  // namespace

Module with_prefix(const Module& module, const std::string& prefix) {
  Module result;
  result.name = module.name;
  ModuleImporter importer(result, module, prefix);
  for (const GlobalFunction& function : module.functions) importer.import(name_of(function), {});
  return result;
}

class CallInliner::Parts {
 public:
  explicit Parts(Module& module) : importer(module, module) {}
  ModuleImporter importer;
};

CallInliner::CallInliner(Module& module) : parts_(std::make_unique<Parts>(module)) {}
CallInliner::~CallInliner() = default;

Expr CallInliner::inline_call(FunctionBuilder& builder, const Function& callee,
                              const std::vector<Expr>& args) {
  const Function held = callee;  // it may belong to the module, which changes
  std::unordered_set<std::string> open_calls{held.name};
  return Inliner(builder, parts_->importer, held, open_calls, Inliner::Calls::Kept)
      .inline_body(args, builder.origin());
}

Expr inline_call(FunctionBuilder& builder, Module& target, const Module& callee_module,
                 const Function& callee, const std::vector<Expr>& args) {
  // The callee may belong to `target`, which grows while its body is read.
  const Function held = callee;
  ModuleImporter importer(target, callee_module);
  std::unordered_set<std::string> open_calls{held.name};
  return Inliner(builder, importer, held, open_calls).inline_body(args, builder.origin());
}

}  // namespace relish
