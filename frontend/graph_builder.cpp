// Relax functions: header, blocks and bindings. One refused statement does not hide the next; what it would
// have bound gets the error type, which no later rule complains about.
#include "frontend/graph_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/attribute_reader.h"
#include "frontend/binding_names.h"
#include "ir/printer.h"
#include "ir/symbols.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

Type error_type() { return Type(TypeKind(ErrorType{})); }

// The type with every shape that mentions a variable outside `known` reduced to its rank: what callers may
// see.
Type without_hidden_symbols(const Type& type, const std::vector<ScalarVar>& known) {
  auto visible = [&](const std::vector<Scalar>& dims) {
    std::vector<ScalarVar> used;
    for (const Scalar& dim : dims) collect_vars(dim, used);
    return std::all_of(used.begin(), used.end(), [&](const ScalarVar& var) {
      return std::find(known.begin(), known.end(), var) != known.end();
    });
  };
  if (const TensorType* tensor = type.tensor()) {
    if (!tensor->shape || visible(*tensor->shape)) return type;
    return Type(TensorType{tensor->dtype, std::nullopt, tensor->rank});
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
  return type;
}

}  // namespace

GraphBuilder::GraphBuilder(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition)
    : context_(context),
      globals_(globals),
      definition_(definition),
      scalars_(context, *this, DType::Int64),
      types_(context, *this) {}

// --- Header.

void GraphBuilder::declare_symbols() {
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (parameter.annotation) symbols_.declare_strings(*parameter.annotation, DType::Int64);
  }
  if (definition_.result_annotation) symbols_.declare_strings(*definition_.result_annotation, DType::Int64);
  for (const ast::TypeParameter& parameter : definition_.type_parameters) {
    symbols_.declare(parameter.name, DType::Int64, parameter.span);
  }
  // Declarations may stand anywhere in the body, also in its dataflow blocks.
  std::vector<const ast::Block*> blocks{&definition_.body};
  while (!blocks.empty()) {
    const ast::Block& block = *blocks.back();
    blocks.pop_back();
    for (const ast::Statement& statement : block) {
      if (auto* with = statement.as<ast::With>()) blocks.push_back(&with->body);
      auto* assignment = statement.as<ast::Assignment>();
      if (!assignment || !assignment->value || assignment->targets.size() != 1) continue;
      std::vector<DeclaredSymbol> declared;
      if (!declared_symbols(*assignment->targets[0], *assignment->value, declared)) continue;
      for (const DeclaredSymbol& symbol : declared) symbols_.declare(symbol.name, DType::Int64, symbol.span);
    }
  }
  for (const std::string& name : context_.type_variables)
    symbols_.declare(name, DType::Int64, definition_.name_span);
}

void GraphBuilder::read_header() {
  std::size_t errors = context_.diagnostics.error_count();
  frames_.emplace_back();
  declare_symbols();
  // Scalar parameters may be dimensions of parameters that stand before them.
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (!parameter.annotation || !types_.is_type(*parameter.annotation)) continue;
    auto* call = parameter.annotation->as<ast::Call>();
    std::string name = context_.namespaces.canonical(call ? *call->callee : *parameter.annotation);
    auto* dtype =
        call && !call->arguments.empty() ? call->arguments[0].value->as<ast::StringValue>() : nullptr;
    if (name == "T.int64" || (name == "R.Prim" && dtype && dtype->value == "int64")) {
      symbols_.declare(parameter.name, DType::Int64, parameter.span);
    }
  }
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (context_.attempt([&] { read_param(parameter); })) continue;
    Var var(parameter.name, error_type(), false, parameter.span);
    params_.push_back(var);
    bind(parameter.name, Bound{var, std::nullopt}, parameter.span);
  }
  if (definition_.result_annotation) {
    Type result = error_type();
    context_.attempt([&] { result = types_.read(*definition_.result_annotation); });
    annotated_result_ = result;
  }
  header_failed_ = context_.diagnostics.error_count() != errors;
}

void GraphBuilder::read_param(const ast::Parameter& parameter) {
  if (parameter.stars)
    type_error(parameter.span, "param.star", "found a starred parameter; expected each one written out");
  if (parameter.default_value) {
    type_error(parameter.default_value->span, "param.default",
               "found a default value; parameters of functions have none");
  }
  if (!parameter.annotation) {
    type_error(
        parameter.span, "param.annotation",
        fmt::format(
            "found the parameter '{}' without a type; expected one such as R.Tensor((2, 3), \"float32\")",
            printable(parameter.name)));
  }
  auto earlier = frames_.back().find(parameter.name);
  if (earlier != frames_.back().end()) {
    fail(ErrorClass::Type, parameter.span, "param.twice",
         fmt::format("found the parameter '{}' twice", printable(parameter.name)),
         {{earlier->second.span, "it is declared here first"}});
  }
  Var var(parameter.name, types_.read(*parameter.annotation), false, parameter.span);
  std::optional<Scalar> scalar;
  const ScalarType* type = var.type().as<ScalarType>();
  if (type && type->dtype == DType::Int64) {
    ScalarMeaning symbol = symbols_.find(parameter.name, parameter.span);
    if (auto* found = std::get_if<Scalar>(&symbol)) scalar = *found;
  }
  params_.push_back(var);
  bind(parameter.name, Bound{var, scalar}, parameter.span);
}

FunctionType GraphBuilder::signature() const {
  FunctionType type;
  for (const Var& param : params_) {
    type.params.push_back(param.type());
    type.param_names.push_back(param.name());
  }
  if (annotated_result_) type.result = *annotated_result_;
  return type;
}

// --- Names.

GraphBuilder::Entry* GraphBuilder::look_up(const std::string& name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    auto found = frame->find(name);
    if (found != frame->end()) return &found->second;
  }
  return nullptr;
}

// What the name is in a dimension or other scalar expression.
ScalarMeaning GraphBuilder::find(const std::string& name, Span use) {
  if (Entry* entry = look_up(name)) {
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return *scalar;
    if (auto* bound = std::get_if<Bound>(&entry->meaning)) {
      if (bound->scalar) return *bound->scalar;
      if (bound->var.type().is_error()) return Scalar();
      return fmt::format("found '{}' of type {}; expected an integer scalar", printable(name),
                         print(bound->var.type()));
    }
    if (std::get_if<Refused>(&entry->meaning)) return Scalar();
  }
  ScalarMeaning symbol = symbols_.find(name, use);
  if (std::holds_alternative<std::monostate>(symbol) && frames_.size() == 1 && !look_up(name) &&
      std::find(context_.script_names.begin(), context_.script_names.end(), name) ==
          context_.script_names.end()) {
    return fmt::format("found '{}', which no dimension introduces{}; expected a dimension \"{}\" of its own",
                       printable(name), did_you_mean(name, names()), printable(name));
  }
  return symbol;
}

std::vector<std::string> GraphBuilder::names() const {
  std::vector<std::string> result = symbols_.names();
  for (const Frame& frame : frames_) {
    for (const auto& [name, entry] : frame) {
      if (!std::get_if<Hidden>(&entry.meaning)) result.push_back(name);
    }
  }
  return result;
}

void GraphBuilder::unknown_name(const std::string& name, Span at) {
  const auto& script = context_.script_names;
  if (std::find(script.begin(), script.end(), name) != script.end()) {
    type_error(
        at, "name.script",
        fmt::format(
            "found '{}', a variable of the script, which functions do not see; pass it as a parameter or "
            "use bind_params",
            printable(name)));
  }
  std::vector<std::string> candidates = names();
  for (std::string& global : globals_.global_names()) candidates.push_back(std::move(global));
  fail_unknown_name(name, at, std::move(candidates));
}

void GraphBuilder::refuse_names(const ast::Statement& statement) {
  for_each_bound_name(statement, [&](const std::string& name, Span at) { bind(name, Refused{}, at); });
}

CommentsPtr GraphBuilder::take_comments(const CommentsPtr& own) {
  if (pending_.before.empty()) return own;
  Comments all = std::move(pending_);
  pending_ = {};
  if (own) {
    all.before.insert(all.before.end(), own->before.begin(), own->before.end());
    all.after = own->after;
  }
  return std::make_shared<const Comments>(std::move(all));
}

// --- The function.

FunctionPtr GraphBuilder::build(CommentsPtr comments, bool is_private, bool pure, Attributes attributes) {
  function_.name = definition_.name;
  function_.span = definition_.name_span;
  function_.comments = std::move(comments);
  function_.is_private = is_private;
  function_.pure = pure;
  function_.attributes = std::move(attributes);
  function_.params = params_;
  for (const Var& param : params_) builder_.reserve_name(param.name());
  for (const ast::Statement& statement : definition_.body) {
    for_each_bound_name(statement, [&](const std::string& name, Span) { builder_.reserve_name(name); });
  }
  bool unresolved = context_.unresolved;
  context_.unresolved = header_failed_;
  read_block(definition_.body, true);
  if (!returned_ && !context_.unresolved) {
    context_.attempt([&] {
      type_error(definition_.name_span, "function.return",
                 fmt::format("the function '{}' does not end in a return", printable(definition_.name)));
    });
  }
  function_.blocks = builder_.take_blocks();
  for (BindingBlock& block : function_.blocks) {
    for (const auto& [span, own] : block_comments_) {
      if (block.dataflow && block.span == span) block.comments = own;
    }
  }
  if (!context_.unresolved) context_.attempt_typed([&] { check_symbols(); });
  bool failed = context_.unresolved;
  context_.unresolved |= unresolved;
  if (failed) return nullptr;
  return std::make_shared<const Function>(std::move(function_));
}

void GraphBuilder::open_plain_block() {
  if (block_open_) return;
  builder_.begin_block(false);
  block_open_ = true;
}

void GraphBuilder::read_block(const ast::Block& body, bool top_level) {
  for (const ast::Statement& statement : body) {
    if (!context_.attempt([&] { read_statement(statement, top_level); })) refuse_names(statement);
  }
}

void GraphBuilder::read_statement(const ast::Statement& statement, bool top_level) {
  if (statement.as<ast::Damaged>()) throw ReadContext::Silent{};
  if (returned_)
    type_error(statement.span, "function.end", "found a statement behind the return; expected none");
  builder_.set_origin(statement.span);
  if (auto* s = statement.as<ast::With>()) {
    if (!top_level) type_error(statement.span, "dataflow.nested", "found a block inside a dataflow block");
    read_dataflow(statement, *s);
  } else if (auto* s = statement.as<ast::Return>()) {
    if (!top_level)
      type_error(statement.span, "dataflow.return",
                 "found a return inside a dataflow block; expected it behind");
    read_return(statement, *s);
  } else if (auto* s = statement.as<ast::ExpressionStatement>()) {
    read_expression(statement, *s->value);
  } else if (auto* s = statement.as<ast::Assignment>()) {
    read_assignment(statement, *s);
  } else if (statement.as<ast::AugmentedAssignment>()) {
    type_error(statement.span, "binding.augmented",
               "found an augmented assignment in an R.function; expected y = x + z");
  } else if (statement.as<ast::For>()) {
    type_error(statement.span, "loop.function",
               "found a for loop in an R.function; loops over ranges stand in prim_funcs, and at the top "
               "level of a script");
  } else if (statement.as<ast::While>()) {
    type_error(statement.span, "loop.function",
               "found a while loop in an R.function; expected straight-line bindings");
  } else if (statement.as<ast::If>()) {
    type_error(statement.span, "if.function",
               "found an if in an R.function; expected straight-line bindings, such as R.where");
  } else if (statement.as<ast::FunctionDefinition>()) {
    type_error(statement.span, "function.nested",
               "found a function inside a function; expected it in the module");
  } else if (statement.as<ast::Assert>()) {
    type_error(statement.span, "assert.function",
               "found an assert in an R.function; expected it in a script or a prim_func");
  } else if (!statement.as<ast::Pass>()) {
    type_error(statement.span, "function.statement", "found a statement that an R.function cannot have");
  }
}

void GraphBuilder::read_dataflow(const ast::Statement& statement, const ast::With& with) {
  auto* call = with.items.size() == 1 ? with.items[0].value->as<ast::Call>() : nullptr;
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name != "R.dataflow" || !call->arguments.empty() || with.items[0].target) {
    type_error(statement.span, "with.unknown",
               fmt::format("found 'with' on {}; expected R.dataflow()", ast::describe(*with.items[0].value)));
  }
  // R.output comes last, but decides about the variables before it.
  struct Output {
    std::string name;
    Span span;
  };
  std::vector<Output> outputs;
  for (const ast::Statement& inner : with.body) {
    auto* expression = inner.as<ast::ExpressionStatement>();
    auto* output = expression ? expression->value->as<ast::Call>() : nullptr;
    if (!output || context_.namespaces.canonical(*output->callee) != "R.output") continue;
    for (const ast::Argument& argument : output->arguments) {
      if (const std::string* written = ast::name_of(*argument.value))
        outputs.push_back({*written, argument.value->span});
    }
  }
  outputs_.clear();
  for (const Output& output : outputs) outputs_[output.name] = nullptr;
  for (const ast::Statement& inner : with.body) {
    for_each_bound_name(inner, [&](const std::string& bound, Span) {
      auto found = outputs_.find(bound);
      if (found != outputs_.end()) found->second = &inner;
    });
  }

  CommentsPtr comments = take_comments(statement.comments);
  if (comments) block_comments_.emplace_back(statement.span, comments);
  builder_.set_origin(statement.span);
  builder_.begin_block(true);
  block_open_ = false;
  in_dataflow_ = true;
  frames_.emplace_back();
  read_block(with.body, false);
  Frame inside = std::move(frames_.back());
  frames_.pop_back();
  in_dataflow_ = false;
  builder_.end_block();
  for (auto& [bound, entry] : inside) {
    bool output = outputs_.count(bound) > 0;
    bool refused = std::get_if<Refused>(&entry.meaning) != nullptr;
    bool scalar = std::get_if<Scalar>(&entry.meaning) || std::get_if<ModuleAlias>(&entry.meaning);
    if (output || refused || scalar) {
      frames_.back().insert_or_assign(bound, entry);
    } else if (!frames_.back().count(bound)) {
      frames_.back().emplace(bound, Entry{Hidden{}, entry.span});
    }
  }
  for (const Output& output : outputs) {
    if (outputs_.at(output.name) || inside.count(output.name)) continue;
    context_.attempt([&] {
      type_error(output.span, "dataflow.output",
                 fmt::format("R.output lists '{}', which the block does not bind{}", printable(output.name),
                             did_you_mean(output.name, [&] {
                               std::vector<std::string> bound;
                               for (auto& [inner, entry] : inside) bound.push_back(inner);
                               return bound;
                             }())));
    });
    bind(output.name, Refused{}, output.span);
  }
  outputs_.clear();
}

void GraphBuilder::read_expression(const ast::Statement& statement, const ast::Expr& expr) {
  auto keep_comments = [&] {
    if (!statement.comments) return;
    for (const std::string& comment : statement.comments->before) pending_.before.push_back(comment);
    if (!statement.comments->after.empty()) pending_.before.push_back(statement.comments->after);
  };
  if (expr.as<ast::StringValue>()) return;  // a docstring
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "R.func_attr") {
    for (auto& [key, value] : read_attribute_dictionary(context_, expr)) {
      const auto* text = value.as<std::string>();
      if (key == "global_symbol" && text && *text == function_.name) continue;
      function_.attributes = with_attribute(std::move(function_.attributes), key, std::move(value));
    }
    return keep_comments();
  }
  if (name == "R.output") {
    if (!in_dataflow_) type_error(expr.span, "dataflow.output", "found R.output outside a dataflow block");
    for (const ast::Argument& argument : call->arguments) {
      if (!ast::name_of(*argument.value) || !argument.name.empty()) {
        type_error(argument.value->span, "dataflow.output",
                   fmt::format("found {} in R.output; expected names", ast::describe(*argument.value)));
      }
    }
    return keep_comments();
  }
  Expr result = value(expr);
  if (!result.type().is_void() && !result.type().is_error()) {
    context_.diagnostics.error(
        ErrorClass::Type, expr.span, "statement.value",
        fmt::format("found a value of type {} that is not bound; expected y = ...", print(result.type())));
  }
  if (!in_dataflow_) open_plain_block();
  Var var("_", result.type(), in_dataflow_, expr.span);
  builder_.append(Binding{VarBinding{var, result}, statement.span, take_comments(statement.comments), false});
}

void GraphBuilder::read_assignment(const ast::Statement& statement, const ast::Assignment& assignment) {
  if (assignment.targets.size() != 1) {
    type_error(assignment.targets[1]->span, "assignment.targets",
               "found several targets; expected one assignment each");
  }
  const ast::Expr& target = *assignment.targets[0];
  if (!assignment.value) type_error(statement.span, "binding.value", "found a name with a type and no value");
  const ast::Expr& written = *assignment.value;
  std::vector<DeclaredSymbol> declared;
  if (!assignment.annotation && declared_symbols(target, written, declared)) {
    for (const DeclaredSymbol& symbol : declared) {
      auto& attribute = *symbol.call->as<ast::Call>()->callee->as<ast::Attribute>();
      bool int64 =
          attribute.name == "int64" ||
          (attribute.name == "var" &&
           symbol.call->as<ast::Call>()->arguments[0].value->as<ast::StringValue>()->value == "int64");
      if (!int64) {
        type_error(symbol.call->span, "symbol.dtype",
                   fmt::format("found {} as a dimension; dimensions are int64", ast::describe(*symbol.call)));
      }
      bind(symbol.name, std::get<Scalar>(symbols_.find(symbol.name, symbol.span)), symbol.span);
    }
    return;
  }
  // `cls = Module`.
  if (const std::string* module = ast::name_of(written);
      module && ast::name_of(target) && globals_.is_module(*module) && !look_up(*module)) {
    bind(*ast::name_of(target), ModuleAlias{}, target.span);
    return;
  }
  auto* call = written.as<ast::Call>();
  std::string callee = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (callee == "R.match_cast") return read_match_cast(statement, target, assignment.annotation.get(), *call);
  if (callee == "R.match_shape") {
    type_error(call->callee->span, "match_shape",
               "R.match_shape is not supported; expected R.match_cast(x, R.Tensor(...))");
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
  Expr result = value(written);
  bind_target(statement, target, assignment.annotation.get(), result, &written);
}

void GraphBuilder::bind_target(const ast::Statement& statement, const ast::Expr& target,
                               const ast::Expr* annotation, Expr result, const ast::Expr* written) {
  if (auto* names = target.as<ast::TupleValue>()) {
    if (annotation)
      type_error(annotation->span, "assignment.annotation", "found a type on several names; expected none");
    return bind_tuple(statement, *names, result, written->span);
  }
  const std::string* name = ast::name_of(target);
  if (!name) {
    if (target.as<ast::Subscript>()) {
      type_error(target.span, "assignment.element",
                 "found an assignment to an element; values of an R.function are immutable");
    }
    type_error(target.span, "assignment.target",
               fmt::format("found {} as a target; expected a name", ast::describe(target)));
  }
  Type type = annotation ? annotated_type(*annotation, result.type(), *name, written->span) : result.type();
  append_binding(statement, *name, target.span, type, result, annotation != nullptr);
}

Type GraphBuilder::annotated_type(const ast::Expr& annotation, const Type& inferred, const std::string& name,
                                  Span value_span) {
  Type type = types_.read(annotation);
  if (!inferred.is_error() && fits(inferred, type) == Fit::Never) {
    context_.diagnostics
        .error(ErrorClass::Type, annotation.span, "binding.annotation",
               fmt::format("found the type {} for '{}'; its value has type {}", print(type), printable(name),
                           print(inferred)))
        .note(value_span, fmt::format("this has type {}", print(inferred)));
  }
  return type;
}

void GraphBuilder::append_binding(const ast::Statement& statement, const std::string& name, Span name_span,
                                  Type type, Expr result, bool annotated) {
  auto output = outputs_.find(name);
  bool is_output = output != outputs_.end() && output->second == &statement;
  if (!in_dataflow_) open_plain_block();
  Var var(name, type, in_dataflow_ && !is_output, name_span);
  builder_.append(
      Binding{VarBinding{var, result}, statement.span, take_comments(statement.comments), annotated});
  std::optional<Scalar> scalar;
  if (auto* value = result.as<ScalarValueExpr>(); value && is_int(value->value.dtype()))
    scalar = value->value;
  bind(name, Bound{var, scalar}, name_span);
}

void GraphBuilder::bind_tuple(const ast::Statement& statement, const ast::TupleValue& names, Expr result,
                              Span at) {
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
  std::vector<Expr> fields;
  Expr whole = written ? Expr() : builder_.emit(result);
  for (std::size_t i = 0; i < names.items.size(); ++i) {
    fields.push_back(written ? written->fields[i] : tuple_get(whole, static_cast<int>(i), at));
  }
  for (std::size_t i = 0; i < names.items.size(); ++i) {
    const ast::Expr& item = *names.items[i];
    if (auto* nested = item.as<ast::TupleValue>()) {
      bind_tuple(statement, *nested, fields[i], at);
      continue;
    }
    const std::string* name = ast::name_of(item);
    if (!name) {
      type_error(item.span, "assignment.target",
                 fmt::format("found {} as a target; expected a name", ast::describe(item)));
    }
    append_binding(statement, *name, item.span, fields[i].type(), fields[i], false);
  }
}

void GraphBuilder::read_match_cast(const ast::Statement& statement, const ast::Expr& target,
                                   const ast::Expr* annotation, const ast::Call& call) {
  const std::string* name = ast::name_of(target);
  if (!name) type_error(target.span, "assignment.target", "found a match_cast to something that is no name");
  if (call.arguments.size() != 2)
    type_error(call.callee->span, "match_cast.arguments", "R.match_cast takes a value and a type");
  symbols_.declare_strings(*call.arguments[1].value, DType::Int64);
  Expr from = leaf(*call.arguments[0].value);
  Type type = types_.read(*call.arguments[1].value);
  if (!from.type().is_error() && fits(from.type(), type) == Fit::Never) {
    type_error(call.arguments[0].value->span, "match_cast.type",
               fmt::format("found a value of type {}, which is never {}", print(from.type()), print(type)));
  }
  Type bound = annotation ? annotated_type(*annotation, type, *name, call.callee->span) : type;
  auto output = outputs_.find(*name);
  bool is_output = output != outputs_.end() && output->second == &statement;
  if (!in_dataflow_) open_plain_block();
  Var var(*name, bound, in_dataflow_ && !is_output, target.span);
  builder_.append(Binding{MatchCast{var, from, type}, statement.span, take_comments(statement.comments),
                          annotation != nullptr});
  bind(*name, Bound{var, std::nullopt}, target.span);
}

void GraphBuilder::read_return(const ast::Statement& statement, const ast::Return& returned) {
  returned_ = true;
  builder_.set_origin(statement.span);
  if (returned.value) {
    // What the result computes is bound before it, outside of dataflow blocks.
    function_.result = leaf(*returned.value);
    function_.result_span = returned.value->span;
  } else {
    function_.result = tuple({}, statement.span);
    function_.result_span = statement.span;
  }
  finish_result_type(function_.result_span);
}

void GraphBuilder::finish_result_type(Span at) {
  const Type& inferred = function_.result.type();
  std::vector<ScalarVar> known;
  for (const Var& param : params_) collect_vars(param.type(), known);
  for (const auto& [name, entry] : frames_.front()) {
    auto* bound = std::get_if<Bound>(&entry.meaning);
    if (!bound || !bound->scalar) continue;
    if (auto var = bound->scalar->as_var()) known.push_back(*var);
  }
  if (!annotated_result_) {
    function_.result_type = without_hidden_symbols(inferred, known);
    return;
  }
  function_.result_type = *annotated_result_;
  if (annotated_result_->is_error() || inferred.is_error()) return;
  if (fits(inferred, *annotated_result_) == Fit::Never) {
    context_.diagnostics
        .error(ErrorClass::Type, at, "function.result",
               fmt::format("'{}' returns {}; its annotation says {}", printable(definition_.name),
                           print(inferred), print(*annotated_result_)))
        .note(definition_.result_annotation->span, "the annotation is here");
  }
}

// Every symbolic dimension that the function mentions must be known when it runs.
void GraphBuilder::check_symbols() {
  std::vector<ScalarVar> determined;
  for (const Var& param : params_) collect_determined(param.type(), determined);
  for (const BindingBlock& block : function_.blocks) {
    for (const Binding& binding : block.bindings) {
      if (auto* cast = std::get_if<MatchCast>(&binding.kind)) collect_determined(cast->type, determined);
    }
  }
  for_each_symbol(function_, [&](const ScalarVar& symbol) {
    if (std::find(determined.begin(), determined.end(), symbol) != determined.end()) return;
    if (scalar_parameter_of(function_, symbol)) return;
    type_error(
        symbol.span().known() ? symbol.span() : definition_.name_span, "symbol.undetermined",
        fmt::format(
            "the dimension '{}' cannot be found when the function runs; expected it alone in the type of a "
            "parameter or of R.match_cast",
            printable(symbol.name())));
  });
}

}  // namespace relish
