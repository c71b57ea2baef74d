// Bindings of Relax functions: assignments, unpacking, match_cast, stacks.
#include "frontend/graph/graph_bindings.h"

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "frontend/types/attribute_reader.h"
#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

void GraphBindings::read_assignment(const ast::Statement& statement, const ast::Assignment& assignment) {
  commented_ = nullptr;
  if (assignment.targets.size() != 1) {
    fail(ErrorClass::Type, assignment.targets[1]->span, "assignment.targets",
         "found several targets; expected one assignment each", one_assignment_each(statement, assignment));
  }
  const ast::Expr& target = *assignment.targets[0];
  if (!assignment.value) type_error(statement.span, "binding.value", "found a name with a type and no value");
  const ast::Expr& written = *assignment.value;
  std::vector<DeclaredSymbol> declared;
  const bool plain =
      !assignment.annotation || types_.scalar_dtype(*assignment.annotation) == std::optional(DType::Int64);
  if (plain && declared_symbols(target, written, declared)) {
    for (const DeclaredSymbol& symbol : declared) {
      if (symbol.meant) {
        bind(symbol.name, scalars_.read(*symbol.meant), symbol.span);
        continue;
      }
      auto& attribute = *symbol.call->as<ast::Call>()->callee->as<ast::Attribute>();
      refuse_unknown_namespace(*attribute.object);
      const std::vector<ast::Argument>& arguments = symbol.call->as<ast::Call>()->arguments;
      // A call with a name of the variable or its dtype, which is the last of its strings.
      auto* dtype = arguments.empty() ? nullptr : arguments.back().value->as<ast::StringValue>();
      const bool int64 =
          dtype ? dtype->value == "int64" || (attribute.name == "dynamic" && arguments.size() == 1)
                : unabbreviated(attribute.name) == "int64";
      if (!int64) {
        type_error(symbol.call->span, "symbol.dtype",
                   fmt::format("found {} as a dimension; dimensions are int64", ast::describe(*symbol.call)));
      }
      bind(symbol.name, std::get<Scalar>(symbols_.find(symbol.name, symbol.span)), symbol.span);
    }
    return hand_on(statement.comments);
  }
  // `cls = Module`.
  if (const std::string* module = ast::name_of(written);
      module && ast::name_of(target) && globals_.is_module(*module) && !look_up(*module)) {
    bind(*ast::name_of(target), ModuleAlias{}, target.span);
    return hand_on(statement.comments);
  }
  auto* call = written.as<ast::Call>();
  std::string callee = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (callee == "R.match_cast")
    return read_match_cast(statement, &target, assignment.annotation.get(), *call);
  if (callee == "R.stack.new" && ast::name_of(target) &&
      (assignment.annotation || !call->arguments.empty()) &&
      !(call->arguments.empty() && is_untyped_stack(*assignment.annotation)))
    return read_new_stack(statement, target, assignment.annotation.get(), *call);
  if (callee == "R.match_shape")
    return read_match_shape(statement, &target, assignment.annotation.get(), *call);
  // `m = I.meta_var(n + 1)` names a scalar expression; nothing is bound.
  if ((callee == "I.meta_var" || callee == "T.meta_var") && ast::name_of(target)) {
    if (call->arguments.size() != 1)
      type_error(
          call->callee->span, "meta_var.arguments",
          fmt::format("found {} of I.meta_var; expected one", counted(call->arguments.size(), "argument")));
    return bind(*ast::name_of(target), scalars_.read(*call->arguments[0].value), target.span);
  }
  // A plain number takes the dtype of its annotation.
  if (assignment.annotation && (written.as<ast::IntValue>() || written.as<ast::FloatValue>())) {
    Type type = types_.read(*assignment.annotation);
    if (const ScalarType* scalar = type.as<ScalarType>()) {
      Scalar literal = scalars_.read_as(scalar->dtype, written);
      const std::string* name = ast::name_of(target);
      if (!name) type_error(target.span, "assignment.target", "found a type on something that is no name");
      return append_binding(statement, *name, target.span, type, scalar_value(literal, written.span), true);
    }
  }
  if (auto device = ast::name_of(target) ? device_text(written) : std::nullopt) {
    bind(*ast::name_of(target), Device{*device}, target.span);
    return hand_on(statement.comments);
  }
  Expr result = value(written);
  bind_target(statement, target, assignment.annotation.get(), result, &written);
}

// `n = foo.int64()`: foo is nothing that declares a dimension.
void GraphBindings::refuse_unknown_namespace(const ast::Expr& expr) {
  const std::string dotted = ast::dotted_name(expr);
  const std::string first = dotted.substr(0, dotted.find('.'));
  if (context_.namespaces.known(first)) return;
  if (!first.empty())
    unknown_name(
        first, {expr.span.file, expr.span.begin, expr.span.begin + static_cast<std::uint32_t>(first.size())});
  const std::string text(context_.text_of(expr.span));
  type_error(
      expr.span, "symbol.namespace",
      fmt::format("found '{0}', which is {1} here, before the dtype of a dimension; expected TVM's T, as "
                  "in n = T.int64(); give the constant '{0}' another name",
                  printable(text), ast::describe(expr)));
}

// `x += y` binds the name x anew; values do not change.
void GraphBindings::read_augmented(const ast::Statement& statement,
                                   const ast::AugmentedAssignment& augmented) {
  commented_ = nullptr;
  const std::string* name = ast::name_of(*augmented.target);
  if (!name) {
    type_error(
        augmented.target->span, "assignment.element",
        fmt::format("found {} as the target of '{}='; values of an R.function are immutable, expected a "
                    "name",
                    ast::describe(*augmented.target), ast::text_of(augmented.op)));
  }
  const Span span = cover(augmented.target->span, augmented.value->span);
  const Expr result =
      combine(augmented.op, span, operand(*augmented.target), operand(*augmented.value), span);
  bind_target(statement, *augmented.target, nullptr, result, augmented.value.get());
}

namespace {

// Whether `type` says of the R.make_closure what the function that it closes says itself: its parameters but
// for the last ones, which are given, and its result. Nothing is left to look at when it runs, so the text of
// the compiled tier, which has the closures of nested functions, reads back as it is.
bool is_rest_of_closure(const Expr& closure, const Type& type) {
  const auto* made = closure.as<PackedCall>();
  if (!made || made->form != PackedForm::MakeClosure) return false;
  const FunctionType* whole = made->callee.type().function();
  const FunctionType* rest = type.function();
  if (!whole || whole->opaque || !rest || rest->opaque || (rest->pure && !whole->pure) ||
      rest->params.size() + made->args.size() != whole->params.size())
    return false;
  for (std::size_t i = 0; i < rest->params.size(); ++i)
    if (fits(rest->params[i], whole->params[i]) == Fit::Never) return false;
  return fits(whole->result, rest->result) != Fit::Never;
}

}  // namespace

void GraphBindings::bind_target(const ast::Statement& statement, const ast::Expr& target,
                                const ast::Expr* annotation, const Expr& result, const ast::Expr* written) {
  if (auto* names = target.as<ast::TupleValue>()) {
    if (annotation)
      type_error(annotation->span, "assignment.annotation", "found a type on several names; expected none");
    return bind_tuple(statement, *names, result, *written);
  }
  const std::string* name = ast::name_of(target);
  if (!name) {
    if (target.as<ast::Subscript>()) {
      fail(
          ErrorClass::Type, target.span, "assignment.element",
          "found an assignment to an element; values of an R.function are immutable; R.slice_scatter(x, part, "
          "begin, end) and R.where(mask, value, x) are new ones",
          tuple_with_field(target, *written));
    }
    fail(ErrorClass::Type, target.span, "assignment.target",
         fmt::format("found {} as a target; expected a name", ast::describe(target)),
         context_.may_search() ? target_instead(definition_, target.span) : std::vector<DiagnosticNote>{});
  }
  Type type = annotation ? annotated_type(*annotation, result.type(), *name, written->span) : result.type();
  if (annotation && holes_.any())
    holes_.want(result, type, fmt::format("the annotation of '{}'", printable(*name)), annotation->span);
  if (annotation && is_rest_of_closure(result, type)) {
    PackedCall made = *result.as<PackedCall>();
    made.out_types = {type};
    return append_binding(statement, *name, target.span, type,
                          relish::packed_call(std::move(made), result.span()), true);
  }
  if (annotation && promises_more(result.type(), type)) {
    // What the text says of the value holds from here on, so it is checked here.
    return append_checked(statement, *name, target.span, as_leaf(result), type, true);
  }
  append_binding(statement, *name, target.span, type, result, annotation != nullptr,
                 statement.as<ast::Assignment>() ? number_of(*written) : nullptr);
}

std::vector<DiagnosticNote> GraphBindings::tuple_with_field(const ast::Expr& target, const ast::Expr& value) {
  const auto& subscript = *target.as<ast::Subscript>();
  const std::string* name = ast::name_of(*subscript.object);
  Entry* entry = name ? look_up(*name) : nullptr;
  auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const TupleType* tuple = bound ? bound->var.type().tuple() : nullptr;
  auto* index = subscript.items.size() == 1 ? subscript.items[0]->as<ast::IntValue>() : nullptr;
  constexpr std::size_t most_fields = 8;  // beyond, the line would be no help
  if (!tuple || !index || tuple->fields.size() > most_fields || index->value < 0 ||
      index->value >= static_cast<std::int64_t>(tuple->fields.size()))
    return {};
  std::string fields;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    const bool given = i == static_cast<std::size_t>(index->value);
    fields += given ? std::string(context_.text_of(value.span)) : fmt::format("{}[{}]", *name, i);
    if (i + 1 < tuple->fields.size() || i == 0) fields += i + 1 < tuple->fields.size() ? ", " : ",";
  }
  return {write_here({target.span.file, target.span.begin, value.span.end},
                     fmt::format("{} = ({})", *name, fields))};
}

Type GraphBindings::annotated_type(const ast::Expr& annotation, const Type& inferred, const std::string& name,
                                   Span value_span) {
  Type type = types_.read(annotation);
  if (!inferred.is_error() && fits(inferred, type) == Fit::Never) {
    context_.diagnostics
        .error(ErrorClass::Type, annotation.span, "binding.annotation",
               fmt::format("found the type {} for '{}'; its value has type {}", print(type), printable(name),
                           print(inferred)))
        .note(value_span, fmt::format("this has type {}", print(inferred)))
        .notes.push_back(write_here(annotation.span, print(inferred)));
  }
  return type;
}

void GraphBindings::append_binding(const ast::Statement& statement, const std::string& name, Span name_span,
                                   const Type& type, const Expr& result, bool annotated,
                                   const ast::Expr* number) {
  if (!in_dataflow_) open_plain_block();
  Var var(name, type, in_dataflow_ && !is_output(name, statement), name_span);
  // Of a line that binds several names the first binding has the comments.
  const bool first = commented_ != &statement;
  commented_ = &statement;
  builder_.append(Binding{VarBinding{var, result}, statement.span,
                          take_comments(first ? statement.comments : nullptr), annotated});
  std::optional<Scalar> scalar;
  if (auto* value = result.as<ScalarValueExpr>()) scalar = value->value;
  if (const Var* same = result.as_var(); same && type.as<ScalarType>()) scalar = known_scalar(result);
  if (annotated || !type.as<ScalarType>()) number = nullptr;
  if (number && !scalar) scalar = scalars_.read(*number);  // `a, b = b, a`
  // `m = dims[0]`, where `dims = (n, d)`
  if (const auto* field = result.as<TupleGet>(); field && !scalar) {
    const auto dims = known_dims(field->tuple);
    if (dims && static_cast<std::size_t>(field->index) < dims->size())
      scalar = (*dims)[static_cast<std::size_t>(field->index)];
  }
  bind(name, Bound{var, scalar, number, known_dims(result)}, name_span);
}

void GraphBindings::bind_tuple(const ast::Statement& statement, const ast::TupleValue& names,
                               const Expr& result, const ast::Expr& value) {
  const Span at = value.span;
  // `b, t, d = x.shape`
  const ShapeType* shape = result.type().as<ShapeType>();
  if (shape && shape->dims) {
    std::vector<Expr> dims;
    for (const Scalar& dim : *shape->dims) dims.push_back(scalar_value(dim, at));
    return bind_fields(statement, names, tuple(std::move(dims), at), value);
  }
  return bind_fields(statement, names, result, value);
}

void GraphBindings::bind_fields(const ast::Statement& statement, const ast::TupleValue& names,
                                const Expr& result, const ast::Expr& value) {
  const Span at = value.span;
  const TupleType* type = result.type().tuple();
  if (!type && !result.type().is_error()) {
    type_error(at, "assignment.tuple",
               fmt::format("found a value of type {} for {} names; expected a tuple", print(result.type()),
                           names.items.size()));
  }
  if (type && type->fields.size() != names.items.size()) {
    type_error(at, "assignment.tuple",
               fmt::format("found a tuple of {} for {} names", type->fields.size(), names.items.size()));
  }
  if (!type) throw ReadContext::Silent{};
  if (!in_dataflow_) open_plain_block();
  auto* written = result.as<TupleExpr>();
  const std::vector<ast::ExprPtr>* items = ast::items_of(value);
  if (items && items->size() != names.items.size()) items = nullptr;
  std::vector<Expr> fields;
  Expr whole = written ? Expr() : builder_.emit(result);
  // Before any name is bound: `a, b = b, a`.
  std::vector<const ast::Expr*> numbers(names.items.size(), nullptr);
  for (std::size_t i = 0; items && i < items->size(); ++i) numbers[i] = number_of(*(*items)[i]);
  // Dimensions that are numbers.
  const auto* of_shape = value.as<ast::Attribute>();
  for (std::size_t i = 0; written && of_shape && i < names.items.size(); ++i) {
    const auto* dim = written->fields[i].as<ScalarValueExpr>();
    if (const auto number = dim ? dim->value.as_int() : std::nullopt) numbers[i] = integer_at(*number, at);
  }
  for (std::size_t i = 0; i < names.items.size(); ++i) {
    fields.push_back(written ? written->fields[i] : tuple_get(whole, static_cast<int>(i), at));
  }
  for (std::size_t i = 0; i < names.items.size(); ++i) {
    const ast::Expr& item = *names.items[i];
    if (auto* nested = item.as<ast::TupleValue>()) {
      bind_tuple(statement, *nested, fields[i], value);
      continue;
    }
    const std::string* name = ast::name_of(item);
    if (!name) {
      type_error(item.span, "assignment.target",
                 fmt::format("found {} as a target; expected a name", ast::describe(item)));
    }
    append_binding(statement, *name, item.span, fields[i].type(), fields[i], false, numbers[i]);
  }
}

void GraphBindings::read_match_cast(const ast::Statement& statement, const ast::Expr* target,
                                    const ast::Expr* annotation, const ast::Call& call) {
  const ast::Expr *from = nullptr, *written = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    const bool type = argument.name == "ty" || argument.name == "struct_info";
    if (argument.stars || (!argument.name.empty() && !type && argument.name != "value")) {
      type_error(argument.stars ? argument.value->span : argument.name_span, "match_cast.arguments",
                 argument.stars
                     ? std::string("found a starred argument; expected a value and a type")
                     : fmt::format("R.match_cast has no argument '{}'; expected a value and a type",
                                   printable(argument.name)));
    }
    (type || (argument.name.empty() && from) ? written : from) = argument.value.get();
  }
  if (!from || !written || call.arguments.size() != 2)
    type_error(call.callee->span, "match_cast.arguments",
               fmt::format("found {} of R.match_cast; expected a value and a type",
                           counted(call.arguments.size(), "argument")));
  symbols_.declare_strings(*written, DType::Int64);
  Expr value = leaf(*from);
  // R.match_cast(x, R.Prim(value="n")): from here on n is what x is.
  if (const auto named = types_.named_value(*written)) {
    if (const auto scalar = known_scalar(value)) bind(*named, *scalar, written->span);
  }
  const bool typed = !value.type().is_error() && !value.type().as<AnyType>();
  Type type;
  try {
    type = types_.read(*written);
  } catch (Failure& failure) {
    const Diagnostic& refused = failure.diagnostics()[0];
    if (typed && refused.id == "type.unknown" && refused.span == written->span)
      failure.diagnostics()[0].notes.push_back(write_here(written->span, print(value.type())));
    throw;
  }
  if (typed && fits(value.type(), type) == Fit::Never) {
    fail(ErrorClass::Type, from->span, "match_cast.type",
         fmt::format("found a value of type {}, which is never {}", print(value.type()), print(type)),
         {write_here(written->span, print(value.type()))});
  }
  append_match_cast(statement, target, annotation, value, type, call.callee->span);
}

void GraphBindings::read_new_stack(const ast::Statement& statement, const ast::Expr& target,
                                   const ast::Expr* annotation, const ast::Call& call) {
  const auto [empty, type] = new_stack(call, annotation);
  append_match_cast(statement, &target, call.arguments.empty() ? nullptr : annotation, empty, type,
                    call.callee->span);
}

// The form of 2022: the dims alone, of a tensor or of a shape, with or without a name for the result.
void GraphBindings::read_match_shape(const ast::Statement& statement, const ast::Expr* target,
                                     const ast::Expr* annotation, const ast::Call& call) {
  bool plain = call.arguments.size() == 2 && call.arguments[0].name.empty() && call.arguments[1].name.empty();
  if (!plain)
    type_error(call.callee->span, "match_shape.arguments",
               fmt::format("found {} of R.match_shape; expected a value and its dimensions",
                           counted(call.arguments.size(), "argument")));
  Expr from = leaf(*call.arguments[0].value);
  const ast::Expr& written = *call.arguments[1].value;
  symbols_.declare_strings(written, DType::Int64);
  std::vector<Scalar> dims = types_.read_dims(written);
  if (from.type().is_error()) throw ReadContext::Silent{};
  int rank = static_cast<int>(dims.size());
  Type type;
  if (const TensorType* tensor = from.type().tensor()) {
    type = TensorType{tensor->dtype, std::move(dims), rank};
  } else if (from.type().as<ShapeType>()) {
    type = ShapeType{std::move(dims), rank};
  } else {
    type_error(call.arguments[0].value->span, "match_shape.type",
               fmt::format("found a value of type {}; expected a tensor or a shape", print(from.type())));
  }
  if (fits(from.type(), type) == Fit::Never) {
    type_error(written.span, "match_shape.type",
               fmt::format("found a value of type {}, which is never {}", print(from.type()), print(type)));
  }
  append_match_cast(statement, target, annotation, from, type, call.callee->span);
}

void GraphBindings::append_match_cast(const ast::Statement& statement, const ast::Expr* target,
                                      const ast::Expr* annotation, Expr from, const Type& type, Span at) {
  const std::string* name = target ? ast::name_of(*target) : nullptr;
  if (target && !name)
    type_error(target->span, "assignment.target", "found a match_cast to something that is no name");
  const std::string bound_name = name ? *name : "_";
  Type bound = annotation ? annotated_type(*annotation, type, bound_name, at) : type;
  if (annotation && promises_more(type, bound)) {
    from = checked_type(std::move(from), type, statement.span);
    collect_determined(type, determined_);
    return append_checked(statement, bound_name, target->span, from, bound, true);
  }
  append_checked(statement, bound_name, target ? target->span : statement.span, from, type,
                 annotation != nullptr, bound);
}

// Binds the leaf `from` to a name as a value of `type`, which is checked when it runs; `bound` is the type of
// the name where that says less.
void GraphBindings::append_checked(const ast::Statement& statement, const std::string& name, Span name_span,
                                   const Expr& from, const Type& type, bool annotated,
                                   const std::optional<Type>& bound) {
  if (!in_dataflow_) open_plain_block();
  Var var(name, bound.value_or(type), in_dataflow_ && !is_output(name, statement), name_span);
  builder_.append(
      Binding{MatchCast{var, from, type}, statement.span, take_comments(statement.comments), annotated});
  collect_determined(type, determined_);
  bind(name, Bound{var, std::nullopt}, name_span);
}

}  // namespace relish
