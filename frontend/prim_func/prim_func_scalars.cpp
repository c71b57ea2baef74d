// Scalar variables of prim_funcs. One rule for all versions: a name bound to a scalar is a local that can be
// assigned again, unless the text says let.
#include <fmt/format.h>

#include "frontend/prim_func/prim_func_builder.h"
#include "frontend/prim_func/thread_tags.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

PrimFuncScalars::ScalarAnnotation PrimFuncScalars::read_annotation(const ast::Expr& annotation) {
  ScalarAnnotation result;
  const ast::Expr* type = &annotation;
  if (auto* subscript = type->as<ast::Subscript>(); subscript && subscript->items.size() == 1) {
    if (context_.namespaces.canonical(*subscript->object) == "T.let") {
      result.let = true;
      type = subscript->items[0].get();
    } else {
      // T.float32[4]
      auto* length = subscript->items[0]->as<ast::IntValue>();
      if (!length || length->value < 1) {
        type_error(subscript->items[0]->span, "scalar.annotation",
                   fmt::format("found {} as the length of a local vector; expected a positive number",
                               ast::describe(*subscript->items[0])));
      }
      result.length = length->value;
      type = subscript->object.get();
    }
  }
  if ((result.pointer = pointer_type(*type))) return result;
  auto* called = type->as<ast::Call>();
  std::string spelt = context_.namespaces.canonical(called ? *called->callee : *type);
  if (spelt == "T.let") {
    result.let = true;
    return result;
  }
  if (spelt.substr(0, 2) == "T.") result.dtype = dtype_from_name(spelt.substr(2));
  if (!result.dtype) {
    type_error(annotation.span, "scalar.annotation",
               fmt::format("found {} as the type of a scalar; expected one such as T.int32",
                           ast::describe(annotation)));
  }
  return result;
}

// A let that says so in its annotation may be declared as a scalar that can be assigned.
void PrimFuncScalars::refuse_constant(const std::string& name, Span at, Span bound) const {
  std::vector<DiagnosticNote> notes{{bound, "it is bound here"}};
  if (auto let = lets_.find(bound.begin); let != lets_.end()) {
    const auto& [whole, type] = let->second;
    notes.push_back(write_here(whole, context_.text_of(type)));
  }
  fail(ErrorClass::Type, at, "assignment.constant",
       fmt::format("found an assignment to '{}', which is no scalar of the body", printable(name)),
       std::move(notes));
}

void PrimFuncScalars::define_let(const ast::Statement& statement, const std::string& name, Span at,
                                 Scalar value, std::vector<Stmt>& into) {
  reader_.refuse_vector(value, statement.span);
  ScalarVar var(name, value.dtype(), at);
  into.push_back(make_stmt(DefineScalar{var, std::move(value), true}, statement.span,
                           take_comments(statement.comments)));
  bind(name, Scalar(var), at);
}

bool PrimFuncScalars::read_let(const std::string& name, const ast::Statement& statement,
                               const ast::Call& call, const ast::Expr* target, std::vector<Stmt>& into) {
  if (name != "T.let" && name != "T.LetStmt" && name != "T.bind") return false;
  const ast::Expr* variable = target;
  const ast::Expr* value = nullptr;
  std::size_t position = 0;
  std::optional<Handle> pointer;  // the type of what T.bind gives
  for (const ast::Argument& argument : call.arguments) {
    if (position == 1 && name == "T.bind" && (pointer = pointer_type(*argument.value))) continue;
    if (argument.name == "var" || (argument.name.empty() && name == "T.let" && position == 0))
      variable = argument.value.get();
    else if (argument.name.empty() || argument.name == "value")
      value = argument.value.get();
    if (argument.name.empty()) ++position;
  }
  if (!variable || !value || call.arguments.size() > 2) {
    type_error(call.callee->span, "scalar.let", fmt::format("{} takes a variable and its value", name));
  }
  const std::string& id = name_target(*variable);
  // A declared variable is one variable, so it has one value.
  if (checked_ && !target && symbols_.declares(id)) {
    const auto [first, only] = bound_once_.emplace(id, variable->span);
    if (!only) {
      fail(ErrorClass::Type, variable->span, "let.twice",
           fmt::format("found a second value of the variable '{}'; expected one, or a variable of its own",
                       printable(id)),
           {{first->second, "it has its value here"}});
    }
  }
  if (pointer) {
    define_pointer(id, statement, variable->span, *pointer, value, into);
    return true;
  }
  ScalarOperand operand = reader_.operand(*value);
  // A variable that was declared has its dtype.
  DType dtype = reader_.settled(operand).value.dtype();
  if (symbols_.declares(id)) dtype = std::get<Scalar>(symbols_.find(id, variable->span)).dtype();
  define_let(statement, id, variable->span, reader_.convert(dtype, operand, value->span).value, into);
  return true;
}

// x = T.local_scalar("float32") is x: T.float32.
void PrimFuncScalars::declare_scalar(const ast::Statement& statement, const ast::Expr& target,
                                     const std::string& callee, const ast::Call& call,
                                     std::vector<Stmt>& into) {
  DType dtype = DType::Float32;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ast::Argument& argument = call.arguments[i];
    auto* text = argument.value->as<ast::StringValue>();
    if (argument.name == "dtype" || (argument.name.empty() && i == 0)) {
      dtype = reader_.dtype_argument(*argument.value);
    } else if (argument.stars || callee == "T.local_scalar" ||
               (argument.name != "scope" && !(argument.name.empty() && i == 1))) {
      type_error(
          argument.value->span, "scalar.arguments",
          fmt::format("{} takes {}", callee, callee == "T.local_scalar" ? "a dtype" : "a dtype and a scope"));
    } else if (!text || (text->value != "local" && text->value != "global")) {
      fail(ErrorClass::Type, argument.value->span, "unsupported.device",
           "found a scalar that threads of a GPU share, which is not supported",
           {write_here(argument.value->span, "\"local\"")});
    }
  }
  ScalarVar var(name_target(target), dtype, target.span);
  into.push_back(make_stmt(DefineScalar{var, Scalar()}, statement.span, take_comments(statement.comments)));
  bind(var.name(), Local{var}, target.span);
}

// `i, j = it` of several loop variables under one name and `i, j = T.meta_var((a, b))`: other names of what
// is there.
bool PrimFuncScalars::bind_several(const ast::TupleValue& names, const ast::Expr& value) {
  const ast::Expr* meant = &value;
  if (auto* call = value.as<ast::Call>()) {
    const std::string callee = context_.namespaces.canonical(*call->callee);
    if ((callee != "T.meta_var" && callee != "I.meta_var") || call->arguments.size() != 1) return false;
    meant = call->arguments[0].value.get();
  } else if (!value.as<ast::Name>() && !value.as<ast::Attribute>()) {
    return false;
  }
  const std::optional<std::vector<Scalar>> values = reader_.spread(*meant);
  if (!values || values->size() != names.items.size()) return false;
  for (std::size_t i = 0; i < names.items.size(); ++i)
    bind(name_target(*names.items[i]), (*values)[i], names.items[i]->span);
  return true;
}

// Values that are no scalars: substitutions, other names of a buffer, pointers, threads, vectors.
bool PrimFuncScalars::read_special_value(const ast::Statement& statement, const ast::Expr& target,
                                         const ast::Expr& value, std::vector<Stmt>& into) {
  const std::string& name = name_target(target);
  if (auto* call = value.as<ast::Call>()) {
    std::string callee = context_.namespaces.canonical(*call->callee);
    if (callee == "T.meta_var" || callee == "I.meta_var") {
      if (call->arguments.size() != 1)
        type_error(
            call->callee->span, "meta_var.arguments",
            fmt::format("found {} of {}; expected one", counted(call->arguments.size(), "argument"), callee));
      const ast::Expr& meant = *call->arguments[0].value;
      const std::string* other = ast::name_of(meant);
      Entry* entry = other ? look_up(*other) : nullptr;
      if (entry && (std::get_if<Buffer>(&entry->meaning) || std::get_if<Several>(&entry->meaning))) {
        bind(name, entry->meaning, target.span);
      } else {
        bind(name, reader_.value(meant), target.span);
      }
      return true;
    }
    if (callee == "T.env_thread") {
      auto* tag = call->arguments.size() == 1 ? call->arguments[0].value->as<ast::StringValue>() : nullptr;
      if (!tag) type_error(value.span, "loop.thread", "T.env_thread takes a name such as \"blockIdx.x\"");
      check_thread_tag(tag->value, call->arguments[0].value->span);
      bind(name, EnvThread{tag->value}, target.span);
      return true;
    }
    if (callee == "T.launch_thread") {
      auto launched = read_launch(callee, *call, &target);
      scopes_.push_back({into.size(), [loop = *launched, span = statement.span](Stmt body) mutable {
                           loop.body = std::move(body);
                           return make_stmt(std::move(loop), span);
                         }});
      return true;
    }
    if (read_let(callee, statement, *call, &target, into)) return true;
    if (callee == "T.local_scalar" || callee == "T.alloc_scalar") {
      declare_scalar(statement, target, callee, *call, into);
      return true;
    }
    if (auto handle = pointer_type(value)) {
      define_pointer(name, statement, target.span, *handle, nullptr, into);
      return true;
    }
    if (reader_.is_foreign(value) && is_pointer(reader_.read_effect(value))) {
      define_pointer(name, statement, target.span, {0, "T.handle", std::nullopt}, &value, into);
      return true;
    }
    return false;
  }
  const std::string* other = ast::name_of(value);
  if (auto* attribute = value.as<ast::Attribute>(); attribute && attribute->name == "data") {
    bind(name, pointed_to(value, into), target.span);
    return true;
  }
  Entry* entry = other ? look_up(*other) : nullptr;
  if (entry && std::get_if<Handle>(&entry->meaning)) {
    bind(name, pointed_to(value, into), target.span);
    return true;
  }
  if (entry && (std::get_if<Buffer>(&entry->meaning) || std::get_if<Pointer>(&entry->meaning) ||
                std::get_if<Several>(&entry->meaning))) {
    bind(name, entry->meaning, target.span);
    return true;
  }
  return false;
}

void PrimFuncScalars::read_scalar(const ast::Statement& statement, const ast::Expr& target,
                                  const ast::Expr* annotation, const ast::Expr* value,
                                  std::vector<Stmt>& into) {
  const std::string& name = name_target(target);
  if (value && !annotation && read_special_value(statement, target, *value, into)) return;
  ScalarAnnotation type;
  if (annotation) type = read_annotation(*annotation);
  if (type.pointer) return define_pointer(name, statement, target.span, *type.pointer, value, into);
  if (type.length) {
    if (value) type_error(value->span, "scalar.value", "found a value of a local vector; expected none");
    Buffer vector(name, *type.dtype, {int_literal(DType::Int32, *type.length, annotation->span)}, "local",
                  target.span);
    allocate(name, target.span, vector, nullptr, statement, into);
    return;
  }
  ScalarOperand operand;
  if (value) operand = reader_.operand(*value);
  int lanes = value ? std::max(operand.lanes, reader_.lanes_of(operand.value, value->span)) : 1;
  Entry* known = annotation ? nullptr : look_up(name);
  if (known) {
    if (auto* local = std::get_if<Local>(&known->meaning)) {
      if (lanes > 1) reader_.refuse_vector(operand.value, value->span);
      Scalar converted = reader_.convert(local->var.dtype(), operand, value->span).value;
      into.push_back(
          make_stmt(AssignScalar{local->var, converted}, statement.span, take_comments(statement.comments)));
      return;
    }
    bool symbol = std::get_if<Scalar>(&known->meaning) && symbols_.declares(name);
    if (!std::get_if<Refused>(&known->meaning) && !symbol) refuse_constant(name, target.span, known->span);
  }
  if (!value && (!type.dtype || type.let)) {
    std::vector<DiagnosticNote> notes;
    if (annotation && type.dtype)
      notes.push_back(insert_here(annotation->span, is_bool(*type.dtype) ? " = False" : " = 0"));
    fail(ErrorClass::Type, statement.span, "scalar.value", "found a scalar without a value",
         std::move(notes));
  }
  DType dtype = type.dtype ? *type.dtype : reader_.settled(operand).value.dtype();
  Scalar initial = value ? reader_.convert(dtype, operand, value->span).value : Scalar();
  if (type.let) {
    if (auto* let = annotation->as<ast::Subscript>())
      lets_[target.span.begin] = {annotation->span, let->items[0]->span};
    return define_let(statement, name, target.span, initial, into);
  }
  CommentsPtr comments = take_comments(statement.comments);
  if (lanes > 1) {
    // A vector: its lanes in a buffer of its own. The name stands for one of them, as any vector does.
    Buffer vector(name, dtype, {int_literal(DType::Int32, lanes, target.span)}, "local", target.span);
    allocate_local(vector, statement.span, into);
    Scalar place = use(reader_.lane(lanes), target.span);
    store_lanes(vector, {place}, initial, lanes, statement.span, comments, into);
    bind(name, load(vector, {place}, target.span), target.span);
    return;
  }
  ScalarVar var(name, dtype, target.span);
  into.push_back(make_stmt(DefineScalar{var, initial}, statement.span, comments));
  bind(name, Local{var}, target.span);
}

void PrimFuncScalars::read_augmented(const ast::Statement& statement,
                                     const ast::AugmentedAssignment& assignment, std::vector<Stmt>& into) {
  auto* subscript = assignment.target->as<ast::Subscript>();
  if (subscript) {
    Buffer buffer = buffer_target(*subscript);
    std::vector<Scalar> indices = reader_.read_indices(buffer, *subscript, assignment.target->span);
    ScalarOperand old{load(buffer, indices, assignment.target->span)};
    ScalarOperand change = reader_.operand(*assignment.value);
    int lanes = stored_lanes(indices, change, statement.span);
    ScalarOperand result = reader_.combine(assignment.op, old, change, statement.span);
    Scalar stored = reader_.convert(buffer.dtype(), result, statement.span).value;
    store_lanes(buffer, indices, stored, lanes, statement.span, take_comments(statement.comments), into);
    return;
  }
  const std::string& name = name_target(*assignment.target);
  Entry* entry = look_up(name);
  if (!entry) fail_unknown_name(name, assignment.target->span, names());
  if (std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
  auto* local = std::get_if<Local>(&entry->meaning);
  if (!local) refuse_constant(name, assignment.target->span, entry->span);
  ScalarVar var = local->var;
  ScalarOperand old{use(var, assignment.target->span)};
  ScalarOperand result =
      reader_.combine(assignment.op, old, reader_.operand(*assignment.value), statement.span);
  reader_.refuse_vector(result.value, statement.span);
  Scalar converted = reader_.convert(var.dtype(), result, statement.span).value;
  into.push_back(make_stmt(AssignScalar{var, converted}, statement.span, take_comments(statement.comments)));
}

}  // namespace relish
