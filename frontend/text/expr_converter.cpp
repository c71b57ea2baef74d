// Conversion of ANTLR contexts of expressions, rule by rule in the order of the grammar.
#include "frontend/text/expr_converter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "frontend/text/literals.h"
#include "frontend/text/operators.h"
#include "frontend/text/tree_nodes.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {

ast::ExprPtr make_expr(Span span, ast::ExprKind kind) {
  return std::make_unique<ast::Expr>(ast::Expr{span, std::move(kind)});
}

using Parser = grammar::RelishParser;

// Counts nesting that brackets do not show: chains of trailers and of conditional expressions.
void ExprConverter::enter(std::size_t levels, Span at) {
  depth_ += levels;
  if (depth_ > limits().max_nesting) {
    line_.diagnostics().error(
        ErrorClass::ResourceLimit, at, "limit.nesting",
        fmt::format("found an expression nested deeper than {}; raise --max-nesting", limits().max_nesting));
    throw TreeText::Refused{};
  }
}

ast::ExprPtr ExprConverter::expression_list(Parser::ExpressionListContext* tree) {
  std::size_t count = tree->children.size();
  if (count == 1) {
    ast::ExprPtr item = list_item(child<Parser::ListItemContext>(tree, 0));
    if (item->as<ast::Starred>()) refuse_star(*item);
    return item;
  }
  ast::TupleValue tuple;
  tuple.items.reserve((count + 1) / 2);
  for (std::size_t i = 0; i < count; i += 2)
    tuple.items.push_back(list_item(child<Parser::ListItemContext>(tree, i)));
  return make_expr(line_.span_of(tree), std::move(tuple));
}

void ExprConverter::refuse_star(const ast::Expr& expr) const {
  if (expr.as<ast::Starred>())
    line_.refuse(expr.span, "syntax.star",
                 "found a starred expression alone; expected it in a list, a tuple or a call");
}

ast::ExprPtr ExprConverter::targets(Parser::TargetsContext* tree) {
  auto all = tree->target();
  if (all.size() == 1 && tree->COMMA().empty()) {
    ast::ExprPtr only = target(all[0]);
    refuse_star(*only);
    return only;
  }
  ast::TupleValue tuple;
  for (auto* t : all) tuple.items.push_back(target(t));
  return make_expr(line_.span_of(tree), std::move(tuple));
}

ast::ExprPtr ExprConverter::target(Parser::TargetContext* tree) {
  ast::ExprPtr name = primary(tree->primary());
  if (!tree->MUL()) return name;
  return make_expr(line_.span_of(tree), ast::Starred{std::move(name)});
}

ast::ExprPtr ExprConverter::comprehension(Span span, ast::ExprPtr key, ast::ExprPtr value,
                                          Parser::ComprehensionContext* tree) {
  ast::Comprehension result{std::move(key), std::move(value), {}};
  using Operation = Parser::OperationContext;
  for (std::size_t i = 0; i < tree->children.size();) {
    if (token_of(tree->children[i])->getType() == Parser::FOR) {
      ast::ExprPtr variables = targets(child<Parser::TargetsContext>(tree, i + 1));
      result.clauses.push_back({std::move(variables), operation(child<Operation>(tree, i + 3))});
      i += 4;
    } else {
      result.clauses.push_back({nullptr, operation(child<Operation>(tree, i + 1))});
      i += 2;
    }
  }
  return make_expr(span, std::move(result));
}

ast::ExprPtr ExprConverter::list_item(Parser::ListItemContext* tree) {
  if (tree->children.size() > 1)
    return make_expr(line_.span_of(tree),
                     ast::Starred{expression(child<Parser::ExpressionContext>(tree, 1))});
  return expression(child<Parser::ExpressionContext>(tree, 0));
}

ast::ExprPtr ExprConverter::expression(Parser::ExpressionContext* tree) {
  if (rule_of(tree->children[0])->getRuleIndex() == Parser::RuleLambda)
    return lambda(child<Parser::LambdaContext>(tree, 0));
  if (tree->children.size() == 1) return operation(child<Parser::OperationContext>(tree, 0));
  auto operations = tree->operation();
  // a if c else b if d else e: nested from the right.
  std::size_t levels = operations.size() / 2;
  enter(levels, line_.span_of(tree));
  ast::ExprPtr result = operation(operations.back());
  for (std::size_t i = operations.size() - 1; i >= 2; i -= 2) {
    ast::ExprPtr value = operation(operations[i - 2]);
    ast::ExprPtr condition = operation(operations[i - 1]);
    Span span = cover(value->span, result->span);
    result = make_expr(span, ast::Conditional{std::move(condition), std::move(value), std::move(result)});
  }
  depth_ -= levels;
  return result;
}

ast::ExprPtr ExprConverter::lambda(Parser::LambdaContext* tree) {
  enter(1, line_.span_of(tree));
  ast::Lambda result;
  if (auto* parameters = tree->lambdaParameters()) {
    for (auto* p : parameters->lambdaParameter()) {
      ast::Parameter parameter;
      parameter.span = line_.span_of(p->start);
      if (p->NAME()) {
        parameter.name = line_.text_of(p->NAME()->getSymbol());
        parameter.span = line_.span_of(p->NAME()->getSymbol());
      } else {
        parameter.name = "*";
      }
      parameter.stars = p->MUL() ? 1 : p->POW() ? 2 : 0;
      if (p->ASSIGN()) parameter.default_value = expression(p->expression());
      result.parameters.push_back(std::move(parameter));
    }
  }
  result.value = expression(tree->expression());
  depth_ -= 1;
  return make_expr(line_.span_of(tree), std::move(result));
}

namespace {

ast::PrefixOperator prefix_of(std::size_t token) {
  switch (token) {
    case Parser::ADD:
      return ast::PrefixOperator::Plus;
    case Parser::SUB:
      return ast::PrefixOperator::Minus;
    case Parser::TILDE:
      return ast::PrefixOperator::Invert;
    default:
      return ast::PrefixOperator::Not;
  }
}

ast::Operator infix_of(std::size_t token) {
  switch (token) {
    case Parser::ADD:
      return ast::Operator::Add;
    case Parser::SUB:
      return ast::Operator::Sub;
    case Parser::MUL:
      return ast::Operator::Mul;
    case Parser::DIV:
      return ast::Operator::Div;
    case Parser::FLOOR_DIV:
      return ast::Operator::FloorDiv;
    case Parser::MOD:
      return ast::Operator::Mod;
    case Parser::AT:
      return ast::Operator::MatMul;
    case Parser::POW:
      return ast::Operator::Pow;
    case Parser::LEFT:
      return ast::Operator::ShiftLeft;
    case Parser::RIGHT:
      return ast::Operator::ShiftRight;
    case Parser::AMPERSAND:
      return ast::Operator::BitAnd;
    case Parser::BAR:
      return ast::Operator::BitOr;
    case Parser::CARET:
      return ast::Operator::BitXor;
    case Parser::LT:
      return ast::Operator::Lt;
    case Parser::GT:
      return ast::Operator::Gt;
    case Parser::LE:
      return ast::Operator::Le;
    case Parser::GE:
      return ast::Operator::Ge;
    case Parser::EQ:
      return ast::Operator::Eq;
    case Parser::NE:
      return ast::Operator::Ne;
    case Parser::AND:
      return ast::Operator::And;
    case Parser::OR:
      return ast::Operator::Or;
    case Parser::IN:
      return ast::Operator::In;
    case Parser::IS:
      return ast::Operator::Is;
    default:
      return ast::Operator::NotIn;
  }
}

}  // namespace

ast::ExprPtr ExprConverter::operation(Parser::OperationContext* tree) {
  if (tree->children.size() == 1) {
    minus_before_ = false;
    return primary(static_cast<Parser::PrimaryContext*>(tree->children[0]));
  }
  std::vector<OperationItem> items;
  items.reserve(tree->children.size());
  for (antlr4::tree::ParseTree* child : tree->children) {
    auto* context = static_cast<antlr4::ParserRuleContext*>(child);
    OperationItem item{OperationItem::Kind::Operand, line_.span_of(context), nullptr};
    switch (context->getRuleIndex()) {
      case Parser::RulePrefix:
        item.kind = OperationItem::Kind::PrefixOperator;
        item.prefix = prefix_of(context->start->getType());
        break;
      case Parser::RuleInfix:
        item.kind = OperationItem::Kind::InfixOperator;
        item.infix = infix_of(context->start->getType());
        break;
      default:
        minus_before_ = !items.empty() && items.back().kind == OperationItem::Kind::PrefixOperator &&
                        items.back().prefix == ast::PrefixOperator::Minus;
        item.operand = primary(static_cast<Parser::PrimaryContext*>(context));
    }
    items.push_back(std::move(item));
  }
  ast::ExprPtr result = resolve_operators(std::move(items), depth_, line_.diagnostics());
  if (!result) throw TreeText::Refused{};
  return result;
}

// The scanner has counted the brackets; a long chain of trailers nests without any. Where functions flatten
// calls and subscripts only names behind dots count.
std::size_t ExprConverter::levels_of_chain(Parser::PrimaryContext* tree) const {
  constexpr std::size_t free_trailers = 4, longest_flat_chain = 250000;
  std::size_t trailers = tree->children.size() - 1;
  if (trailers <= free_trailers) return 0;
  if (!long_chains_ || trailers > longest_flat_chain) return trailers;
  std::size_t longest = 0, dots = 0;
  for (std::size_t i = 1; i <= trailers; ++i) {
    dots = rule_of(tree->children[i])->start->getType() == Parser::DOT ? dots + 1 : 0;
    longest = std::max(longest, dots);
  }
  return longest <= free_trailers ? 0 : longest;
}

ast::ExprPtr ExprConverter::primary(Parser::PrimaryContext* tree) {
  std::size_t trailers = tree->children.size() - 1;
  std::size_t levels = levels_of_chain(tree);
  enter(levels, line_.span_of(tree));
  ast::ExprPtr result = atom(child<Parser::AtomContext>(tree, 0));
  for (std::size_t i = 1; i <= trailers; ++i)
    result = trailer(child<Parser::TrailerContext>(tree, i), std::move(result));
  depth_ -= levels;
  return result;
}

namespace {

// By name; a script that gives these names to something else is told when it calls it.
bool takes_generator(const ast::Expr& callee) {
  static constexpr std::array<std::string_view, 10> taking = {"sum",    "any",  "all",   "min", "max",
                                                              "sorted", "list", "tuple", "set", "dict"};
  if (const auto* attribute = callee.as<ast::Attribute>()) return attribute->name == "join";
  const std::string* name = ast::name_of(callee);
  return name && std::find(taking.begin(), taking.end(), *name) != taking.end();
}

}  // namespace

ast::ExprPtr ExprConverter::trailer(Parser::TrailerContext* tree, ast::ExprPtr object) {
  Span span = cover(object->span, line_.span_of(tree));
  std::size_t opening = tree->start->getType();
  if (opening == Parser::DOT) {
    antlr4::Token* name = tree->stop;
    return make_expr(
        span, ast::Attribute{std::move(object), std::string(line_.text_of(name)), line_.span_of(name)});
  }
  if (opening == Parser::LPAREN) {
    std::vector<ast::Argument> written;
    auto* callee = object->as<ast::Attribute>();
    bool outer = std::exchange(in_uint64_, callee && callee->name == "uint64");
    if (tree->children.size() == 3) {
      auto* given = child<Parser::ArgumentsContext>(tree, 1);
      written =
          takes_generator(*object) ? generator(given, line_.span_of(tree)) : std::vector<ast::Argument>();
      if (written.empty()) written = arguments(given, takes_generator(*object));
    }
    in_uint64_ = outer;
    return make_expr(span, ast::Call{std::move(object), std::move(written)});
  }
  auto* written = child<Parser::SubscriptsContext>(tree, 1);
  std::size_t count = written->children.size();
  ast::Subscript result{std::move(object), {}, count > 1};
  result.items.reserve((count + 1) / 2);
  for (std::size_t i = 0; i < count; i += 2)
    result.items.push_back(subscript(child<Parser::SubscriptContext>(written, i)));
  return make_expr(span, std::move(result));
}

// sum(x * x for x in xs): what takes all items of its only argument before it returns gives the same for a
// comprehension. Its place begins with the bracket of the call, as in Python, which tells it from a list.
std::vector<ast::Argument> ExprConverter::generator(Parser::ArgumentsContext* tree, Span brackets) {
  std::vector<ast::Argument> result;
  if (tree->children.size() != 1) return result;
  auto* only = child<Parser::ArgumentContext>(tree, 0);
  if (only->children.size() != 2 || is_token(only->children[0]) || is_token(only->children[1])) return result;
  ast::Argument argument;
  ast::ExprPtr item = expression(child<Parser::ExpressionContext>(only, 0));
  argument.value =
      comprehension(brackets, nullptr, std::move(item), child<Parser::ComprehensionContext>(only, 1));
  result.push_back(std::move(argument));
  return result;
}

namespace {

// What stands in brackets of its own, with nothing around them.
ExprConverter::Parser::AtomContext* alone_in_brackets(antlr4::ParserRuleContext* tree) {
  while (tree->children.size() == 1 && !is_token(tree->children[0])) tree = rule_of(tree->children[0]);
  const bool is_atom = tree->getRuleIndex() == ExprConverter::Parser::RuleAtom;
  return is_atom ? static_cast<ExprConverter::Parser::AtomContext*>(tree) : nullptr;
}

bool is_generator(ExprConverter::Parser::AtomContext* tree) {
  return tree->children.size() == 4 && !is_token(tree->children[2]) &&
         tree->start->getType() == ExprConverter::Parser::LPAREN;
}

}  // namespace

std::vector<ast::Argument> ExprConverter::arguments(Parser::ArgumentsContext* tree, bool take_generator) {
  using Written = Parser::ExpressionContext;
  std::vector<ast::Argument> result;
  std::size_t count = tree->children.size();
  result.reserve((count + 1) / 2);
  std::unordered_map<std::string_view, Span> named;
  for (std::size_t i = 0; i < count; i += 2) {
    auto* a = child<Parser::ArgumentContext>(tree, i);
    ast::Argument argument;
    std::size_t next = 0;
    const std::size_t fields_before = pending_.size();
    if (is_token(a->children[0]))
      argument.stars = token_of(a->children[next++])->getType() == Parser::MUL ? 1 : 2;
    auto* written = child<Written>(a, next++);
    // sorted((x for x in xs), reverse=True)
    auto* brackets = take_generator && i == 0 && next == 1 ? alone_in_brackets(written) : nullptr;
    argument.value = brackets && is_generator(brackets) ? taken_generator(brackets) : expression(written);
    if (next < a->children.size() && !is_token(a->children[next])) {
      argument.value = unsupported(line_.span_of(a), "a generator", fields_before);
    } else if (next < a->children.size()) {
      const std::string* name = ast::name_of(*argument.value);
      if (!name || argument.stars) {
        line_.refuse(argument.value->span, "syntax.keyword",
                     fmt::format("found {} before '='; expected the name of an argument",
                                 ast::describe(*argument.value)));
      }
      argument.name = *name;
      argument.name_span = argument.value->span;
      auto [earlier, fresh] = named.emplace(line_.text_of(argument.name_span), argument.name_span);
      if (!fresh) {
        line_.diagnostics()
            .error(ErrorClass::Syntax, argument.name_span, "syntax.keyword",
                   fmt::format("found the argument '{}' twice", printable(argument.name)))
            .note(earlier->second, "it is given here first");
        throw TreeText::Refused{};
      }
      argument.value = expression(child<Written>(a, next + 1));
    } else if (!argument.stars && !result.empty() && !result.back().name.empty()) {
      line_.refuse(argument.value->span, "syntax.keyword", "found a positional argument behind a named one");
    }
    result.push_back(std::move(argument));
  }
  return result;
}

ast::ExprPtr ExprConverter::subscript(Parser::SubscriptContext* tree) {
  if (tree->children.size() == 1 && rule_of(tree->children[0])->getRuleIndex() == Parser::RuleExpression)
    return expression(child<Parser::ExpressionContext>(tree, 0));
  auto* slice = tree->slice();
  ast::Slice result;
  if (tree->expression()) result.begin = expression(tree->expression());
  // The parts behind ':' are told apart by their places relative to the second ':'.
  auto colons = slice->COLON();
  std::size_t second = colons.size() > 1 ? colons[1]->getSymbol()->getStartIndex() : line_.end();
  for (auto* part : slice->expression()) {
    (part->start->getStartIndex() < second ? result.end : result.step) = expression(part);
  }
  return make_expr(line_.span_of(tree), std::move(result));
}

ast::ExprPtr ExprConverter::atom(Parser::AtomContext* tree) {
  Span span = line_.span_of(tree);
  antlr4::Token* first = tree->start;
  switch (first->getType()) {
    case Parser::NAME:
      return make_expr(span, ast::Name{std::string(line_.text_of(first))});
    case Parser::STATE_NAME: {
      const std::string_view text = line_.text_of(first);
      const std::size_t mark = text.find('@');
      return make_expr(span,
                       ast::StateName{std::string(text.substr(0, mark)), std::string(text.substr(mark + 1))});
    }
    case Parser::HOLE:
      return make_expr(span, ast::Hole{std::string(line_.text_of(first).substr(1))});
    case Parser::NUMBER:
      return number(first);
    case Parser::STRING:
      return strings(tree->STRING(), span);
    case Parser::NUMBER_LIST: {
      auto list = read_number_list(line_.text_of(first), span, line_.diagnostics());
      if (!list) throw TreeText::Refused{};
      return make_expr(span, std::move(*list));
    }
    case Parser::TRUE:
      return make_expr(span, ast::BoolValue{true});
    case Parser::FALSE:
      return make_expr(span, ast::BoolValue{false});
    case Parser::NONE:
      return make_expr(span, ast::NoneValue{});
    case Parser::ELLIPSIS:
      return make_expr(span, ast::Ellipsis{});
    case Parser::LBRACE:
      return dictionary(tree);
    default:
      return bracketed(tree);
  }
}

ast::ExprPtr ExprConverter::number(antlr4::Token* token) {
  Span span = line_.span_of(token);
  bool minus = minus_before_;
  auto value = read_number(line_.text_of(token), span, line_.diagnostics());
  if (!value) throw TreeText::Refused{};
  if (!value->integer) return make_expr(span, ast::FloatValue{value->real});
  constexpr std::uint64_t largest = std::uint64_t{1} << 63;
  if (value->magnitude > largest - (minus ? 0 : 1)) {
    std::string what = fmt::format("the integer {}, which does not fit int64", value->magnitude);
    // Only T.uint64 takes it; it reads the number from the text.
    if (in_uint64_ && !minus) return make_expr(span, ast::Unsupported{std::move(what)});
    line_.refuse(span, "literal.integer", "found " + what);
  }
  return make_expr(span, ast::IntValue{static_cast<std::int64_t>(value->magnitude)});
}

ast::ExprPtr ExprConverter::strings(const std::vector<antlr4::tree::TerminalNode*>& tokens, Span span) {
  std::vector<ast::FormatPart> parts;
  std::vector<PendingField> fields;
  bool format = false;
  for (antlr4::tree::TerminalNode* node : tokens) {
    antlr4::Token* token = node->getSymbol();
    auto string = read_string(line_.text_of(token), line_.span_of(token), line_.diagnostics());
    if (!string) throw TreeText::Refused{};
    format |= string->format;
    for (StringPiece& piece : string->pieces) {
      if (piece.field) {
        std::size_t base = token->getStartIndex();
        fields.push_back({nullptr, parts.size(), {}, base + piece.field->begin, base + piece.field->end});
        ast::FormatPart part;
        part.spec = std::move(piece.field->spec);
        part.conversion = piece.field->conversion;
        for (StringField::Inner& inner : piece.field->spec_fields) {
          ast::FormatPart inside;
          inside.text = std::move(inner.text);
          inside.conversion = inner.conversion;
          if (inner.begin != inner.end)
            fields.push_back(
                {nullptr, parts.size(), part.spec_fields.size(), base + inner.begin, base + inner.end});
          part.spec_fields.push_back(std::move(inside));
        }
        parts.push_back(std::move(part));
      } else if (!parts.empty() && (fields.empty() || fields.back().part + 1 != parts.size())) {
        parts.back().text += piece.text;
      } else {
        ast::FormatPart part;
        part.text = std::move(piece.text);
        parts.push_back(std::move(part));
      }
    }
  }
  if (!format)
    return make_expr(span, ast::StringValue{parts.empty() ? std::string() : std::move(parts.front().text)});
  ast::ExprPtr result = make_expr(span, ast::FormatString{std::move(parts)});
  for (PendingField& field : fields) {
    field.format = result.get();
    pending_.push_back(field);
  }
  return result;
}

// What was converted of it goes, with the fields of its f-strings, which would be read into it.
ast::ExprPtr ExprConverter::unsupported(Span span, std::string what, std::size_t fields_before) {
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(fields_before), pending_.end());
  return make_expr(span, ast::Unsupported{std::move(what)});
}

ast::ExprPtr ExprConverter::taken_generator(Parser::AtomContext* tree) {
  ast::ExprPtr value = list_item(child<Parser::ListItemContext>(tree, 1));
  refuse_star(*value);
  return comprehension(line_.span_of(tree), nullptr, std::move(value),
                       child<Parser::ComprehensionContext>(tree, 2));
}

ast::ExprPtr ExprConverter::bracketed(Parser::AtomContext* tree) {
  Span span = line_.span_of(tree);
  if (tree->children.size() == 4 && !is_token(tree->children[2])) {
    if (is_generator(tree)) return make_expr(span, ast::Unsupported{"a generator"});
    ast::ExprPtr value = list_item(child<Parser::ListItemContext>(tree, 1));
    refuse_star(*value);
    return comprehension(span, nullptr, std::move(value), child<Parser::ComprehensionContext>(tree, 2));
  }
  std::vector<ast::ExprPtr> items;
  std::size_t count = tree->children.size();
  items.reserve(count / 2);
  for (std::size_t i = 1; i + 1 < count; i += 2)
    items.push_back(list_item(child<Parser::ListItemContext>(tree, i)));
  if (tree->start->getType() == Parser::LBRACKET) return make_expr(span, ast::ListValue{std::move(items)});
  if (count == 3) {  // plain parentheses
    if (items[0]->as<ast::Starred>()) refuse_star(*items[0]);
    return std::move(items[0]);
  }
  return make_expr(span, ast::TupleValue{std::move(items)});
}

ast::ExprPtr ExprConverter::dictionary(Parser::AtomContext* tree) {
  Span span = line_.span_of(tree);
  const std::size_t fields_before = pending_.size();
  ast::DictValue result;
  for (auto* item : tree->dictItem()) {
    if (item->POW()) {
      if (tree->comprehension())
        line_.refuse(line_.span_of(item), "syntax.star",
                     "found '**' in a comprehension; expected KEY: VALUE");
      result.items.emplace_back(nullptr, expression(item->expression(0)));
      continue;
    }
    ast::ExprPtr key = expression(item->expression(0));
    if (!item->COLON()) return unsupported(span, "a set", fields_before);
    if (tree->comprehension())
      return comprehension(span, std::move(key), expression(item->expression(1)), tree->comprehension());
    result.items.emplace_back(std::move(key), expression(item->expression(1)));
  }
  return make_expr(span, std::move(result));
}

}  // namespace relish
