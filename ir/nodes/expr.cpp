// Construction of graph expressions. Leaves have their type at once; the others infer it from their operands.
#include "ir/nodes/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "ir/nodes/identity.h"
#include "ir/operators/attribute_range.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/join.h"
#include "support/failure.h"
#include "support/fix.h"

namespace relish {
namespace {

Expr make(Type type, ExprKind kind, Span span) {
  return Expr(std::make_shared<const ExprNode>(ExprNode{span, std::move(type), std::move(kind)}));
}

bool any_error(const std::vector<Expr>& args) {
  return std::any_of(args.begin(), args.end(), [](const Expr& arg) { return arg.type().is_error(); });
}

}  // namespace

Var::Var(std::string name, Type type, bool dataflow, Span span)
    : node_(std::make_shared<const Node>(
          Node{next_identity(), std::move(name), std::move(type), dataflow, span})) {}

Expr::Expr(const Var& var) : Expr(var_ref(var, Span{})) {}

const Type& Expr::type() const { return node_->type; }

Span Expr::span() const { return node_->span; }

const Var* Expr::as_var() const {
  const auto* ref = as<VarRef>();
  return ref ? &ref->var : nullptr;
}

const Var& Binding::var() const {
  return std::visit([](const auto& held) -> const Var& { return held.var; }, kind);
}

const Expr& Binding::value() const {
  return std::visit([](const auto& held) -> const Expr& { return held.value; }, kind);
}

Expr constant(Tensor value, Span span) {
  Type type = tensor_type(std::vector<Scalar>(value.shape().begin(), value.shape().end()), value.dtype());
  return make(std::move(type), Constant{std::move(value)}, span);
}

Expr tuple(std::vector<Expr> fields, Span span) {
  TupleType type;
  type.fields.reserve(fields.size());
  for (const Expr& field : fields) type.fields.push_back(field.type());
  return make(std::move(type), TupleExpr{std::move(fields)}, span);
}

Expr shape_literal(std::vector<Scalar> dims, Span span) {
  Type type = ShapeType{.dims = std::move(dims), .rank = -1};  // makes the dims int64
  std::vector<Scalar> wide = *type.as<ShapeType>()->dims;
  return make(std::move(type), ShapeLiteral{std::move(wide)}, span);
}

Expr scalar_value(Scalar value, Span span) {
  const DType dtype = value.dtype();
  return make(ScalarType{dtype}, ScalarValueExpr{std::move(value)}, span);
}

Expr string_literal(std::string value, Span span) {
  return make(TypeKind(StringType{}), StringLiteral{std::move(value)}, span);
}

Expr dtype_literal(DType value, Span span) { return make(TypeKind(DTypeType{}), DTypeLiteral{value}, span); }

Expr global_ref(std::string name, Type type, Span span) {
  return make(std::move(type), GlobalRef{std::move(name)}, span);
}

Expr var_ref(const Var& var, Span span) {
  RELISH_CHECK(var.defined());
  return make(var.type(), VarRef{var}, span);
}

Expr tuple_get(Expr from, int index, Span span) {
  Type type = TypeKind(ErrorType{});
  if (!from.type().is_error()) {
    const TupleType* fields = from.type().tuple();
    if (!fields) {
      fail(ErrorClass::Type, span, "tuple.item",
           fmt::format("item {} is taken of {}; expected a tuple", index, print(from.type())));
    }
    if (index < 0 || static_cast<std::size_t>(index) >= fields->fields.size()) {
      fail(ErrorClass::Type, span, "tuple.index",
           fmt::format("index {} is out of range for a tuple of {}", index, fields->fields.size()));
    }
    // A field of a literal is that field: the text of one reads as the other.
    if (const auto* literal = from.as<TupleExpr>()) return literal->fields[static_cast<std::size_t>(index)];
    type = fields->fields[static_cast<std::size_t>(index)];
  }
  return make(std::move(type), TupleGet{std::move(from), index}, span);
}

Expr op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span) {
  complete_call(op, args, attributes);
  Type type = TypeKind(ErrorType{});
  if (!any_error(args)) {
    RELISH_CHECK(op.infer != nullptr, std::string(op.name));
    const CallView call{op, args, attributes, span};
    type = op.infer(call);
    require_finite_attributes(call);
  }
  return make(std::move(type), OpCall{&op, std::move(args), std::move(attributes)}, span);
}

Expr op_call(std::string_view op_name, std::vector<Expr> args, Attributes attributes, Span span) {
  const Op* op = find_op(op_name);
  RELISH_CHECK(op != nullptr, fmt::format("no operator R.{}", op_name));
  return op_call(*op, std::move(args), std::move(attributes), span);
}

namespace {

// Solves a callee's symbolic dims: a bare variable of a parameter's type takes the argument's dim, the first
// one wins.
class DimSolver {
 public:
  // `nested`: the function may mention variables of the function around it.
  DimSolver(const FunctionType& function, bool nested) : function_(function), nested_(nested) {
    std::vector<ScalarVar> vars;
    for (const Type& param : function.params) collect_vars(param, vars);
    for (const ScalarVar& var : vars) own_.insert(var.id());
  }

  void unify(const Type& param, const Type& arg) {
    if (const TensorType *p = param.tensor(), *a = arg.tensor(); p && a) unify(p->shape, a->shape);
    if (const auto *p = param.as<ShapeType>(), *a = arg.as<ShapeType>(); p && a) unify(p->dims, a->dims);
    if (const TupleType *p = param.tuple(), *a = arg.tuple();
        p && a && p->fields.size() == a->fields.size()) {
      for (std::size_t i = 0; i < p->fields.size(); ++i) unify(p->fields[i], a->fields[i]);
    }
  }

  // A dim that no tensor or shape determines takes the value given for the scalar parameter of its name and
  // dtype.
  void unify_scalars(const FunctionType& function, const std::vector<Expr>& args) {
    std::vector<ScalarVar> vars;
    for (const Type& param : function.params) collect_vars(param, vars);
    collect_vars(function.result, vars);
    for (const ScalarVar& var : vars) {
      for (std::size_t i = 0; i < std::min(args.size(), function.param_names.size()); ++i) {
        const auto* scalar = function.params[i].as<ScalarType>();
        const auto* value = args[i].as<ScalarValueExpr>();
        if (scalar && value && scalar->dtype == var.dtype() && value->value.dtype() == var.dtype() &&
            function.param_names[i] == var.name()) {
          solution_.try_emplace(var.id(), value->value);
        }
      }
    }
  }

  // `type` in the caller's terms; a shape with a dim that stayed unknown keeps only its rank.
  Type translate(const Type& type) const {
    if (const TensorType* tensor = type.tensor()) {
      if (!tensor->shape || solved(*tensor->shape)) return substitute(type, solution_);
      return TensorType{.dtype = tensor->dtype, .shape = std::nullopt, .rank = tensor->rank};
    }
    if (const auto* shape = type.as<ShapeType>()) {
      if (!shape->dims || solved(*shape->dims)) return substitute(type, solution_);
      return ShapeType{.dims = std::nullopt, .rank = shape->rank};
    }
    if (const TupleType* fields = type.tuple()) {
      TupleType result;
      for (const Type& field : fields->fields) result.fields.push_back(translate(field));
      return result;
    }
    return substitute(type, solution_);
  }

 private:
  using Dims = std::optional<std::vector<Scalar>>;

  void unify(const Dims& param, const Dims& arg) {
    if (!param || !arg || param->size() != arg->size()) return;
    for (std::size_t i = 0; i < param->size(); ++i) {
      if (std::optional<ScalarVar> var = (*param)[i].as_var()) solution_.try_emplace(var->id(), (*arg)[i]);
    }
  }

  // A variable of the function's own must have been found; one of the function around it means itself.
  bool solved(const std::vector<Scalar>& dims) const {
    std::vector<ScalarVar> vars;
    for (const Scalar& dim : dims) collect_vars(dim, vars);
    return std::all_of(vars.begin(), vars.end(),
                       [&](const ScalarVar& var) { return solution_.contains(var.id()) || !is_own(var); });
  }
  bool is_own(const ScalarVar& var) const {
    if (!nested_ || own_.contains(var.id())) return true;
    for (std::size_t i = 0; i < function_.param_names.size() && i < function_.params.size(); ++i) {
      if (function_.param_names[i] == var.name() && function_.params[i].as<ScalarType>()) return true;
    }
    return false;
  }

  const FunctionType& function_;
  bool nested_;
  std::unordered_set<std::uint64_t> own_;
  ScalarMap solution_;
};

std::string callee_name(const Expr& callee) {
  if (const auto* global = callee.as<GlobalRef>()) return global->name;
  if (const Var* var = callee.as_var()) return var->name();
  return "the callee";
}

// The arguments that are too many, with a ',': the last of those without which the others fit.
Span surplus_arguments(const FunctionType& function, const std::vector<Expr>& args) {
  const std::size_t wanted = function.params.size(), surplus = args.size() - wanted;
  for (std::size_t first = wanted; first + 1 > 0; --first) {
    bool fit = true;
    for (std::size_t i = 0; fit && i < wanted; ++i)
      fit = fits(args[i < first ? i : i + surplus].type(), function.params[i]) != Fit::Never;
    if (!fit) continue;
    const std::uint32_t file = args[0].span().file;
    if (first == 0) return {file, args[0].span().begin, args[surplus].span().begin};
    return {file, args[first - 1].span().end, args[first + surplus - 1].span().end};
  }
  return {args[0].span().file, args[wanted - 1].span().end, args.back().span().end};
}

Type infer_function_call(const Expr& callee, const std::vector<Expr>& args, Span span) {
  if (callee.type().is_error() || any_error(args)) return TypeKind(ErrorType{});
  if (callee.type().as<AnyType>()) return Type();
  const FunctionType* function = callee.type().function();
  const std::string name = callee_name(callee);
  if (!function) {
    fail(ErrorClass::Type, span, "call.callee",
         fmt::format("{} is called; it has type {}", name, print(callee.type())));
  }
  if (function->opaque) return function->result;
  if (function->params.size() != args.size()) {
    std::vector<DiagnosticNote> notes;
    const std::size_t wanted = function->params.size();
    const bool placed =
        std::all_of(args.begin(), args.end(), [](const Expr& arg) { return arg.span().known(); });
    if (wanted > 0 && args.size() > wanted && placed)
      notes.push_back(remove_this(surplus_arguments(*function, args)));
    fail(ErrorClass::Type, span, "call.arity",
         fmt::format("{} is given {} argument{}; it takes {}", name, args.size(), args.size() == 1 ? "" : "s",
                     wanted),
         std::move(notes));
  }
  DimSolver solver(*function, callee.as_var() != nullptr);
  for (std::size_t i = 0; i < args.size(); ++i) solver.unify(function->params[i], args[i].type());
  solver.unify_scalars(*function, args);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Type wanted = solver.translate(function->params[i]);
    if (fits(args[i].type(), wanted) != Fit::Never) continue;
    const std::string param = i < function->param_names.size()
                                  ? fmt::format("parameter {}", function->param_names[i])
                                  : fmt::format("parameter {}", i + 1);
    fail(ErrorClass::Type, args[i].span().known() ? args[i].span() : span, "call.argument",
         fmt::format("argument of type {} is given for {} of {}; expected {}", print(args[i].type()), param,
                     name, print(wanted)));
  }
  return solver.translate(function->result);
}

}  // namespace

Expr function_call(Expr callee, std::vector<Expr> args, Span span) {
  Type type = infer_function_call(callee, args, span);
  return make(std::move(type), FunctionCall{std::move(callee), std::move(args)}, span);
}

Expr call_tir(Expr callee, std::vector<Expr> args, std::vector<Type> out_types, bool tuple_result,
              Span span) {
  return call_tir(CallTir{std::move(callee), std::move(args), std::move(out_types), tuple_result}, span);
}

Expr call_tir(CallTir call, Span span) {
  RELISH_CHECK(call.tuple_result || call.out_types.size() == 1);
  Type type = call.tuple_result ? Type(TupleType{call.out_types}) : call.out_types[0];
  return make(std::move(type), std::move(call), span);
}

Expr packed_call(PackedCall call, Span span) {
  RELISH_CHECK(call.tuple_result || call.out_types.size() <= 1);
  Type type = call.tuple_result ? Type(TupleType{call.out_types})
                                : (call.out_types.empty() ? void_type() : call.out_types[0]);
  return make(std::move(type), std::move(call), span);
}

Expr extern_func(std::string symbol, Span span) {
  FunctionType type{.params = {}, .result = Type(), .pure = false, .opaque = true};
  return make(Type(std::move(type)), ExternFunc{std::move(symbol)}, span);
}

Expr function_expr(FunctionPtr function, Span span) {
  RELISH_CHECK(function != nullptr);
  Type type = function_type_of(*function);
  return make(std::move(type), FunctionExpr{std::move(function)}, span);
}

namespace {

bool is_condition(const Type& type) {
  if (const auto* scalar = type.as<ScalarType>()) return is_bool(scalar->dtype);
  const TensorType* tensor = type.tensor();
  if (!tensor) return type.as<AnyType>() || type.is_error();
  return (!tensor->dtype || is_bool(*tensor->dtype)) && tensor->rank <= 0;
}

void check_condition(const Expr& condition, std::string_view of, Span span) {
  if (is_condition(condition.type())) return;
  const Span at = condition.span();
  // What is not 0 counts as true elsewhere: here that is said.
  std::vector<DiagnosticNote> notes;
  const TensorType* tensor = condition.type().tensor();
  const std::string written(written_at(at));
  const bool short_line = !written.empty() && written.size() <= 80 && written.find('\n') == std::string::npos;
  if (short_line && tensor && tensor->rank == 0 && tensor->dtype) {
    notes.push_back(
        write_here(at, fmt::format("R.not_equal({}, R.const(0, \"{}\"))", written, name_of(*tensor->dtype))));
  } else if (short_line && condition.type().as<ScalarType>()) {
    notes.push_back(insert_here(at, " != 0"));
  }
  fail(ErrorClass::Type, at.known() ? at : span, "control.condition",
       fmt::format("the condition of {} has type {}; expected a bool scalar or a 0-d bool tensor", of,
                   print(condition.type())),
       std::move(notes));
}

Type one_or_tuple(std::vector<Type> types) {
  if (types.size() == 1) return std::move(types[0]);
  return TupleType{std::move(types)};
}

}  // namespace

// R.Any would hide that the ways have nothing in common.
Type common_type(const Expr& a, const Expr& b, std::string_view what, Span span) {
  Type joined = join(a.type(), b.type());
  auto mixed = [](const Type& whole, const Type& x, const Type& y) {
    if (whole.as<AnyType>()) return !x.as<AnyType>() && !y.as<AnyType>();
    const TensorType *t = whole.tensor(), *left = x.tensor(), *right = y.tensor();
    if (!t || !left || !right) return false;
    return (!t->dtype && left->dtype && right->dtype) || (t->rank < 0 && left->rank >= 0 && right->rank >= 0);
  };
  if (mixed(joined, a.type(), b.type())) {
    std::vector<DiagnosticNote> notes;
    for (const Expr* side : {&a, &b}) {
      if (side->span().known()) notes.push_back({side->span(), "it is " + print(side->type()) + " here"});
    }
    fail(ErrorClass::Type, span, "control.join",
         fmt::format("{} is {} on one way and {} on the other; expected one dtype and rank", what,
                     print(a.type()), print(b.type())),
         std::move(notes));
  }
  return joined;
}

Expr if_expr(Expr condition, Region then_region, Region else_region, Span span) {
  check_condition(condition, "an if", span);
  RELISH_CHECK(then_region.params.empty() && else_region.params.empty());
  RELISH_CHECK(then_region.results.size() == else_region.results.size());
  std::vector<Type> types;
  for (std::size_t i = 0; i < then_region.results.size(); ++i)
    types.push_back(common_type(then_region.results[i], else_region.results[i], "a value", span));
  return make(one_or_tuple(std::move(types)),
              If{std::move(condition), std::make_shared<const Region>(std::move(then_region)),
                 std::make_shared<const Region>(std::move(else_region))},
              span);
}

Expr loop_expr(Loop loop, Span span) {
  RELISH_CHECK(loop.body && loop.initial.size() == loop.body->params.size());
  RELISH_CHECK(loop.body->results.size() == loop.initial.size());
  if (!loop.index.defined()) {
    RELISH_CHECK(loop.condition && loop.condition->results.size() == 1);
    check_condition(loop.condition->results[0], "a while", span);
  }
  std::vector<Type> types;
  for (std::size_t i = 0; i < loop.initial.size(); ++i) {
    const Var& param = loop.body->params[i];
    for (const Expr* value : std::array<const Expr*, 2>{&loop.initial[i], &loop.body->results[i]}) {
      if (fits(value->type(), param.type()) != Fit::Never) continue;
      fail(ErrorClass::Type, value->span().known() ? value->span() : span, "loop.carried",
           fmt::format("{} is {} here; the loop carries it as {}", param.name(), print(value->type()),
                       print(param.type())));
    }
    types.push_back(param.type());
  }
  return make(one_or_tuple(std::move(types)), std::move(loop), span);
}

bool has_effects(const Region& region) {
  for (const BindingBlock& block : region.blocks) {
    for (const Binding& binding : block.bindings) {
      if (has_effects(binding.value())) return true;
    }
  }
  return false;
}

bool has_effects(const Expr& expr) {
  if (const auto* call = expr.as<OpCall>()) return !call->op->pure;
  if (const auto* call = expr.as<FunctionCall>()) {
    const FunctionType* callee = call->callee.type().function();
    return !callee || !callee->pure;
  }
  if (const auto* call = expr.as<PackedCall>()) {
    return call->form == PackedForm::Impure || call->form == PackedForm::Builtin ||
           call->form == PackedForm::InvokeClosure || call->form == PackedForm::CallTirDyn;
  }
  if (const auto* branch = expr.as<If>())
    return has_effects(*branch->then_region) || has_effects(*branch->else_region);
  if (const auto* loop = expr.as<Loop>())
    return has_effects(*loop->body) || (loop->condition && has_effects(*loop->condition));
  return false;
}

FunctionType function_type_of(const Function& function) {
  FunctionType type{.params = {}, .result = function.result_type, .pure = function.pure};
  for (const Var& param : function.params) {
    type.params.push_back(param.type());
    type.param_names.push_back(param.name());
  }
  return type;
}

}  // namespace relish
