// Relax functions: header, blocks and bindings. One refused statement does not hide the next; what it would
// have bound gets the error type, which no later rule complains about.
#include "frontend/graph/graph_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/graph/computable_scalars.h"
#include "frontend/names/binding_names.h"
#include "frontend/names/suggestions.h"
#include "frontend/names/symbol_order.h"
#include "frontend/text/ast_walk.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

Type error_type() { return Type(TypeKind(ErrorType{})); }

}  // namespace

GraphBuilder::GraphBuilder(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
                           GraphBuilder* outer)
    : GraphControl(context, globals, definition, outer) {}

// --- Header.

void GraphBuilder::declare_symbols() {
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (parameter.annotation) symbols_.declare_strings(*parameter.annotation, DType::Int64);
  }
  if (definition_.result_annotation) symbols_.declare_strings(*definition_.result_annotation, DType::Int64);
  for (const ast::TypeParameter& parameter : definition_.type_parameters) {
    symbols_.declare(parameter.name, DType::Int64, parameter.span);
  }
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (parameter.annotation) symbols_.declare_bare_names(*parameter.annotation, DType::Int64);
  }
  // Declarations may stand anywhere in the body, also in its dataflow blocks.
  std::vector<const ast::Block*> blocks{&definition_.body};
  while (!blocks.empty()) {
    const ast::Block& block = *blocks.back();
    blocks.pop_back();
    for (const ast::Statement& statement : block) {
      if (auto* with = statement.as<ast::With>()) blocks.push_back(&with->body);
      if (auto* loop = statement.as<ast::For>()) blocks.push_back(&loop->body);
      if (auto* loop = statement.as<ast::While>()) blocks.push_back(&loop->body);
      if (auto* branches = statement.as<ast::If>()) {
        for (const ast::Branch& branch : branches->branches) blocks.push_back(&branch.body);
        blocks.push_back(&branches->else_body);
      }
      auto* assignment = statement.as<ast::Assignment>();
      if (!assignment || !assignment->value || assignment->targets.size() != 1) continue;
      std::vector<DeclaredSymbol> declared;
      if (!declared_symbols(*assignment->targets[0], *assignment->value, declared)) continue;
      for (const DeclaredSymbol& symbol : declared)
        if (!symbol.meant) symbols_.declare(symbol.name, DType::Int64, symbol.span);
    }
  }
  symbols_.declare_outer(context_.type_variables, DType::Int64, definition_.name_span);
}

void GraphBuilder::read_header() {
  std::size_t errors = context_.diagnostics.error_count();
  frames_.emplace_back();
  determined_ = determined_around();
  declare_symbols();
  // Scalar parameters may be dimensions of parameters that stand before them, under their own name or, as
  // `_n: R.Prim(value="n")`, under that of their value.
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (!parameter.annotation) continue;
    const std::optional<std::string> value = types_.named_value(*parameter.annotation);
    const auto dtype = value ? std::optional(DType::Int64) : types_.scalar_dtype(*parameter.annotation);
    if (const auto earlier = dtype ? symbols_.declared_dtype(parameter.name) : std::nullopt;
        earlier && *earlier != *dtype) {
      context_.attempt([&] {
        fail(ErrorClass::Type, parameter.span, "symbol.dtype",
             fmt::format("found the dimension '{}' as a scalar of {}; expected one of {}",
                         printable(parameter.name), name_of(*dtype), name_of(*earlier)),
             {write_here(parameter.annotation->span, fmt::format("R.Prim(\"{}\")", name_of(*earlier)))});
      });
    }
    if (dtype) symbols_.declare(parameter.name, *dtype, parameter.span);
    if (!value || *value == parameter.name) continue;
    const ScalarMeaning own = symbols_.find(parameter.name, parameter.span);
    symbols_.define(*value, *std::get<Scalar>(own).as_var());
  }
  for (const ast::Parameter& parameter : definition_.parameters) {
    if (context_.attempt([&] { read_param(parameter); })) continue;
    Var var(parameter.name, error_type(), false, parameter.span);
    params_.push_back(var);
    bind(parameter.name, Bound{var, std::nullopt}, parameter.span);
  }
  for (const Var& param : params_) collect_determined(param.type(), determined_);
  for (const auto& [name, entry] : frames_.back()) {
    auto* bound = std::get_if<Bound>(&entry.meaning);
    if (!bound || !bound->scalar) continue;
    if (auto var = bound->scalar->as_var()) determined_.push_back(*var);
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
               "found a default value; parameters of functions have none: a call gives them all");
  }
  if (!parameter.annotation) {
    // A tensor of any shape and dtype is the least that a type can say.
    fail(ErrorClass::Type, parameter.span, "param.annotation",
         fmt::format(
             "found the parameter '{}' without a type; expected one such as R.Tensor((2, 3), \"float32\")",
             printable(parameter.name)),
         {insert_here(parameter.span, ": R.Tensor")});
  }
  auto earlier = frames_.back().find(parameter.name);
  if (earlier != frames_.back().end()) {
    std::vector<DiagnosticNote> notes{{earlier->second.span, "it is declared here first"}};
    if (context_.may_search())
      notes.push_back(other_name(definition_, context_.text, parameter.span, parameter.name));
    fail(ErrorClass::Type, parameter.span, "param.twice",
         fmt::format("found the parameter '{}' twice", printable(parameter.name)), std::move(notes));
  }
  Var var(parameter.name, types_.read(*parameter.annotation), false, parameter.span);
  refuse_lost_values(*parameter.annotation);
  std::optional<Scalar> scalar;
  const ScalarType* type = var.type().as<ScalarType>();
  if (type) {
    ScalarMeaning symbol = symbols_.find(parameter.name, parameter.span);
    if (auto* found = std::get_if<Scalar>(&symbol)) scalar = *found;
  }
  params_.push_back(var);
  bind(parameter.name, Bound{var, scalar}, parameter.span);
}

// R.Prim(value=n) as the type of a parameter names it; a value of any other form would be read and forgotten.
void GraphBuilder::refuse_lost_values(const ast::Expr& annotation) {
  if (types_.named_value(annotation)) return;
  ast::for_each_expr(annotation, [&](const ast::Expr& inner) {
    auto* call = inner.as<ast::Call>();
    if (!call || context_.namespaces.canonical(*call->callee) != "R.Prim") return;
    for (const ast::Argument& argument : call->arguments) {
      if (argument.name != "value") continue;
      fail(ErrorClass::Type, argument.value->span, "type.prim",
           fmt::format(
               "found {} as the value of a parameter; expected R.Prim(\"int64\"), or R.Prim(value=\"n\") "
               "as the whole type, with a name for the size",
               ast::describe(*argument.value)),
           {write_here(inner.span, "R.Prim(\"int64\")")});
    }
  });
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

// --- The function.

FunctionPtr GraphBuilder::build(CommentsPtr comments, const FunctionOptions& options) {
  function_.name = definition_.name;
  function_.span = definition_.name_span;
  function_.comments = std::move(comments);
  function_.is_private = options.is_private;
  function_.pure = options.pure;
  function_.attributes = options.attributes;
  function_.params = params_;
  for (const Var& param : params_) builder_.reserve_name(param.name());
  for (const ast::Statement& statement : definition_.body) {
    for_each_bound_name(statement, [&](const std::string& name, Span) { builder_.reserve_name(name); });
  }
  bool unresolved = context_.unresolved;
  context_.unresolved = header_failed_;
  read_block(definition_.body, Place::Function);
  if (!returned_ && !context_.unresolved) {
    context_.attempt([&] {
      fail(ErrorClass::Type, definition_.name_span, "function.return",
           fmt::format("the function '{}' does not end in a return", printable(definition_.name)),
           missing_return());
    });
  }
  function_.blocks = take_blocks();
  if (!context_.unresolved && !outer_ && context_.attempt_typed([&] { check_symbols(); }) &&
      options.check_well_formed) {
    context_.attempt_typed([&] { check_symbol_order(function_); });
  }
  if (!context_.unresolved && options.check_well_formed) check_purity();
  if (!context_.unresolved && !outer_) check_scalars(context_, function_);
  bool failed = context_.unresolved;
  context_.unresolved |= unresolved;
  if (failed) return nullptr;
  return std::make_shared<const Function>(std::move(function_));
}

std::vector<DiagnosticNote> GraphBuilder::missing_return() {
  if (definition_.body.empty()) return {};
  const ast::Block& body = definition_.body;
  std::vector<std::pair<std::string, Type>> bound;  // in the order of the text
  for (const ast::Statement& statement : body) {
    for_each_bound_name(statement, [&](const std::string& name, Span) {
      auto entry = frames_.front().find(name);
      if (entry == frames_.front().end()) return;
      std::erase_if(bound, [&](const auto& earlier) { return earlier.first == name; });
      if (auto* variable = std::get_if<Bound>(&entry->second.meaning))
        bound.emplace_back(name, variable->var.type());
    });
  }
  const auto line = [&](const std::string& result) {
    return std::vector<DiagnosticNote>{put_below(span_of(body), "return " + result)};
  };
  for (auto last = bound.rbegin(); last != bound.rend(); ++last) {
    if (!annotated_result_ || fits(last->second, *annotated_result_) != Fit::Never) return line(last->first);
  }
  // One variable for each field, in the order of the text.
  const TupleType* tuple = annotated_result_ ? annotated_result_->tuple() : nullptr;
  if (!tuple || tuple->fields.empty()) return {};
  std::string fields = tuple->fields.size() == 1 ? "," : "";
  auto at = bound.rbegin();
  for (auto field = tuple->fields.rbegin(); field != tuple->fields.rend(); ++field) {
    at = std::find_if(at, bound.rend(),
                      [&](const auto& each) { return fits(each.second, *field) != Fit::Never; });
    if (at == bound.rend()) return {};
    fields = at->first + (field == tuple->fields.rbegin() ? "" : ", ") + fields;
    ++at;
  }
  return line(fmt::format("({})", fields));
}

void GraphBuilder::read_return(const ast::Statement& statement, const ast::Return& returned) {
  returned_ = true;
  builder_.set_origin(statement.span);
  function_.result_comments = take_comments(statement.comments);
  if (returned.value) {
    // What the result computes is bound before it, outside of dataflow blocks.
    give_back(leaf(*returned.value), returned.value->span);
  } else {
    give_back(tuple({}, statement.span), statement.span);
  }
}

void GraphBuilder::give_back(Expr result, Span at) {
  function_.result = std::move(result);
  function_.result_span = at;
  finish_result_type(at);
}

void GraphBuilder::finish_result_type(Span at) {
  const Type& inferred = function_.result.type();
  if (annotated_result_ && holes_.any()) {
    holes_.want(function_.result, *annotated_result_,
                fmt::format("the result of '{}'", printable(definition_.name)),
                definition_.result_annotation->span);
  }
  SymbolList known;
  known.add_all(determined_around());
  for (const Var& param : params_) known.add_mentioned(param.type());
  for (const auto& [name, entry] : frames_.front()) {
    auto* bound = std::get_if<Bound>(&entry.meaning);
    if (!bound || !bound->scalar) continue;
    if (auto var = bound->scalar->as_var()) known.add(*var);
  }
  if (!annotated_result_) {
    function_.result_type = without_hidden_symbols(inferred, known);
    return;
  }
  function_.result_type = *annotated_result_;
  if (annotated_result_->is_error() || inferred.is_error()) return;
  if (fits(inferred, *annotated_result_) == Fit::Never) {
    Diagnostic& diagnostic =
        context_.diagnostics
            .error(ErrorClass::Type, at, "function.result",
                   fmt::format("'{}' returns {}; its annotation says {}", printable(definition_.name),
                               print(inferred), print(*annotated_result_)))
            .note(definition_.result_annotation->span, "the annotation is here");
    // In a signature dims stand in quotes: only what has none is written as it is printed.
    std::vector<ScalarVar> dims;
    collect_vars(inferred, dims);
    if (dims.empty()) {
      diagnostic.notes.push_back(write_here(definition_.result_annotation->span, print(inferred)));
    }
  }
}

// Every symbolic dimension that the function mentions must be known when it runs.
void GraphBuilder::check_symbols() {
  SymbolList determined;
  for (const Var& param : params_) determined.add_determined(param.type());
  const ScalarParameters scalars(function_);
  std::vector<const Function*> nested;
  for (const BindingBlock& block : function_.blocks) {
    for (const Binding& outermost : block.bindings) {
      for_each_binding(outermost, [&](const Binding& binding) {
        if (auto* cast = std::get_if<MatchCast>(&binding.kind)) determined.add_determined(cast->type);
        if (auto* inner = binding.value().as<FunctionExpr>()) nested.push_back(inner->function.get());
      });
    }
  }
  for (const Function* inner : nested) {
    for (const Var& param : inner->params) determined.add_determined(param.type());
  }
  for_each_symbol(function_, [&](const ScalarVar& symbol) {
    if (determined.contains(symbol) || scalars.of(symbol)) return;
    for (const Function* inner : nested) {
      if (scalar_parameter_of(*inner, symbol)) return;
    }
    type_error(
        symbol.span().known() ? symbol.span() : definition_.name_span, "symbol.undetermined",
        fmt::format(
            "the dimension '{}' cannot be found when the function runs; expected it alone in the type of a "
            "parameter or of R.match_cast",
            printable(symbol.name())));
  });
}

}  // namespace relish
