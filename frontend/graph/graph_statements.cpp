// Statements of Relax functions: what each is, dataflow blocks, expressions alone, ifs that return.
#include "frontend/graph/graph_builder.h"

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "frontend/text/reading_limit.h"
#include "frontend/types/attribute_reader.h"
#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

void GraphBuilder::read_block(const ast::Block& body, Place place) {
  for (const ast::Statement& statement : body) {
    if (!context_.attempt([&] { read_statement(statement, place); })) refuse_names(statement);
  }
}

// Holes are reported when all that their statement says of them is known.
void GraphBuilder::read_statement(const ast::Statement& statement, Place place) {
  try {
    read_one_statement(statement, place);
  } catch (...) {
    report_holes();
    throw;
  }
  report_holes();
}

void GraphBuilder::read_one_statement(const ast::Statement& statement, Place place) {
  poll_reading();
  if (statement.as<ast::Damaged>()) throw ReadContext::Silent{};
  if (returned_)
    fail(ErrorClass::Type, statement.span, "function.end",
         "found a statement behind the return; expected none", {remove_this(statement.span)});
  builder_.set_origin(statement.span);
  if (auto* s = statement.as<ast::With>()) {
    if (place == Place::Dataflow)
      type_error(statement.span, "dataflow.nested", "found a block inside a dataflow block");
    read_dataflow(statement, *s);
  } else if (auto* s = statement.as<ast::Return>()) {
    if (place == Place::Dataflow)
      type_error(statement.span, "dataflow.return",
                 "found a return inside a dataflow block; expected it behind");
    if (place == Place::Branch)
      type_error(statement.span, "if.return",
                 "found a return inside an if; a function returns once, at its end: bind the result, or end "
                 "every way through its last if in a return");
    if (place == Place::Loop)
      type_error(statement.span, "loop.return",
                 "found a return inside a loop; a function returns once, at its end");
    read_return(statement, *s);
  } else if (auto* s = statement.as<ast::ExpressionStatement>()) {
    read_expression(statement, *s->value);
  } else if (auto* s = statement.as<ast::Assignment>()) {
    read_assignment(statement, *s);
  } else if (auto* s = statement.as<ast::AugmentedAssignment>()) {
    read_augmented(statement, *s);
  } else if (auto* s = statement.as<ast::For>()) {
    read_for(statement, *s);
  } else if (auto* s = statement.as<ast::While>()) {
    read_while(statement, *s);
  } else if (auto* s = statement.as<ast::If>()) {
    if (place == Place::Function && ends_in_returns(*s))
      read_returning_if(statement, *s);
    else
      read_if(statement, *s);
  } else if (auto* s = statement.as<ast::FunctionDefinition>()) {
    read_nested(statement, *s);
  } else if (statement.as<ast::Break>() || statement.as<ast::Continue>()) {
    fail(ErrorClass::Type, statement.span, "loop.jump",
         fmt::format("found {} in an R.function; its loops run to their end, end a while by its condition",
                     statement.as<ast::Break>() ? "break" : "continue"),
         {remove_this(statement.span)});
  } else if (auto* s = statement.as<ast::Assert>()) {
    std::string condition(context_.text_of(s->condition->span));
    if (s->condition->as<ast::BoolValue>()) condition = fmt::format("R.const({}, \"bool\")", condition);
    std::string call = "R.assert_op(" + condition;
    if (s->message) call += fmt::format(", format={}", context_.text_of(s->message->span));
    std::vector<DiagnosticNote> notes;
    if (function_.pure) notes = without_purity(definition_);
    const Span last = (s->message ? s->message : s->condition)->span;
    if (!in_dataflow_)
      notes.push_back(write_here({statement.span.file, statement.span.begin, last.end}, call + ")"));
    else
      notes.clear();  // what has effects stands outside
    fail(ErrorClass::Type, statement.span, "assert.function",
         "found an assert in an R.function; expected R.assert_op(condition, format=\"...\")",
         std::move(notes));
  } else if (statement.as<ast::Pass>()) {
    hand_on(statement.comments);
  } else {
    std::vector<DiagnosticNote> notes;
    if (auto* imported = statement.as<ast::Import>(); imported && context_.may_search())
      notes = unused_import(context_.text, statement, *imported);
    fail(ErrorClass::Type, statement.span, "function.statement",
         "found a statement that an R.function cannot have", std::move(notes));
  }
}

void GraphBuilder::read_dataflow(const ast::Statement& statement, const ast::With& with) {
  auto* call = with.items.size() == 1 ? with.items[0].value->as<ast::Call>() : nullptr;
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name != "R.dataflow" || !call->arguments.empty() || with.items[0].target) {
    fail(ErrorClass::Type, statement.span, "with.unknown",
         fmt::format("found 'with' on {}; expected R.dataflow()", ast::describe(*with.items[0].value)),
         call ? write_nearest(call->callee->span, name, std::vector<std::string>{"R.dataflow"})
              : std::vector<DiagnosticNote>{});
  }
  // R.output comes last, but decides about the variables before it.
  struct Output {
    std::string name;
    Span span;
  };
  std::vector<Output> outputs;
  Hidden hidden;
  if (!with.body.empty()) hidden = {span_of(with.body), true, true};
  for (const ast::Statement& inner : with.body) {
    auto* expression = inner.as<ast::ExpressionStatement>();
    auto* output = expression ? expression->value->as<ast::Call>() : nullptr;
    if (!output || context_.namespaces.canonical(*output->callee) != "R.output") continue;
    const std::uint32_t bracket = output->callee->span.end;
    hidden = {output->arguments.empty() ? Span{output->callee->span.file, bracket, bracket + 1}
                                        : output->arguments.back().value->span,
              output->arguments.empty()};
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
  output_comments_ = nullptr;
  builder_.set_origin(statement.span);
  builder_.begin_block(true);
  block_open_ = false;
  in_dataflow_ = true;
  dataflow_ = &statement;
  unwrapping_proposed_ = false;
  frames_.emplace_back();
  const ast::Statement* last = nullptr;  // R.output, once it has been read
  for (const ast::Statement& inner : with.body) {
    if (last && !inner.as<ast::Pass>() && !inner.as<ast::Return>()) {  // a return is told as such
      context_.attempt([&] {
        fail(ErrorClass::Type, inner.span, "dataflow.end",
             "found a statement behind R.output; expected R.output at the end of the block",
             {{last->span, "R.output is here"}});
      });
    }
    if (!context_.attempt([&] { read_statement(inner, Place::Dataflow); })) refuse_names(inner);
    auto* expression = inner.as<ast::ExpressionStatement>();
    auto* output = expression ? expression->value->as<ast::Call>() : nullptr;
    if (output && context_.namespaces.canonical(*output->callee) == "R.output") last = &inner;
  }
  Frame inside = std::move(frames_.back());
  frames_.pop_back();
  in_dataflow_ = false;
  if (builder_.block_empty()) {
    // The block vanishes; its comments stay.
    hand_on(comments);
    hand_on(std::exchange(output_comments_, nullptr));
  } else if (comments || output_comments_) {
    block_comments_.push_back(
        {statement.span, std::move(comments), std::exchange(output_comments_, nullptr)});
  }
  builder_.end_block();
  for (auto& [bound, entry] : inside) {
    bool output = outputs_.count(bound) > 0;
    bool refused = std::get_if<Refused>(&entry.meaning) != nullptr;
    bool scalar = std::get_if<Scalar>(&entry.meaning) || std::get_if<ModuleAlias>(&entry.meaning) ||
                  std::get_if<Unavailable>(&entry.meaning);
    if (output || refused || scalar) {
      frames_.back().insert_or_assign(bound, entry);
    } else if (!frames_.back().count(bound)) {
      frames_.back().emplace(bound, Entry{hidden, entry.span});
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
  auto keep_comments = [&] { hand_on(statement.comments); };
  if (expr.as<ast::StringValue>()) return keep_comments();  // a docstring
  auto* call = expr.as<ast::Call>();
  std::string name = call ? context_.namespaces.canonical(*call->callee) : std::string();
  if (name == "R.func_attr") {
    for (auto& [key, value] : read_attribute_dictionary(context_, expr, NamePlace::GraphFunction)) {
      const auto* text = value.as<std::string>();
      if (key == "global_symbol" && function_.is_private) {
        type_error(expr.span, "function.private",
                   fmt::format("found a global_symbol of the private function '{}'; expected none",
                               printable(function_.name)));
      }
      if (find_attribute(function_.attributes, key)) {
        type_error(expr.span, "attribute.twice",
                   fmt::format("found a second value of the attribute '{}'; expected one", printable(key)));
      }
      if (key == "global_symbol" && text && *text == function_.name) continue;
      function_.attributes = with_attribute(std::move(function_.attributes), key, std::move(value));
    }
    return keep_comments();
  }
  if (name == "R.output") {
    if (!in_dataflow_)
      fail(ErrorClass::Type, expr.span, "dataflow.output", "found R.output outside a dataflow block",
           {remove_this(statement.span)});
    for (const ast::Argument& argument : call->arguments) {
      if (!ast::name_of(*argument.value) || !argument.name.empty()) {
        type_error(argument.value->span, "dataflow.output",
                   fmt::format("found {} in R.output; expected names", ast::describe(*argument.value)));
      }
    }
    // Also those of statements before it that made no binding.
    output_comments_ = take_comments(statement.comments);
    return;
  }
  if (name == "R.match_cast") return read_match_cast(statement, nullptr, nullptr, *call);
  if (name == "R.match_shape") return read_match_shape(statement, nullptr, nullptr, *call);
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

// `return` at the end of every way through the last if of the function: the value of the if is what the
// function returns.
void GraphBuilder::read_returning_if(const ast::Statement& statement, const ast::If& branches) {
  Expr result = returned_by(statement, branches, 0);
  if (result.type().is_error()) throw ReadContext::Silent{};
  result = as_leaf(std::move(result));
  returned_ = true;
  give_back(std::move(result), statement.span);
}

Expr GraphBuilder::returned_by(const ast::Block& body) {
  const ast::Statement& last = body.back();
  for (const ast::Statement& statement : body) {
    if (&statement == &last) break;
    if (!context_.attempt([&] { read_statement(statement, Place::Branch); })) refuse_names(statement);
  }
  builder_.set_origin(last.span);
  if (auto* branches = last.as<ast::If>()) return as_leaf(returned_by(last, *branches, 0));
  const auto& returned = *last.as<ast::Return>();
  hand_on(last.comments);
  Expr result = returned.value ? leaf(*returned.value) : tuple({}, last.span);
  if (annotated_result_ && holes_.any()) {
    holes_.want(result, *annotated_result_, fmt::format("the result of '{}'", printable(definition_.name)),
                definition_.result_annotation->span);
  }
  return result;
}

Expr GraphBuilder::returned_by(const ast::Statement& statement, const ast::If& branches, std::size_t at) {
  const ast::Branch& branch = branches.branches[at];
  hand_on(at == 0 ? statement.comments : branch.comments);
  const Expr condition = leaf(*branch.condition);
  if (holes_.any()) holes_.want(condition, tensor_type({}, DType::Bool), "the if", branch.condition->span);
  const auto arm_of = [&](const std::function<Expr()>& read) {
    OpenRegion outer = open_region();
    Expr result = tuple({}, statement.span);
    const bool good = context_.attempt([&] { result = read(); });
    Arm arm = close_region(std::move(outer));
    if (!good) throw ReadContext::Silent{};
    arm.region.results = {std::move(result)};
    return std::move(arm.region);
  };
  Region then_region = arm_of([&] { return returned_by(branch.body); });
  Region else_region = arm_of([&] {
    if (at + 1 < branches.branches.size()) return as_leaf(returned_by(statement, branches, at + 1));
    hand_on(branches.else_comments);
    return returned_by(branches.else_body);
  });
  common_type(then_region.results[0], else_region.results[0], "what the function returns", statement.span);
  return if_expr(condition, std::move(then_region), std::move(else_region), branch.span);
}

}  // namespace relish
