// Words for syntax trees in messages.
#include "frontend/text/ast.h"

#include <fmt/format.h>

#include "support/render.h"

namespace relish::ast {

std::string dotted_name(const Expr& expr) {
  const Expr* at = &expr;
  std::string result;
  while (const Attribute* attribute = at->as<Attribute>()) {
    result = result.empty() ? attribute->name : attribute->name + "." + result;
    at = attribute->object.get();
  }
  const Name* name = at->as<Name>();
  if (!name) return {};
  return result.empty() ? name->id : name->id + "." + result;
}

std::string describe(const Expr& expr) {
  struct Words {
    const Expr& expr;
    std::string operator()(const Name& n) const { return fmt::format("the name '{}'", printable(n.id)); }
    std::string operator()(const StateName& n) const {
      return fmt::format("'{}@{}', a value of a session", printable(n.id), n.state);
    }
    std::string operator()(const Hole& h) const { return fmt::format("the hole '?{}'", printable(h.id)); }
    std::string operator()(const IntValue& v) const { return fmt::format("the number {}", v.value); }
    std::string operator()(const FloatValue& v) const { return fmt::format("the number {}", v.value); }
    std::string operator()(const BoolValue& v) const { return v.value ? "True" : "False"; }
    std::string operator()(const NoneValue&) const { return "None"; }
    std::string operator()(const StringValue& v) const {
      return fmt::format("the string \"{}\"", printable(v.value, 40));
    }
    std::string operator()(const FormatString&) const { return "an f-string"; }
    std::string operator()(const TupleValue&) const { return "a tuple"; }
    std::string operator()(const ListValue&) const { return "a list"; }
    std::string operator()(const DictValue&) const { return "a dictionary"; }
    std::string operator()(const Ellipsis&) const { return "'...'"; }
    std::string operator()(const NumberListValue&) const { return "a list of numbers"; }
    std::string operator()(const Attribute&) const {
      std::string name = dotted_name(expr);
      return name.empty() ? "an attribute" : fmt::format("'{}'", printable(name));
    }
    std::string operator()(const Call& c) const {
      std::string name = dotted_name(*c.callee);
      return name.empty() ? "a call" : fmt::format("a call of {}", printable(name));
    }
    std::string operator()(const Slice&) const { return "a slice"; }
    std::string operator()(const Subscript&) const { return "a subscript"; }
    std::string operator()(const Prefix& p) const { return fmt::format("an operation '{}'", text_of(p.op)); }
    std::string operator()(const Chain& c) const {
      return fmt::format("an operation '{}'", text_of(c.links[0].op));
    }
    std::string operator()(const Comparison&) const { return "a comparison"; }
    std::string operator()(const Logic& l) const { return fmt::format("an operation '{}'", text_of(l.op)); }
    std::string operator()(const Conditional&) const { return "a conditional expression"; }
    std::string operator()(const Starred&) const { return "a starred expression"; }
    std::string operator()(const Lambda&) const { return "a lambda"; }
    std::string operator()(const Comprehension&) const { return "a comprehension"; }
    std::string operator()(const Unsupported& u) const { return u.what; }
  };
  return std::visit(Words{expr}, expr.kind);
}

std::string_view text_of(Operator op) {
  switch (op) {
    case Operator::Add:
      return "+";
    case Operator::Sub:
      return "-";
    case Operator::Mul:
      return "*";
    case Operator::Div:
      return "/";
    case Operator::FloorDiv:
      return "//";
    case Operator::Mod:
      return "%";
    case Operator::Pow:
      return "**";
    case Operator::MatMul:
      return "@";
    case Operator::ShiftLeft:
      return "<<";
    case Operator::ShiftRight:
      return ">>";
    case Operator::BitAnd:
      return "&";
    case Operator::BitOr:
      return "|";
    case Operator::BitXor:
      return "^";
    case Operator::Lt:
      return "<";
    case Operator::Le:
      return "<=";
    case Operator::Gt:
      return ">";
    case Operator::Ge:
      return ">=";
    case Operator::Eq:
      return "==";
    case Operator::Ne:
      return "!=";
    case Operator::In:
      return "in";
    case Operator::NotIn:
      return "not in";
    case Operator::Is:
      return "is";
    case Operator::IsNot:
      return "is not";
    case Operator::And:
      return "and";
    case Operator::Or:
      return "or";
  }
  return "";
}

std::string_view text_of(PrefixOperator op) {
  switch (op) {
    case PrefixOperator::Plus:
      return "+";
    case PrefixOperator::Minus:
      return "-";
    case PrefixOperator::Invert:
      return "~";
    case PrefixOperator::Not:
      return "not";
  }
  return "";
}

}  // namespace relish::ast
