// Precedence climbing over a flat list of operands and operators.
#include "frontend/text/operators.h"

#include <fmt/format.h>

#include "support/limits.h"
#include "support/source.h"

namespace relish {
namespace {

using ast::Operator;
using ast::PrefixOperator;

enum Precedence : int {
  OrLevel = 1,
  AndLevel,
  NotLevel,
  CompareLevel,
  BitOrLevel,
  BitXorLevel,
  BitAndLevel,
  ShiftLevel,
  SumLevel,
  ProductLevel,
  PrefixLevel,
  PowerLevel
};

int precedence_of(Operator op) {
  switch (op) {
    case Operator::Or:
      return OrLevel;
    case Operator::And:
      return AndLevel;
    case Operator::Lt:
    case Operator::Le:
    case Operator::Gt:
    case Operator::Ge:
    case Operator::Eq:
    case Operator::Ne:
    case Operator::In:
    case Operator::NotIn:
    case Operator::Is:
    case Operator::IsNot:
      return CompareLevel;
    case Operator::BitOr:
      return BitOrLevel;
    case Operator::BitXor:
      return BitXorLevel;
    case Operator::BitAnd:
      return BitAndLevel;
    case Operator::ShiftLeft:
    case Operator::ShiftRight:
      return ShiftLevel;
    case Operator::Add:
    case Operator::Sub:
      return SumLevel;
    case Operator::Mul:
    case Operator::Div:
    case Operator::FloorDiv:
    case Operator::Mod:
    case Operator::MatMul:
      return ProductLevel;
    case Operator::Pow:
      return PowerLevel;
  }
  return 0;
}

ast::ExprPtr make(Span span, ast::ExprKind kind) {
  return std::make_unique<ast::Expr>(ast::Expr{span, std::move(kind)});
}

// Whether this is the least integer with its sign, in brackets or behind another one: it has no negation.
bool is_negated_least(const ast::Expr& operand) {
  if (operand.as<ast::IntValue>()->value != INT64_MIN) return false;
  const SourceFile* source = Sources::instance().find(operand.span.file);
  const char first = source ? source->text()[operand.span.begin] : '0';
  return first < '0' || first > '9';
}

class Resolver {
 public:
  Resolver(std::vector<OperationItem> items, std::size_t depth, Diagnostics& diagnostics)
      : items_(std::move(items)), depth_(depth), diagnostics_(diagnostics) {}

  // An expression whose operators bind at least as tightly as `level`.
  ast::ExprPtr climb(int level);

 private:
  ast::ExprPtr climb_prefix(int level);
  ast::ExprPtr deeper(int level, Span at);

  std::vector<OperationItem> items_;
  std::size_t next_ = 0;
  std::size_t depth_;
  Diagnostics& diagnostics_;
};

ast::ExprPtr Resolver::deeper(int level, Span at) {
  if (depth_ >= limits().max_nesting) {
    diagnostics_.error(
        ErrorClass::ResourceLimit, at, "limit.nesting",
        fmt::format("found an expression nested deeper than {}; raise --max-nesting", limits().max_nesting));
    return nullptr;
  }
  ++depth_;
  ast::ExprPtr result = climb(level);
  --depth_;
  return result;
}

ast::ExprPtr Resolver::climb_prefix(int level) {
  OperationItem& item = items_[next_++];
  if (item.kind == OperationItem::Kind::Operand) return std::move(item.operand);
  bool is_not = item.prefix == PrefixOperator::Not;
  if (is_not && level > NotLevel) {
    diagnostics_.error(ErrorClass::Syntax, item.span, "syntax.not",
                       "found 'not' behind an operator that binds tighter; expected it in parentheses");
    return nullptr;
  }
  Span at = item.span;
  PrefixOperator op = item.prefix;
  ast::ExprPtr operand = deeper(is_not ? NotLevel : PrefixLevel, at);
  if (!operand) return nullptr;
  Span whole = cover(at, operand->span);
  // A number's sign is part of it, so that -9223372036854775808 can be written.
  if (op == PrefixOperator::Minus) {
    if (auto* integer = operand->as<ast::IntValue>(); integer && !is_negated_least(*operand)) {
      integer->value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(integer->value));
      operand->span = whole;
      return operand;
    }
    if (auto* real = operand->as<ast::FloatValue>()) {
      real->value = -real->value;
      operand->span = whole;
      return operand;
    }
  }
  return make(whole, ast::Prefix{op, std::move(operand)});
}

ast::ExprPtr Resolver::climb(int level) {
  ast::ExprPtr left = climb_prefix(level);
  while (left && next_ < items_.size()) {
    Operator op = items_[next_].infix;
    int precedence = precedence_of(op);
    if (precedence < level) break;
    Span begin = left->span;
    if (precedence == PowerLevel) {
      Span at = items_[next_++].span;
      ast::ExprPtr right = deeper(PrefixLevel, at);
      if (!right) return nullptr;
      Span whole = cover(begin, right->span);
      std::vector<ast::Link> links;
      links.push_back({op, at, std::move(right)});
      left = make(whole, ast::Chain{std::move(left), std::move(links)});
      continue;
    }
    std::vector<ast::Link> links;
    while (next_ < items_.size() && precedence_of(items_[next_].infix) == precedence) {
      op = items_[next_].infix;
      Span at = items_[next_++].span;
      // `is not` is one operator; 'not' cannot stand there by itself.
      if (op == Operator::Is && items_[next_].kind == OperationItem::Kind::PrefixOperator &&
          items_[next_].prefix == PrefixOperator::Not) {
        op = Operator::IsNot;
        at = cover(at, items_[next_++].span);
      }
      ast::ExprPtr right = climb(precedence + 1);
      if (!right) return nullptr;
      links.push_back({op, at, std::move(right)});
    }
    Span whole = cover(begin, links.back().operand->span);
    if (precedence == CompareLevel) {
      left = make(whole, ast::Comparison{std::move(left), std::move(links)});
    } else if (precedence <= AndLevel) {
      std::vector<ast::ExprPtr> operands;
      operands.push_back(std::move(left));
      for (ast::Link& link : links) operands.push_back(std::move(link.operand));
      left = make(whole, ast::Logic{op, std::move(operands)});
    } else {
      left = make(whole, ast::Chain{std::move(left), std::move(links)});
    }
  }
  return left;
}

}  // namespace

ast::ExprPtr resolve_operators(std::vector<OperationItem> items, std::size_t depth,
                               Diagnostics& diagnostics) {
  if (items.size() == 1) return std::move(items.front().operand);
  return Resolver(std::move(items), depth, diagnostics).climb(OrLevel);
}

}  // namespace relish
