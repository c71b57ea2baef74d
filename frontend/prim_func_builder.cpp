// Bodies of prim_funcs: statements, scalars, stores, branches. One refused statement does not hide the next.
#include "frontend/prim_func_builder.h"

#include <fmt/format.h>

#include "frontend/attribute_reader.h"
#include "frontend/binding_names.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

PrimFuncPtr PrimFuncBuilder::build(const ast::FunctionDefinition& definition, CommentsPtr comments,
                                   bool is_private) {
  std::size_t errors = context_.diagnostics.error_count();
  function_.name = definition.name;
  function_.span = definition.name_span;
  function_.comments = std::move(comments);
  function_.is_private = is_private;
  frames_.emplace_back();
  declare_symbols(definition);
  read_params(definition);
  if (definition.result_annotation) {
    context_.attempt([&] {
      if (!definition.result_annotation->as<ast::NoneValue>()) {
        type_error(definition.result_annotation->span, "prim_func.result",
                   "found a result type other than None; a prim_func writes its results into buffers");
      }
    });
  }
  function_.body = read_body(definition.body, nullptr);
  context_.attempt([&] { check_params(definition); });
  if (!refused_.empty() || context_.diagnostics.error_count() != errors) return nullptr;

  // A root block that is written out is the implicit one.
  if (const auto* root = function_.body.as<BlockStmt>(); root && root->name == "root" &&
                                                         root->iters.empty() && !root->predicate.defined() &&
                                                         !root->init.defined()) {
    function_.allocations.insert(function_.allocations.end(), root->allocations.begin(),
                                 root->allocations.end());
    function_.body = root->body;
  }
  return std::make_shared<const PrimFunc>(std::move(function_));
}

PrimFuncBuilder::Entry* PrimFuncBuilder::look_up(const std::string& name) {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    auto found = frame->find(name);
    if (found != frame->end()) return &found->second;
  }
  return nullptr;
}

ScalarMeaning PrimFuncBuilder::find(const std::string& name, Span use) {
  if (Entry* entry = look_up(name)) {
    if (auto* buffer = std::get_if<Buffer>(&entry->meaning)) return *buffer;
    if (auto* scalar = std::get_if<Scalar>(&entry->meaning)) return *scalar;
    if (auto* local = std::get_if<Local>(&entry->meaning)) return Scalar(local->var);
    if (std::get_if<Refused>(&entry->meaning)) return Scalar();
    return fmt::format(
        "found the handle '{}' as a value; expected the buffer that T.match_buffer makes of it",
        printable(name));
  }
  return symbols_.find(name, use);
}

std::vector<std::string> PrimFuncBuilder::names() const {
  if (!context_.may_suggest()) return {};
  std::vector<std::string> result = symbols_.names();
  for (const auto& frame : frames_) {
    for (const auto& [name, entry] : frame) result.push_back(name);
  }
  context_.count_suggestion(result.size());
  return result;
}

// Names that a refused statement would have bound are known, so that their uses are not errors of their own.
void PrimFuncBuilder::refuse_names(const ast::Statement& statement) {
  for_each_bound_name(statement, [&](const std::string& name, Span at) {
    if (!look_up(name)) bind(name, Refused{}, at);
  });
}

CommentsPtr PrimFuncBuilder::take_comments(const CommentsPtr& own) {
  if (pending_.before.empty()) return own;
  Comments all = std::move(pending_);
  pending_ = {};
  if (own) {
    all.before.insert(all.before.end(), own->before.begin(), own->before.end());
    all.after = own->after;
  }
  return std::make_shared<const Comments>(std::move(all));
}

Stmt PrimFuncBuilder::read_body(const ast::Block& body, BlockStmt* block) {
  std::vector<Stmt> statements;
  for (const ast::Statement& statement : body) {
    bool good = context_.attempt([&] { read_statement(statement, block, statements); });
    if (good) continue;
    refuse_names(statement);
    refused_.push_back(statement.span);
  }
  return seq(std::move(statements));
}

void PrimFuncBuilder::read_statement(const ast::Statement& statement, BlockStmt* block,
                                     std::vector<Stmt>& into) {
  if (auto* damaged = statement.as<ast::Damaged>()) {
    (void)damaged;
    damaged_ = true;
    throw ReadContext::Silent{};
  }
  std::size_t before = into.size();
  if (auto* s = statement.as<ast::ExpressionStatement>()) {
    read_expression(statement, *s->value, block, into);
  } else if (auto* s = statement.as<ast::Assignment>()) {
    read_assignment(statement, *s, block, into);
  } else if (auto* s = statement.as<ast::AugmentedAssignment>()) {
    read_augmented(statement, *s, into);
  } else if (auto* s = statement.as<ast::For>()) {
    into.push_back(read_for(statement, *s));
  } else if (auto* s = statement.as<ast::While>()) {
    CommentsPtr comments = take_comments(statement.comments);
    Scalar condition = reader_.read_condition(*s->condition);
    frames_.emplace_back();
    Stmt body = read_body(s->body, nullptr);
    frames_.pop_back();
    into.push_back(make_stmt(While{condition, body}, statement.span, comments));
  } else if (auto* s = statement.as<ast::If>()) {
    into.push_back(read_if(statement, *s));
  } else if (auto* s = statement.as<ast::With>()) {
    if (Stmt stmt = read_with(statement, *s, block); stmt.defined()) into.push_back(stmt);
  } else if (auto* s = statement.as<ast::Assert>()) {
    std::string message = "assertion failed";
    if (s->message) {
      // The newer form names a class of error: ("ValueError", ["message"]).
      const ast::Expr* text = s->message.get();
      if (auto* pair = text->as<ast::TupleValue>(); pair && pair->items.size() == 2)
        text = pair->items[1].get();
      if (auto* list = text->as<ast::ListValue>(); list && list->items.size() == 1)
        text = list->items[0].get();
      auto* string = text->as<ast::StringValue>();
      if (!string) type_error(s->message->span, "assert.message", "found a message that is no string");
      message = string->value;
    }
    into.push_back(make_stmt(AssertStmt{reader_.read_condition(*s->condition), message}, statement.span,
                             take_comments(statement.comments)));
  } else if (auto* s = statement.as<ast::Return>()) {
    if (s->value && !s->value->as<ast::NoneValue>()) {
      fail(ErrorClass::Type, statement.span, "prim_func.return",
           "found a return of a value; a prim_func writes its results into buffers",
           {remove_this(statement.span)});
    }
    fail(ErrorClass::Type, statement.span, "prim_func.return",
         "found a return in a prim_func; expected its end to be the end of its body",
         {remove_this(statement.span)});
  } else if (statement.as<ast::Break>() || statement.as<ast::Continue>()) {
    type_error(statement.span, "loop.leave",
               fmt::format("found {}; expected the condition in an if or in while",
                           statement.as<ast::Break>() ? "break" : "continue"));
  } else if (statement.as<ast::FunctionDefinition>()) {
    type_error(statement.span, "function.nested",
               "found a function inside a prim_func; expected it in the module");
  } else if (!statement.as<ast::Pass>()) {
    type_error(statement.span, "prim_func.statement", "found a statement that a prim_func cannot have");
  }
  // A line that makes no statement hands its comments to the next.
  if (into.size() == before && statement.comments) {
    for (const std::string& comment : statement.comments->before) pending_.before.push_back(comment);
    if (!statement.comments->after.empty()) pending_.before.push_back(statement.comments->after);
  }
}

void PrimFuncBuilder::read_expression(const ast::Statement& statement, const ast::Expr& expr,
                                      BlockStmt* block, std::vector<Stmt>& into) {
  if (expr.as<ast::StringValue>()) return;  // a docstring
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "T.func_attr") {
    for (auto& [key, value] : read_attribute_dictionary(context_, expr)) {
      const auto* text = value.as<std::string>();
      if (key == "global_symbol" && text && *text == function_.name) continue;
      function_.attributes = with_attribute(std::move(function_.attributes), key, std::move(value));
    }
  } else if (name == "T.evaluate") {
    if (call->arguments.size() != 1)
      type_error(expr.span, "scalar.arguments", "T.evaluate takes one expression");
    Scalar value = reader_.read(*call->arguments[0].value);
    // T.evaluate(0) is how an empty body is written.
    if (value.as_int()) return;
    into.push_back(make_stmt(Evaluate{value}, statement.span, take_comments(statement.comments)));
  } else if (call && read_block_call(name, expr, block)) {
    return;
  } else if (call) {
    Scalar value = reader_.read(expr);
    into.push_back(make_stmt(Evaluate{value}, statement.span, take_comments(statement.comments)));
  } else {
    type_error(
        expr.span, "prim_func.statement",
        fmt::format("found {} as a statement; expected a store such as C[i] = x", ast::describe(expr)));
  }
}

void PrimFuncBuilder::read_assignment(const ast::Statement& statement, const ast::Assignment& assignment,
                                      BlockStmt* block, std::vector<Stmt>& into) {
  if (assignment.targets.size() != 1) {
    type_error(assignment.targets[1]->span, "assignment.targets",
               "found several targets; expected one assignment each");
  }
  const ast::Expr& target = *assignment.targets[0];
  const ast::Expr* value = assignment.value.get();
  if (auto* subscript = target.as<ast::Subscript>()) {
    if (assignment.annotation || !value) {
      type_error(target.span, "assignment.annotation",
                 "found a type on an element of a buffer; expected none");
    }
    return store(statement, target, *subscript, *value, into);
  }
  if (assignment.annotation) return read_scalar(statement, target, assignment.annotation.get(), value, into);
  if (read_declaration(target, *value)) return;
  if (read_axes(target, *value, block)) return;
  if (read_allocation(statement, target, *value, block, into)) return;
  if (auto* names = target.as<ast::TupleValue>()) {
    auto* values = value->as<ast::TupleValue>();
    if (!values || values->items.size() != names->items.size()) {
      type_error(statement.span, "assignment.tuple",
                 fmt::format("found {} names for {}; expected as many values", names->items.size(),
                             ast::describe(*value)));
    }
    for (std::size_t i = 0; i < names->items.size(); ++i) {
      read_scalar(statement, *names->items[i], nullptr, values->items[i].get(), into);
    }
    return;
  }
  read_scalar(statement, target, nullptr, value, into);
}

const std::string& PrimFuncBuilder::name_target(const ast::Expr& target) const {
  const std::string* name = ast::name_of(target);
  if (!name) {
    type_error(target.span, "assignment.target",
               fmt::format("found {} as a target; expected a name or an element of a buffer",
                           ast::describe(target)));
  }
  return *name;
}

// Scalars are locals that can be assigned again; what TVM calls a let is one that is not.
void PrimFuncBuilder::read_scalar(const ast::Statement& statement, const ast::Expr& target,
                                  const ast::Expr* annotation, const ast::Expr* value,
                                  std::vector<Stmt>& into) {
  const std::string& name = name_target(target);
  if (auto* call = value ? value->as<ast::Call>() : nullptr) {
    std::string callee = context_.namespaces.canonical(*call->callee);
    if ((callee == "T.meta_var" || callee == "I.meta_var") && call->arguments.size() == 1) {
      bind(name, reader_.read(*call->arguments[0].value), target.span);
      return;
    }
  }
  std::optional<DType> dtype;
  if (annotation) {
    const ast::Expr* type = annotation;
    // T.let[T.int32], and T.let alone.
    auto* let = type->as<ast::Subscript>();
    if (let && context_.namespaces.canonical(*let->object) == "T.let" && let->items.size() == 1)
      type = let->items[0].get();
    auto* called = type->as<ast::Call>();
    std::string spelt = context_.namespaces.canonical(called ? *called->callee : *type);
    if (spelt != "T.let") {
      if (spelt.substr(0, 2) == "T.") dtype = dtype_from_name(spelt.substr(2));
      if (!dtype) {
        type_error(annotation->span, "scalar.annotation",
                   fmt::format("found {} as the type of a scalar; expected one such as T.int32",
                               ast::describe(*annotation)));
      }
    }
  }
  CommentsPtr comments = take_comments(statement.comments);
  ScalarOperand operand;
  if (value) operand = reader_.operand(*value);
  Entry* known = annotation ? nullptr : look_up(name);
  if (known) {
    if (auto* local = std::get_if<Local>(&known->meaning)) {
      Scalar converted = reader_.convert(local->var.dtype(), operand, value->span).value;
      into.push_back(make_stmt(AssignScalar{local->var, converted}, statement.span, comments));
      return;
    }
    if (!std::get_if<Refused>(&known->meaning)) {
      fail(ErrorClass::Type, target.span, "assignment.constant",
           fmt::format("found an assignment to '{}', which is no scalar of the body", printable(name)),
           {{known->span, "it is bound here"}});
    }
  }
  if (!value && !dtype) type_error(statement.span, "scalar.value", "found a scalar without a value");
  if (!dtype) dtype = reader_.settled(operand).value.dtype();
  ScalarVar var(name, *dtype, target.span);
  Scalar initial = value ? reader_.convert(*dtype, operand, value->span).value : zero(*dtype);
  into.push_back(make_stmt(DefineScalar{var, initial}, statement.span, comments));
  bind(name, Local{var}, target.span);
}

Buffer PrimFuncBuilder::buffer_target(const ast::Subscript& subscript) {
  const std::string& name = name_target(*subscript.object);
  ScalarMeaning meaning = find(name, subscript.object->span);
  if (auto* buffer = std::get_if<Buffer>(&meaning)) return *buffer;
  if (std::holds_alternative<std::monostate>(meaning))
    fail_unknown_name(name, subscript.object->span, names());
  if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && !scalar->defined()) throw ReadContext::Silent{};
  type_error(subscript.object->span, "store.target",
             fmt::format("found a store into '{}', which is no buffer", printable(name)));
}

void PrimFuncBuilder::store(const ast::Statement& statement, const ast::Expr& target,
                            const ast::Subscript& subscript, const ast::Expr& value,
                            std::vector<Stmt>& into) {
  Buffer buffer = buffer_target(subscript);
  std::vector<Scalar> indices = reader_.read_indices(buffer, subscript, target.span);
  Scalar stored = reader_.read_as(buffer.dtype(), value);
  into.push_back(make_stmt(Store{buffer, std::move(indices), stored}, statement.span,
                           take_comments(statement.comments)));
}

void PrimFuncBuilder::read_augmented(const ast::Statement& statement,
                                     const ast::AugmentedAssignment& assignment, std::vector<Stmt>& into) {
  auto* subscript = assignment.target->as<ast::Subscript>();
  if (subscript) {
    Buffer buffer = buffer_target(*subscript);
    std::vector<Scalar> indices = reader_.read_indices(buffer, *subscript, assignment.target->span);
    ScalarOperand old{load(buffer, indices, assignment.target->span)};
    ScalarOperand result =
        reader_.combine(assignment.op, old, reader_.operand(*assignment.value), statement.span);
    Scalar stored = reader_.convert(buffer.dtype(), result, statement.span).value;
    into.push_back(make_stmt(Store{buffer, std::move(indices), stored}, statement.span,
                             take_comments(statement.comments)));
    return;
  }
  const std::string& name = name_target(*assignment.target);
  Entry* entry = look_up(name);
  if (!entry) fail_unknown_name(name, assignment.target->span, names());
  if (std::get_if<Refused>(&entry->meaning)) throw ReadContext::Silent{};
  auto* local = std::get_if<Local>(&entry->meaning);
  if (!local) {
    fail(ErrorClass::Type, assignment.target->span, "assignment.constant",
         fmt::format("found an assignment to '{}', which is no scalar of the body", printable(name)),
         {{entry->span, "it is bound here"}});
  }
  ScalarVar var = local->var;
  ScalarOperand old{use(var, assignment.target->span)};
  ScalarOperand result =
      reader_.combine(assignment.op, old, reader_.operand(*assignment.value), statement.span);
  Scalar converted = reader_.convert(var.dtype(), result, statement.span).value;
  into.push_back(make_stmt(AssignScalar{var, converted}, statement.span, take_comments(statement.comments)));
}

Stmt PrimFuncBuilder::read_if(const ast::Statement& statement, const ast::If& branches) {
  CommentsPtr comments = take_comments(statement.comments);
  auto read_branch = [&](const ast::Block& body) {
    frames_.emplace_back();
    Stmt result = read_body(body, nullptr);
    frames_.pop_back();
    return result;
  };
  struct Read {
    Scalar condition;
    Stmt body;
    Span span;
  };
  std::vector<Read> read;
  bool good = true;
  for (const ast::Branch& branch : branches.branches) {
    Scalar condition;
    good &= context_.attempt([&] { condition = reader_.read_condition(*branch.condition); });
    Stmt body = read_branch(branch.body);
    read.push_back({condition, body, branch.span});
  }
  Stmt rest;
  if (branches.has_else) rest = read_branch(branches.else_body);
  if (!good) throw ReadContext::Silent{};
  for (std::size_t i = read.size(); i-- > 0;) {
    rest =
        make_stmt(IfStmt{read[i].condition, read[i].body, rest}, read[i].span, i == 0 ? comments : nullptr);
  }
  return rest;
}

}  // namespace relish
