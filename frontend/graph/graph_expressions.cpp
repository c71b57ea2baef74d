// Values of Relax functions: names, tuples and their fields, chains of methods, what a type asks of a value.
#include <fmt/format.h>

#include "frontend/graph/graph_hints.h"
#include "frontend/graph/graph_values.h"
#include "ir/printer/printer.h"
#include "runtime/literal.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

GraphValues::GraphValues(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
                         GraphValues* outer)
    : GraphLiterals(context, globals, definition, outer),
      scalars_(context, *this, DType::Int64),
      types_(context, *this, this) {}

namespace {

Expr ill_typed(Span span, ExprKind kind) {
  return Expr(std::make_shared<const ExprNode>(ExprNode{span, Type(TypeKind(ErrorType{})), std::move(kind)}));
}

}  // namespace

// Inference that fails is reported, and the value goes on with the error type: the text can still be printed.
Expr GraphValues::attempted(const std::function<Expr()>& make, Span span) {
  Expr result;
  bool good = context_.attempt_typed([&] {
    try {
      result = make();
    } catch (Failure& failure) {
      failure.at(span);
      throw;
    }
  });
  return good ? result : Expr();
}

Expr GraphValues::checked(const std::function<Expr()>& make, Span span, ExprKind kind) {
  Expr result = attempted(make, span);
  return result.defined() ? result : ill_typed(span, std::move(kind));
}

Expr GraphValues::make_op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span) {
  if (holes_.among(args)) return call_with_holes(op, std::move(args), std::move(attributes), span);
  // The commonest of all: what is for the ill-typed is made for them only.
  Expr result = attempted([&] { return op_call(op, args, attributes, span); }, span);
  if (result.defined()) return result;
  return ill_typed(span, OpCall{&op, std::move(args), std::move(attributes)});
}

Expr GraphValues::leaf(const ast::Expr& expr) { return as_leaf(value(expr)); }

Expr GraphValues::as_leaf(Expr value) {
  if (is_leaf(value)) return value;
  if (!in_dataflow_) open_plain_block();
  if (!holes_.any()) return builder_.emit(std::move(value));
  Expr bound = builder_.emit(value);
  holes_.stands_for(*bound.as_var(), value);
  return bound;
}

namespace {

// What a method or subscript is applied to, when that is a call or subscript itself; else null.
const ast::Expr* receiver_of(const ast::Expr& expr) {
  const ast::Expr* object = nullptr;
  if (auto* call = expr.as<ast::Call>()) {
    if (auto* method = call->callee->as<ast::Attribute>()) object = method->object.get();
  } else if (auto* subscript = expr.as<ast::Subscript>()) {
    object = subscript->object.get();
  }
  return object && (object->as<ast::Call>() || object->as<ast::Subscript>()) ? object : nullptr;
}

}  // namespace

// A long chain of methods and subscripts is built from its innermost end, so that it needs no stack as deep
// as it is long.
Expr GraphValues::value(const ast::Expr& expr) {
  if (!receivers_.empty()) {
    if (auto built = receivers_.find(&expr); built != receivers_.end()) return built->second;
  }
  constexpr std::size_t shortest = 16;
  std::vector<const ast::Expr*> chain;
  for (const ast::Expr* at = receiver_of(expr); at && !receivers_.count(at); at = receiver_of(*at))
    chain.push_back(at);
  if (chain.size() < shortest) return single_value(expr);
  for (std::size_t i = chain.size(); i-- > 0;) receivers_.insert_or_assign(chain[i], leaf(*chain[i]));
  Expr result = single_value(expr);
  for (const ast::Expr* at : chain) receivers_.erase(at);
  return result;
}

Expr GraphValues::single_value(const ast::Expr& expr) {
  if (auto* v = expr.as<ast::Name>()) return name_value(expr, v->id);
  if (auto* v = expr.as<ast::Hole>()) return hole(*v, expr.span);
  if (expr.as<ast::IntValue>() || expr.as<ast::FloatValue>() || expr.as<ast::BoolValue>()) {
    return scalar_value(scalars_.read(expr), expr.span);
  }
  if (auto* v = expr.as<ast::StringValue>()) return string_literal(v->value, expr.span);
  if (auto* v = expr.as<ast::TupleValue>()) return tuple_of(v->items, expr.span);
  if (auto* v = expr.as<ast::ListValue>()) return tuple_of(v->items, expr.span);
  if (auto* v = expr.as<ast::Call>()) return call(expr, *v);
  if (auto* v = expr.as<ast::Subscript>()) return subscript(expr, *v);
  if (auto* v = expr.as<ast::Prefix>()) return prefix(expr, *v);
  if (auto* v = expr.as<ast::Chain>()) return chain(expr, *v->first, v->links);
  if (auto* v = expr.as<ast::Comparison>()) return comparison(expr, *v);
  if (auto* v = expr.as<ast::Logic>()) return logic(expr, *v);
  if (auto* v = expr.as<ast::Conditional>()) return conditional(expr, *v);
  if (auto* attribute = expr.as<ast::Attribute>()) {
    if (auto inspected = inspected_value(expr, *attribute)) return *inspected;
    if (auto global = module_member(expr)) {
      auto meaning = globals_.find_global(*global, expr.span);
      if (!meaning) unknown_name(*global, expr.span);
      return meaning->reference;
    }
    std::string name = context_.namespaces.canonical(expr);
    if (name.substr(0, 2) == "R." || name.substr(0, 2) == "T.") {
      type_error(expr.span, "expression.value",
                 fmt::format("found '{}' without its arguments", printable(name)));
    }
    const std::string foreign = is_value(*attribute->object) ? "" : library_hint(*attribute);
    type_error(expr.span, "attribute.value",
               fmt::format("found {} in an R.function{}", ast::describe(expr),
                           is_value(*attribute->object) ? attribute_hint(*attribute)
                           : foreign.empty()            ? "; expected an operator of R"
                                                        : foreign));
  }
  if (expr.as<ast::NoneValue>()) type_error(expr.span, "expression.value", "found None; expected a value");
  if (expr.as<ast::NumberListValue>()) {
    type_error(expr.span, "expression.value",
               "found a list of numbers; expected R.const([...], \"float32\")");
  }
  if (expr.as<ast::Unsupported>() || expr.as<ast::Lambda>() || expr.as<ast::Comprehension>() ||
      expr.as<ast::Ellipsis>()) {
    type_error(
        expr.span, "unsupported.expression",
        fmt::format(
            "found {}, which is not supported{}", ast::describe(expr),
            expr.as<ast::Comprehension>()
                ? "; write the items out, [x * 0, x * 1], or fill a tensor in a loop with R.slice_scatter"
                : ""));
  }
  type_error(expr.span, "expression.value", fmt::format("found {}; expected a value", ast::describe(expr)));
}

Expr GraphValues::name_value(const ast::Expr& expr, const std::string& name) {
  if (Entry* entry = look_up(name)) {
    if (auto* bound = std::get_if<Bound>(&entry->meaning)) return var_ref(bound->var, expr.span);
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return scalar_value(*scalar, expr.span);
    if (std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
    if (auto* hidden = std::get_if<Hidden>(&entry->meaning)) {
      std::vector<DiagnosticNote> notes{{entry->span, "it is bound here"}};
      if (hidden->behind.known())
        notes.push_back(hidden->missing ? put_below(hidden->behind, fmt::format("R.output({})", name))
                                        : insert_here(hidden->behind, (hidden->first ? "" : ", ") + name));
      fail(ErrorClass::Type, expr.span, "dataflow.local",
           fmt::format("found '{}', which is local to a dataflow block that has ended; list it in R.output",
                       printable(name)),
           std::move(notes));
    }
    if (auto* unavailable = std::get_if<Unavailable>(&entry->meaning)) {
      fail(ErrorClass::Type, expr.span, "name.unavailable",
           fmt::format("found '{}', {}", printable(name), unavailable->why),
           {{entry->span, unavailable->note}});
    }
    if (std::get_if<Device>(&entry->meaning)) {
      type_error(expr.span, "name.device",
                 fmt::format("found the device '{}' as a value; expected it as dst_vdevice of R.to_vdevice",
                             printable(name)));
    }
    type_error(
        expr.span, "name.module",
        fmt::format("found the module '{}' as a value; expected one of its functions", printable(name)));
  }
  if (symbols_.declares(name))
    return scalar_value(std::get<Scalar>(symbols_.find(name, expr.span)), expr.span);
  if (auto meaning = globals_.find_global(name, expr.span)) return meaning->reference;
  if (globals_.is_module(name)) {
    type_error(
        expr.span, "name.module",
        fmt::format("found the module '{}' as a value; expected one of its functions", printable(name)));
  }
  unknown_name(name, expr.span);
}

Expr GraphValues::tuple_of(const std::vector<ast::ExprPtr>& items, Span at) {
  std::vector<Expr> fields;
  fields.reserve(items.size());
  add_items(items, fields);
  return tuple(std::move(fields), at);
}

// A starred item stands for the fields of a tuple.
void GraphValues::add_items(const std::vector<ast::ExprPtr>& items, std::vector<Expr>& into) {
  for (const ast::ExprPtr& item : items) {
    auto* starred = item->as<ast::Starred>();
    if (!starred) {
      into.push_back(leaf(*item));
      continue;
    }
    const Expr whole = leaf(*starred->value);
    if (whole.type().is_error()) throw ReadContext::Silent{};
    if (!whole.type().tuple()) {
      type_error(item->span, "expression.star",
                 fmt::format("found a starred value of type {}; expected a tuple whose fields are known",
                             print(whole.type())));
    }
    for (Expr& field : fields_of(whole, item->span)) into.push_back(std::move(field));
  }
}

std::vector<Expr> GraphValues::fields_of(const Expr& tuple, Span span) {
  if (auto* written = tuple.as<TupleExpr>()) return written->fields;
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < tuple.type().tuple()->fields.size(); ++i) {
    if (!in_dataflow_) open_plain_block();
    fields.push_back(builder_.emit(tuple_get(tuple, static_cast<int>(i), span)));
  }
  return fields;
}

std::optional<Scalar> GraphValues::known_scalar(const Expr& value) {
  if (auto* scalar = value.as<ScalarValueExpr>()) return scalar->value;
  const Var* var = value.as_var();
  if (!var) return std::nullopt;
  Entry* entry = look_up(var->name());
  auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  if (bound && bound->var == *var) return bound->scalar;
  return std::nullopt;
}

std::optional<std::vector<Scalar>> GraphValues::known_dims(const Expr& value) {
  if (const Var* var = value.as_var()) {
    Entry* entry = look_up(var->name());
    const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    return bound && bound->var == *var ? bound->dims : std::nullopt;
  }
  const auto* tuple = value.as<TupleExpr>();
  if (!tuple) return std::nullopt;
  std::vector<Scalar> dims;
  for (const Expr& field : tuple->fields) {
    const auto dim = known_scalar(field);
    if (!dim || !is_int(dim->dtype())) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

Expr GraphValues::subscript(const ast::Expr& expr, const ast::Subscript& subscript) {
  if (auto constant = metadata_constant(expr, subscript)) return *constant;
  if (auto inspected = inspected_axis(expr, subscript)) return *inspected;
  Expr object = leaf(*subscript.object);
  if (object.type().is_error()) throw ReadContext::Silent{};
  if (const ShapeType* shape = object.type().as<ShapeType>()) {
    if (auto dims = dims_of_shape(*shape, subscript, expr.span)) return *dims;
  }
  auto* index =
      subscript.items.size() == 1 && !subscript.comma ? subscript.items[0]->as<ast::IntValue>() : nullptr;
  if (object.type().tensor()) {
    type_error(expr.span, "subscript.tensor",
               fmt::format("found [] on a tensor in an R.function, which takes fields of tuples only{}",
                           subscript_hint(subscript)));
  }
  const std::size_t field_count = object.type().tuple() ? object.type().tuple()->fields.size() : 0;
  if (index && index->value < 0 && field_count > 0 &&
      index->value >= -static_cast<std::int64_t>(field_count)) {
    // From the end, as in Python.
    const ast::IntValue from_begin{index->value + static_cast<std::int64_t>(field_count)};
    if (auto* fields = object.as<TupleExpr>())
      return fields->fields[static_cast<std::size_t>(from_begin.value)];
    return tuple_get(object, static_cast<int>(from_begin.value), expr.span);
  }
  if (!index) {
    type_error(expr.span, "subscript.index",
               fmt::format("found {} as the index of a tuple; expected a plain integer",
                           ast::describe(*subscript.items[0])));
  }
  // The field of a tuple that is written out is the field itself.
  if (auto* fields = object.as<TupleExpr>();
      fields && index->value >= 0 && static_cast<std::size_t>(index->value) < fields->fields.size()) {
    return fields->fields[static_cast<std::size_t>(index->value)];
  }
  if (const TupleType* fields = object.type().tuple();
      fields && (index->value < 0 || index->value > INT32_MAX)) {
    type_error(
        expr.span, "subscript.index",
        fmt::format("index {} is out of range for a tuple of {}", index->value, fields->fields.size()));
  }
  std::int64_t at = index->value < 0 || index->value > INT32_MAX ? INT32_MAX : index->value;
  try {
    return tuple_get(object, static_cast<int>(at), expr.span);
  } catch (Failure& failure) {
    // A tuple of one has one index; an index that is the number of fields counts from 1.
    const TupleType* tuple = object.type().tuple();
    const std::size_t fields = tuple ? tuple->fields.size() : 0;
    if (fields == 1 || (fields > 0 && static_cast<std::size_t>(at) == fields))
      failure.diagnostics()[0].notes.push_back(
          write_here(subscript.items[0]->span, fmt::format("{}", fields - 1)));
    throw;
  }
}

// Whether a value of type `value` may turn out not to be what `wanted` says of it.
bool promises_more(const Type& value, const Type& wanted) {
  return !value.is_error() && !wanted.is_error() && fits(value, wanted) == Fit::Maybe;
}

// The leaf `from` as a value of the type, which is checked when it runs.
Expr GraphValues::checked_type(Expr from, const Type& type, Span span) {
  if (!in_dataflow_) open_plain_block();
  Var var(builder_.fresh_name(in_dataflow_ ? "lv" : "gv"), type, in_dataflow_, span);
  builder_.append(Binding{MatchCast{var, std::move(from), type}, span, nullptr, false});
  return Expr(var);
}

// --- What a type asks of a value.

std::optional<ShapeType> GraphValues::shape_of(const ast::Expr& expr) {
  const std::string* name = ast::name_of(expr);
  Entry* entry = name ? look_up(*name) : nullptr;
  auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const ShapeType* shape = bound ? bound->var.type().as<ShapeType>() : nullptr;
  return shape ? std::optional(*shape) : std::nullopt;
}

std::optional<Type> GraphValues::type_of(const ast::Expr& expr) {
  if (const std::string* name = ast::name_of(expr)) {
    Entry* entry = look_up(*name);
    if (entry && std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
    auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
    if (bound && bound->var.type().is_error()) throw ReadContext::Silent{};
    return bound ? std::optional(bound->var.type()) : std::nullopt;
  }
  auto* subscript = expr.as<ast::Subscript>();
  const auto whole = subscript ? type_of(*subscript->object) : std::nullopt;
  auto* index = whole && subscript->items.size() == 1 ? subscript->items[0]->as<ast::IntValue>() : nullptr;
  const TupleType* tuple = index ? whole->tuple() : nullptr;
  if (!tuple || index->value < 0 || index->value >= static_cast<std::int64_t>(tuple->fields.size()))
    return std::nullopt;
  return tuple->fields[static_cast<std::size_t>(index->value)];
}

}  // namespace relish
