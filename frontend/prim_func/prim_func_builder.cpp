// Bodies of prim_funcs: statements, scalars, stores, branches. One refused statement does not hide the next.
#include "frontend/prim_func/prim_func_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "frontend/prim_func/prim_func_parts.h"
#include "frontend/text/reading_limit.h"
#include "frontend/types/attribute_reader.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {

PrimFuncPtr PrimFuncBuilder::build(const ast::FunctionDefinition& definition, CommentsPtr comments,
                                   const FunctionOptions& options) {
  std::size_t errors = context_.diagnostics.error_count();
  definition_ = &definition;
  function_.name = definition.name;
  function_.span = definition.name_span;
  function_.comments = std::move(comments);
  function_.is_private = options.is_private;
  function_.attributes = options.attributes;
  checked_ = options.check_well_formed;
  frames_.emplace_back();
  declare_symbols(definition);
  read_params(definition);
  context_.attempt([&] { read_result(definition); });
  function_.body = read_body(definition.body, nullptr);
  context_.attempt([&] { check_params(definition); });
  if (context_.diagnostics.error_count() == errors) context_.attempt([&] { check_result(); });
  context_.attempt([&] { check_device(); });
  if (!refused_.empty() || context_.diagnostics.error_count() != errors) return nullptr;

  // A root block that is written out is the implicit one.
  if (const auto* root = function_.body.as<BlockStmt>(); root && root->name == "root" &&
                                                         root->iters.empty() && !root->predicate.defined() &&
                                                         !root->init.defined()) {
    function_.allocations.insert(function_.allocations.end(), root->allocations.begin(),
                                 root->allocations.end());
    std::vector<Stmt> body;
    for (const BufferView& view : root->views) body.push_back(make_stmt(ViewStmt{view}, view.buffer.span()));
    if (root->body.defined()) body.push_back(root->body);
    function_.body = seq(std::move(body));
  }
  return std::make_shared<const PrimFunc>(std::move(function_));
}

Stmt PrimFuncBuilder::read_body(const ast::Block& body, BlockStmt* block) {
  return read_body(body, block, block);
}

// `described` is the block that a T.reads in the body belongs to, also where the body is a branch in the
// block.
Stmt PrimFuncBuilder::read_body(const ast::Block& body, BlockStmt* block, BlockStmt* described) {
  BlockStmt* const described_around = std::exchange(described_, described);
  std::vector<Stmt> statements;
  std::vector<OpenScope> around = std::exchange(scopes_, {});
  const std::span<const ast::Statement> rest_around = rest_;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const ast::Statement& statement = body[i];
    rest_ = std::span(body).subspan(i);
    bool good = context_.attempt([&] { read_statement(statement, block, statements); });
    if (good) continue;
    refuse_names(statement);
    refused_.push_back(statement.span);
  }
  rest_ = rest_around;
  // Scopes that last to the end of the body, the last one innermost.
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    auto first = statements.begin() + static_cast<std::ptrdiff_t>(scopes_[i].first);
    std::vector<Stmt> inside(first, statements.end());
    statements.erase(first, statements.end());
    statements.push_back(scopes_[i].wrap(seq(std::move(inside))));
  }
  scopes_ = std::move(around);
  described_ = described_around;
  return seq(std::move(statements));
}

void PrimFuncBuilder::read_statement(const ast::Statement& statement, BlockStmt* block,
                                     std::vector<Stmt>& into) {
  poll_reading();
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
    Scalar condition = reader_.read_truth(*s->condition);
    frames_.emplace_back();
    ++loop_depth_;
    Stmt body = read_body(s->body, nullptr);
    --loop_depth_;
    frames_.pop_back();
    into.push_back(make_stmt(While{condition, body}, statement.span, comments));
  } else if (auto* s = statement.as<ast::If>()) {
    if (Stmt stmt = read_if(statement, *s, block); stmt.defined()) into.push_back(stmt);
  } else if (auto* s = statement.as<ast::With>()) {
    read_with(statement, *s, block, into);
  } else if (auto* s = statement.as<ast::Assert>()) {
    read_assert(statement, *s->condition, s->message.get(), into);
  } else if (auto* s = statement.as<ast::Return>()) {
    if (!s->value || s->value->as<ast::NoneValue>()) {
      fail(ErrorClass::Type, statement.span, "prim_func.return",
           "found a return without a value; expected the end of the function to be that of its body",
           {remove_this(statement.span)});
    }
    read_return(statement, *s->value, into);
  } else if (statement.as<ast::Break>() || statement.as<ast::Continue>()) {
    read_jump(statement.as<ast::Break>() != nullptr, statement, into);
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

void PrimFuncBuilder::read_jump(bool leaves, const ast::Statement& statement, std::vector<Stmt>& into) {
  if (loop_depth_ == 0) {
    fail(ErrorClass::Type, statement.span, "loop.leave",
         fmt::format("found {} outside a loop", leaves ? "break" : "continue"),
         {remove_this(statement.span)});
  }
  into.push_back(make_stmt(leaves ? StmtKind(Break{}) : StmtKind(Continue{}), statement.span,
                           take_comments(statement.comments)));
}

// T.ret(x), with the dtype that older texts give, T.Return(x), T.Break() and T.continue_loop().
bool PrimFuncBuilder::read_leaving(const ast::Statement& statement, const ast::Expr& expr,
                                   std::vector<Stmt>& into) {
  auto* call = expr.as<ast::Call>();
  const std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "T.ret" || name == "T.Return") {
    const std::vector<ast::Argument>& given = call->arguments;
    const bool typed = given.size() == 2 && given[1].name == "dtype";
    if (given.empty() || !given[0].name.empty() || (given.size() > 1 && !typed))
      type_error(expr.span, "scalar.arguments", fmt::format("{} takes one value", name));
    read_return(statement, *given[0].value, into);
    return true;
  }
  const bool leaves = name == "T.break_loop" || name == "T.Break";
  if (!leaves && name != "T.continue_loop" && name != "T.Continue") return false;
  read_jump(leaves, statement, into);
  return true;
}

void PrimFuncBuilder::read_expression(const ast::Statement& statement, const ast::Expr& expr,
                                      BlockStmt* block, std::vector<Stmt>& into) {
  if (expr.as<ast::StringValue>()) return;  // a docstring
  if (read_leaving(statement, expr, into)) return;
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "T.func_attr") {
    for (auto& [key, value] : read_attributes(expr, NamePlace::PrimFunc)) {
      const auto* text = value.as<std::string>();
      if (key == "global_symbol" && function_.is_private) {
        type_error(expr.span, "function.private",
                   fmt::format("found a global_symbol of the private function '{}'; expected none",
                               printable(function_.name)));
      }
      if (key == "global_symbol" && text && *text == function_.name) continue;
      add_attribute(function_.attributes, key, std::move(value), expr.span);
    }
  } else if (name == "T.Assert" && call->arguments.size() == 2) {
    read_assert(statement, *call->arguments[0].value, call->arguments[1].value.get(), into);
  } else if (name == "T.launch_thread" || name == "T.attr" || name == "T.target" || name == "T.assume" ||
             name == "T.hint") {
    auto launched = read_launch(name, *call, nullptr);
    if (!launched) return note_ignored(expr.span, name);
    scopes_.push_back({into.size(), [loop = *launched, span = statement.span](Stmt body) mutable {
                         loop.body = std::move(body);
                         return make_stmt(std::move(loop), span);
                       }});
  } else if (call && read_let(name, statement, *call, nullptr, into)) {
    return;
  } else if (call && read_vector_store(statement, *call, into)) {
    return;
  } else if (name == "T.evaluate") {
    if (call->arguments.size() != 1)
      type_error(expr.span, "scalar.arguments", "T.evaluate takes one expression");
    auto* inner = call->arguments[0].value->as<ast::Call>();
    if (read_leaving(statement, *call->arguments[0].value, into)) return;
    if (inner && context_.namespaces.canonical(*inner->callee) == "T.assume")
      return note_ignored(expr.span, "T.assume");
    if (const Scalar all = reader_.value_of_lanes(*call->arguments[0].value); all.defined()) {
      // A vector is evaluated lane by lane.
      const int lanes = reader_.lanes_of(all, expr.span);
      const ScalarVar variable("lane", DType::Int32, expr.span);
      Stmt each = make_stmt(Evaluate{substitute(all, {{reader_.lane(lanes).id(), use(variable, expr.span)}})},
                            statement.span);
      into.push_back(make_stmt(For{variable,
                                   int_literal(DType::Int32, 0),
                                   int_literal(DType::Int32, lanes),
                                   LoopKind::Vectorized,
                                   each,
                                   {}},
                               statement.span, take_comments(statement.comments)));
      return;
    }
    Scalar value = reader_.read_effect(*call->arguments[0].value);
    // T.evaluate(0) is how an empty body is written.
    if (value.as_int()) return;
    into.push_back(make_stmt(Evaluate{value}, statement.span, take_comments(statement.comments)));
  } else if (call && read_block_call(name, expr, block)) {
    return;
  } else if (call) {
    Scalar value;
    try {
      value = reader_.read_effect(expr);
    } catch (Failure& failure) {
      // A barrier does nothing where threads run one after the other and share no memory.
      if (name == "T.tvm_storage_sync") failure.diagnostics()[0].notes.push_back(remove_this(statement.span));
      throw;
    }
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
    fail(ErrorClass::Type, assignment.targets[1]->span, "assignment.targets",
         "found several targets; expected one assignment each", one_assignment_each(statement, assignment));
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
    if (bind_several(*names, *value)) return;
    auto* values = value->as<ast::TupleValue>();
    if (!values || values->items.size() != names->items.size()) {
      auto* call = value->as<ast::Call>();
      const std::string callee = call ? context_.namespaces.canonical(*call->callee) : std::string();
      if (callee.starts_with("T.") && needs_device(callee.substr(2))) reader_.value(*value);  // says so
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

void PrimFuncBuilder::read_return(const ast::Statement& statement, const ast::Expr& value,
                                  std::vector<Stmt>& into) {
  ScalarOperand operand = reader_.operand(value);
  reader_.refuse_vector(operand.value, value.span);
  if (!function_.result_dtype) function_.result_dtype = reader_.settled(operand).value.dtype();
  if (const DType found = operand.value.dtype(); !operand.bare && found != *function_.result_dtype) {
    const std::string wanted(name_of(*function_.result_dtype));
    fail(ErrorClass::Type, value.span, "prim_func.result",
         fmt::format("'{}' returns {}; found a value of {}", printable(function_.name), wanted,
                     name_of(found)),
         {write_here(value.span, fmt::format("T.Cast(\"{}\", {})", wanted, context_.text_of(value.span)))});
  }
  into.push_back(make_stmt(Return{reader_.convert(*function_.result_dtype, operand, value.span).value},
                           statement.span, take_comments(statement.comments)));
}

void PrimFuncBlocks::read_assert(const ast::Statement& statement, const ast::Expr& condition,
                                 const ast::Expr* message, std::vector<Stmt>& into) {
  std::string text = message ? "" : "assertion failed";
  if (message) {
    // The newer form names a class of error and gives the message in parts: ("ValueError", ["a ", "b"]).
    if (auto* pair = message->as<ast::TupleValue>(); pair && pair->items.size() == 2)
      message = pair->items[1].get();
    for (const ast::Expr* part : list_items(*message)) {
      auto* string = part->as<ast::StringValue>();
      if (!string) {
        const std::string_view written = context_.text_of(part->span);
        std::vector<DiagnosticNote> notes;
        if (written.find_first_of("\"\\\n") == std::string_view::npos)
          notes.push_back(write_here(part->span, fmt::format("\"{}\"", written)));
        fail(ErrorClass::Type, part->span, "assert.message", "found a message that is no string",
             std::move(notes));
      }
      text += string->value;
    }
  }
  into.push_back(make_stmt(AssertStmt{reader_.read_condition(condition), text}, statement.span,
                           take_comments(statement.comments)));
}

namespace {

bool always_returns(const Stmt& stmt) {
  if (!stmt.defined()) return false;
  if (stmt.as<Return>()) return true;
  if (auto* branch = stmt.as<IfStmt>())
    return always_returns(branch->then_body) && always_returns(branch->else_body);
  if (auto* block = stmt.as<BlockStmt>()) return !block->predicate.defined() && always_returns(block->body);
  auto* sequence = stmt.as<SeqStmt>();
  return sequence && std::any_of(sequence->body.begin(), sequence->body.end(), always_returns);
}

// A condition that is known when the text is read, as Python would decide it: True, not False, 1 < 2.
std::optional<bool> known_condition(const ast::Expr& expr) {
  if (auto* value = expr.as<ast::BoolValue>()) return value->value;
  if (auto* prefix = expr.as<ast::Prefix>(); prefix && prefix->op == ast::PrefixOperator::Not) {
    auto inner = known_condition(*prefix->operand);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (auto* logic = expr.as<ast::Logic>()) {
    bool all = true, any = false;
    for (const ast::ExprPtr& operand : logic->operands) {
      auto value = known_condition(*operand);
      if (!value) return std::nullopt;
      all = all && *value;
      any = any || *value;
    }
    return logic->op == ast::Operator::And ? all : any;
  }
  auto* comparison = expr.as<ast::Comparison>();
  if (!comparison || comparison->links.size() != 1) return std::nullopt;
  auto* a = comparison->first->as<ast::IntValue>();
  auto* b = comparison->links[0].operand->as<ast::IntValue>();
  if (!a || !b) return std::nullopt;
  switch (comparison->links[0].op) {
    case ast::Operator::Lt:
      return a->value < b->value;
    case ast::Operator::Le:
      return a->value <= b->value;
    case ast::Operator::Gt:
      return a->value > b->value;
    case ast::Operator::Ge:
      return a->value >= b->value;
    case ast::Operator::Eq:
      return a->value == b->value;
    case ast::Operator::Ne:
      return a->value != b->value;
    default:
      return std::nullopt;
  }
}

}  // namespace

void PrimFuncBuilder::check_result() {
  if (!function_.result_dtype || always_returns(function_.body)) return;
  type_error(function_.span, "prim_func.result",
             fmt::format("{} returns {}; found a way through it without a return", printable(function_.name),
                         name_of(*function_.result_dtype)));
}

// Threads run one after the other, so memory that they share is not supported.
void PrimFuncBuilder::check_device() {
  if (!threads_ || device_buffers_.empty()) return;
  const Buffer& buffer = device_buffers_.front();
  fail(ErrorClass::Type, buffer.span(), "unsupported.device",
       fmt::format("the buffer {} of scope \"{}\" is shared by GPU threads, which is not supported",
                   printable(buffer.name()), printable(buffer.scope())));
}

Stmt PrimFuncBuilder::read_if(const ast::Statement& statement, const ast::If& branches, BlockStmt* block) {
  CommentsPtr comments = take_comments(statement.comments);
  auto read_branch = [&](const ast::Block& body) {
    frames_.emplace_back();
    Stmt result = read_body(body, nullptr, described_);
    frames_.pop_back();
    return result;
  };
  struct Read {
    Scalar condition;
    Stmt body;
    Span span;
    CommentsPtr comments;
  };
  std::vector<Read> read;
  bool good = true;
  CommentsPtr decided_comments;
  const ast::Block* decided = nullptr;  // a branch that is always taken when it is come to
  for (const ast::Branch& branch : branches.branches) {
    if (auto known = known_condition(*branch.condition)) {
      if (!*known) continue;
      decided = &branch.body;
      if (!read.empty()) decided_comments = branch.comments;
      break;
    }
    Scalar condition;
    good &= context_.attempt([&] { condition = reader_.read_truth(*branch.condition); });
    Stmt body = read_branch(branch.body);
    read.push_back({condition, body, branch.span, read.empty() ? comments : branch.comments});
  }
  Stmt rest;
  if (!decided && branches.has_else) {
    decided = &branches.else_body;
    decided_comments = branches.else_comments;
  }
  const auto hand_on = [&](const CommentsPtr& own) {
    if (!own) return;
    pending_.before.insert(pending_.before.end(), own->before.begin(), own->before.end());
    if (!own->after.empty()) pending_.before.push_back(own->after);
  };
  if (decided && read.empty()) hand_on(comments);  // the if vanishes; what is left of it has its comments
  if (decided) hand_on(decided_comments);
  // Statements of an if that is decided stand where it stood.
  if (decided) rest = read.empty() ? read_body(*decided, block, described_) : read_branch(*decided);
  if (!good) throw ReadContext::Silent{};
  for (std::size_t i = read.size(); i-- > 0;) {
    rest = make_stmt(IfStmt{read[i].condition, read[i].body, rest}, read[i].span, read[i].comments);
  }
  return rest;
}

}  // namespace relish
