// What names mean while a Relax function is read, its own, those around it and the module's.
#include "frontend/graph/graph_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/module/decorators.h"
#include "frontend/names/binding_names.h"
#include "frontend/names/foreign_texts.h"
#include "frontend/names/suggestions.h"
#include "ir/printer/printer.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

Type without_hidden_symbols(const Type& type, const SymbolList& known) {
  auto visible = [&](const std::vector<Scalar>& dims) {
    std::vector<ScalarVar> used;
    for (const Scalar& dim : dims) collect_vars(dim, used);
    return std::all_of(used.begin(), used.end(), [&](const ScalarVar& var) { return known.contains(var); });
  };
  if (const TensorType* tensor = type.tensor()) {
    if (!tensor->shape || visible(*tensor->shape)) return type;
    return Type(TensorType{tensor->dtype, std::nullopt, tensor->rank, tensor->vdevice});
  }
  if (const ShapeType* shape = type.as<ShapeType>()) {
    if (!shape->dims || visible(*shape->dims)) return type;
    return Type(ShapeType{std::nullopt, static_cast<int>(shape->dims->size())});
  }
  if (const TupleType* tuple = type.tuple()) {
    TupleType result;
    for (const Type& field : tuple->fields) result.fields.push_back(without_hidden_symbols(field, known));
    return Type(std::move(result));
  }
  if (const auto* stack = type.as<StackType>()) {
    return Type(StackType{std::make_shared<const Type>(without_hidden_symbols(*stack->element, known))});
  }
  return type;
}

GraphNames::GraphNames(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
                       GraphNames* outer)
    : context_(context),
      globals_(globals),
      definition_(definition),
      outer_(outer),
      symbols_(outer ? outer->symbols_ : own_symbols_) {}

const std::vector<ScalarVar>& GraphNames::determined_around() const {
  static const std::vector<ScalarVar> none;
  return outer_ ? outer_->determined_ : none;
}

GraphNames::Entry* GraphNames::look_up(const std::string& name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    auto found = frame->find(name);
    if (found != frame->end()) return &found->second;
  }
  return outer_ ? outer_->look_up(name) : nullptr;
}

// What the name is in a dimension or other scalar expression.
ScalarMeaning GraphNames::find(const std::string& name, Span use) {
  if (Entry* entry = look_up(name)) {
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return *scalar;
    if (auto* bound = std::get_if<Bound>(&entry->meaning)) {
      if (bound->scalar) return *bound->scalar;
      if (bound->var.type().is_error()) return Scalar();
      return fmt::format("found '{}' of type {}; expected an integer scalar", printable(name),
                         print(bound->var.type()));
    }
    if (std::get_if<Refused>(&entry->meaning)) return Scalar();
    if (auto* unavailable = std::get_if<Unavailable>(&entry->meaning))
      return fmt::format("found '{}', {}", printable(name), unavailable->why);
  }
  ScalarMeaning symbol = symbols_.find(name, use);
  if (std::holds_alternative<std::monostate>(symbol) && frames_.size() == 1 && !look_up(name) &&
      !context_.is_script_name(name) && !context_.python_names.contains(name)) {
    return fmt::format(
        "found '{}', which no dimension introduces{}; expected a dimension \"{}\" of its own, in quotes",
        printable(name), did_you_mean(name, names()), printable(name));
  }
  return symbol;
}

namespace {

Scalar dimension_at(const std::optional<std::vector<Scalar>>& dims, std::int64_t axis) {
  if (!dims) return {};
  const auto rank = static_cast<std::int64_t>(dims->size());
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? Scalar() : (*dims)[static_cast<std::size_t>(axis)];
}

}  // namespace

Scalar GraphNames::dimension_of(const std::string& tensor, std::int64_t axis) {
  Entry* entry = look_up(tensor);
  const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const TensorType* type = bound ? bound->var.type().tensor() : nullptr;
  return type ? dimension_at(type->shape, axis) : Scalar();
}

Scalar GraphNames::dimension_in(const std::string& shape, std::int64_t axis) {
  Entry* entry = look_up(shape);
  const auto* bound = entry ? std::get_if<Bound>(&entry->meaning) : nullptr;
  const ShapeType* type = bound ? bound->var.type().as<ShapeType>() : nullptr;
  return type ? dimension_at(type->dims, axis) : Scalar();
}

std::vector<std::string> GraphNames::names() const {
  if (!context_.may_suggest()) return {};
  std::vector<std::string> result = symbols_.names();
  for (const Frame& frame : frames_) {
    for (const auto& [name, entry] : frame) {
      if (!std::get_if<Hidden>(&entry.meaning) && !std::get_if<Unavailable>(&entry.meaning))
        result.push_back(name);
    }
  }
  context_.count_suggestion(result.size());
  if (outer_) {
    for (std::string& name : outer_->names()) result.push_back(std::move(name));
  }
  return result;
}

void GraphNames::unknown_name(const std::string& name, Span at) {
  refuse_python_name(context_, name, at);
  if (globals_.is_other_module(name)) {
    type_error(
        at, "name.module",
        fmt::format("found the module '{}' as a value; expected one of its functions", printable(name)));
  }
  if (context_.script_functions.contains(name)) {
    fail(ErrorClass::Type, at, "name.script",
         fmt::format(
             "found '{}', a function of the script, which functions of tensors do not call; put @R.function "
             "above its def and give its parameters types",
             printable(name)));
  }
  if (context_.is_script_name(name)) fail_script_name(name, at);
  if (const std::string constant = foreign_constant_advice(name); !constant.empty()) {
    type_error(at, "name.unknown",
               fmt::format("found the name '{}', which is not defined here{}", printable(name), constant));
  }
  std::vector<std::string> candidates = names();
  for (std::string& global : globals_.global_names()) candidates.push_back(std::move(global));
  try {
    fail_unknown_name(name, at, std::move(candidates));
  } catch (Failure& failure) {
    // Used before it is bound.
    Span later;
    if (!context_.may_search()) throw;
    for (const ast::Statement& statement : definition_.body) {
      for_each_bound_name(statement, [&](const std::string& bound, Span place) {
        if (bound == name && place.begin > at.begin && !later.known()) later = place;
      });
    }
    if (later.known()) failure.note(later, "it is bound here, behind this use");
    throw;
  }
}

void GraphNames::refuse_names(const ast::Statement& statement) {
  for_each_bound_name(statement, [&](const std::string& name, Span at) { bind(name, Refused{}, at); });
}

std::optional<std::string> GraphNames::module_member(const ast::Expr& callee) {
  auto* attribute = callee.as<ast::Attribute>();
  const std::string* base = attribute ? ast::name_of(*attribute->object) : nullptr;
  if (!base) return std::nullopt;
  Entry* entry = look_up(*base);
  if (entry) return std::get_if<ModuleAlias>(&entry->meaning) ? std::optional(attribute->name) : std::nullopt;
  if (globals_.is_module(*base)) return attribute->name;
  if (auto linked = globals_.linked_function(*base, attribute->name, attribute->name_span)) return linked;
  if (globals_.is_other_module(*base)) {
    type_error(
        callee.span, "name.other_module",
        fmt::format("found '{}' of a module that stands below; a function calls those of modules above it",
                    ast::dotted_name(callee)));
  }
  if (*base == "cls") {
    // TVM binds it by the first line of a function; what Python has as a parameter is none here.
    const std::string& module = globals_.module_name();
    const std::string member = printable(attribute->name);
    type_error(attribute->object->span, "name.unknown",
               fmt::format("found the name 'cls', which is not bound here; write {}",
                           module.empty()
                               ? member
                               : fmt::format("cls = {0} above it, or {0}.{1}", printable(module), member)));
  }
  refuse_python_name(context_, *base, attribute->object->span);
  return std::nullopt;
}

}  // namespace relish
